"""Time a short list of public calls of the version of equigraph that is on the path; ``history`` runs this.

Nothing here comes from the version that is measured but the calls themselves: graphs are drawn and labels are scored by
numpy, so that all versions do the same work and are judged alike. A case that a version lacks or fails at is left out.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

ROUNDS = 3


class Graph:
    """A graph of planted clusters with groups that are related to them."""

    def __init__(self, n_nodes: int, n_clusters: int, mean_degree: float, mixing: float) -> None:
        rng = np.random.default_rng(0)
        blocks = np.sort(rng.integers(n_clusters, size=n_nodes))
        starts = np.searchsorted(blocks, np.arange(n_clusters + 1))
        ends = rng.integers(n_nodes, size=int(n_nodes * mean_degree / 2))
        inside = rng.random(ends.size) > mixing
        low = np.where(inside, starts[blocks[ends]], 0)
        high = np.where(inside, starts[blocks[ends] + 1], n_nodes)
        others = rng.integers(low, high)
        links = sparse.coo_array((np.ones(ends.size), (ends, others)), shape=(n_nodes, n_nodes)).tocsr()
        links = links + links.T
        links.setdiag(0)
        links.eliminate_zeros()
        links.data[:] = 1
        self.adjacency = sparse.csr_array(links)
        self.blocks = blocks
        self.groups = (rng.random(n_nodes) < np.where(blocks % 2 == 0, 0.7, 0.3)).astype(int)
        self.n_clusters = n_clusters


def score(graph: Graph, labels: np.ndarray) -> float:
    """Return the mean of modularity and of the least relative share of a group: what a dial of one half asks for."""
    k = int(labels.max()) + 1
    chosen = sparse.csr_array(
        (np.ones(labels.size), (np.arange(labels.size), labels)), shape=(labels.size, k)
    )
    between = (chosen.T @ graph.adjacency @ chosen).toarray()
    total = between.sum()
    cohesion = np.trace(between) / total - ((between.sum(axis=1) / total) ** 2).sum()
    counts = np.stack([np.bincount(labels[graph.groups == group], minlength=k) for group in (0, 1)], axis=1)
    sizes = counts.sum(axis=1)
    shares = counts / np.maximum(sizes, 1)[:, None] / (counts.sum(axis=0) / labels.size)
    return float((cohesion + (sizes * np.minimum(shares.min(axis=1), 1)).sum() / labels.size) / 2)


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least CPU time of some calls after one that may compile, and what the last one returned."""
    found = call()
    least = np.inf
    for _ in range(ROUNDS):
        begin = time.process_time()
        found = call()
        least = min(least, time.process_time() - begin)
    return float(least), found


def yardstick() -> None:
    """Do work that no version changes: what varies here is the machine."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        np.sort(rng.random(200_000))
    sum(number * number for number in range(500_000))


def cases(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the calls by their names."""
    import equigraph as eg

    if not Path(eg.__file__).is_relative_to(Path.cwd()):
        sys.exit("There is no package yet: this is another one, which is installed.")
    default = getattr(eg, "FairPartition", None) or eg.FairNMTF  # the default before there was FairPartition
    room = Graph(30, 3, 5, 0.2)
    lastfm = Graph(7_624, 5, 7.3, 0.3)
    blocks = Graph(2_000, 5, 60, 0.3)
    large = Graph(100_000, 10, 20, 0.3)
    upper = sparse.triu(lastfm.adjacency, k=1, format="coo")
    edges = folder / "edges.csv"
    np.savetxt(
        edges, np.column_stack((upper.row, upper.col)), "p%d", ",", header="source,target", comments=""
    )

    def fit(model: Any, graph: Graph) -> float:
        return score(graph, model.fit(graph.adjacency, sensitive_features=graph.groups).labels_)

    return {
        "classroom": lambda: fit(default(3, 0.5, random_state=0), room),
        "curve": lambda: eg.tradeoff_curve(
            room.adjacency, n_clusters=3, random_state=0, sensitive_features=room.groups
        ),
        "lastfm": lambda: fit(default(5, 0.5, random_state=0), lastfm),
        "ifair-nmtf": lambda: fit(eg.IFairNMTF(5, 20.0, max_iter=100, tol=0, random_state=0), blocks),
        "scores": lambda: eg.metrics.evaluate(large.adjacency, large.blocks, sensitive_features=large.groups),
        "reading": lambda: eg.read_graph(edges),
        "yardstick": yardstick,
    }


def measure() -> dict[str, dict[str, float]]:
    """Return seconds, and the score where labels were found, of every case that this version has."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, call in cases(Path(folder)).items():
            try:
                took, answer = seconds(call)
            except Exception as error:  # an old version may lack a call, or have a fault
                print(f"{name}: {error}", file=sys.stderr)
                continue
            found[name] = {"seconds": round(took, 5)}
            if isinstance(answer, float):
                found[name]["score"] = round(answer, 4)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure()))
