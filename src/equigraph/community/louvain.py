"""Louvain with a fairness dial."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.parameters import Constraint, Integer, Real
from equigraph._utils.randomness import RandomState
from equigraph.base import Clustering, GraphClusterer, Problem
from equigraph.community.partition import NOTION
from equigraph.metrics.notions import Notion
from equigraph.search.arrays import Level
from equigraph.search.level import compact, first_level
from equigraph.search.objective import Objective, make_objective

# Increasing values of the dial.
_DIAL = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85)


@dataclass(eq=False, repr=False)
class FairLouvain(GraphClusterer):
    r"""Louvain on a weighted sum of modularity and fairness, with or without a given number of clusters.

    .. math:: \max_{\text{labels}} \; (1 - f)\, Q + f\, N

    by moves of single nodes, then of ever larger sets of nodes, to the clusters of their neighbours. N is

    * "normalized": NB, 1 when every cluster mirrors the population as far as whole nodes allow (see
      `equigraph.metrics.normalized_balance_score`);
    * "balance": :math:`B`, the mean over the clusters of the smallest by the largest group count;
    * "mouflon": :math:`\sum_l \frac{|C_l|}{n} (h - 1) \min_s \frac{T_{ls}}{|C_l| - T_{ls}}` for h groups with
      counts T, 1 when all groups are equally many in every cluster.

    The Fair-mod and MOUFLON methods maximise a sum of scores weighted by size. Here the gain of a move is exact, in
    O(h), at every level, since a set of nodes carries its group counts.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters k. By default it is found by the method; a given number is reached exactly: clusters are
        split or merged, and none is emptied.
    fairness : float, default=0.5
        The dial f in [0, 1]. 0 is modularity alone; 1 is lexicographic, the notion first, then Q.
    notion : {"normalized", "balance", "mouflon"}, default="normalized"
        The fairness notion N.
    resolution : float, default=1.0
        Weight of the null model in Q; larger values give smaller clusters.
    max_passes : int, default=100
        Largest number of visits in a round of moves, in multiples of the number of nodes; rarely reached.
    random_state : int, Generator, RandomState or None
        Seed of the order in which nodes are visited.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`; with ``n_clusters=None`` membership and interaction are sparse.
    n_clusters_ : int
        Number of clusters found.
    objective_ : float
        :math:`(1 - f) Q + f N` of the labels.
    n_iter_ : int
        Number of rounds from the nodes up to the largest sets, over all starts.

    Notes
    -----
    Methods of this kind get stuck at tiny mixed clusters if f is large: a pair of two groups is perfectly fair, and
    every further node makes it worse. There are three countermeasures. The search also starts from the clusters of
    highest modularity, with the dial raised step by step. Clusters are merged greedily even while the objective falls,
    and the best labels are kept. With at most 64 clusters a node may join one that it has no edge to. The best result
    of all starts is returned.

    Two flaws of the objective itself remain. With f near 1 and no ``n_clusters``, a single cluster is perfectly fair by
    "normalized", and with ``n_clusters`` one large cluster beside tiny ones is nearly so. "balance" and "mouflon" rate
    clusters with equally many nodes of each group higher than clusters that mirror the population.

    In the result, for f < 1, no move of a single node to the cluster of a neighbour raises the objective. Without
    ``n_clusters`` a node without edges may stay alone.

    References
    ----------
    Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. Journal of
    Statistical Mechanics, 2008.

    Panayiotou, Magnani. Fair-mod: Fair Modular Community Detection. Complex Networks 2024.

    Panayiotou, Simon, Magnani, Calikus. MOUFLON: Multi-group Modularity-based Fairness-aware Community
    Detection. arXiv 2510.12348, 2025.

    Examples
    --------
    Two pairs of friends per table; the pairs are of one group each.

    >>> import equigraph as eg
    >>> square = [
    ...     [0, 3, 1, 0, 0, 0, 0, 0],
    ...     [3, 0, 0, 1, 0, 0, 0, 0],
    ...     [1, 0, 0, 3, 0, 0, 0, 0],
    ...     [0, 1, 3, 0, 1, 0, 0, 0],
    ...     [0, 0, 0, 1, 0, 3, 1, 0],
    ...     [0, 0, 0, 0, 3, 0, 0, 1],
    ...     [0, 0, 0, 0, 1, 0, 0, 3],
    ...     [0, 0, 0, 0, 0, 1, 3, 0],
    ... ]
    >>> groups = list("aabbaabb")
    >>> unfair = eg.FairLouvain(fairness=0, random_state=0).fit(square)
    >>> unfair.labels_.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    >>> fair = eg.FairLouvain(fairness=0.5, random_state=0).fit(square, sensitive_features=groups)
    >>> fair.labels_.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """

    n_clusters: int | None = None
    _: KW_ONLY
    fairness: float = 0.5
    notion: str | Notion = "normalized"
    resolution: float = 1.0
    max_passes: int = 100
    random_state: RandomState = None

    _takes_ungrouped: ClassVar[bool] = True
    _warns_of_small: ClassVar[bool] = True
    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "n_clusters": Integer(
            low=2, optional=True, help="Number of clusters; by default that found by the method."
        ),
        "fairness": Real(low=0, high=1, help="The dial: 0 is modularity alone, 1 puts the notion first."),
        "notion": NOTION,
        "resolution": Real(low=0, help="Weight of the null model in Q."),
        "max_passes": Integer(
            low=1, help="Largest number of visits in a round of moves, in multiples of the nodes."
        ),
    }

    def _fit(self, problem: Problem) -> Clustering:
        given = problem.attributes
        options = {name: getattr(self, name) for name in ("n_clusters", "fairness", "notion", "max_passes")}
        if given is not None:
            options |= {"codes": given.codes, "weights": given.weights}
        found = fair_louvain(problem.adjacency, resolution=self.resolution, seed=problem.seed, **options)
        n_found = int(found.labels.max()) + 1
        attributes = {"n_clusters_": n_found, "objective_": found.objective, "n_iter_": found.n_cycles}
        return Clustering(labels=found.labels, attributes=attributes)


class LouvainLabels(NamedTuple):
    """Labels with their objective value, its parts, and the number of rounds."""

    labels: NDArray[np.int32]
    objective: float
    modularity: float
    notion: float
    n_cycles: int


def fair_louvain(
    adjacency: sparse.csr_array,
    codes: NDArray | None = None,
    *,
    n_clusters: int | None = None,
    max_passes: int = 100,
    seed: int = 0,
    **options: Any,
) -> LouvainLabels:
    """Implement `FairLouvain` on a validated adjacency and the group codes of each attribute (None: none).

    Further options are those of `make_objective`.
    """
    total = float(adjacency.sum(dtype=np.float64))
    objective, columns = make_objective(codes, n_nodes=adjacency.shape[0], total=total, **options)
    level = first_level(adjacency, columns, objective.population.size)
    search = _Climber(level, objective, np.random.default_rng(seed), n_clusters, max_passes)
    alone = np.arange(adjacency.shape[0], dtype=np.int32)
    found = [search.settle(alone)]
    if objective.fairness > 0:
        found.append(search.settle(search.raise_dial(alone)))
        if n_clusters is not None:
            found.append(search.settle(search.raise_dial(alone, n_clusters)))
    best = max(found, key=lambda one: (round(one.objective, 12), one.modularity))
    # The last rounds cost as much as the first ones for a small gain, so only the best labels get them.
    search.tol, search.exact = 1e-4, True
    return search.found(search.climb(best.labels, objective, keep=n_clusters is not None))


@dataclass
class _Climber:
    """Local search on one problem."""

    level: Level
    objective: Objective
    rng: np.random.Generator
    n_clusters: int | None
    max_passes: int
    tol: float = 1e-3
    exact: bool = False
    n_cycles: int = 0

    def climb(
        self, labels: NDArray[np.int32], objective: Objective, keep: bool = False, max_cycles: int = 20
    ) -> NDArray[np.int32]:
        """Return labels after multilevel moves that raise an objective."""
        from equigraph.search.moves import climb

        options = {"fixed": keep, "max_cycles": max_cycles, **self._limits()}
        labels, n_cycles = climb(self.level, labels, objective, self.rng, **options)
        self.n_cycles += n_cycles
        return labels

    def fix(self, labels: NDArray[np.int32], n_clusters: int, objective: Objective) -> NDArray[np.int32]:
        """Return labels with exactly n_clusters clusters."""
        from equigraph.search.merge import fix_clusters

        return fix_clusters(self.level, labels, n_clusters, objective, self.rng, **self._limits())

    def _limits(self) -> dict[str, Any]:
        return {"max_passes": self.max_passes, "tol": self.tol, "exact": self.exact}

    def raise_dial(self, labels: NDArray[np.int32], n_clusters: int | None = None) -> NDArray[np.int32]:
        """Maximise modularity alone, then the objective at increasing values of the dial."""
        cohesive = replace(self.objective, fairness=0.0)
        labels = self.climb(labels, cohesive)
        if n_clusters is not None:
            labels = self.fix(labels, n_clusters, cohesive)
        for fairness in _DIAL:
            if fairness < self.objective.fairness:
                easier = replace(self.objective, fairness=fairness)
                labels = self.climb(labels, easier, keep=n_clusters is not None, max_cycles=1)
        return labels

    def settle(self, labels: NDArray[np.int32]) -> LouvainLabels:
        """Return locally optimal labels, with the requested number of clusters if there is one."""
        if self.n_clusters is not None:
            if int(labels.max()) + 1 != self.n_clusters:
                labels = self.climb(labels, self.objective)
            return self.found(self.fix(labels, self.n_clusters, self.objective))
        from equigraph.search.merge import merge

        best = self.found(self.climb(labels, self.objective))
        while self.objective.fairness > 0 and best.labels.max() > 1:
            n_found = int(best.labels.max()) + 1
            fewer = merge(self.level, best.labels, 2, n_found, self.objective)
            fewer = self.climb(self.climb(fewer, self.objective, keep=True), self.objective)
            next_one = self.found(fewer)
            if next_one.objective <= best.objective + self.tol:
                break
            best = next_one
        return best

    def found(self, labels: NDArray[np.int32]) -> LouvainLabels:
        """Score labels from scratch."""
        from equigraph.search.partition import scores_of

        labels = compact(labels)
        modularity, notion = scores_of(self.level, labels, self.objective)
        value = self.objective.value(modularity, notion)
        return LouvainLabels(labels, value, modularity, notion, self.n_cycles)
