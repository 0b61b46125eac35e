"""Graphs in row blocks, for tests of what runs out of core."""

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg


def random_graph(n=90, weighted=False, seed=0, dtype=np.float64, density=0.15):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1) * (rng.random((n, n)) + 0.1 if weighted else 1.0)
    upper[:, min(7, n - 1)] = upper[min(7, n - 1), :] = 0  # a node without an edge
    return sparse.csr_array((upper + upper.T).astype(dtype))


def sbm(n=300):
    return eg.datasets.make_fair_sbm(n, 3, 2, random_state=0)


def sbm_blocks(folder, n=300, rows_per_block=47):
    """Return the blocks of a block model, with its groups."""
    data = sbm(n)
    graph = eg.Graph(data.adjacency, None, data.sensitive_features, "group")
    return eg.write_blocks(graph, folder, rows_per_block=rows_per_block)


def write_parts(folder, n_parts=3, **columns):
    """Write columns as parquet files, their rows dealt out in turn."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    folder.mkdir()
    for part in range(n_parts):
        table = pyarrow.table({name: values[part::n_parts] for name, values in columns.items()})
        parquet.write_table(table, folder / f"part-{part}.parquet")
    return folder


def flip(path):
    """Flip a bit near the end of a file."""
    content = bytearray(path.read_bytes())
    content[-4] ^= 1
    path.write_bytes(content)


def halves(counts, population):
    """Half of every cluster should be of the first group, whatever the population is."""
    size = 0
    for count in counts:
        size += count
    return 1 - abs(2 * counts[0] / size - 1)
