"""What is measured: our methods, their peers, the dense equations and the floor of memory, all by one interface."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import equigraph as eg
from benchmarks import memory_floor
from equigraph.exceptions import require

ITERATIONS = 500
# The weight of IFairNMTF: its default. An iteration does the same work for every weight above 0.
WEIGHT = 1.0
TIMED_ITERATIONS, DENSE_ITERATIONS = 20, 3
# What the dense equations take at their peak, in n x n float32 arrays, with a little to spare: on 10K nodes it was
# 8.2 of them, torch itself included.
DENSE_ARRAYS = 9


@dataclass(frozen=True)
class Task:
    """A graph and how it is to be clustered."""

    adjacency: sparse.csr_array
    groups: NDArray
    n_clusters: int = 10
    seed: int = 0
    threads: int = 2

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    def edges(self, dtype: type) -> tuple[NDArray, NDArray]:
        """Return the two ends of every edge, each edge once."""
        upper = sparse.triu(self.adjacency, k=1, format="coo")
        return upper.row.astype(dtype), upper.col.astype(dtype)


@dataclass(frozen=True)
class Outcome:
    """What a run gives: labels where it makes some, and its own clock where the time of the call is not what counts."""

    labels: NDArray | None = None
    seconds: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """Something to measure.

    Attributes
    ----------
    label : str
        Its name in tables.
    kind : str
        "ours", "peer" or "part": one iteration, or the floor, which make no labels.
    build : callable
        Makes the graph object of the library; timed apart.
    run : callable
        Clusters that object.
    packages : tuple of str
        Distributions whose versions a measurement depends on.
    room : callable, optional
        Bytes needed for a number of nodes, of a method that cannot do without n x n arrays.
    """

    label: str
    kind: str
    build: Callable[[Task], Any]
    run: Callable[[Any, Task], Outcome]
    packages: tuple[str, ...] = ("numpy", "scipy", "numba")
    room: Callable[[int], int] | None = None


def _our_graph(task: Task) -> eg.Graph:
    return eg.as_graph(task.adjacency)


def _fair_partition(graph: eg.Graph, task: Task, fairness: float) -> Outcome:
    model = eg.FairPartition(task.n_clusters, fairness, random_state=task.seed)
    return Outcome(model.fit(graph, sensitive_features=task.groups).labels_)


def _fair_nmtf(graph: eg.Graph, task: Task, fairness: float) -> Outcome:
    model = eg.FairNMTF(task.n_clusters, fairness, random_state=task.seed)
    return Outcome(model.fit(graph, sensitive_features=task.groups).labels_)


def _ifair_nmtf(graph: eg.Graph, task: Task) -> Outcome:
    model = eg.IFairNMTF(
        task.n_clusters, fairness=WEIGHT, max_iter=ITERATIONS, tol=0, random_state=task.seed
    ).fit(graph, sensitive_features=task.groups)
    return Outcome(model.labels_, extra={"iterations": model.n_iter_})


def _ifair_iteration(graph: eg.Graph, task: Task, dtype: str) -> Outcome:
    """Time single iterations by a callback: what comes before the first, such as the start, is not counted."""
    clock: list[float] = []
    model = eg.IFairNMTF(
        task.n_clusters,
        fairness=WEIGHT,
        init="random",
        max_iter=TIMED_ITERATIONS + 1,
        tol=0,
        dtype=dtype,
        random_state=task.seed,
        callbacks=lambda progress: clock.append(time.perf_counter()),
    )
    model.fit(graph, sensitive_features=task.groups)
    return Outcome(seconds=float(np.median(np.diff(clock))))


def _dense(_: None, task: Task) -> Outcome:
    torch = require("torch", extra="neural", purpose="The dense equations")
    from benchmarks.speed_ifairnmtf import dense_seconds_per_iteration

    torch.set_num_threads(task.threads)
    once = dense_seconds_per_iteration(task.adjacency, task.groups, task.n_clusters, WEIGHT, DENSE_ITERATIONS)
    return Outcome(seconds=ITERATIONS * once, extra={"iterations": DENSE_ITERATIONS})


def _floor(_: None, task: Task, itemsize: int) -> Outcome:
    floor = memory_floor.measure(
        task.adjacency.nnz, task.n_nodes, task.n_clusters, itemsize=itemsize, threads=task.threads
    )
    rates = {"stream_gib_per_s": floor.stream / 2**30, "gather_lines_per_s": floor.gather}
    return Outcome(seconds=floor.seconds, extra=rates)


def _spectral(adjacency: sparse.csr_array, task: Task, eigen_solver: str | None) -> Outcome:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(
        task.n_clusters, affinity="precomputed", eigen_solver=eigen_solver, random_state=task.seed
    )
    return Outcome(model.fit_predict(adjacency))


def _nmf(adjacency: sparse.csr_array, task: Task) -> Outcome:
    from sklearn.decomposition import NMF

    return Outcome(
        NMF(task.n_clusters, random_state=task.seed).fit_transform(adjacency).argmax(axis=1),
    )


def _scipy_matrix(task: Task) -> sparse.csr_matrix:
    return sparse.csr_matrix(task.adjacency)


def _sknetwork_louvain(adjacency: sparse.csr_matrix, task: Task) -> Outcome:
    clustering = require("sknetwork.clustering", extra="bench", purpose="Louvain of scikit-network")
    return Outcome(clustering.Louvain(random_state=task.seed).fit_predict(adjacency))


def _igraph_of(task: Task) -> Any:
    igraph = require("igraph", extra="peers", purpose="Leiden of igraph")
    return igraph.Graph(n=task.n_nodes, edges=np.column_stack(task.edges(np.int64)))


def _igraph_leiden(graph: Any, task: Task) -> Outcome:
    import random

    import igraph

    igraph.set_random_number_generator(random.Random(task.seed))
    try:
        return Outcome(np.asarray(graph.community_leiden("modularity").membership))
    finally:
        igraph.set_random_number_generator(random)


def _networkit_of(task: Task) -> Any:
    networkit = require("networkit", extra="peers", purpose="networkit's methods")
    graph = networkit.Graph(task.n_nodes)
    graph.addEdges(task.edges(np.uint64))
    return graph


def _networkit(graph: Any, task: Task, method: str) -> Outcome:
    import networkit

    networkit.setNumberOfThreads(task.threads)
    networkit.setSeed(task.seed, False)
    found = getattr(networkit.community, method)(graph).run().getPartition()
    return Outcome(np.asarray(found.getVector(), dtype=np.int64))


def _same(task: Task) -> sparse.csr_array:
    return task.adjacency


def _nothing(task: Task) -> None:
    return None


_SKLEARN = ("numpy", "scipy", "scikit-learn")

METHODS = {
    "fair-partition-0": Method(
        "FairPartition, dial 0", "ours", _our_graph, partial(_fair_partition, fairness=0.0)
    ),
    "fair-partition-0.5": Method(
        "FairPartition, dial .5", "ours", _our_graph, partial(_fair_partition, fairness=0.5)
    ),
    "fair-nmtf-0": Method("FairNMTF, dial 0", "ours", _our_graph, partial(_fair_nmtf, fairness=0.0)),
    "fair-nmtf-0.5": Method("FairNMTF, dial .5", "ours", _our_graph, partial(_fair_nmtf, fairness=0.5)),
    "ifair-nmtf-500": Method(f"IFairNMTF, {ITERATIONS} iterations", "ours", _our_graph, _ifair_nmtf),
    "ifair-nmtf-1-float64": Method(
        "IFairNMTF, one iteration, float64", "part", _our_graph, partial(_ifair_iteration, dtype="float64")
    ),
    "ifair-nmtf-1-float32": Method(
        "IFairNMTF, one iteration, float32", "part", _our_graph, partial(_ifair_iteration, dtype="float32")
    ),
    "floor-float64": Method("floor of memory, float64", "part", _nothing, partial(_floor, itemsize=8)),
    "floor-float32": Method("floor of memory, float32", "part", _nothing, partial(_floor, itemsize=4)),
    "dense": Method(
        f"dense, {ITERATIONS} iterations",
        "peer",
        _nothing,
        _dense,
        ("torch",),
        room=lambda n: DENSE_ARRAYS * 4 * n * n,
    ),
    "sklearn-spectral": Method(
        "scikit-learn spectral", "peer", _same, partial(_spectral, eigen_solver=None), _SKLEARN
    ),
    "sklearn-lobpcg": Method(
        "scikit-learn spectral, lobpcg",
        "peer",
        _same,
        partial(_spectral, eigen_solver="lobpcg"),
        _SKLEARN,
    ),
    "sklearn-nmf": Method("scikit-learn NMF", "peer", _same, _nmf, _SKLEARN),
    "sknetwork-louvain": Method(
        "scikit-network Louvain", "peer", _scipy_matrix, _sknetwork_louvain, ("scikit-network",)
    ),
    "igraph-leiden": Method("igraph Leiden", "peer", _igraph_of, _igraph_leiden, ("igraph",)),
    "networkit-plm": Method(
        "networkit PLM", "peer", _networkit_of, partial(_networkit, method="PLM"), ("networkit",)
    ),
    "networkit-leiden": Method(
        "networkit ParallelLeiden",
        "peer",
        _networkit_of,
        partial(_networkit, method="ParallelLeiden"),
        ("networkit",),
    ),
}
