"""Compiled loops over tiles of a row block, against dense products."""

import numpy as np
import pytest

from equigraph.stores.block_files import RowBlock
from equigraph.stores.rows import add_tile
from tests.reference.stored import random_graph


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 2, 5, 8, 17])
def test_tiles_of_any_cut_give_the_same_bits_and_the_dense_product(weighted, dtype, k):
    from equigraph.stores.kernels import split_points

    A = random_graph(weighted=weighted)
    panel = np.random.default_rng(k).random((90, k)).astype(dtype)
    block = RowBlock(0, 90, A.indptr, A.indices, A.data if weighted else None, 1.0)
    whole, parts = np.zeros((90, k), dtype), np.zeros((90, k), dtype)
    add_tile(A.indptr[:-1], A.indptr[1:], block, 0, panel, whole)
    cuts = np.array([0, 31, 32, 90])
    points = np.empty((4, 90), A.indptr.dtype)
    split_points(A.indptr, A.indices, cuts, points)
    for i in range(3):
        add_tile(points[i], points[i + 1], block, cuts[i], panel[cuts[i] : cuts[i + 1]], parts)
    np.testing.assert_array_equal(parts, whole)
    dense = A.toarray() @ panel.astype(float)
    np.testing.assert_allclose(whole, dense, rtol=1e-5 if dtype == np.float32 else 1e-13)
