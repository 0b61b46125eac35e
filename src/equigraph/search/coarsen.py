"""Few parts of a large graph: a level small enough to search on as long as one likes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equigraph.search.ground import Ground
from equigraph.search.levels import Level, aggregate, compact
from equigraph.search.objective import Objective

# Passes of the propagation. After these, hardly any node still changes its part.
_PASSES = 4
# Small parts that are left over are packed when there are this many times as many parts as wanted.
_EXCESS = 4


def coarsen(
    ground: Ground, cells: NDArray | None, n_parts: int, objective: Objective
) -> tuple[NDArray[np.int32], Level]:
    """Divide a graph into about as many parts as wanted, none of them across two cells.

    Labels spread along edges up to a bound on the strength of a part. Where that leaves many small parts, such as
    leaves of a hub that is full, components of their own and nodes without edges, those are packed together: first by
    the part that they have most weight to, then by their largest group.

    Parameters
    ----------
    ground : Ground
        The nodes of the graph.
    cells : ndarray of shape (n_nodes,), int32, or None
        Nodes with different entries are never in the same part.
    n_parts : int
        The strength of a part, or its nodes if they were packed, are at most about this part of the whole.

    Returns
    -------
    labels : ndarray of shape (n_nodes,)
        Part of each node, compact.
    coarse : Level
        The graph of the parts.

    Examples
    --------
    >>> from scipy import sparse
    >>> from equigraph.stores.blocks import MemoryBlocks
    >>> from equigraph.stores.distributed import StreamedRows
    >>> from equigraph.search.objective import make_objective
    >>> edges = sparse.csr_array(np.kron(np.eye(3), [[0.0, 1.0], [1.0, 0.0]]))
    >>> objective, columns = make_objective(None, n_nodes=6, total=6.0)
    >>> ground = Ground(StreamedRows(MemoryBlocks(edges)))
    >>> ground.divide(columns, 1)
    >>> coarsen(ground, None, 3, objective)[0].tolist()
    [0, 0, 1, 1, 2, 2]
    """
    labels = compact(ground.spread(cells, float(ground.strength.sum()) / n_parts, _PASSES))
    coarse = ground.aggregate(labels, objective)
    if coarse.n_nodes <= _EXCESS * n_parts:
        return labels, coarse
    coarse_cells = np.zeros(coarse.n_nodes, dtype=np.int32)
    if cells is not None:
        coarse_cells[labels] = cells
    packed = _packed(coarse, coarse_cells, n_parts)
    return packed[labels], aggregate(coarse, packed, objective)


def _packed(level: Level, cells: NDArray, n_parts: int) -> NDArray[np.int32]:
    """Return compact labels that put small super-nodes of the same cell together; large ones stay alone."""
    from equigraph.search.kernels.parts import strongest

    sizes = level.sizes
    mass = sizes / sizes.sum()
    if level.strength.sum() > 0:
        mass = (mass + level.strength / level.strength.sum()) / 2
    small = np.flatnonzero(mass < 0.5 / n_parts)
    toward, group = strongest(level.sites())[small], level.counts[small].argmax(axis=1)
    order = np.lexsort((group, toward, cells[small]))
    small = small[order]
    # Bins of even mass along that order; one is cut where the cell changes, or the group of what has no edges.
    loose = toward[order] < 0
    filled = np.floor(np.cumsum(mass[small]) * n_parts)
    kind = np.column_stack([filled, cells[small], np.where(loose, group[order], -1)])
    starts = np.any(kind[1:] != kind[:-1], axis=1)
    labels = np.arange(level.n_nodes)
    labels[small] = level.n_nodes + np.concatenate([[0], np.cumsum(starts)])
    return compact(labels)
