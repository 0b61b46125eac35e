"""Search on graphs so large that what counts is the number of passes over their edges.

Two starts that know nothing of each other, one from above (spectral, made elsewhere) and one from below (parts that
grow along edges, merged), climb on the nodes. Where fairness counts, or they disagree, both divisions together are made
into one of a few thousand parts, on which the whole search of `equigraph.search.search` is cheap; what it finds
climbs on the nodes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.callbacks import Notifier
from equigraph.groups.sums import indicator
from equigraph.search.coarsen import coarsen
from equigraph.search.exact_k import fix_clusters
from equigraph.search.levels import Level, aggregate, compact, scores_of
from equigraph.search.multilevel import local_moves, sites_of, terms_of
from equigraph.search.search import HIGHEST, KNEE, Search

# From so many nodes or stored entries on a graph is large.
LARGE_NODES, LARGE_ENTRIES = 100_000, 2_000_000
# A node looks at all clusters if they are at most this many; their labels then fit into a byte.
MOST_FEW = 256
# Most passes of a climb, and the gain of a pass that is worth another one: on the way, and at the end.
_PASSES, _LEAST_GAIN = 10, 1e-6
_LAST_PASSES, _LAST_GAIN = 30, 1e-8
# Most random swaps and moves for each node, where sizes are bounded.
_PROPOSALS = 4
# Parts: at least so many, twice as many up to so many stored entries; so many for each cluster, and at most one for so
# many nodes. More parts find a little more, and cost most where clusters are large and weak.
_PARTS, _TWICE_UP_TO, _PARTS_EACH, _NODES_EACH = 1000, 5_000_000, 20, 20
# Two divisions agree if they place this share of the nodes alike.
_ALIKE = 0.99


def is_large(adjacency: sparse.csr_array) -> bool:
    """Return whether a graph is searched by passes rather than by proposals.

    Examples
    --------
    >>> is_large(sparse.csr_array((100_000, 100_000)))
    True
    """
    return bool(adjacency.shape[0] >= LARGE_NODES or adjacency.nnz >= LARGE_ENTRIES)


def make_search(
    adjacency: sparse.csr_array, codes: NDArray | None, n_clusters: int, **options: Any
) -> Search:
    """Return the search that suits the size of a graph; options are those of `Search`."""
    kind = LargeSearch if is_large(adjacency) else Search
    return kind(adjacency, codes, n_clusters, **options)


class LargeSearch(Search):
    """A `Search` that costs a bounded number of passes over the graph; parameters as there."""

    def __init__(self, adjacency: sparse.csr_array, codes: NDArray | None, n_clusters: int, **options: Any):
        super().__init__(adjacency, codes, n_clusters, **options)
        self._codes = _short(np.zeros(self.n_nodes) if codes is None else codes, self.n_groups)

    @property
    def few(self) -> bool:
        """Whether a node looks at all clusters."""
        return self.n_clusters <= MOST_FEW

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        if not self.few:
            return scores_of(self.ground, labels.astype(np.int64), self.cohesion)
        weights = cluster_weights(self.ground.graph, labels, self.n_clusters)
        pairs = labels.astype(np.int64) * self.n_groups + self._codes
        table = np.bincount(pairs, minlength=self.n_clusters * self.n_groups).reshape(self.n_clusters, -1)
        modularity = self.cohesion.modularity(np.diag(weights), weights.sum(axis=1))
        return modularity, self.cohesion.notion_value(table)

    def climb(self, labels: NDArray, fairness: float, *, exact: bool = False) -> NDArray:
        """Move single nodes while that raises the objective, for a bounded number of passes."""
        # At the end of the dial no move would see Q; the choice from the pool does.
        objective = self.at(min(fairness, HIGHEST))
        passes, gain = (_LAST_PASSES, _LAST_GAIN) if exact else (_PASSES, _LEAST_GAIN)
        if not self.few:
            # A generator of its own, because climbs run beside each other.
            return local_moves(
                self.ground,
                labels.astype(np.int64),
                objective,
                np.random.default_rng(0),
                keep_clusters=True,
                max_passes=passes,
                least_gain=gain,
            ).labels
        from equigraph.search.large_kernels import climb_few

        labels = _short(labels, self.n_clusters)
        terms = terms_of(objective)
        climb_few(sites_of(self.ground), self._codes, labels, self.n_clusters, terms, passes, gain)
        return labels

    def exactly(self, labels: NDArray) -> NDArray:
        """Make exactly k clusters within the size bounds of any labels."""
        labels = compact(np.asarray(labels))
        n_found = int(labels.max()) + 1
        if n_found != self.n_clusters:
            parts, level = labels, None
            if n_found < self.n_clusters:
                parts, level = coarsen(self.ground, labels.astype(np.int32), self._n_parts())
            if int(parts.max()) + 1 < self.n_clusters:
                return super().exactly(labels)
            labels = self._merged_parts(parts, level or aggregate(self.ground, parts), self.rng)
        return self._within_bounds(labels)

    def solve(
        self,
        values: Sequence[float],
        starts: Iterable[NDArray] = (),
        notify: Notifier | None = None,
        n_runs: int = 1,
    ) -> list[NDArray]:
        """Return labels for every value of the dial, all found together; see `Search.solve`.

        The starts may be a generator: while it works, the start from below is made beside it.
        """
        notify = notify or Notifier()
        if self.effort:
            climbed = self._climbed_starts(starts)
            if not self._enough(climbed, values):
                routes = self._from_overlay(climbed, values, notify, n_runs)
                with ThreadPoolExecutor(2) as threads:
                    for labels in threads.map(self._climb_along, routes):
                        self.add(labels)
        else:
            for start in [self.exactly(start) for start in starts] or [self._from_parts(self.rng)]:
                self.add(self._within_bounds(start))
                for value in values:
                    self.add(self.climb(self.pool.labels[-1], value))
        notify("search", 1, 1)
        return self._settled(values)

    def _climbed_starts(self, starts: Iterable[NDArray]) -> list[NDArray]:
        """Return the labels that the starts given, and one from parts of the graph, climb to; all go into the pool.

        They climb for cohesion alone: with fairness in view a poor start would end in fair clusters without cohesion.
        """
        own = self.rng.spawn(1)[0]

        def from_below() -> NDArray:
            return self.climb(self._within_bounds(self._from_parts(own)), 0.0)

        climbed = []
        with ThreadPoolExecutor(1) as thread:
            below = thread.submit(from_below)
            for start in starts:
                exact = self.exactly(start)
                self.add(exact)
                climbed.append(self.climb(exact, 0.0))
        climbed.append(below.result())
        for labels in climbed:
            self.add(labels)
        return climbed

    def _from_parts(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return k clusters merged from parts that grew along edges."""
        parts, level = coarsen(self.ground, None, self._n_parts())
        if level.n_nodes < self.n_clusters:
            return fix_clusters(self.ground, parts, self.n_clusters, self._unbounded(self.cohesion), rng)
        return self._merged_parts(parts, level, rng)

    def _merged_parts(
        self, parts: NDArray[np.int64], level: Level, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        start = np.arange(level.n_nodes, dtype=np.int64)
        objective = self._unbounded(self.cohesion)
        return fix_clusters(level, start, self.n_clusters, objective, rng, tol=1e-3, exact=False)[parts]

    def _enough(self, climbed: Sequence[NDArray], values: Sequence[float]) -> bool:
        """Return whether all starts ended in the same clusters, and nothing but cohesion is wanted."""
        if len(climbed) < 2 or (self.n_groups > 1 and max(values) > 0):
            return False
        first = indicator(climbed[0].astype(np.intp), self.n_clusters)
        tables = [first.T @ indicator(labels.astype(np.intp), self.n_clusters) for labels in climbed[1:]]
        return all(table.max(axis=1).sum() >= _ALIKE * self.n_nodes for table in tables)

    def _from_overlay(
        self, climbed: Sequence[NDArray], values: Sequence[float], notify: Notifier, n_runs: int
    ) -> list[tuple[NDArray, list[float]]]:
        """Search on parts that lie within one cluster of every division, as far as that makes few enough.

        Returns labels, each with the values of the dial at which it should climb.
        """
        n_parts = self._n_parts()
        starts: list[NDArray] = []
        cells = np.zeros(self.n_nodes, dtype=np.int64)
        for labels in sorted(climbed, key=lambda labels: -self.score(labels)[0]):
            finer = np.unique(cells * self.n_clusters + labels, return_inverse=True)[1]
            if not starts or int(finer.max()) < n_parts:
                cells = finer
                starts.append(labels)
        parts, level = coarsen(self.ground, cells.astype(np.int32), n_parts)
        coarse = np.empty((len(starts), level.n_nodes), dtype=np.int64)
        coarse[:, parts] = starts
        seed = int(self.rng.integers(2**31))
        search = Search.on_level(level, self.cohesion, self.n_clusters, effort=self.effort, seed=seed)
        found = search.solve(values, coarse, notify, n_runs)
        routes = [(labels[parts], [value]) for value, labels in zip(values, found, strict=True)]
        if max(values) > KNEE:
            # Single nodes make clusters fair at less cost than parts do, if these have left them cohesive.
            cohesive = search.pool.labels[search.pool.best(KNEE)]
            routes.append((cohesive[parts], [KNEE, max(values)]))
        return routes

    def _climb_along(self, route: tuple[NDArray, list[float]]) -> NDArray:
        labels = self._within_bounds(route[0])
        for value in route[1]:
            labels = self.climb(labels, value)
        return labels

    def _settled(self, values: Sequence[float]) -> list[NDArray]:
        """Return for every value the best labels of the pool after a last climb."""
        bounded = self.cohesion.least > 1 or self.cohesion.most < self.n_nodes
        for value in values:
            best = self.pool.labels[self.pool.best(value)]
            # Where sizes are tied, only swaps help.
            self.add(self.climb(self.rise(best, value) if bounded else best, value, exact=True))
        return [self.pool.labels[self.pool.best(value)] for value in values]

    def _n_steps(self, share: float, effort: float | None = None) -> int:
        return min(super()._n_steps(share, effort), _PROPOSALS * self.n_nodes)

    def _n_parts(self) -> int:
        least = 2 * _PARTS if self.ground.graph.nnz <= _TWICE_UP_TO else _PARTS
        n_parts = min(max(least, _PARTS_EACH * self.n_clusters), self.n_nodes // _NODES_EACH)
        # Clusters are merged from parts, so there must be more of these.
        return max(n_parts, min(2 * self.n_clusters, self.n_nodes))


def cluster_weights(adjacency: sparse.csr_array, labels: NDArray, n_clusters: int) -> NDArray[np.float64]:
    """Return the sum of the weights between every two of few clusters; those inside one count twice.

    Examples
    --------
    >>> path = sparse.csr_array(np.eye(3, k=1) + np.eye(3, k=-1))
    >>> cluster_weights(path, np.array([0, 0, 1]), 2).tolist()
    [[2.0, 1.0], [1.0, 0.0]]
    """
    from equigraph.search.large_kernels import weights_between

    arrays = adjacency.indptr, adjacency.indices, adjacency.data
    return weights_between(*arrays, _short(labels, n_clusters), n_clusters)


def _short(codes: NDArray, n_codes: int) -> NDArray:
    """Return a copy of codes in the shortest type: what is read at random should stay in the cache."""
    return codes.astype(np.min_scalar_type(max(n_codes - 1, 0)))
