"""Layout of the nodes of a graph: force-directed for small graphs, discs for large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.graph import as_graph
from equigraph.graph.groups.encode import unique_values
from equigraph.graph.labels import labels_in_order

Points = NDArray[np.float64]
Codes = NDArray[np.intp]
MAX_SPRING_NODES = 3000
_BLOCK = 256  # rows of the distance matrix at a time
_PAIRS = 1.5e8  # pairs of nodes over all iterations: a few seconds
_COHESION = 0.5  # pull towards the centre of the own cluster, in units of the spring's
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_GRAVITY = 0.02  # pull towards the middle, so that components do not drift away


def spring_layout(adjacency: Any, *, labels: ArrayLike | None = None, seed: int = 0) -> Points:
    """Return a position for each node.

    Up to 3000 nodes neighbours attract and all nodes repel each other, as Fruchterman and Reingold proposed; above,
    every cluster is a disc with its most linked nodes in the middle. With labels, nodes are also drawn to the centre of
    their cluster. Nodes without an edge are placed on the rim. Only a block of rows of the distances is in memory at a
    time.

    Parameters
    ----------
    adjacency : graph-like
        Anything that `equigraph.graph.as_graph` takes.
    labels : array-like of shape (n_nodes,), optional
        Cluster of each node.
    seed : int, default=0
        Seed of the start. The same seed gives the same picture.

    Returns
    -------
    ndarray of shape (n_nodes, 2)
        Positions within the unit square around the origin, [-1, 1] in both directions.

    Raises
    ------
    GraphError
        If the adjacency is not a graph.
    ParameterError
        If there is not one label per node.

    References
    ----------
    Fruchterman, Reingold. Graph drawing by force-directed placement. Software: Practice and Experience, 1991.

    Examples
    --------
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> position = spring_layout(path, seed=0)
    >>> position.shape, bool(np.abs(position).max() <= 1)
    ((3, 2), True)
    """
    graph = as_graph(adjacency)
    matrix, n = graph.unit_adjacency, graph.n_nodes
    given = np.zeros(n) if labels is None else labels_in_order(labels, graph)
    codes = np.asarray(unique_values(given)[1], dtype=np.intp)
    connected = np.flatnonzero(np.diff(matrix.indptr))
    positions = np.zeros((n, 2))
    if connected.size:
        inner = matrix[connected][:, connected] if connected.size < n else matrix
        _, inner_codes = np.unique(codes[connected], return_inverse=True)
        if connected.size > MAX_SPRING_NODES:
            positions[connected] = _fit(_discs(inner, inner_codes))
        else:
            positions[connected] = _fit(_springs(inner, inner_codes, labels is not None, seed))
    _place_isolated(positions, np.setdiff1d(np.arange(n), connected), codes)
    return _fit(positions)


def _fit(positions: Points) -> Points:
    """Centre the positions and scale them to [-1, 1], both directions alike."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    half = float((high - low).max()) / 2
    centred = positions - (low + high) / 2
    return centred / half if half > 0 else centred


def _circle(n: int) -> Points:
    angle = 2 * np.pi * np.arange(n) / max(n, 1) + np.pi / 2
    return np.column_stack((np.cos(angle), np.sin(angle)))


def _springs(adjacency: sparse.csr_array, codes: Codes, with_labels: bool, seed: int) -> Points:
    """Move the nodes by attraction and repulsion, in smaller and smaller steps."""
    from threadpoolctl import threadpool_limits

    n, n_codes = adjacency.shape[0], int(codes.max()) + 1
    positions = np.random.default_rng(seed).uniform(-0.3, 0.3, size=(n, 2))
    positions += _circle(n_codes)[codes] if n_codes > 1 else 0
    # Weights only order the springs: a weight of a thousand must not collapse the picture.
    springs = sparse.csr_array((adjacency.data / adjacency.data.max(), adjacency.indices, adjacency.indptr))
    distance = 2 / np.sqrt(n)
    n_iter = int(np.clip(_PAIRS / n**2, 30, 300))
    cohesion, sizes = _COHESION if with_labels else 0.0, np.maximum(np.bincount(codes), 1)
    with threadpool_limits(limits=1, user_api="blas"):
        for step in np.linspace(0.25, 0.002, n_iter):
            force = _attraction(positions, springs, distance) + _repulsion(positions, distance)
            force -= _GRAVITY * positions / distance
            if cohesion:
                sums = [np.bincount(codes, positions[:, i], minlength=n_codes) for i in (0, 1)]
                force += cohesion * ((np.column_stack(sums) / sizes[:, None])[codes] - positions)
            length = np.maximum(np.hypot(force[:, 0], force[:, 1]), 1e-12)
            positions = positions + force * (np.minimum(length, step) / length)[:, None]
    return positions


def _attraction(positions: Points, springs: sparse.csr_array, distance: float) -> Points:
    """Return the pull of the neighbours, distance squared over the ideal one."""
    rows = np.repeat(np.arange(positions.shape[0]), np.diff(springs.indptr))
    gap = positions[springs.indices] - positions[rows]
    pull = gap * (springs.data * np.hypot(gap[:, 0], gap[:, 1]) / distance)[:, None]
    return np.column_stack([np.bincount(rows, pull[:, i], minlength=positions.shape[0]) for i in (0, 1)])


def _repulsion(positions: Points, distance: float) -> Points:
    """Return the push of all nodes, the ideal distance squared over the distance."""
    from scipy.spatial.distance import cdist

    force = np.empty_like(positions)
    for start in range(0, positions.shape[0], _BLOCK):
        here = positions[start : start + _BLOCK]
        weight = distance**2 / np.maximum(cdist(here, positions, "sqeuclidean"), 1e-6)
        force[start : start + _BLOCK] = here * weight.sum(axis=1)[:, None] - weight @ positions
    return force


def _discs(adjacency: sparse.csr_array, codes: Codes) -> Points:
    """Give each cluster a disc of its size on a ring, with the most linked nodes in its middle."""
    degrees = adjacency.sum(axis=1, dtype=np.float64)
    sizes = np.bincount(codes)
    radius = np.sqrt(sizes / sizes.sum())
    # On a circle on which neighbouring discs just do not touch.
    angle = 2 * np.pi * (np.cumsum(radius) - radius / 2) / radius.sum()
    ring = 0.0 if sizes.size == 1 else 1.15 * radius.sum() / np.pi
    positions = np.empty((codes.size, 2))
    for code, size in enumerate(sizes.tolist()):
        members = np.flatnonzero(codes == code)
        members = members[np.argsort(-degrees[members], kind="stable")]
        # The spiral of a sunflower: every node has as much room as any other.
        turn = _GOLDEN_ANGLE * np.arange(size)
        reach = 0.95 * radius[code] * np.sqrt((np.arange(size) + 0.5) / size)
        middle = ring * np.array([np.cos(angle[code]), np.sin(angle[code])])
        positions[members] = middle + reach[:, None] * np.column_stack((np.cos(turn), np.sin(turn)))
    return positions


def _place_isolated(positions: Points, isolated: Codes, codes: Codes) -> None:
    """Put the nodes without an edge on a rim around the others, cluster by cluster."""
    if not isolated.size:
        return
    others = np.hypot(positions[:, 0], positions[:, 1]).max()
    order = isolated[np.argsort(codes[isolated], kind="stable")]
    positions[order] = (1.15 * others if others > 0 else 1.0) * _circle(order.size)
