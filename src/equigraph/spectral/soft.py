r"""A spectral start between plain and fair: fairness enters as a penalty on the spectrum, not as a constraint.

The leading eigenvectors of :math:`D^{-1/2} A D^{-1/2} - \tau U U^\top`, where U spans the directions in which groups
differ. With :math:`\tau = 0` that is plain spectral clustering, with :math:`\tau \to \infty` it is `ScalableFairSC`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.execution import single_blas_thread
from equigraph.spectral.constraints import group_constraint
from equigraph.spectral.labels import embedded_labels

# More vectors than are wanted make the wanted ones converge faster.
_SPARE = 2


def soft_fair_labels(
    adjacency: sparse.csr_array,
    codes: NDArray[np.intp] | None,
    n_clusters: int,
    *,
    strength: float,
    seed: int,
    n_steps: int = 8,
    n_init: int = 3,
) -> NDArray[np.intp]:
    r"""Return labels of soft-fair spectral clustering, for use as a start.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A validated adjacency. Nodes without an edge are placed last, where they help fairness most.
    codes : ndarray of shape (n_nodes,) or None
        Group of each node; None means no fairness.
    n_clusters : int
        k; at most n_nodes.
    strength : float
        The weight :math:`\tau` of fairness.
    seed : int
        Seed of the start vectors and of k-means.
    n_steps : int, default=8
        Blocks of the Krylov space, each one pass over the graph: a start needs no exact eigenvectors.
    n_init : int, default=3
        Starts of k-means.

    Returns
    -------
    ndarray of shape (n_nodes,), dtype intp
        Labels in ``range(n_clusters)``; every cluster has a node.
    """

    def embed(connected: sparse.csr_array, members: NDArray | None, n_vectors: int) -> NDArray:
        with single_blas_thread():
            return _leading_vectors(
                connected, members if strength else None, n_vectors, strength, seed, n_steps
            )

    return embedded_labels(adjacency, codes, n_clusters, embed, n_init=n_init, seed=seed)


def _leading_vectors(
    adjacency: sparse.csr_array,
    codes: NDArray[np.intp] | None,
    n_vectors: int,
    strength: float,
    seed: int,
    n_steps: int,
) -> NDArray[np.float64]:
    """Return approximate leading eigenvectors from a block Krylov space."""
    n = adjacency.shape[0]
    degrees = np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()
    half = 1 / np.sqrt(degrees)[:, None]
    basis = None
    if codes is not None:
        basis = np.linalg.qr(half * group_constraint(codes, int(codes.max()) + 1))[0]

    def operator(panel: NDArray) -> NDArray:
        image = half * (adjacency @ (half * panel))
        return image if basis is None else image - strength * (basis @ (basis.T @ panel))

    width = min(n_vectors + _SPARE, n)
    block = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, width)))[0]
    space, image = block, operator(block)
    images = image
    for _ in range(n_steps - 1):
        # Twice is enough to be orthogonal to working precision.
        for _ in range(2):
            image = image - space @ (space.T @ image)
        block, triangle = np.linalg.qr(image)
        fresh = np.abs(np.diag(triangle)) > 1e-10
        # The last block of a small graph fills the space: the vectors are then exact.
        block = block[:, fresh][:, : n - space.shape[1]]
        if block.shape[1] == 0:
            break
        image = operator(block)
        space, images = np.hstack((space, block)), np.hstack((images, image))
    small = space.T @ images
    _, rotation = np.linalg.eigh((small + small.T) / 2)
    return space @ rotation[:, ::-1][:, :n_vectors]
