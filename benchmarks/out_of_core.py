"""FairPartition in memory, from blocks on disk and on Dask workers: the same labels; and graphs past memory.

``same`` forces graphs that fit in memory through the plan for large ones, in all three places, and compares labels and
objectives, also with the plan for small graphs. ``large`` writes a generated edge set as parquet files, makes row
blocks of them and fits these, each step in a process of its own, whose seconds and peak memory are told.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import equigraph as eg
from benchmarks.scale.__main__ import size
from equigraph.search import plans
from equigraph.stores.block_files import temporary_blocks
from equigraph.stores.dask_rows import dask_client

DIALS = (0.0, 0.2, 0.5, 0.8)
# What labels of the same graph may differ by, between places and from the plan for small graphs.
PLACES, PLANS = 0.001, 0.005
DEGREE, MIXING, SHARES = 20, 0.2, (0.6, 0.4)
EDGES_PER_FILE = 5_000_000


def _mixed(n_nodes: int, n_clusters: int, seed: int) -> Any:
    mix = np.array([np.roll([0.7, 0.2, 0.1], cluster % 3) for cluster in range(n_clusters)])
    return eg.datasets.make_planted_graph(
        n_nodes, n_clusters, mean_degree=12, mixing=0.35, group_mix=mix, random_state=seed
    )


GRAPHS: dict[str, Callable[[], Any]] = {
    "pokec-n": eg.datasets.fetch_pokec_n,
    "lastfm": eg.datasets.fetch_lastfm,
    "planted": lambda: _mixed(20_000, 12, 0),
    "blocks": lambda: eg.datasets.make_fair_sbm(4_000, 5, 3, random_state=0),
}


@contextmanager
def everything_is_large(large: bool) -> Iterator[None]:
    """Let every graph, or none, be searched on parts."""
    before = plans._LARGE_NODES, plans._LARGE_ENTRIES
    plans._LARGE_NODES = plans._LARGE_ENTRIES = 1 if large else 2**62
    try:
        yield
    finally:
        plans._LARGE_NODES, plans._LARGE_ENTRIES = before


def same(names: list[str], dials: list[float], n_clusters: int) -> bool:
    """Print objectives of all places for each graph and value of the dial; return whether all agree."""
    good = True
    with dask_client("dask", n_workers=2) as client:
        for name in names:
            data = GRAPHS[name]()
            graph = eg.Graph(data.adjacency, None, data.sensitive_features)
            with temporary_blocks() as folder:
                blocks = eg.write_blocks(graph, folder, rows_per_block=-(-graph.n_nodes // 7))
                places = {"memory": (graph, None), "disk": (blocks, None), "dask": (blocks, client)}
                for dial in dials:
                    good &= _compare(name, dial, n_clusters, places)
    return good


def _compare(name: str, dial: float, n_clusters: int, places: dict[str, tuple[Any, Any]]) -> bool:
    def fit(graph: Any, execution: Any) -> Any:
        return eg.FairPartition(n_clusters, dial, random_state=0, execution=execution).fit(graph)

    with everything_is_large(False):
        small = fit(*places["memory"])
    with everything_is_large(True):
        found = {place: fit(*where) for place, where in places.items()}
    memory = found["memory"]
    equal = [place for place, one in found.items() if np.array_equal(one.labels_, memory.labels_)]
    values = {place: one.objective_ for place, one in found.items()}
    apart = max(values.values()) - min(values.values())
    short = small.objective_ - min(values.values())
    print(
        f"{name} f={dial:g}: small plan {small.objective_:.4f}, "
        + ", ".join(f"{place} {value:.4f}" for place, value in values.items())
        + f"; same labels: {', '.join(equal)}; short of the small plan by {short:.4f}"
        + ("" if apart <= PLACES and short <= PLANS else "  MISSED"),
        flush=True,
    )
    return apart <= PLACES and short <= PLANS


def write_edges(folder: Path, n_nodes: int, n_clusters: int, seed: int) -> None:
    """Write a planted graph with shuffled nodes as parquet files, and the groups of its nodes; never as a whole."""
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    place = rng.permutation(n_nodes).astype(np.int32)
    side = n_nodes // n_clusters
    groups = np.empty(n_nodes, dtype=np.int8)
    groups[place] = (rng.random(n_nodes) < np.where(np.arange(n_nodes) // side % 2, *SHARES)).astype(np.int8)
    folder.mkdir(parents=True)
    np.save(folder / "groups.npy", groups)
    left, number = n_nodes * DEGREE // 2, 0
    while left:
        count = min(left, EDGES_PER_FILE)
        source = rng.integers(0, side * n_clusters, count)
        inner = source // side * side + rng.integers(0, side, count)
        target = np.where(rng.random(count) < MIXING, rng.integers(0, n_nodes, count), inner)
        target = np.where(source == target, (target + 1) % n_nodes, target)
        table = pyarrow.table({"source": place[source], "target": place[target]})
        parquet.write_table(table, folder / f"{number:05d}.parquet")
        left, number = left - count, number + 1


def step(what: str, folder: Path, n_nodes: int, n_clusters: int, dial: float) -> dict[str, Any]:
    """Do one step in this process, and return what is to be told about it."""
    warnings.simplefilter("ignore")
    before, cpu = time.perf_counter(), time.process_time()
    facts: dict[str, Any] = {"step": what}
    if what == "edges":
        write_edges(folder / "edges", n_nodes, n_clusters, 0)
    elif what == "blocks":
        graph = eg.write_edge_blocks(folder / "edges", folder / "blocks", n_nodes=n_nodes)
        facts |= {"edges": graph.n_edges, "blocks": graph.n_blocks}
    else:
        groups = np.load(folder / "edges" / "groups.npy")
        graph = eg.open_blocks(folder / "blocks").with_groups(groups)
        model = eg.FairPartition(n_clusters, dial, random_state=0).fit(graph)
        facts |= {"fairness": dial, "Q": model.modularity_, "NB": model.notion_}
    facts |= {"seconds": time.perf_counter() - before, "cpu": time.process_time() - cpu}
    return {**facts, "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def large(folder: Path, n_nodes: int, n_clusters: int, dials: list[float]) -> None:
    """Make edges and blocks unless they are there, and fit them at each value of the dial."""
    steps = [name for name in ("edges", "blocks") if not (folder / name).exists()]
    for what, dial in [*((name, 0.0) for name in steps), *(("fit", dial) for dial in dials)]:
        command = [sys.executable, "-m", "benchmarks.out_of_core", "step", what, str(folder)]
        command += ["--nodes", str(n_nodes), "--clusters", str(n_clusters), "--dials", str(dial)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        print(done.stdout.strip(), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("same", "large", "step"))
    parser.add_argument("rest", nargs="*", help="graphs, or the folder to work in")
    parser.add_argument("--dials", type=float, nargs="+", default=list(DIALS))
    parser.add_argument("--nodes", type=size, default=10_000_000)
    parser.add_argument("--clusters", type=int, default=None)
    options = parser.parse_args()
    if options.what == "same":
        return 0 if same(options.rest or list(GRAPHS), options.dials, options.clusters or 5) else 1
    n_clusters = options.clusters or 10
    if options.what == "large":
        large(Path(options.rest[0]), options.nodes, n_clusters, options.dials)
        return 0
    what, folder = options.rest
    print(json.dumps(step(what, Path(folder), options.nodes, n_clusters, options.dials[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
