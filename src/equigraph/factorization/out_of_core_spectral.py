r"""Soft-fair spectral labels where every panel is kept with the row blocks of the graph.

As `equigraph.spectral.soft`: the leading eigenvectors of :math:`D^{-1/2} A D^{-1/2} - \tau U U^\top`, where U spans the
directions in which groups differ, then k-means. A Krylov space would keep a panel for every pass; here a subspace of
a few vectors is filtered by Chebyshev polynomials of the operator instead, so that four panels are enough for any
number of passes. Only small tables and, for the start of k-means, a sample of rows come to the caller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equigraph.execution.distributed.rows import Rows, RowStore, hashed, in_order
from equigraph.groups.placement import place_isolated
from equigraph.groups.sums import group_sums
from equigraph.spectral.labels import _use_all, fill_empty, kmeans_labels, unit_rows

# Vectors more than are wanted, rounds of filtering, and passes of a round: a start needs no exact eigenvectors.
_SPARE, _ROUNDS, _DEGREE = 2, 3, 6
# k-means starts from the clusters of so many rows, looks at all rows so many times, and has so many starts.
_SAMPLE, _LLOYD, _STARTS = 20_000, 5, 3


def row_embedding(
    store: RowStore, n_groups: int, n_clusters: int, *, strength: float, seed: int, n_vectors: int = 0
) -> tuple[int, int]:
    """Put "degrees", their inverse roots "half", and "points" of unit length; twenty passes over the graph.

    Parameters
    ----------
    store : RowStore
        The rows of the graph, with groups where `strength` is positive.
    n_groups : int
        Number of groups of the store, 1 for none.
    n_clusters, strength, seed, n_vectors
        As in `row_spectral_labels`.

    Returns
    -------
    n_active, n_parts : int
        Number of nodes with an edge, and of clusters that these can have.
    """
    store.each(ones_rows)
    counts, squares = zip(
        *store.multiply("ones", "degrees", then=half_rows, arguments=(n_groups,)), strict=True
    )
    n_active = int(in_order(counts).sum())
    n_vectors = min(max(n_clusters, n_vectors), n_active)
    if n_active:
        table = strength * fair_table(in_order(counts), in_order(squares))
        _leading_vectors(store, table, min(n_vectors + _SPARE, n_active), strength, seed)
        store.each(points_rows, n_vectors)
    store.checkpoint(["degrees", "half", "points"] if n_active else ["degrees", "half"])
    return n_active, min(n_clusters, n_active)


def row_spectral_labels(
    store: RowStore,
    codes: NDArray[np.intp] | None,
    n_clusters: int,
    *,
    strength: float,
    seed: int,
    n_vectors: int = 0,
) -> NDArray[np.int32]:
    r"""Return labels of soft-fair spectral clustering; see `row_embedding`.

    Parameters
    ----------
    store : RowStore
        The rows of the graph, with groups where `strength` is positive.
    codes : ndarray of shape (n_nodes,) or None
        Group of each node, as the store has them.
    n_clusters : int
        k; at most n_nodes.
    strength : float
        The weight :math:`\tau` of fairness.
    seed : int
        Seed of the start vectors and of k-means.
    n_vectors : int
        Dimension of the embedding, where that is more than k.

    Returns
    -------
    ndarray of shape (n_nodes,), dtype int32
        Labels in ``range(n_clusters)``; every cluster has a node.
    """
    n_groups = 1 if codes is None else int(codes.max()) + 1
    n_active, n_parts = row_embedding(
        store, n_groups, n_clusters, strength=strength, seed=seed, n_vectors=n_vectors
    )
    active = store.collect("half") > 0
    labels = np.zeros(store.n_nodes, dtype=np.intp)
    if n_active:
        row_kmeans(store, n_parts, n_active, seed)
        labels[active] = store.collect("labels")[active]
    labels = place_isolated(labels, ~active, codes, n_clusters, n_groups)
    # Lloyd's rounds may leave a cluster without a node, as fairness may with isolated nodes.
    return _use_all(labels, np.ones(labels.size, dtype=bool), n_clusters).astype(np.int32)


def fair_table(counts: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return T with (U U'X) row i = half_i T[g_i] S, where S are the group sums of half_i times row i of X.

    U is an orthonormal basis of half_i C[g_i], with the centred group indicators C but one.

    Parameters
    ----------
    counts, squares : ndarray of shape (m,)
        Number of nodes with an edge, and sum of the squares of half, by group.
    """
    shares = counts / counts.sum()
    centred = np.eye(counts.size)[:, :-1] - shares[:-1]
    inner = centred.T @ (squares[:, None] * centred)
    return centred @ np.linalg.pinv(inner, hermitian=True) @ centred.T


def _leading_vectors(
    store: RowStore, table: NDArray[np.float64], width: int, strength: float, seed: int
) -> None:
    """Make panel "X" hold the leading vectors, best first."""
    store.each(random_rows, width, seed)
    lowest = -1.0 - strength
    for step in range(_ROUNDS + 1):
        values = _rayleigh_ritz(store, table)
        if step == _ROUNDS or values[0] - values[-1] < 1e-9:
            break
        # Everything below the least value of the subspace is damped, relative to what lies above.
        centre, radius = (lowest + values[-1]) / 2, (values[-1] - lowest) / 2
        parts = store.each(first_filter_rows, centre, radius, table.shape[0])
        source, target = "scaled", "scaled next"
        for _ in range(_DEGREE - 2):
            sums = table @ in_order(parts)
            arguments = (sums, centre, radius, target)
            parts = store.multiply(source, "image", then=filter_rows, arguments=arguments)
            source, target = target, source


def _rayleigh_ritz(store: RowStore, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormalise "X", turn it and its image to the axes of the operator, and return the values, largest first."""
    # Twice: what the first time leaves of nearly parallel vectors is not yet orthogonal.
    for _ in range(2):
        values, vectors = np.linalg.eigh(in_order(store.each(gram_of_rows)))
        # Vectors that depend on others become zero rather than fewer.
        scales = np.where(values > 1e-13 * values[-1], 1 / np.sqrt(np.maximum(values, 1e-300)), 0.0)
        store.each(turn_rows, "X", vectors * scales)
    sums = table @ in_order(store.each(scale_rows, table.shape[0]))
    small = in_order(store.multiply("scaled", "image", then=image_rows, arguments=(sums,)))
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    for name in ("X", "image"):
        store.each(turn_rows, name, vectors[:, ::-1])
    return values[::-1]


def row_kmeans(store: RowStore, n_parts: int, n_active: int, seed: int) -> None:
    """Put the labels of k-means on the points; those of nodes without an edge mean nothing."""
    sample = np.concatenate(store.each(sample_rows, -(-n_active // _SAMPLE)))
    if sample.shape[0] <= n_parts:
        # So few points that each is a cluster of its own.
        centres = np.vstack([sample, np.zeros((n_parts - sample.shape[0], sample.shape[1]))])
    else:
        found = fill_empty(kmeans_labels(sample, n_parts, n_init=_STARTS, seed=seed), sample, n_parts)
        centres = _means(sample, found, n_parts)
    for _ in range(_LLOYD):
        sums, counts = map(in_order, zip(*store.each(nearest_rows, centres), strict=True))
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    store.each(nearest_rows, centres)


def _means(points: NDArray, labels: NDArray, n_parts: int) -> NDArray[np.float64]:
    return (
        group_sums(points, labels, n_parts) / np.maximum(np.bincount(labels, minlength=n_parts), 1)[:, None]
    )


def ones_rows(rows: Rows) -> None:
    """Put a column of ones, whose image are the degrees."""
    rows.put("ones", np.ones((rows.high - rows.low, 1)))


def half_rows(rows: Rows, n_groups: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Put the inverse roots of the degrees; return by group the number of nodes with an edge and the sum of squares."""
    degrees = rows.get("degrees")[:, 0]
    half = np.zeros(degrees.size)
    np.divide(1.0, np.sqrt(degrees), out=half, where=degrees > 0)
    rows.put("half", half)
    codes = rows.groups()
    active = (half > 0).astype(np.float64)
    sums = group_sums(np.column_stack([active, half**2]), codes, n_groups)
    return sums[:, 0], sums[:, 1]


def random_rows(rows: Rows, width: int, seed: int) -> None:
    """Put random numbers, the same ones however the rows are cut; nodes without an edge stay out."""
    numbers = hashed(np.arange(rows.low * width, rows.high * width), seed).reshape(-1, width) - 0.5
    rows.put("X", numbers * (rows.get("half")[:, None] > 0))


def gram_of_rows(rows: Rows) -> NDArray[np.float64]:
    """Return X'X of the rows."""
    X = rows.get("X")
    return X.T @ X


def turn_rows(rows: Rows, name: str, matrix: NDArray[np.float64]) -> None:
    """Multiply the rows of a panel with a small matrix."""
    rows.put(name, rows.get(name) @ matrix)


def scale_rows(rows: Rows, n_groups: int) -> NDArray[np.float64]:
    """Put X with the inverse roots of the degrees; return its group sums in the same scale."""
    return _scaled(rows, rows.get("X"), n_groups)


def _scaled(rows: Rows, X: NDArray, n_groups: int, target: str = "scaled") -> NDArray[np.float64]:
    scaled = rows.get("half")[:, None] * X
    rows.put(target, scaled)
    return group_sums(scaled, rows.groups(), n_groups)


def image_rows(rows: Rows, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn the product into the image of X under the operator; return X'image of the rows."""
    image = _operator_image(rows, sums)
    rows.put("image", image)
    return rows.get("X").T @ image


def _operator_image(rows: Rows, sums: NDArray[np.float64]) -> NDArray:
    return rows.get("half")[:, None] * (rows.get("image") - sums[rows.groups()])


def first_filter_rows(rows: Rows, centre: float, radius: float, n_groups: int) -> NDArray[np.float64]:
    """Take the first step of the recurrence, for which the image is already there."""
    X = rows.get("X")
    step = (rows.get("image") - centre * X) / radius
    rows.put("before", X)
    rows.put("X", step)
    return _scaled(rows, step, n_groups)


def filter_rows(
    rows: Rows, sums: NDArray[np.float64], centre: float, radius: float, target: str
) -> NDArray[np.float64]:
    """Take the next step of the recurrence of Chebyshev polynomials; the rows it came from may still be asked for."""
    X = rows.get("X")
    step = 2 * (_operator_image(rows, sums) - centre * X) / radius - rows.get("before")
    rows.put("before", X)
    rows.put("X", step)
    return _scaled(rows, step, sums.shape[0], target)


def points_rows(rows: Rows, n_vectors: int) -> None:
    """Put rows of unit length."""
    rows.put("points", unit_rows(rows.get("X")[:, :n_vectors]))


def sample_rows(rows: Rows, stride: int) -> NDArray[np.float64]:
    """Return one of so many points of the nodes with an edge, chosen by a hash: an order of nodes may be periodic."""
    chosen = hashed(np.arange(rows.low, rows.high), 0) * stride < 1
    return rows.get("points")[chosen & (rows.get("half") > 0)]


def nearest_rows(rows: Rows, centres: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Put the nearest centre of every row as its label; return the sums and numbers of rows by label."""
    points = rows.get("points")
    # The length of a point is the same for all centres.
    labels = np.argmin(np.sum(centres**2, axis=1) - 2 * points @ centres.T, axis=1)
    rows.put("labels", labels.astype(np.int32))
    used = rows.get("half") > 0
    n_parts = centres.shape[0]
    counts = np.bincount(labels[used], minlength=n_parts).astype(np.float64)
    return group_sums(points[used], labels[used], n_parts), counts
