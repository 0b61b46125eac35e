"""Reading edge lists with text ids, csv and parquet: seconds and peak memory against pandas, `factorize` and scipy.

Run ``python -m benchmarks.reading --edges 1e6 1e7``; the files are made in a temporary folder, or in ``--folder``.

Every reading runs in a process of its own, which reports processor seconds (of all threads) and the largest
resident memory, imports included. The peer is what one writes by hand: ``pandas.read_csv`` or ``read_parquet``, ids by
``factorize``, ``coo_array(...).tocsr()`` and the sum with the transpose. It checks nothing and drops no self-loop, so
the files hold none, nor any repeated pair; both must end in the same adjacency.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FORMATS = ("csv", "tsv", "parquet")
NODES_PER_EDGE = 0.1


def make(folder, n_edges, weighted, suffix):
    """Write a random edge list with ids such as user_0012345, and return its path."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    path = folder / f"edges-{n_edges}{'-weighted' if weighted else ''}.{suffix}"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    n = max(2, int(NODES_PER_EDGE * n_edges))
    low, high = np.sort(rng.integers(0, n, size=(2, n_edges + n_edges // 50)), axis=0)
    keys = rng.permutation(np.unique((low * n + high)[low < high]))[:n_edges]
    ends = np.divmod(keys, n)
    swap = rng.random(keys.size) < 0.5
    ends = np.where(swap, ends[1], ends[0]), np.where(swap, ends[0], ends[1])
    names = pa.array([f"user_{k:07d}" for k in range(n)])
    columns = {name: names.take(pa.array(end)) for name, end in zip(("source", "target"), ends, strict=True)}
    if weighted:
        columns["weight"] = np.round(rng.uniform(1, 100, size=ends[0].size), 3)
    table = pa.table(columns)
    if suffix == "parquet":
        parquet.write_table(table, path)
    else:
        options = csv.WriteOptions(delimiter="\t" if suffix == "tsv" else ",", quoting_style="none")
        csv.write_csv(table, path, options)
    return path


def read_ours(path):
    from equigraph.graph import read_graph

    return read_graph(path).adjacency


def read_peer(path):
    import pandas as pd
    from scipy import sparse

    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    else:
        table = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")
    codes, names = pd.factorize(pd.concat([table["source"], table["target"]]), sort=True)
    m, n = len(table), len(names)
    weight = table["weight"].to_numpy() if "weight" in table else np.ones(m)
    one_way = sparse.coo_array((weight, (codes[:m], codes[m:])), shape=(n, n)).tocsr()
    return one_way + one_way.T


READERS = {"equigraph": read_ours, "pandas": read_peer}


def peak_bytes():
    """Return the largest resident memory of this process, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def measure_here(reader, path):
    """Print what one reading took, as JSON."""
    start = time.process_time()
    adjacency = READERS[reader](path)
    seconds, peak = time.process_time() - start, peak_bytes()
    adjacency.sort_indices()
    digest = hashlib.sha256(adjacency.data.tobytes())
    digest.update(adjacency.indices.astype(np.int64).tobytes())
    print(json.dumps({"seconds": seconds, "bytes": peak, "hash": digest.hexdigest(), "nnz": adjacency.nnz}))


def measure(reader, path):
    command = [sys.executable, "-m", "benchmarks.reading", "--measure", reader, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def table(folder, sizes, formats):
    print("Processor seconds and peak memory; ratios are equigraph / pandas, below 1 is better")
    print(f"{'edges':>10s}  {'file':18s}{'equigraph':>20s}{'pandas':>20s}{'seconds':>9s}{'memory':>8s}")
    for n_edges in sizes:
        for suffix in formats:
            for weighted in (False, True):
                path = make(folder, n_edges, weighted, suffix)
                ours, peer = measure("equigraph", path), measure("pandas", path)
                assert ours["hash"] == peer["hash"], f"{path.name}: the two adjacencies differ"
                cells = "".join(
                    f"{one['seconds']:9.2f} s{one['bytes'] / 1e6:6.0f} MB" for one in (ours, peer)
                )
                name = suffix + (", weights" if weighted else "")
                print(
                    f"{ours['nnz'] // 2:10d}  {name:18s}{cells}"
                    f"{ours['seconds'] / peer['seconds']:9.2f}{ours['bytes'] / peer['bytes']:8.2f}",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", nargs="+", type=float, default=[1e6])
    parser.add_argument("--formats", nargs="+", default=FORMATS, choices=FORMATS)
    parser.add_argument("--folder", type=Path, help="keep the files here and use them again")
    parser.add_argument("--measure", nargs=2, metavar=("READER", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure_here(options.measure[0], Path(options.measure[1]))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        table(folder, [int(size) for size in options.edges], options.formats)


if __name__ == "__main__":
    main()
