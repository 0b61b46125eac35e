"""The memory that docs/reading-graphs.md promises, measured on a million stored entries."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy
from scipy import sparse

from equigraph.graph import as_graph
from equigraph.graph.edges import EdgeRows, graph_from_rows

N, M = 50_000, 500_000


def random_rows(weighted=True):
    rng = np.random.default_rng(0)
    low, high = np.sort(rng.integers(0, N, size=(2, M + M // 10)), axis=0)
    keys = rng.permutation(np.unique((low.astype(np.int64) * N + high)[low < high]))[:M]
    source, target = (end.astype(np.int32) for end in np.divmod(keys, N))
    weight = rng.random(M) + 1 if weighted else None
    return EdgeRows(source, target, weight, np.arange(N), str)


def peak_of(function):
    """Return the result and the largest memory, in bytes, that numpy and Python held meanwhile."""
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("weighted", [True, False])
def test_from_rows_to_a_graph(weighted):
    rows = random_rows(weighted)
    graph, peak = peak_of(lambda: graph_from_rows(rows))
    assert graph.adjacency.nnz == 2 * M
    assert 24 * M < peak < 1.15 * (48 * M + 40 * N)


def test_symmetrizing():
    rows = random_rows()
    directed = sparse.csr_array((rows.weight, (rows.source, rows.target)), shape=(N, N))
    graph, peak = peak_of(lambda: as_graph(directed, symmetrize="max"))
    assert graph.adjacency.nnz == 2 * M
    assert graph.adjacency.data.base is None or graph.adjacency.data.base.size == 2 * M
    # The comparison of two matrices takes more in scipy 1.13.
    assert peak < (1.25 if scipy.__version__.startswith("1.13.") else 1.15) * (36 * M + 40 * N)


def test_a_canonical_matrix_is_shared():
    adjacency = graph_from_rows(random_rows()).adjacency
    graph, peak = peak_of(lambda: as_graph(adjacency))
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(graph.adjacency, name), getattr(adjacency, name))
    assert peak < 1.15 * (13 * adjacency.nnz + 40 * N)


READING = """
import sys
from pathlib import Path
from equigraph.graph import read_graph

def peak():
    return 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])

read_graph(sys.argv[1])  # loads every library
before = peak()
graph = read_graph(sys.argv[2])
print(peak() - before, graph.adjacency.nnz, graph.n_nodes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_reading_a_file(tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    rows = random_rows()
    names = np.array([f"user_{k:07d}" for k in range(N)])
    table = pa.table({"source": names[rows.source], "target": names[rows.target], "weight": rows.weight})
    paths = [tmp_path / f"small.{suffix}", tmp_path / f"large.{suffix}"]
    for path, part in zip(paths, (table.slice(0, 100), table), strict=True):
        write = parquet.write_table if suffix == "parquet" else csv.write_csv
        write(part, path)
    command = [sys.executable, "-c", READING, *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    peak, nnz, n = map(int, done.stdout.split())
    assert (nnz, n) == (2 * M, N)
    length = len("user_0012345")
    formula = 64 * M + (9 * length + 70) * N + 32e6
    assert formula / 3 < peak < (2 if suffix == "parquet" else 1.15) * formula
