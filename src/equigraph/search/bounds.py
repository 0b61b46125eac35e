"""Bounds on the sizes of clusters: whether they can be met, and labels that meet them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.search.ground import Ground
from equigraph.search.levels import Level, sums


def check_size_bounds(bounds: Any, n_nodes: int, n_clusters: int) -> tuple[int, int]:
    """Return the least and the most nodes of a cluster.

    Parameters
    ----------
    bounds : (int or None, int or None) or None
        Least and most; None leaves a side open.
    n_nodes, n_clusters : int
        What has to be divided.

    Raises
    ------
    ParameterError
        If it is no such pair.
    InfeasibleError
        If no division of the nodes meets the bounds.

    Examples
    --------
    >>> check_size_bounds((3, None), 10, 3)
    (3, 10)
    """
    if n_nodes < n_clusters:
        raise InfeasibleError(f"{n_clusters} non-empty clusters cannot be made of {n_nodes} nodes.")
    if bounds is None:
        return 1, n_nodes
    pair = tuple(bounds) if isinstance(bounds, (tuple, list)) else ()
    if len(pair) != 2 or not all(side is None or _is_count(side) for side in pair):
        raise ParameterError(
            f"size_bounds must be a pair (least, most) of whole numbers or None; got {bounds!r}."
        )
    least = 1 if pair[0] is None else max(int(pair[0]), 1)
    most = n_nodes if pair[1] is None else min(int(pair[1]), n_nodes)
    if None not in pair and int(pair[0]) > int(pair[1]):
        raise InfeasibleError(f"size_bounds={bounds!r}: the least size is above the most.")
    if n_clusters * least > n_nodes:
        raise InfeasibleError(
            f"{n_clusters} clusters of at least {least} nodes need {n_clusters * least} nodes, and the graph has "
            f"{n_nodes}: lower the least size to {n_nodes // n_clusters}, or ask for fewer clusters."
        )
    if n_clusters * most < n_nodes:
        raise InfeasibleError(
            f"{n_clusters} clusters of at most {most} nodes hold {n_clusters * most} of {n_nodes} nodes: raise the "
            f"most to {-(-n_nodes // n_clusters)}, or ask for more clusters."
        )
    return least, most


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 0


def within_bounds(
    level: Level | Ground, labels: NDArray, n_clusters: int, least: int, most: int
) -> NDArray[np.int32]:
    """Return labels whose sizes are within feasible bounds, moving the nodes that cost the least weight.

    Super-nodes may be too large for that; their sizes are then brought nearer to the bounds as far as single moves do.

    Parameters
    ----------
    level : Level or Ground
        The graph of the nodes, or of super-nodes.
    labels : ndarray of shape (n_nodes,)
        Labels in ``range(n_clusters)``; not changed.
    n_clusters, least, most : int
        Bounds that `check_size_bounds` let pass.
    """
    labels = np.array(labels, dtype=np.int32)
    sizes = sums(labels, level.sizes, n_clusters).astype(np.int64)
    stuck = False
    while sizes.max() > most and not stuck:
        source = int(np.argmax(sizes))
        nodes = np.flatnonzero(labels == source)
        stuck = not _shift(level, labels, sizes, nodes, sizes < most, sizes[source] - most, most)
    stuck = False
    while sizes.min() < least and not stuck:
        target = int(np.argmin(sizes))
        donors = np.flatnonzero(sizes[labels] > least)
        only = np.arange(n_clusters) == target
        stuck = not _shift(level, labels, sizes, donors, only, least - sizes[target], most, keep=least)
    return labels


def _shift(
    level: Level | Ground,
    labels: NDArray[np.int32],
    sizes: NDArray[np.int64],
    nodes: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    wanted: int,
    most: int,
    keep: int = 0,
) -> bool:
    """Move up to ``wanted`` of the nodes into allowed clusters, in place, cheapest first; return whether any moved."""
    onto = level.links(nodes, labels, sizes.size)
    gain = np.where(allowed, onto, -np.inf) - onto[np.arange(nodes.size), labels[nodes]][:, None]
    order = np.argsort(-gain.max(axis=1), kind="stable")
    any_moved = False
    for position in order:
        if wanted <= 0:
            break
        node = nodes[position]
        size = int(level.sizes[node])
        room = allowed & (sizes + size <= most)
        if not room.any() or sizes[labels[node]] - size < keep:
            continue
        target = int(np.argmax(np.where(room, gain[position], -np.inf)))
        sizes[labels[node]] -= size
        sizes[target] += size
        labels[node] = target
        wanted -= size
        any_moved = True
    return any_moved
