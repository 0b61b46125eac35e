"""The normalised objective of coordinate descent, and its gradient."""

import numpy as np

from equigraph.factorization.multiplicative import reconstruction_error
from equigraph.factorization.normalized import (
    graph_scale,
    length_forces,
    penalty_weight,
    strengths,
)
from equigraph.stores.products import gram


def column_penalties(penalty, H):
    """Return R of each column of H by itself; they sum to R(H), since R is a quadratic form."""
    if penalty is None:
        return np.zeros(H.shape[1])
    return 0.5 * np.einsum("ij,ij->j", H, penalty.gradient(H), dtype=np.float64)


def normalized_objective(product, H, W, *, penalty=None, weight=1.0):
    r"""Return J(H, W).

    Parameters
    ----------
    product : Product
        Products with A; one pass over the graph is made, and one with a single column.
    H : ndarray of shape (n_nodes, k)
        Nonnegative membership.
    W : ndarray of shape (k, k)
        Nonnegative, symmetric interaction.
    penalty : Penalty, optional
        R.
    weight : float
        :math:`\mu`.

    Returns
    -------
    float
        J; for a graph without edges, whose norm is zero, 0.

    Examples
    --------
    >>> from scipy import sparse
    >>> from equigraph.stores.products import SerialProduct
    >>> product = SerialProduct(sparse.csr_array([[0.0, 3.0], [3.0, 0.0]]))
    >>> round(normalized_objective(product, np.eye(2), np.array([[0.0, 3.0], [3.0, 0.0]])), 9) + 0.0
    0.0
    >>> normalized_objective(product, np.eye(2), np.zeros((2, 2)))
    1.0
    """
    scale = graph_scale(product)
    if scale.norm == 0:
        return 0.0
    W = np.asarray(W, dtype=np.float64) / scale.norm
    HH, HAH = gram(H, H), gram(H, product(H)) / scale.norm
    factor = penalty_weight(weight, H.shape[1], scale)
    cost = factor * float(strengths(HH, W)[0] @ column_penalties(penalty, H)) if factor else 0.0
    return reconstruction_error(1.0, HAH, HH, W) + cost


def normalized_gradient(product, H, W, *, penalty=None, weight=1.0):
    """Return the gradients of J with respect to H and to W, all entries of W taken as free.

    J has kinks where the own link of a cluster ties with another; there it is a gradient from one side.

    Parameters
    ----------
    product, H, W, penalty, weight
        As for `normalized_objective`.

    Returns
    -------
    gradient_H : ndarray of shape (n_nodes, k)
    gradient_W : ndarray of shape (k, k)
    """
    scale = graph_scale(product)
    k = H.shape[1]
    if scale.norm == 0:
        return np.zeros(H.shape), np.zeros((k, k))
    H = np.asarray(H, dtype=np.float64)
    W = np.asarray(W, dtype=np.float64) / scale.norm
    AH, HH = product(H) / scale.norm, gram(H, H)
    on_H = 4 * (H @ (W @ HH @ W) - AH @ W)
    on_W = 2 * (HH @ W @ HH - gram(H, AH))
    factor = penalty_weight(weight, k, scale)
    if penalty is not None and factor:
        w, best = strengths(HH, W)
        r = column_penalties(penalty, H)
        on_H += factor * w * penalty.gradient(H) + H * length_forces(factor * r, w, best, HH)
        length = np.sqrt(np.diag(HH))
        rows = np.flatnonzero(length)
        on_W[rows, best[rows]] += factor * r[rows] * length[best[rows]] / length[rows]
    return on_H, on_W / scale.norm
