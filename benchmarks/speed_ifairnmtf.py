"""IFairNMTF against the paper's equations evaluated left to right with dense matrices, and what it needs of memory.

The dense rival is what the authors' code computes: float32 torch, seven n x n matrices, products from left to right, so
that ``H W' H' H W`` passes through an n x n array. Its time for 500 iterations is extrapolated from a few. Singular
values count on neither side. Both may use all cores; ours uses one on graphs of a few ten thousand edges.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy import sparse

import equigraph as eg

ITERATIONS = 500


def dense_seconds_per_iteration(adjacency, codes, k, lam, n_iter):
    import torch

    rng = np.random.default_rng(0)
    n = adjacency.shape[0]
    same = (codes[:, None] == codes[None, :]).astype(np.float32)
    other = 1 - same
    np.fill_diagonal(same, 0)
    up = torch.from_numpy(same / same.sum(axis=1, keepdims=True))
    down = torch.from_numpy(other / other.sum(axis=1, keepdims=True))
    A = torch.from_numpy(adjacency.toarray().astype(np.float32))
    H = torch.from_numpy(rng.random((n, k), dtype=np.float32))
    W = torch.diag(torch.arange(k, 0, -1, dtype=torch.float32))
    best = np.inf
    for _ in range(n_iter):
        start = time.perf_counter()
        numerator = A.T @ H @ W + A @ H @ W.T + lam * down @ H
        denominator = H @ W.T @ H.T @ H @ W + H @ W @ H.T @ H @ W.T + lam * up @ H
        H = H * (numerator / torch.clamp(denominator, min=1e-10)) ** 0.25
        W = W * (H.T @ A @ H) / torch.clamp(H.T @ H @ W @ H.T @ H, min=1e-10)
        best = min(best, time.perf_counter() - start)
    return best


def our_seconds(data, k, lam, repeats=3):
    H = np.random.default_rng(0).random((data.adjacency.shape[0], k))
    W = np.diag(np.arange(k, 0, -1.0))
    graph = eg.as_graph(data.adjacency)
    model = eg.IFairNMTF(k, fairness=lam, self_pairs=False, init="custom", max_iter=ITERATIONS, tol=0)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        model.fit(graph, sensitive_features=data.sensitive_features, H=H, W=W)
        times.append(time.perf_counter() - start)
    return min(times)


def compare(name, data, target, *, lam, n_iter):
    codes = np.unique(data.sensitive_features, return_inverse=True)[1]
    ours = our_seconds(data, 5, lam)
    dense = ITERATIONS * dense_seconds_per_iteration(data.adjacency, codes, 5, lam, n_iter)
    ratio = dense / ours
    verdict = "reached" if ratio >= target else "NOT reached"
    print(
        f"{name:8s} dense {dense:7.1f} s   ours {ours:6.3f} s   {ratio:6.0f} times as fast ({target}: {verdict})"
    )


def memory():
    """Measure a fit on 200K nodes, 2M edges, k = 10, read from a file in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        data = eg.datasets.make_planted_graph(200_000, 10, mean_degree=20, random_state=0)
        sparse.save_npz(f"{folder}/graph.npz", data.adjacency, compressed=False)
        np.savetxt(f"{folder}/groups.csv", data.sensitive_features, fmt="%d", header="group", comments="")
        subprocess.run(
            [sys.executable, "-m", "benchmarks.speed_ifairnmtf", "--memory-of", folder], check=True
        )


def memory_of(folder):
    graph = eg.read_graph(f"{folder}/graph.npz", groups=f"{folder}/groups.csv")
    eg.IFairNMTF(10, fairness=1.0, max_iter=20, tol=0, random_state=0).fit(graph)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    verdict = "reached" if peak < 1 else "NOT reached"
    print(
        f"memory   {graph.n_nodes} nodes, {graph.n_edges} edges, k = 10: peak {peak:.2f} GiB (1: {verdict})"
    )


def together(n_values=50, n_restarts=10):
    """Print what a curve and restarts cost in units of single fits on LastFM, by processor and by wall time."""
    data = eg.datasets.fetch_lastfm()
    graph, groups = eg.as_graph(data.adjacency), data.sensitive_features
    model = eg.IFairNMTF(5, random_state=0, tol=0)
    dial = np.linspace(0, 100, n_values).tolist()

    def single():
        eg.IFairNMTF(5, fairness=dial[n_values // 2], tol=0, random_state=0).fit(
            graph, sensitive_features=groups
        )

    def curve(fairness, n_restarts):
        eg.tradeoff_curve(
            graph,
            sensitive_features=groups,
            estimator=model,
            fairness=fairness,
            n_restarts=n_restarts,
            random_state=0,
        )

    curve([1.0, 2.0], 5)
    one = both_times(single, repeats=5)
    for name, target, arguments in (
        (f"{n_values} values of the dial", 12, (dial, 1)),
        (f"{n_restarts} restarts", 6, ([50.0], n_restarts)),
    ):
        many = both_times(lambda arguments=arguments: curve(*arguments), repeats=2)
        wall = many[1] / one[1]
        verdict = "reached" if wall <= target else "NOT reached"
        print(
            f"together {name}: {wall:.1f} single fits by the wall, {many[0] / one[0]:.1f} by the processor "
            f"({target}: {verdict})"
        )


def both_times(function, repeats):
    cpu, wall = np.inf, np.inf
    for _ in range(repeats):
        start = time.process_time(), time.perf_counter()
        function()
        cpu, wall = min(cpu, time.process_time() - start[0]), min(wall, time.perf_counter() - start[1])
    return cpu, wall


def seconds_of(*command, repeats=5):
    def once():
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


def start_up():
    numpy, ours = seconds_of("-c", "import numpy"), seconds_of("-c", "import numpy, equigraph")
    print(f"import   equigraph adds {ours - numpy:.3f} s to import numpy ({numpy:.2f} s)")
    print(f"help     equigraph --help answers in {seconds_of('-m', 'equigraph', '--help'):.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dense-iterations", type=int, default=5)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        memory_of(options.memory_of)
        return
    # First, because a child process inherits the peak of its parent, and the dense rival's is high.
    memory()
    compare("LastFM", eg.datasets.fetch_lastfm(), 500, lam=100.0, n_iter=options.dense_iterations)
    for n_nodes, name, target in ((5_000, "SBM 5K", 60), (10_000, "SBM 10K", 150)):
        sbm = eg.datasets.make_fair_sbm(n_nodes, 5, 5, random_state=0)
        compare(name, sbm, target, lam=100.0, n_iter=options.dense_iterations)
    start_up()
    together()


if __name__ == "__main__":
    main()
