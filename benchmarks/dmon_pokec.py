"""DMoN on Pokec-n (67,796 nodes): seconds per epoch and peak memory, each setting in a fresh process.

A dense n x n array of float32 would need 17 GiB; the peak says that there is none.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings

import equigraph as eg

SETTINGS = {
    "one-hot": {"features": "sensitive"},
    "structural": {"features": "structural"},
    "two layers": {"features": "sensitive", "hidden": (64, 64)},
}


def measure(name: str, epochs: int) -> None:
    data = eg.datasets.fetch_pokec_n()
    graph = eg.read_graph(data.adjacency, groups=data.sensitive_features)
    before = peak()
    clock: list[float] = []

    def tick(progress) -> None:
        clock.append(time.perf_counter())

    model = eg.DMoN(5, epochs=epochs, device="cpu", random_state=0, callbacks=tick, **SETTINGS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few epochs leave clusters empty
        model.fit(graph)
    # The first epoch pays for what torch sets up once, so the clock runs from its end.
    seconds = (clock[-1] - clock[0]) / (len(clock) - 1)
    dense = 4 * graph.n_nodes**2 / 2**30
    verdict = "no dense n x n" if peak() < dense / 2 else "TOO MUCH for a sparse method"
    print(
        f"{name:11s} {graph.n_nodes} nodes, {graph.n_edges} edges: {seconds:.3f} s per epoch, peak {peak():.2f} GiB "
        f"({before:.2f} before the fit; dense n x n: {dense:.0f}): {verdict}"
    )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--setting", choices=SETTINGS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.epochs < 2:
        parser.error("--epochs must be at least 2: the first one is not timed.")
    if options.setting:
        measure(options.setting, options.epochs)
        return
    for name in SETTINGS:
        command = [sys.executable, "-m", "benchmarks.dmon_pokec"]
        subprocess.run([*command, "--setting", name, "--epochs", str(options.epochs)], check=True)


if __name__ == "__main__":
    main()
