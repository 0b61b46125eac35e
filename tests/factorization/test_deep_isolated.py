"""Nodes without an edge in the deep factorisation: set aside, and the rest as if all of them were there."""

import numpy as np
from scipy import sparse

import equigraph as eg
from equigraph._utils.callbacks import Notifier
from equigraph.factorization.deep import OnRows, deep_updates, with_rows
from equigraph.factorization.penalties import GroupParity
from equigraph.stores import SerialProduct

ROOM = eg.datasets.make_classroom()


def test_a_step_without_their_rows_is_a_step_with_rows_of_zeros():
    rng = np.random.default_rng(0)
    dense = np.zeros((9, 9))
    linked = np.array([0, 2, 3, 5, 6, 8])
    block = rng.random((6, 6))
    dense[np.ix_(linked, linked)] = block + block.T
    np.fill_diagonal(dense, 0)
    penalty = 0.7 * GroupParity(np.array([0, 1, 0, 1, 1, 0, 1, 0, 1]))
    first, second, W = rng.random((6, 3)), rng.random((3, 2)), np.eye(2) + 0.5
    limits = {"exponent": 0.25, "max_iter": 5, "tol": 0.0, "notify": Notifier()}
    all_of_them = deep_updates(
        SerialProduct(sparse.csr_array(dense)), [with_rows(first, linked, 9), second], W, penalty=penalty, **limits
    )  # fmt: skip
    some = deep_updates(
        SerialProduct(sparse.csr_array(dense[np.ix_(linked, linked)])),
        [first, second],
        W,
        penalty=OnRows(penalty, linked, 9),
        **limits,
    )
    np.testing.assert_allclose(with_rows(some.H, linked, 9), all_of_them.H, rtol=1e-12)
    np.testing.assert_allclose(some.history, all_of_them.history, rtol=1e-12)
