r"""Search for labels that maximise :math:`(1 - f) Q + f N`, at one value of the dial or at many together.

Everything found goes into one pool, and each dial value takes from it what is best there. Since the objective is linear
in (Q, N), the fairness of the choice can then never fall along the dial, and a value profits from what was found at
others: around the knee of the trade-off good clusters are easy to find, at its ends they are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.callbacks import Notifier
from equigraph.refinement.aggregate import Level, aggregate, compact, first_level
from equigraph.refinement.bounds import check_size_bounds, within_bounds
from equigraph.refinement.exact_k import fix_clusters
from equigraph.refinement.multilevel import local_moves, sites_of, terms_of
from equigraph.refinement.objective import Objective, make_objective

# Dial values at which a search from scratch is worthwhile; in between and beyond, the pool serves.
ANCHORS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.8)
# At f = 1 the notion counts up to this much, then Q: a lexicographic order with a tolerance. Without one, the last
# thousandth of fairness would be bought with all cohesion (one huge cluster mirrors any population).
TOLERANCE = 0.01
# A single value of the dial, however high, is searched for here: beyond the knee of the trade-off a search from scratch
# finds fair clusters without cohesion, whereas cohesive ones can be carried on to any higher value.
KNEE = 0.2
# What was found at lower values is carried on to these.
_RAISED = (0.4, 0.6, 0.8, 0.95, 1.0)
# Beyond this value of the dial the annealing itself would not see Q any more.
HIGHEST = 0.97
# Proposals of one search from scratch at effort 1: this many per node and cluster, or at least so many; fewer where
# nodes have more edges than this, because a proposal costs a pass over the edges of a node.
_STEPS, _LEAST_STEPS, _EDGES = 4, 80_000, 40
# Share of swaps among the proposals, and where the cooling ends, in units of a typical change.
_SWAPS, _COLD = 0.3, 0.03
# Perturbations at effort 1, and the proposals after one, as a share of those of a search from scratch.
_KICKS, _KICK = 4, 0.15


def unit_weights(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return the graph with weights in units of the largest, rounded to 12 digits.

    In another unit the same weights differ in their last digit, which would break ties differently and send the search
    elsewhere. Rounded, they are the same to the bit.
    """
    data = adjacency.data.astype(np.float64, copy=False)
    if data.size == 0 or (data.dtype == adjacency.dtype and data.min() == data.max() == 1):
        return adjacency
    mantissa, exponent = np.frexp(data / data.max())
    data = np.ldexp(np.round(mantissa * 2.0**40), exponent - 40)
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


@dataclass
class Pool:
    """Labels found so far, with modularity and notion."""

    labels: list[NDArray[np.int32]] = field(default_factory=list)
    scores: list[tuple[float, float]] = field(default_factory=list)

    def add(self, labels: NDArray, modularity: float, notion: float) -> None:
        """Keep labels; exact repetitions of a score are taken for the same labels."""
        if (modularity, notion) not in self.scores:
            self.labels.append(labels.astype(np.int32))
            self.scores.append((modularity, notion))

    def best(self, fairness: float) -> int:
        """Return the position of the best labels at a value of the dial."""
        scores = np.asarray(self.scores)
        if fairness < 1:
            return int(np.argmax((1 - fairness) * scores[:, 0] + fairness * scores[:, 1]))
        enough = scores[:, 1] >= scores[:, 1].max() - TOLERANCE
        return int(np.argmax(np.where(enough, scores[:, 0], -np.inf)))


class Search:
    """One graph, one notion, one number of clusters: the ways to find labels and to improve them.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A validated graph.
    codes : ndarray of shape (n_nodes,) or None
        Group of each node; None leaves modularity alone.
    n_clusters : int
        k; every result has exactly k non-empty clusters.
    notion : str
        Name of the fairness N.
    size_bounds : (int, int), optional
        Least and most nodes of a cluster.
    effort : float
        Multiplies the number of proposals.
    seed : int
        The same seed gives the same labels.
    """

    def __init__(
        self,
        adjacency: sparse.csr_array,
        codes: NDArray | None,
        n_clusters: int,
        *,
        notion: str = "normalized",
        size_bounds: tuple[int | None, int | None] | None = None,
        effort: float = 1.0,
        seed: int = 0,
    ):
        n = adjacency.shape[0]
        adjacency = unit_weights(adjacency)
        objective, codes, n_groups = make_objective(
            codes,
            None,
            n_nodes=n,
            total=float(adjacency.sum(dtype=np.float64)),
            fairness=0.0,
            notion=notion,
            resolution=1.0,
        )
        least, most = check_size_bounds(size_bounds, n, n_clusters)
        ground = first_level(adjacency, codes, n_groups)
        self._begin(ground, replace(objective, least=least, most=most), n_clusters, effort, seed)

    @classmethod
    def on_level(
        cls, level: Level, objective: Objective, n_clusters: int, *, effort: float = 1.0, seed: int = 0
    ) -> Search:
        """Return a search on a graph of super-nodes; the objective is that of the nodes inside them."""
        search = cls.__new__(cls)
        search._begin(level, replace(objective, least=1, most=objective.n_nodes), n_clusters, effort, seed)
        return search

    def _begin(self, ground: Level, cohesion: Objective, n_clusters: int, effort: float, seed: int) -> None:
        self.ground, self.cohesion = ground, cohesion
        self.n_nodes, self.n_clusters, self.n_groups = ground.n_nodes, n_clusters, ground.counts.shape[1]
        self.effort = effort
        self.rng = np.random.default_rng(seed)
        self.pool = Pool()
        self._levels: list[tuple[Level, NDArray | None]] | None = None

    def at(self, fairness: float) -> Objective:
        """Return the objective at a value of the dial; without groups there is only cohesion."""
        return replace(self.cohesion, fairness=fairness if self.n_groups > 1 else 0.0)

    def add(self, labels: NDArray) -> None:
        """Put labels with exactly k clusters within the bounds into the pool."""
        self.pool.add(labels, *self.score(labels))

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        level = aggregate(self.ground, labels.astype(np.int64))
        inside = level.strength - np.asarray(level.graph.sum(axis=1)).ravel()
        return self.cohesion.modularity(inside, level.strength), self.cohesion.notion_value(level.counts)

    def levels(self) -> list[tuple[Level, NDArray | None]]:
        """Return the graph and what local moves on modularity make of it, each with the labels that led there."""
        if self._levels is None:
            self._levels = [(self.ground, None)]
            free = self._unbounded(self.cohesion)
            for passes in (3, 100):
                level = self._levels[-1][0]
                start = np.arange(level.n_nodes, dtype=np.int64)
                labels = compact(local_moves(level, start, free, self.rng, max_passes=passes).labels)
                coarse = aggregate(level, labels)
                # A coarse level must leave enough freedom to place k clusters fairly.
                if coarse.n_nodes < 8 * self.n_clusters or coarse.n_nodes > 0.9 * level.n_nodes:
                    break
                self._levels.append((coarse, labels))
        return self._levels

    def from_scratch(self, fairness: float, top: int = 1, hot: float = 0.5, share: float = 1.0) -> NDArray:
        """Anneal random labels of a coarse level, and refine them level by level down to the nodes."""
        fairness = min(fairness, HIGHEST)
        levels = self.levels()
        top = min(top, len(levels) - 1)
        labels = self._random_labels(levels[top][0])
        n_steps = self._n_steps(share) // (top + 1)
        labels = self._anneal(levels[top][0], labels, fairness, n_steps, hot=hot)
        for position in range(top, 0, -1):
            labels = labels[levels[position][1]]
            labels = self._anneal(levels[position - 1][0], labels, fairness, n_steps, hot=0.1)
        return self.climb(labels, fairness)

    def merged(self, fairness: float) -> NDArray:
        """Merge what local moves on modularity found into k clusters, and improve that on the nodes."""
        fairness = min(fairness, HIGHEST)
        levels = self.levels()
        top = levels[-1][0]
        start = np.arange(top.n_nodes, dtype=np.int64)
        objective = self._unbounded(self.at(fairness))
        labels = fix_clusters(top, start, self.n_clusters, objective, self.rng, tol=1e-3, exact=False)
        for _, joined in reversed(levels[1:]):
            labels = labels[joined]
        return self.improve(labels, fairness)

    def perturb(self, labels: NDArray, fairness: float) -> NDArray:
        """Kick labels out of their local optimum and let them settle again."""
        from equigraph.refinement.anneal import kick

        fairness = min(fairness, HIGHEST)
        sites = sites_of(self.ground)
        kicked = kick(sites, labels.astype(np.int64), self.n_clusters, self.cohesion.least, self._seed())
        n_steps = self._n_steps(_KICK / np.cbrt(self.effort))
        settled = self._anneal(self.ground, kicked, fairness, n_steps, hot=0.1)
        return self.climb(settled, fairness)

    def improve(self, labels: NDArray, fairness: float) -> NDArray:
        """Anneal labels at a low temperature, which keeps their structure, and climb."""
        fairness = min(fairness, HIGHEST)
        return self.climb(
            self._anneal(self.ground, labels, fairness, self._n_steps(0.25), hot=0.06), fairness
        )

    def rise(self, labels: NDArray, fairness: float) -> NDArray:
        """Take random moves and swaps that do not lower the objective: where sizes are tied, only swaps help."""
        fairness = min(fairness, HIGHEST)
        n_steps = self._n_steps(0.25, effort=1.0)
        return self.climb(self._anneal(self.ground, labels, fairness, n_steps, hot=0.0), fairness)

    def climb(self, labels: NDArray, fairness: float, *, exact: bool = False) -> NDArray:
        """Move single nodes while that raises the objective: a few passes, or until no move does."""
        return local_moves(
            self.ground,
            labels.astype(np.int64),
            self.at(fairness),
            self.rng,
            keep_clusters=True,
            max_passes=100 if exact else 3,
            least_gain=0.0 if exact else 1e-5,
        ).labels

    def exactly(self, labels: NDArray) -> NDArray:
        """Make exactly k clusters within the size bounds of any labels."""
        labels = compact(np.asarray(labels))
        if int(labels.max()) + 1 != self.n_clusters:
            free = self._unbounded(self.cohesion)
            labels = fix_clusters(self.ground, labels, self.n_clusters, free, self.rng)
        return self._within_bounds(labels)

    def solve(
        self,
        values: Sequence[float],
        starts: Iterable[NDArray] = (),
        notify: Notifier | None = None,
        n_runs: int = 1,
    ) -> list[NDArray]:
        """Return labels for every value of the dial, all found together.

        Parameters
        ----------
        values : sequence of float
            Values of the dial in [0, 1].
        starts : iterable of ndarray
            Labels from elsewhere that take part in the search, with any number of clusters.
        notify : Notifier, optional
            Told after every search; when it asks to stop, the best labels so far are returned.
        n_runs : int, default=1
            How often all is searched and perturbed; further runs go on with the pool of those before.
        """
        notify = notify or Notifier()
        anchors = self._anchors(values)
        for start in starts:
            exact = self.exactly(start)
            self.add(exact)
            if self.effort:
                self.add(self.improve(exact, anchors[-1]))
            else:
                for value in values:
                    self.add(self.rise(exact, value))
        plan = [step for _ in range(n_runs) for step in self._plan(values, anchors)] if self.effort else []
        if not self.pool.labels and not plan:
            self.add(self.merged(anchors[0]))
        for step, (task, fairness) in enumerate(plan, start=1):
            if task == "merge":
                self.add(self.merged(fairness))
            elif task == "scratch":
                # Which level and which temperature suit a graph is not known beforehand, so they take turns.
                hot = 0.3 if step % 2 else 0.6
                self.add(self.from_scratch(fairness, top=step % 3, hot=hot, share=1 / self._n_scratch()))
            else:
                best = self.pool.labels[self.pool.best(fairness)]
                self.add(self.improve(best, fairness) if task == "raise" else self.perturb(best, fairness))
            if notify("search", step, len(plan)):
                break
        return self._settled(values)

    def _settled(self, values: Sequence[float]) -> list[NDArray]:
        """Return for every value the best labels of the pool, once all of these are local maxima at their value.

        Climbing at one value may find what is better at another, so the round is repeated while the pool grows.
        """
        known: set[tuple[float, int]] = set()
        for _ in range(20):
            size = len(self.pool.labels)
            for fairness in values:
                best = self.pool.best(fairness)
                if (fairness, best) not in known:
                    known.add((fairness, best))
                    self.add(self.climb(self.pool.labels[best], fairness, exact=True))
            if len(self.pool.labels) == size:
                break
        return [self.pool.labels[self.pool.best(fairness)] for fairness in values]

    def _anchors(self, values: Sequence[float]) -> list[float]:
        """Return where to search from scratch: at the values asked for, and where good clusters are easy to find."""
        if self.n_groups == 1:
            return [0.0]
        if len(values) == 1:
            return [min(values[0], KNEE)]
        return [anchor for anchor in ANCHORS if anchor <= max(max(values), 0.3)]

    def _plan(self, values: Sequence[float], anchors: Sequence[float]) -> list[tuple[str, float]]:
        """Return what to do, and at which value of the dial: search, carry on to higher values, perturb."""
        plan = [("scratch", anchor) for anchor in anchors for _ in range(self._n_scratch())]
        if min(anchors) < 0.25:
            plan.insert(0, ("merge", min(anchors)))
        highest = max(values)
        if self.n_groups > 1:
            plan += [("raise", step) for step in _RAISED if anchors[-1] < step < highest]
            plan += [("raise", highest)]
        # A third of the effort goes into more perturbations, the rest into longer ones. Many values share those of
        # eight; on large graphs a perturbation costs as much as a search and brings less.
        n_kicks = np.cbrt(self.effort) * _KICKS * min(len(values), 8) * min(1.0, 10_000 / self.n_nodes)
        order = np.linspace(0, len(values) - 1, max(int(n_kicks), 1)).round().astype(int)
        return plan + [("perturb", values[position]) for position in self.rng.permutation(order)]

    def _unbounded(self, objective: Objective) -> Objective:
        return replace(objective, least=1, most=self.cohesion.n_nodes)

    def _within_bounds(self, labels: NDArray) -> NDArray[np.int64]:
        return within_bounds(self.ground, labels, self.n_clusters, self.cohesion.least, self.cohesion.most)

    def _n_scratch(self) -> int:
        """Return how many searches from scratch are made at each anchor."""
        return max(round(np.sqrt(self.effort) / 2), 1)

    def _n_steps(self, share: float, effort: float | None = None) -> int:
        effort = self.effort if effort is None else effort
        graph = self.ground.graph
        dense = max(graph.nnz / (_EDGES * self.n_nodes), 1.0)
        return int(share * effort * max(_STEPS * self.n_nodes * self.n_clusters, _LEAST_STEPS) / dense)

    def _seed(self) -> np.uint64:
        return self.rng.integers(2**63, dtype=np.uint64)

    def _random_labels(self, level: Level) -> NDArray[np.int64]:
        labels = self.rng.integers(self.n_clusters, size=level.n_nodes)
        labels[self.rng.permutation(level.n_nodes)[: self.n_clusters]] = np.arange(self.n_clusters)
        return labels

    def _anneal(
        self, level: Level, labels: NDArray, fairness: float, n_steps: int, hot: float
    ) -> NDArray[np.int64]:
        from equigraph.refinement.anneal import anneal, typical_change

        objective = self.at(fairness)
        if level is self.ground:
            labels = self._within_bounds(labels)
        else:
            # Super-nodes are too coarse for bounds on sizes: those are met on the ground.
            objective = self._unbounded(objective)
        sites, terms = sites_of(level), terms_of(objective)
        labels = np.array(labels, dtype=np.int64)
        unit = typical_change(sites, labels, self.n_clusters, terms, 2000, self._seed())
        best, _ = anneal(
            sites, labels, self.n_clusters, terms, hot * unit, _COLD * unit, n_steps, _SWAPS, self._seed()
        )
        return best
