"""A graph with power-law degrees and communities of power-law sizes, as the LFR benchmark has them, in numpy.

A. Lancichinetti, S. Fortunato, F. Radicchi, "Benchmark graphs for testing community detection algorithms",
Physical Review E 78, 2008. Ends of edges are paired at random inside the communities and between them; pairs that are
loops, edges that exist, or outer edges inside a community exchange an end with another edge until none is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Rounds of exchanges; what is still wrong then (in communities that are nearly complete) is left out.
ROUNDS = 200


def power_law(
    rng: np.random.Generator, n: int, exponent: float, low: float, high: float
) -> NDArray[np.int64]:
    """Draw whole numbers from low to high whose density falls as ``x ** -exponent``; the exponent is not 1.

    Examples
    --------
    >>> drawn = power_law(np.random.default_rng(0), 1000, 2.5, 3, 50)
    >>> int(drawn.min()) == 3, bool(drawn.max() <= 50), bool(np.median(drawn) < drawn.mean())
    (True, True, True)
    """
    a, b = low ** (1 - exponent), (high + 1) ** (1 - exponent)
    return np.floor((a + (b - a) * rng.random(n)) ** (1 / (1 - exponent))).astype(np.int64)


def community_sizes(rng: np.random.Generator, n: int, low: int, high: int) -> NDArray[np.int64]:
    """Draw sizes of communities between low and high (the last may be up to low larger) that sum to n."""
    sizes = power_law(rng, n // low + 1, 1.5, low, high)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), n, side="right"))]
    rest = n - int(sizes.sum())
    if rest >= low or not sizes.size:
        return np.append(sizes, rest)
    sizes[-1] += rest
    return sizes


def place(rng: np.random.Generator, inner: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give every node a community that is larger than the node's inner degree, at random; the largest degree first."""
    slots = np.repeat(np.arange(sizes.size), sizes)[
        np.argsort(-np.repeat(sizes, sizes), kind="stable")
    ].tolist()
    # How many of the slots (largest communities first) are open to a node of each inner degree.
    room = np.searchsorted(-np.sort(-np.repeat(sizes, sizes)), -inner, side="left")
    communities = np.empty(inner.size, dtype=np.int64)
    draws = rng.random(inner.size)
    for taken, node in enumerate(np.argsort(-inner, kind="stable").tolist()):
        # Slots before ``taken`` are used up; where none is open, the node gets the next one and too small a community.
        pick = taken + int(draws[node] * max(int(room[node]) - taken, 1))
        slots[taken], slots[pick] = slots[pick], slots[taken]
        communities[node] = slots[taken]
    return communities


@dataclass
class _Pairs:
    """Edges to be, each of a block (a community, or the outside) in which ends are exchanged; sorted by block."""

    ends: NDArray[np.int64]
    blocks: NDArray[np.int64]
    communities: NDArray[np.int64]
    outside: int

    def keys(self, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        return ends.min(axis=1) * self.communities.size + ends.max(axis=1)

    def impossible(self, ends: NDArray[np.int64], blocks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which are loops, or outer edges inside a community."""
        alike = self.communities[ends[:, 0]] == self.communities[ends[:, 1]]
        return (ends[:, 0] == ends[:, 1]) | (alike & (blocks == self.outside))

    def bad(self) -> NDArray[np.bool_]:
        """Return which are impossible or stand there already."""
        wrong = np.ones(self.blocks.size, dtype=bool)
        wrong[np.unique(self.keys(self.ends), return_index=True)[1]] = False
        return wrong | self.impossible(self.ends, self.blocks)

    def exchange(self, rng: np.random.Generator, wrong: NDArray[np.int64]) -> None:
        """Let every wrong pair exchange an end with a random one of its block where both become good edges."""
        starts = np.searchsorted(self.blocks, self.blocks[wrong])
        counts = np.searchsorted(self.blocks, self.blocks[wrong], side="right") - starts
        partner = starts + np.floor(rng.random(wrong.size) * counts).astype(np.int64)
        # Nobody takes part twice.
        first = np.zeros(wrong.size, dtype=bool)
        first[np.unique(partner, return_index=True)[1]] = True
        free = first & ~np.isin(partner, wrong)
        wrong, partner = wrong[free], partner[free]
        side = rng.integers(0, 2, wrong.size)
        one, two = self.ends[wrong].copy(), self.ends[partner].copy()
        one[:, 1], two[np.arange(side.size), side] = two[np.arange(side.size), side], one[:, 1].copy()
        self.take(wrong, partner, one, two)

    def take(
        self,
        wrong: NDArray[np.int64],
        partner: NDArray[np.int64],
        one: NDArray[np.int64],
        two: NDArray[np.int64],
    ) -> None:
        """Put the exchanged pairs in place where both are new and possible."""
        new = np.concatenate([self.keys(one), self.keys(two)])
        fresh = np.zeros(new.size, dtype=bool)
        fresh[np.unique(new, return_index=True)[1]] = True
        fresh &= ~np.isin(new, self.keys(self.ends))
        good = fresh[: wrong.size] & fresh[wrong.size :]
        good &= ~self.impossible(one, self.blocks[wrong]) & ~self.impossible(two, self.blocks[wrong])
        self.ends[wrong[good]], self.ends[partner[good]] = one[good], two[good]


def pair_ends(
    rng: np.random.Generator,
    inner: NDArray[np.int64],
    outer: NDArray[np.int64],
    communities: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return edges (pairs of nodes) with these inner and outer degrees; inner ones are even in each community."""
    nodes = np.arange(inner.size)
    outside = int(communities.max()) + 1
    stubs = np.concatenate([np.repeat(nodes, inner), np.repeat(nodes, outer)])
    blocks = np.concatenate([np.repeat(communities, inner), np.full(int(outer.sum()), outside)])
    order = np.lexsort([rng.random(stubs.size), blocks])
    n_pairs = stubs.size // 2
    pairs = _Pairs(
        stubs[order][: 2 * n_pairs].reshape(n_pairs, 2),
        blocks[order][: 2 * n_pairs : 2],
        communities,
        outside,
    )
    for _ in range(ROUNDS):
        wrong = np.flatnonzero(pairs.bad())
        if not wrong.size:
            break
        pairs.exchange(rng, wrong)
    return pairs.ends[~pairs.bad()]


def power_law_communities(
    rng: np.random.Generator, n: int, mixing: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the edges and the community of every node; ``mixing`` of the ends of edges lead out of a community.

    Degrees fall with exponent 2.5 from a least degree of 4 to 7 (3 or 4 below 300 nodes) to a fifth of the nodes, at
    most 120; sizes of communities fall with exponent 1.5, from 16 to 40 (8 to 14) to a fifth of the nodes, at most
    1000.
    """
    small = n < 300
    least = int(rng.integers(3, 5) if small else rng.integers(4, 8))
    degrees = power_law(rng, n, 2.5, least, min(120, n // 5))
    low = int(rng.integers(8, 15) if small else rng.integers(16, 41))
    sizes = community_sizes(rng, n, low, max(low + 1, min(1000, n // 5)))
    # Rounded at random, so that the mixing is met on average whatever the degree.
    inner = np.floor((1 - mixing) * degrees + rng.random(n)).astype(np.int64)
    inner = np.minimum(inner, int(sizes.max()) - 1)
    communities = place(rng, inner, sizes)
    inner = np.minimum(inner, sizes[communities] - 1)
    odd = np.flatnonzero(np.bincount(communities, weights=inner).astype(np.int64) % 2)
    # One node of a community with an odd sum gives an inner end to the outside.
    first = np.unique(np.where(inner > 0, communities, -1), return_index=True)
    giver = dict(zip(*(part.tolist() for part in first), strict=True))
    inner[[giver[community] for community in odd.tolist()]] -= 1
    return pair_ends(rng, inner, degrees - inner, communities), communities
