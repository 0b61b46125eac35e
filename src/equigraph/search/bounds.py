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
    links: Any,
    own: Any,
    sizes: NDArray[np.int64],
    labels: NDArray,
    least: int,
    most: int,
    n_clusters: int,
) -> NDArray[np.int32]:
    """Return labels whose sizes are within feasible bounds, by greedy moves of the sites that lose least weight.

    Super-nodes may be too large to meet the bounds; the violation is then reduced as far as single moves allow.

    Parameters
    ----------
    links : callable
        ``links(sites, labels, n_clusters)`` returns the weight from each of the sites to every cluster.
    own : callable
        ``own(labels)`` returns the weight from each site to its own cluster.
    sizes : ndarray of shape (n_sites,)
        Nodes of each site.
    labels : ndarray of shape (n_sites,)
        Labels in ``range(n_clusters)``; not changed.
    least, most, n_clusters : int
        Bounds returned by `check_size_bounds`.
    """
    labels = np.array(labels, dtype=np.int32)
    size = np.bincount(labels, sizes, n_clusters).astype(np.int64)

    def move(site: int, target: int) -> None:
        size[labels[site]] -= sizes[site]
        size[target] += sizes[site]
        labels[site] = target

    moved = True
    while size.max() > most and moved:
        source, moved = int(np.argmax(size)), False
        sites, allowed = np.flatnonzero(labels == source), size < most
        onto = links(sites, labels, n_clusters)
        gain = np.where(allowed, onto, -np.inf) - onto[:, [source]]
        for position in np.argsort(-gain.max(axis=1), kind="stable"):
            if size[source] <= most:
                break
            room = allowed & (size + sizes[sites[position]] <= most)
            if room.any():
                move(sites[position], int(np.argmax(np.where(room, gain[position], -np.inf))))
                moved = True
    moved = True
    while size.min() < least and moved:
        target, moved = int(np.argmin(size)), False
        donors = np.flatnonzero(size[labels] > least)
        gain = links(donors, (labels == target).astype(np.int32), 2)[:, 1] - own(labels)[donors]
        for site in donors[np.argsort(-gain, kind="stable")]:
            if size[target] >= least:
                break
            if size[labels[site]] - sizes[site] >= least and size[target] + sizes[site] <= most:
                move(site, target)
                moved = True
    return labels
