r"""A search on super-nodes: a graph that fits anywhere, made of rows that live apart.

Single moves cannot merge two clusters and split a third, which fairness at a given number of clusters often asks for.
So the nodes of each group are first gathered into many small clusters of the spectral embedding; the weights between
these come from one pass. On this graph the search of `equigraph.search` runs in memory, with the exact objective of
the nodes inside, and what it finds goes back to the nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.execution.distributed.rows import Rows, RowStore, in_order
from equigraph.factorization.row_spectral import row_kmeans
from equigraph.groups.sums import contingency_table
from equigraph.search.levels import Level
from equigraph.search.objective import Objective
from equigraph.search.search import Search, Target

# Most super-nodes, and most small clusters among which the nodes of a group are gathered.
_SUPER_NODES, _PARTS = 1024, 256
# The weights between all super-nodes are one dense table, here and on every worker.
_MOST_SUPER_NODES = 4096
# A graph of super-nodes is small and dense, where the search by itself would make few proposals.
_EFFORT = 20


def coarse_labels(
    store: RowStore,
    objective: Objective,
    n_clusters: int,
    n_groups: int,
    n_active: int,
    *,
    effort: float,
    seed: int,
) -> bool:
    """Put labels found by a search on super-nodes into panel "labels".

    Parameters
    ----------
    store : RowStore
        The rows, after `row_embedding`.
    objective : Objective
        What to raise, at its value of the dial.
    n_clusters, n_groups : int
        k and m.
    n_active : int
        Number of nodes with an edge.
    effort, seed
        As for `Search`.

    Returns
    -------
    bool
        False where there would be too few super-nodes for k clusters, or too many; the labels are then of no use.
    """
    n_parts = min(max(min(_PARTS, _SUPER_NODES // n_groups), 2 * n_clusters), n_active)
    n_super = (n_parts + 1) * n_groups
    if n_super > _MOST_SUPER_NODES:
        return False
    row_kmeans(store, n_parts, n_active, 1, seed)
    counts = in_order(store.each(super_rows, n_parts, n_groups))
    used = np.flatnonzero(counts.sum(axis=1))
    if used.size < 2 * n_clusters:
        return False
    weights = store.tally("labels", n_super)[np.ix_(used, used)]
    level = super_level(weights, counts[used].astype(np.int64))
    search = Search.on_level(level, objective, n_clusters, effort=_EFFORT * effort, seed=seed)
    found = search.solve([Target(objective.fairness)])[0]
    place = np.zeros(n_super, dtype=np.int32)
    place[used] = found
    store.each(project_rows, place)
    return True


def super_level(weights: NDArray[np.float64], counts: NDArray[np.int64]) -> Level:
    """Return the graph of super-nodes from all weights between them, those inside included."""
    strength = weights.sum(axis=1)
    outside = weights.copy()
    np.fill_diagonal(outside, 0.0)
    columns = np.zeros((0, 1), dtype=np.int32)
    return Level(sparse.csr_array(outside), strength, counts.sum(axis=1), columns, counts)


def super_rows(rows: Rows, n_parts: int, n_groups: int) -> NDArray[np.float64]:
    """Turn the labels of small clusters into those of super-nodes, and return their counts by group.

    Nodes without an edge, which no point speaks for, are super-nodes of their own.
    """
    parts = np.where(rows.get("half") > 0, rows.get("labels"), n_parts)
    codes = rows.groups()
    labels = (parts * n_groups + codes).astype(np.int32)
    rows.put("labels", labels)
    return contingency_table(labels, codes, (n_parts + 1) * n_groups, n_groups).astype(np.float64)


def project_rows(rows: Rows, place: NDArray[np.int32]) -> None:
    """Give every node the cluster of its super-node."""
    rows.put("labels", place[rows.get("labels")])
