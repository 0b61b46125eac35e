"""The spectral start out of core, against dense eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest

import equigraph as eg
from equigraph.execution.blocks import write_blocks
from equigraph.execution.distributed import StreamedRows
from equigraph.factorization.out_of_core_spectral import fair_table, row_embedding
from equigraph.spectral.constraints import group_constraint


@pytest.mark.parametrize("strength", [0.0, 0.4])
def test_embedding_follows_the_dense_eigenvectors(tmp_path, strength):
    data = eg.datasets.make_planted_graph(200, 3, random_state=0)
    codes = np.arange(200) % 2
    A = data.adjacency.toarray()
    half = 1 / np.sqrt(A.sum(axis=1))
    F = np.linalg.qr(half[:, None] * group_constraint(codes, 2))[0]
    operator = half[:, None] * A * half - strength * F @ F.T
    vectors = np.linalg.eigh(operator)[1][:, ::-1][:, :3]
    store = StreamedRows(write_blocks(data.adjacency, tmp_path / "x", rows_per_block=31), codes)
    row_embedding(store, 2, 3, strength=strength, seed=0)
    points = store.collect("points")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    # The same points up to a rotation, so the same angles between nodes.
    np.testing.assert_allclose(points @ points.T, unit @ unit.T, atol=0.02)


def test_fair_table_is_the_projection():
    rng = np.random.default_rng(0)
    codes, half, X = rng.integers(0, 3, 50), rng.random(50) + 0.1, rng.random((50, 4))
    U = np.linalg.qr(half[:, None] * group_constraint(codes, 3))[0]
    counts = np.bincount(codes).astype(float)
    sums = np.stack([(half[:, None] * X)[codes == g].sum(axis=0) for g in range(3)])
    table = fair_table(counts, np.bincount(codes, weights=half**2))
    np.testing.assert_allclose(half[:, None] * (table @ sums)[codes], U @ (U.T @ X), atol=1e-12)
