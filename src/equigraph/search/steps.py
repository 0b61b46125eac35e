"""The steps of the search, each from labels to labels: what a plan is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equigraph.search.bounds import within_bounds
from equigraph.search.exact_k import fix_clusters
from equigraph.search.levels import Level, aggregate, compact, compact_pairs
from equigraph.search.multilevel import climb, local_moves
from equigraph.search.objective import Objective
from equigraph.search.swaps import swap_in_rows, swapped

# Share of swaps among the proposals of an annealing, and where its cooling ends, in units of a typical change.
SWAPS, COLD = 0.3, 0.03


@dataclass(frozen=True, eq=False)
class Steps:
    """One level of a graph, a number of clusters, and the ways to find labels of it and to improve them."""

    level: Level
    n_clusters: int

    def cohesive(self, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return what local moves on all levels make of single nodes: as many clusters as come out."""
        alone = np.arange(self.level.n_nodes, dtype=np.int32)
        return climb(self.level, alone, objective.unbounded(), rng, tol=1e-3, exact=False)[0]

    def with_k(self, labels: NDArray, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        """Split or merge clusters until there are exactly k, within the bounds on sizes."""
        labels = compact(labels)
        if int(labels.max()) + 1 != self.n_clusters:
            labels = fix_clusters(
                self.level, labels, self.n_clusters, objective.unbounded(), rng, tol=1e-3, exact=False
            )
        return within_bounds(self.level, labels, self.n_clusters, objective.least, objective.most)

    def climb(
        self,
        labels: NDArray,
        objective: Objective,
        rng: np.random.Generator,
        *,
        cycles: int = 20,
        exact: bool = False,
        tol: float = 1e-4,
    ) -> NDArray[np.int32]:
        """Move nodes and sets of nodes, with k fixed, while the objective rises."""
        return climb(
            self.level, labels, objective, rng, keep_clusters=True, max_cycles=cycles, tol=tol, exact=exact
        )[0]

    def settle(
        self,
        labels: NDArray,
        objective: Objective,
        rng: np.random.Generator | None,
        *,
        max_passes: int = 100,
        least_gain: float = 0.0,
    ) -> NDArray[np.int32]:
        """Move single nodes until none raises the objective."""
        return local_moves(
            self.level,
            labels,
            objective,
            rng,
            keep_clusters=True,
            max_passes=max_passes,
            least_gain=least_gain,
        ).labels

    def swap(self, labels: NDArray, objective: Objective) -> NDArray[np.int32]:
        """Let pairs of nodes change places while the objective rises."""
        sites = self.level.sites()

        def visit(state: list[NDArray]) -> list[NDArray]:
            swap_in_rows(sites, state, objective)
            return state

        return swapped(sites, labels, objective, visit)

    def anneal(
        self, labels: NDArray, objective: Objective, rng: np.random.Generator, n_steps: int, hot: float
    ) -> NDArray[np.int32]:
        """Let labels wander, ever less, and return the best that were met."""
        from equigraph.search.kernels.anneal import anneal, typical_change
        from equigraph.search.kernels.state import start

        sites, score, terms = self.level.sites(), objective.score, objective.terms()
        labels = labels.astype(np.int32)
        clusters = start(sites, labels, self.n_clusters, score, terms)
        unit = typical_change(sites, labels, clusters, score, terms, 1000, seed_of(rng))
        best, _ = anneal(
            sites, labels, clusters, score, terms, hot * unit, COLD * unit, n_steps, SWAPS, seed_of(rng)
        )
        return best

    def kick(self, labels: NDArray, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        """Throw labels out of their local optimum, within the bounds on sizes."""
        from equigraph.search.kernels.anneal import kick

        kicked = kick(
            self.level.sites(), labels.astype(np.int32), self.n_clusters, objective.least, seed_of(rng)
        )
        # A cluster grown beyond the bound would stay so: no single move brings it back at once.
        return within_bounds(self.level, kicked, self.n_clusters, objective.least, objective.most)

    def overlay(self, one: NDArray, other: NDArray, objective: Objective) -> tuple[Steps, NDArray[np.int32]]:
        """Return the steps on the parts that lie within one cluster of both divisions, and the part of each node."""
        parts = compact_pairs(one, other)
        return Steps(aggregate(self.level, parts, objective), self.n_clusters), parts


def seed_of(rng: np.random.Generator) -> np.uint64:
    """Draw a seed for compiled code."""
    return rng.integers(2**63, dtype=np.uint64)
