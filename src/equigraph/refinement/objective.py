"""What the moves of this folder climb: modularity and a fairness notion, mixed by the dial."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GroupsError, ParameterError

NORMALIZED, BALANCE, MOUFLON = 0, 1, 2
NOTIONS = {"normalized": NORMALIZED, "balance": BALANCE, "mouflon": MOUFLON}


@dataclass(frozen=True)
class Objective:
    r"""The function :math:`J = (1 - f) Q + f N` of a labelling of one graph.

    Attributes
    ----------
    fairness : float
        The dial f in [0, 1]; at 1 the notion N decides and Q breaks ties.
    notion : int
        Code of N in `NOTIONS`.
    resolution : float
        Weight of the null model in Q.
    shares : ndarray of shape (n_groups,)
        Share of each group in the population.
    n_nodes : int
        Nodes of the graph, whatever the level of aggregation.
    total : float
        Sum of all degrees, twice the weight of the edges.
    least, most : int
        Bounds on the number of nodes of a cluster; they bind where the number of clusters is fixed.
    """

    fairness: float
    notion: int
    resolution: float
    shares: NDArray[np.float64]
    n_nodes: int
    total: float
    least: int = 1
    most: int = np.iinfo(np.int64).max

    def modularity(self, inside: NDArray[np.float64], volume: NDArray[np.float64]) -> float:
        """Return Q from twice the weight inside each cluster and the degree sum of each; 0 without edges."""
        if self.total == 0:
            return 0.0
        return float(inside.sum() / self.total - self.resolution * np.square(volume / self.total).sum())

    def notion_value(self, table: NDArray[np.int64]) -> float:
        """Return N from the counts of every (cluster, group) pair; empty clusters do not count."""
        table = table[table.sum(axis=1) > 0]
        sizes = table.sum(axis=1)
        least = table.min(axis=1)
        if self.notion == BALANCE:
            return float(np.mean(least / table.max(axis=1)))
        if self.notion == MOUFLON:
            scores = (table.shape[1] - 1) * least / np.maximum(sizes - least, 1)
        else:
            ratio = table / (sizes[:, None] * self.shares)
            scores = np.minimum(ratio, 1 / np.maximum(ratio, 1e-300)).min(axis=1)
        return float(sizes @ scores / self.n_nodes)

    def value(self, modularity: float, notion: float) -> float:
        """Return J; at f = 1 this is N alone."""
        return (1 - self.fairness) * modularity + self.fairness * notion


def make_objective(
    codes: NDArray | None,
    n_groups: int | None,
    *,
    n_nodes: int,
    total: float,
    fairness: float,
    notion: str,
    resolution: float,
) -> tuple[Objective, NDArray[np.intp], int]:
    """Check codes and parameters, and return the objective, the codes and the number of groups.

    Without codes there is one group and no fairness term.
    """
    if notion not in NOTIONS:
        raise ParameterError(
            f"notion={notion!r} is unknown: expected one of {', '.join(map(repr, NOTIONS))}."
        )
    if not 0 <= fairness <= 1:
        raise ParameterError(f"fairness must be a number in [0, 1]; got {fairness!r}.")
    if codes is None:
        codes, n_groups, fairness = np.zeros(n_nodes, dtype=np.intp), 1, 0.0
    codes = np.asarray(codes, dtype=np.intp)
    if codes.shape != (n_nodes,) or (n_nodes and codes.min() < 0):
        raise GroupsError(
            f"codes has shape {codes.shape}: expected one nonnegative code per node, ({n_nodes},)."
        )
    counts = np.bincount(codes, minlength=n_groups or 0)
    if n_groups is not None and counts.size > n_groups:
        raise GroupsError(f"codes holds {counts.size - 1}: expected codes below n_groups={n_groups}.")
    if not counts.all():
        raise GroupsError(f"Group {int(np.argmin(counts))} has no node: number the groups without gaps.")
    objective = Objective(
        fairness=float(fairness),
        notion=NOTIONS[notion],
        resolution=float(resolution),
        shares=counts / max(n_nodes, 1),
        n_nodes=n_nodes,
        total=float(total),
    )
    return objective, codes, int(counts.size)
