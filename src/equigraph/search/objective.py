"""The objective of the search: modularity and a fairness notion, weighted by the dial, under size bounds and rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.metrics.notions import Notion, get_notion
from equigraph.search.arrays import Terms
from equigraph.search.level_rules import LevelRules
from equigraph.search.pool import Target

# Largest dial for moves, which ignore Q beyond it; the choice among the labels found uses the dial itself.
HIGHEST = 0.97
# Largest number of groups of one attribute.
MOST_GROUPS = 250
_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Objective:
    r"""The objective :math:`J = (1 - f) Q + f N` of labels of one graph, with size bounds and rules.

    Attributes
    ----------
    notion : Notion
        N.
    population : ndarray of shape (n_groups,), int64
        Members of each group; groups of several attributes are numbered consecutively.
    offsets : ndarray of shape (n_attributes + 1,), int64
        First group of each attribute, and the number of groups.
    weights : ndarray of shape (n_attributes,)
        Weight of each attribute in N; they sum to 1.
    n_nodes : int
        Number of nodes of the graph at the finest level.
    total : float
        Sum of all degrees, twice the weight of the edges.
    fairness : float
        The dial f in [0, 1].
    resolution : float
        Weight of the null model in Q.
    cap : float
        N counts up to this value: with a high dial the search maximises Q subject to this bound on N.
    least, most : ndarray of shape (n_clusters,) or (0,), int64
        Bounds on the number of nodes of each cluster; empty if the number of clusters is free.
    rules : LevelRules or None
        Rules on the sites of the level.
    even : float
        Weight of evenness in units of Q: a tie-break between labels with equal N.
    """

    notion: Notion
    population: NDArray[np.int64]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_nodes: int
    total: float
    fairness: float = 0.0
    resolution: float = 1.0
    cap: float = np.inf
    least: NDArray[np.int64] = field(default_factory=lambda: _NOTHING)
    most: NDArray[np.int64] = field(default_factory=lambda: _NOTHING)
    rules: LevelRules | None = None
    even: float = 0.0

    @property
    def is_fair(self) -> bool:
        """Whether there are at least two groups, so that the dial has an effect."""
        return bool(np.diff(self.offsets).max(initial=0) > 1)

    def at(self, fairness: float, cap: float = np.inf) -> Objective:
        """Return the objective at another value of the dial; without groups the dial is 0."""
        return replace(self, fairness=min(fairness, HIGHEST) if self.is_fair else 0.0, cap=cap)

    def for_target(self, target: Target) -> Objective:
        """Return the objective that moves maximise for a target."""
        return self.at(target.fairness) if target.at_least is None else self.at(HIGHEST, target.at_least)

    def guided(self) -> Objective:
        """Return the objective with the smoother surrogate of the notion, if it has one."""
        return replace(self, notion=self.notion.guided(), even=0.0)

    def free(self) -> Objective:
        """Return the objective without bounds and rules, for any number of clusters."""
        return replace(self, least=_NOTHING, most=_NOTHING, rules=None)

    def value(self, modularity: float, notion: float) -> float:
        """Return J, with N up to the cap; at f = 1 this is N alone."""
        return (1 - self.fairness) * modularity + self.fairness * min(notion, self.cap)

    def modularity(self, inside: float, volume: NDArray[np.float64]) -> float:
        """Return Q from twice the weight inside the clusters and the degree sum of each; 0 without edges."""
        if self.total == 0:
            return 0.0
        return float(inside / self.total - self.resolution * np.square(volume / self.total).sum())

    def preference(self, table: NDArray[np.int64]) -> float:
        """Return the tie-break by evenness in units of modularity, from the counts of every cluster; at most 0."""
        value = 0.0
        for a, (low, high) in enumerate(
            zip(self.offsets[:-1], self.offsets[1:], strict=True) if self.even else ()
        ):
            share = self.population[low:high] / max(self.population[low:high].sum(), 1)
            counts, most = table[:, low:high], 2 * (share * (1 - share)).sum()
            if most > 0:
                apart = np.abs(counts - counts.sum(axis=1, keepdims=True) * share).sum() / counts.sum()
                value -= self.even * self.weights[a] * apart / most
        return float(value)

    def notion_value(self, table: NDArray[np.int64]) -> float:
        """Return N from the counts of every cluster, empty clusters left out."""
        values = [
            self.notion.value(table[:, low:high], self.population[low:high], compiled=True)
            for low, high in zip(self.offsets[:-1], self.offsets[1:], strict=True)
        ]
        return float(self.weights @ values)

    @cached_property
    def terms(self) -> Terms:
        """Parameters of the objective for compiled code, each of a fixed type."""
        known = np.add.reduceat(self.population, self.offsets[:-1])
        return Terms(
            population=self.population,
            offsets=self.offsets,
            weights=self.weights / np.maximum(known, 1) if self.notion.sized else self.weights,
            least=self.least,
            most=self.most,
            sized=bool(self.notion.sized),
            # Swaps, too, find gains that moves of single nodes cannot only in these cases.
            everywhere=bool(self.fairness > 0 or self.rules is not None or (self.most < self.n_nodes).any()),
            total=float(self.total),
            resolution=float(self.resolution),
            fairness=float(self.fairness),
            cap=float(self.cap),
            even=float(self.even * (1 - self.fairness) / self.fairness) if self.fairness > 0 else 0.0,
        )


def make_objective(
    codes: NDArray | None,
    *,
    n_nodes: int,
    total: float,
    notion: str | Notion = "normalized",
    weights: NDArray | None = None,
    **options: Any,
) -> tuple[Objective, NDArray[np.int32]]:
    """Check group codes and parameters; return the objective and the group of each node by each attribute.

    Parameters
    ----------
    codes : ndarray of shape (n_nodes,) or (n_nodes, n_attributes), or None
        Group of each node, -1 for none; every code up to the largest must occur. None: no fairness term.
    n_nodes, total, notion, options
        See `Objective`.
    weights : ndarray of shape (n_attributes,), optional
        Weights of the attributes; by default all alike.
    """
    if not 0 <= options.get("fairness", 0.0) <= 1:
        raise ParameterError(f"fairness must be a number in [0, 1]; got {options['fairness']!r}.")
    if codes is None:
        codes, options["fairness"] = np.zeros((n_nodes, 1), dtype=np.int32), 0.0
    columns = np.ascontiguousarray(codes, dtype=np.int32).reshape(len(codes), -1)
    if columns.shape[0] != n_nodes or (columns.size and columns.min() < -1):
        raise GroupsError(f"codes has shape {columns.shape}: expected one code per node, {n_nodes} in all.")
    counts = [np.bincount(column[column >= 0], minlength=1) for column in columns.T]
    for place, count in enumerate(counts):
        if not count.all():
            raise GroupsError(f"Group {int(np.argmin(count))} has no node: number the groups without gaps.")
        if count.size > MOST_GROUPS:
            columns, counts[place] = _without_single(columns, place, count)
    offsets = np.cumsum([0, *(count.size for count in counts)]).astype(np.int64)
    columns = np.where(columns < 0, -1, columns + offsets[:-1]).astype(np.int32)
    weights = np.ones(len(counts)) if weights is None else np.asarray(weights, dtype=np.float64)
    objective = Objective(
        notion=get_notion(notion),
        population=np.concatenate(counts).astype(np.int64),
        offsets=offsets,
        weights=weights / weights.sum(),
        n_nodes=n_nodes,
        total=float(total),
        **options,
    )
    return objective, columns


def _without_single(
    columns: NDArray[np.int32], place: int, count: NDArray
) -> tuple[NDArray[np.int32], NDArray]:
    """Drop groups with a single member; raise a GroupsError if more than `MOST_GROUPS` remain.

    A group of one does not affect normalised balance, whatever cluster it is in.
    """
    several = count > 1
    if several.sum() > MOST_GROUPS:
        which = f"Attribute {place}" if columns.shape[1] > 1 else "The sensitive feature"
        raise GroupsError(
            f"{which} has {count.size:,} groups, {int(several.sum()):,} of them with two members or more, and a search "
            f"takes up to {MOST_GROUPS}: put numbers into bins, join rare values, or give another column."
        )
    number = np.where(several, np.cumsum(several) - 1, -1)
    columns = columns.copy()
    known = columns[:, place] >= 0
    columns[known, place] = number[columns[known, place]]
    return columns, count[several] if several.any() else np.ones(1, dtype=np.int64)
