"""Bounds on the sizes of clusters: validation, and repair of labels that violate them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import InfeasibleError, ParameterError

SizeBounds = tuple[int | None, int | None] | str | None
# Default least size of a cluster: the mean size divided by this.
_AUTO_SHARE = 3


def check_size_bounds(bounds: Any, n_nodes: int, n_clusters: int) -> tuple[int, int]:
    """Return the least and the most nodes of a cluster.

    Parameters
    ----------
    bounds : "auto", (int or None, int or None) or None
        Least and most; None leaves a side open. "auto" is at least a third of the mean size, rounded up.
    n_nodes, n_clusters : int
        Size of the problem.

    Raises
    ------
    ParameterError
        If ``bounds`` is not of this form.
    InfeasibleError
        If no division of the nodes meets the bounds.

    Examples
    --------
    >>> check_size_bounds((3, None), 10, 3)
    (3, 10)
    >>> check_size_bounds("auto", 30, 3)
    (4, 30)
    """
    if n_nodes < n_clusters:
        raise InfeasibleError(f"{n_clusters} non-empty clusters cannot be made of {n_nodes} nodes.")
    if bounds is None:
        return 1, n_nodes
    if isinstance(bounds, str) and bounds == "auto":
        return -(-n_nodes // (_AUTO_SHARE * n_clusters)), n_nodes
    pair = tuple(bounds) if isinstance(bounds, (tuple, list)) else ()
    if len(pair) != 2 or not all(side is None or _is_count(side) for side in pair):
        raise ParameterError(
            f"size_bounds must be 'auto' or a pair (least, most) of whole numbers or None; got {bounds!r}."
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
    links: Any, sizes: NDArray[np.int64], labels: NDArray, least: int, most: int, n_clusters: int
) -> NDArray[np.int32]:
    """Return labels whose sizes are within feasible bounds, by greedy moves of the sites that lose least weight.

    Super-nodes may be too large to meet the bounds; the violation is then reduced as far as single moves allow.

    Parameters
    ----------
    links : callable
        ``links(sites, labels, n_clusters)`` returns the weight from each of the sites to every cluster.
    sizes : ndarray of shape (n_sites,)
        Nodes of each site.
    labels : ndarray of shape (n_sites,)
        Labels in ``range(n_clusters)``; not changed.
    least, most, n_clusters : int
        Bounds returned by `check_size_bounds`.
    """
    labels = np.array(labels, dtype=np.int32)
    size = np.bincount(labels, sizes, n_clusters).astype(np.int64)
    stuck = False
    while size.max() > most and not stuck:
        source = int(np.argmax(size))
        sites = np.flatnonzero(labels == source)
        moved = _shift(links(sites, labels, n_clusters), sizes, labels, size, sites, size < most, most, 0)
        stuck = not moved
    stuck = False
    while size.min() < least and not stuck:
        target = np.arange(n_clusters) == int(np.argmin(size))
        donors = np.flatnonzero(size[labels] > least)
        stuck = not _shift(
            links(donors, labels, n_clusters), sizes, labels, size, donors, target, most, least
        )
    return labels


def _shift(
    onto: NDArray,
    sizes: NDArray[np.int64],
    labels: NDArray[np.int32],
    size: NDArray[np.int64],
    sites: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    most: int,
    keep: int,
) -> bool:
    """Move sites into allowed clusters, in place, cheapest first, until the bounds are met; return whether any moved.

    With ``keep`` the allowed cluster is too small, and no other cluster may shrink below ``keep`` nodes. Without it the
    cluster of the sites is too large.
    """
    wanted = keep - int(size[allowed][0]) if keep else int(size[labels[sites[0]]]) - most
    gain = np.where(allowed, onto, -np.inf) - onto[np.arange(sites.size), labels[sites]][:, None]
    any_moved = False
    for position in np.argsort(-gain.max(axis=1), kind="stable"):
        if wanted <= 0:
            break
        site = sites[position]
        by = int(sizes[site])
        room = allowed & (size + by <= most)
        if not room.any() or size[labels[site]] - by < keep:
            continue
        target = int(np.argmax(np.where(room, gain[position], -np.inf)))
        size[labels[site]] -= by
        size[target] += by
        labels[site] = target
        wanted -= by
        any_moved = True
    return any_moved
