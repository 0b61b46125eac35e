"""What the search climbs: modularity and a fairness notion, mixed by the dial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GroupsError, ParameterError, SlowNotionWarning, warn
from equigraph.metrics.notions import Notion, get_notion
from equigraph.search.folding import NOTHING, Folded, Held, fold_groups, known_nodes, rows_of
from equigraph.search.levels import Level, first_level

if TYPE_CHECKING:
    from equigraph.search.kernels.state import Terms

# Beyond this value of the dial a move would not see Q any more; the choice among what was found does.
HIGHEST = 0.97
# What a search at default effort takes for each count that it reads, and from how long on that is said beforehand.
_SECONDS_EACH, _LONG = 1.3e-7, 30.0


@dataclass(frozen=True, eq=False)
class Objective:
    r"""The function :math:`J = (1 - f) Q + f N` of a labelling of one graph.

    Attributes
    ----------
    fairness : float
        The dial f in [0, 1].
    notion : Notion
        N.
    population : ndarray of shape (n_columns,), int64
        Members of the group of each column, or which groups it counts (see `equigraph.search.folding`); those of
        several attributes stand side by side.
    first : ndarray of shape (n_folded,), int64
        Column of each folded group where it has no member.
    offsets : ndarray of shape (n_attributes + 1,), int64
        Where the groups of each attribute begin.
    weights : ndarray of shape (n_attributes,)
        Weight of each attribute in N; they sum to 1.
    n_nodes : int
        Nodes of the graph, whatever the level of aggregation.
    total : float
        Sum of all degrees, twice the weight of the edges.
    resolution : float
        Weight of the null model in Q.
    cap : float
        More of N than this counts for nothing: with a high dial the search is for the most cohesive labels at least so
        fair.
    least, most : int
        Bounds on the number of nodes of a cluster; they bind where the number of clusters is fixed.
    """

    fairness: float
    notion: Notion
    population: NDArray[np.int64]
    first: NDArray[np.int64]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_nodes: int
    total: float
    resolution: float = 1.0
    cap: float = np.inf
    least: int = 1
    most: int = np.iinfo(np.int64).max

    @property
    def is_fair(self) -> bool:
        """Whether there are groups, so that the dial moves anything."""
        return bool(np.diff(self.offsets).max(initial=0) > 1)

    @property
    def is_bounded(self) -> bool:
        """Whether sizes are bounded."""
        return self.least > 1 or self.most < self.n_nodes

    def at(self, fairness: float, cap: float = np.inf) -> Objective:
        """Return the objective at another value of the dial; without groups there is only cohesion."""
        return replace(self, fairness=min(fairness, HIGHEST) if self.is_fair else 0.0, cap=cap)

    def unbounded(self) -> Objective:
        """Return the objective without bounds on sizes, for super-nodes, which are too coarse for them."""
        return replace(self, least=1, most=self.n_nodes)

    def modularity(self, inside: NDArray[np.float64], volume: NDArray[np.float64]) -> float:
        """Return Q from twice the weight inside each cluster and the degree sum of each; 0 without edges."""
        if self.total == 0:
            return 0.0
        return float(inside.sum() / self.total - self.resolution * np.square(volume / self.total).sum())

    def notion_value(self, counts: NDArray[np.int64], held: Held) -> float:
        """Return N from the counts of every (cluster, column) pair; empty clusters do not count."""
        table = rows_of(counts, held, self.population, self.first)
        values = [
            self.notion.value(table[:, low:high], self.population[low:high], compiled=True)
            for low, high in zip(self.offsets[:-1], self.offsets[1:], strict=True)
        ]
        return float(self.weights @ values)

    def value(self, modularity: float, notion: float) -> float:
        """Return J; at f = 1 this is N alone."""
        return (1 - self.fairness) * modularity + self.fairness * notion

    def warn_if_slow(self, n_entries: int, n_clusters: int, effort: float = 1.0) -> None:
        """Say before the wait that a notion which takes no folded groups will read very many counts.

        Every look at a move reads a count of each group. Where clusters are too many to look at all, it is found out
        for each group and cluster how much one of the group is wanted there.
        """
        if self.notion.folds:
            return
        from equigraph.search.kernels.climb import MOST_DENSE

        n_groups = int(np.diff(self.offsets).max(initial=0))
        looks = self.n_nodes + n_entries + (n_groups * n_clusters if n_clusters > MOST_DENSE else 0)
        seconds = _SECONDS_EACH * n_groups * looks * max(effort, 0.1) ** 0.5
        if seconds > _LONG:
            warn(
                f"The notion {self.notion.name!r} reads the members of all {n_groups:,} groups at every look at a "
                f"move, which will take some {seconds:.0f} seconds or more: give fewer groups, or write its score for "
                "folded groups and say folds=True.",
                SlowNotionWarning,
            )

    @property
    def score(self) -> Any:
        """The score of the notion, compiled."""
        return self.notion.compiled()

    def terms(self) -> Terms:
        """Return the rest of the objective in the form that compiled code takes.

        Numbers have one type each, whatever the caller wrote: every other one would compile all loops again.
        """
        from equigraph.search.kernels.state import Terms

        known = known_nodes(self.population, self.first, self.offsets)
        return Terms(
            self.population,
            self.first,
            self.offsets,
            self.weights / np.maximum(known, 1) if self.notion.sized else self.weights,
            bool(self.notion.sized),
            int(self.n_nodes),
            float(self.total),
            float(self.resolution),
            float(self.fairness),
            float(self.cap),
            int(self.least),
            int(self.most),
        )


def make_objective(
    codes: NDArray | None,
    *,
    n_nodes: int,
    total: float,
    fairness: float = 0.0,
    notion: str | Notion = "normalized",
    resolution: float = 1.0,
    weights: NDArray | None = None,
) -> tuple[Objective, NDArray[np.int32]]:
    """Check codes and parameters, and return the objective and the column of each node, by each attribute.

    Parameters
    ----------
    codes : ndarray of shape (n_nodes,) or (n_nodes, n_attributes), or None
        Group of each node, -1 for none; every code up to the largest must occur. None: no fairness term.
    n_nodes, total, fairness, notion, resolution
        See `Objective`.
    weights : ndarray of shape (n_attributes,), optional
        Weights of the attributes; by default all alike.
    """
    if not 0 <= fairness <= 1:
        raise ParameterError(f"fairness must be a number in [0, 1]; got {fairness!r}.")
    if codes is None:
        codes, fairness = np.zeros((n_nodes, 1), dtype=np.int32), 0.0
    columns = np.ascontiguousarray(codes, dtype=np.int32).reshape(len(codes), -1)
    if columns.shape[0] != n_nodes or (columns.size and columns.min() < -1):
        raise GroupsError(f"codes has shape {columns.shape}: expected one code per node, {n_nodes} in all.")
    counts = [np.bincount(column[column >= 0], minlength=1) for column in columns.T]
    for count in counts:
        if not count.all():
            raise GroupsError(f"Group {int(np.argmin(count))} has no node: number the groups without gaps.")
    notion = get_notion(notion)
    folded = fold_groups(columns, counts) if notion.folds else Folded(columns, counts, NOTHING)
    weights = np.ones(len(counts)) if weights is None else np.asarray(weights, dtype=np.float64)
    objective = Objective(
        fairness=float(fairness),
        notion=notion,
        population=np.concatenate(folded.population).astype(np.int64),
        first=folded.first,
        offsets=np.cumsum([0, *(one.size for one in folded.population)]).astype(np.int64),
        weights=weights / weights.sum(),
        n_nodes=n_nodes,
        total=float(total),
        resolution=float(resolution),
    )
    return objective, folded.columns


def problem_of(adjacency: sparse.csr_array, codes: NDArray | None, **options: Any) -> tuple[Objective, Level]:
    """Return the objective of a graph, with the options of `make_objective`, and the graph as a level."""
    total = float(adjacency.sum(dtype=np.float64))
    objective, columns = make_objective(codes, n_nodes=adjacency.shape[0], total=total, **options)
    return objective, first_level(adjacency, columns, objective.population.size)
