"""The memory of a fit is what docs/scale.md says."""

import tracemalloc

import numpy as np
import pytest

import equigraph as eg


def documented_bytes(n_nodes, n_entries, k, dtype):
    """Return the formula of docs/scale.md, without the graph itself."""
    size = np.dtype(dtype).itemsize
    weights = 0 if dtype == "float64" else size * n_entries
    return n_nodes * (6 * k * size + 40) + weights


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("k", [5, 10])
def test_a_fit_needs_six_panels_and_no_copy_of_the_graph(dtype, k):
    data = eg.datasets.make_planted_graph(30_000, 5, mean_degree=20, random_state=0)
    graph = eg.as_graph(data.adjacency)
    model = eg.IFairNMTF(k, fairness=1.0, init="random", max_iter=5, tol=0, dtype=dtype, random_state=0)
    model.fit(graph, sensitive_features=data.sensitive_features)  # compiles and imports
    tracemalloc.start()
    try:
        model.fit(graph, sensitive_features=data.sensitive_features)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    wanted = documented_bytes(graph.n_nodes, graph.adjacency.nnz, k, dtype)
    assert wanted / 2 < peak < 1.25 * wanted
