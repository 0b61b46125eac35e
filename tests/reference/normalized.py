"""The normalised objective of coordinate descent."""

import numpy as np

from equigraph.factorization.multiplicative import reconstruction_error
from equigraph.factorization.normalized import graph_scale, penalty_weight, strengths
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
