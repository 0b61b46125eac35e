"""Sample random graphs made of blocks, in time and memory proportional to the edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.randomness import RandomState, as_seed
from equigraph.exceptions import ParameterError

Whole = NDArray[np.int64]
MAX_EDGES = 500_000_000


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Return a Generator: the one given, or a new one from a seed or from a draw of a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(as_seed(random_state))
    return np.random.default_rng(random_state)


def as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return an array of numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name}={values!r} is not usable: give numbers.") from error


def check_shares(shares: ArrayLike | None, n_shares: int, name: str) -> NDArray[np.float64]:
    """Return shares that are nonnegative and sum to one; None means equal shares."""
    if shares is None:
        return np.full(n_shares, 1 / n_shares)
    values = as_floats(shares, name)
    if values.shape != (n_shares,):
        raise ParameterError(f"{name} has shape {values.shape}: give {n_shares} shares.")
    if not np.all(values >= 0) or abs(values.sum() - 1) > 1e-6:
        raise ParameterError(f"{name} sums to {values.sum():.6g}: give nonnegative shares that sum to 1.")
    return values / values.sum()


def largest_remainder(n: int, shares: NDArray[np.float64]) -> Whole:
    """Split n into whole parts as close to the shares as possible.

    Every part first gets its share rounded down; the parts that lost most by that get one more each, until the parts
    sum to n. Of equal remainders the first wins, so the split is the same on every machine.
    """
    exact = n * shares
    parts = np.floor(exact + 1e-9).astype(np.int64)
    remainder = np.round(exact - parts, 9)
    order = np.argsort(-remainder, kind="stable")
    parts[order[: n - int(parts.sum())]] += 1
    return parts


def sample_block_edges(
    sizes: Whole, first: Whole, second: Whole, probabilities: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Draw independent edges between blocks of consecutive nodes.

    The number of edges of a pair of blocks is binomial; given the number, every set of that many distinct node pairs is
    equally likely. That is the same law as one coin per node pair, without tossing the coins. Each unordered pair of
    blocks comes at most once; ``first == second`` stands for the edges inside. More than 500 million expected edges are
    an error.
    """
    inside = first == second
    slots = np.where(inside, sizes[first] * (sizes[first] - 1) // 2, sizes[first] * sizes[second])
    expected = float(slots @ probabilities)
    if expected > MAX_EDGES:
        raise ParameterError(
            f"These probabilities give about {expected:.2g} edges, above the limit of {MAX_EDGES:.0e}: "
            "lower the probabilities or the number of nodes."
        )
    counts = rng.binomial(slots, probabilities)
    keys = sample_distinct(slots, counts, rng)
    pair = np.repeat(np.arange(slots.size, dtype=np.int32), counts)
    keys -= (np.cumsum(slots) - slots)[pair]  # position inside the pair of blocks
    starts = np.cumsum(sizes) - sizes
    index_type = np.int32 if int(sizes.sum()) < 2**31 else np.int64
    rows = np.empty(keys.size, dtype=index_type)
    columns = np.empty(keys.size, dtype=index_type)
    within = inside[pair]
    row, column = triangle_pair(keys[within])
    start = starts[first[pair[within]]]
    rows[within], columns[within] = start + row, start + column
    across = ~within
    block_pair = pair[across]
    row, column = np.divmod(keys[across], np.maximum(sizes[second], 1)[block_pair])
    rows[across] = starts[first[block_pair]] + row
    columns[across] = starts[second[block_pair]] + column
    return rows, columns


def sample_distinct(slots: Whole, counts: Whole, rng: np.random.Generator) -> Whole:
    """Choose ``counts[i]`` distinct slots out of ``slots[i]`` for every i.

    Where more than half of the slots are asked for, those to leave out are drawn instead. The result is sorted
    positions in the concatenation of all the ranges of slots.
    """
    dense = 2 * counts > slots
    offsets = np.cumsum(slots) - slots
    chosen = _draw_until_distinct(offsets, slots, np.where(dense, 0, counts), rng)
    if not dense.any():
        return chosen
    wide = slots[dense]
    local = np.cumsum(wide) - wide
    keep = np.ones(int(wide.sum()), dtype=bool)
    keep[_draw_until_distinct(local, wide, wide - counts[dense], rng)] = False
    kept = np.flatnonzero(keep)
    shift = np.repeat(offsets[dense] - local, counts[dense])
    return np.sort(np.concatenate([chosen, kept + shift]))


def _draw_until_distinct(offsets: Whole, slots: Whole, counts: Whole, rng: np.random.Generator) -> Whole:
    """Draw with replacement, drop repetitions and draw the missing ones, until nothing is missing.

    At most half of the slots of any range are asked for, so a draw is new with probability one half or more
    and the number of rounds is logarithmic. By symmetry every set of the size asked for is equally likely.
    """
    chosen = np.empty(0, dtype=np.int64)
    missing = counts
    while missing.any():
        drawn = rng.integers(0, np.repeat(slots, missing), dtype=np.int64)
        drawn += np.repeat(offsets, missing)
        drawn.sort()
        drawn = drawn if not chosen.size else np.sort(np.concatenate([chosen, drawn]), kind="stable")
        new = np.ones(drawn.size, dtype=bool)
        np.not_equal(drawn[1:], drawn[:-1], out=new[1:])
        chosen = drawn[new]
        bounds = np.searchsorted(chosen, np.append(offsets, np.iinfo(np.int64).max))
        bounds[-1] = chosen.size
        missing = counts - np.diff(bounds)
    return chosen


def triangle_pair(index: Whole) -> tuple[Whole, Whole]:
    """Return the pair (row, column), row > column >= 0, at a position of the strict lower triangle.

    The square root only guesses; the integers decide.
    """
    row = ((1 + np.sqrt(8.0 * index + 1)) / 2).astype(np.int64)
    row -= row * (row - 1) // 2 > index
    row += row * (row + 1) // 2 <= index
    return row, index - row * (row - 1) // 2


def adjacency_from_edges(rows: NDArray, columns: NDArray, n_nodes: int) -> sparse.csr_array:
    """Return the canonical symmetric 0/1 adjacency of distinct undirected edges without self-loops."""
    ones = np.ones(rows.size, dtype=np.float64)
    half = sparse.coo_array((ones, (rows, columns)), shape=(n_nodes, n_nodes)).tocsr()
    half.sort_indices()
    adjacency = half + half.T.tocsr()
    adjacency.sort_indices()
    adjacency.has_canonical_format = True
    return adjacency
