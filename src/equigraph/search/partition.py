"""Labels of a level with the aggregates that moves update."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equigraph.search.arrays import BROKEN, N_CLUSTERS, SUM, LabelState, Level
from equigraph.search.kernels.parts import own_weight
from equigraph.search.kernels.rules import fill_rules
from equigraph.search.kernels.state import fill
from equigraph.search.level import count_groups
from equigraph.search.level_rules import NO_RULES
from equigraph.search.objective import Objective

# Changes by single nodes are cached for at most so many pairs of a cluster and a group.
_MOST_CACHED = 2**22


class Partition:
    """Labels of a level under an objective; moves are functions of a partition.

    Parameters
    ----------
    level : Level
        The graph.
    objective : Objective
        The objective.
    labels : ndarray of shape (n_sites,)
        Labels in ``range(n_clusters)``; copied.
    n_clusters : int, optional
        Number of clusters, which may be empty; by default the largest label plus 1.
    """

    def __init__(self, level: Level, objective: Objective, labels: NDArray, n_clusters: int | None = None):
        self.level, self.objective = level, objective
        # Label of each site; changed by moves.
        self.labels: NDArray[np.int32] = np.array(labels, dtype=np.int32)
        self.n_clusters = k = int(self.labels.max()) + 1 if n_clusters is None else n_clusters
        n_groups, n_attributes = objective.population.size, objective.weights.size
        counted = k if objective.fairness > 0 else 0
        cached = counted if level.columns.shape[0] and k * n_groups <= _MOST_CACHED else 0
        self.state = LabelState(
            labels=self.labels,
            volume=np.zeros(k),
            size=np.zeros(k, dtype=np.int64),
            table=np.zeros((counted, n_groups), dtype=np.int64),
            parts=np.zeros((counted, n_attributes)),
            cached=np.zeros((cached, 2, n_groups)),
            tally=np.zeros(4),
        )
        terms, score = objective.terms, objective.notion.compiled()
        fill(level, terms, score, self.state)
        self.constraints = NO_RULES
        if objective.rules is not None:
            self.constraints = objective.rules.constraints()
            fill_rules(self.constraints, self.state)
        # The arguments of every compiled loop.
        self.arrays = level, terms, score, self.constraints, self.state

    @property
    def broken(self) -> int:
        """Total violation of size bounds and rules."""
        violation = int(self.state.tally[BROKEN])
        rules = self.objective.rules
        return violation if rules is None else violation + rules.n_misplaced(self.labels)

    def relabelled(self, labels: NDArray) -> Partition:
        """Return a partition with other labels under the same objective."""
        return Partition(self.level, self.objective, labels, self.n_clusters)

    @cached_property
    def scores(self) -> tuple[float, float]:
        """Modularity and notion (0 if the dial is 0) of the labels at the time of the first access."""
        level, tally = self.level, self.state.tally
        own = own_weight(level.indptr, level.indices, level.data, 0, self.labels).sum()
        if level.counts.shape[0]:
            # Weight inside the super-nodes: their degrees less the weight between them.
            own += level.strength.sum() - level.data.sum()
        notion = tally[SUM] / (1.0 if self.objective.notion.sized else max(tally[N_CLUSTERS], 1.0))
        return self.objective.modularity(own, self.state.volume), float(notion)

    @property
    def value(self) -> float:
        """Objective value less the penalty for nodes outside their home cluster; see `scores`."""
        modularity, notion = self.scores
        if self.objective.rules is not None:
            modularity -= self.objective.rules.rate * self.objective.rules.moved(self.labels)
        return self.objective.value(modularity, notion)


def scores_of(level: Level, labels: NDArray, objective: Objective) -> tuple[float, float]:
    """Return Q and the notion of labels, computed from scratch."""
    partition = Partition(level, objective.free().at(0.0), labels)
    return partition.scores[0], objective.notion_value(count_groups(level, labels, partition.n_clusters))
