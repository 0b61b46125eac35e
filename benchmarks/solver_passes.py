"""Coordinate descent against 500 multiplicative updates: the normalised objective after 10, 30 and 50 passes.

Run ``python -m benchmarks.solver_passes``; EQUIGRAPH_DATA names the folder with the real graphs.

Both solvers start from the same H and W. The objective is J of `equigraph.factorization.normalized`; the first pass,
which only evaluates the start, counts as one. With a penalty W is fitted in every multiplicative update.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import equigraph as eg
from equigraph.factorization.coordinate import coordinate_descent
from equigraph.factorization.multiplicative import multiplicative_updates
from equigraph.factorization.normalized import normalized_updates
from equigraph.factorization.penalties import Scatter
from equigraph.factorization.starts import spectral_start, svd_start
from equigraph.stores.products import SerialProduct, single_blas_thread

GRAPHS = ("diaries", "facebook", "friendship", "drugnet", "nba", "lastfm", "sbm-2k")
STARTS = {"svd": svd_start, "spectral": spectral_start}
WEIGHTS = (0.0, 0.3, 3.0)
PASSES = (10, 30, 50)
UPDATES = 500
TOLERANCE = 0.005
K = 5


def load(name):
    return (
        eg.datasets.make_fair_sbm(2000, 5, 5, random_state=0) if name == "sbm-2k" else eg.datasets.load(name)
    )


def multiplicative_best(product, H, W, penalty, mu):
    """Return the lowest J that 500 multiplicative updates reach."""
    if mu == 0:
        factors = multiplicative_updates(product, H, W, max_iter=UPDATES, tol=0)
        return factors.history[-1] / product.squared_norm()
    return normalized_updates(
        product, H, W, penalty=penalty, weight=mu, max_iter=UPDATES, tol=0
    ).history.min()


def table(names, n_seeds):
    print(
        f"Median J of {n_seeds} seeds at k = {K}; in brackets the difference to multiplicative updates in percent"
    )
    passes = "".join(f"{f'{p} passes':>18s}" for p in PASSES)
    print(
        f"{'graph':11s}{'start':9s}{'mu':>4s}{f'{UPDATES} updates':>14s}{passes}{'worst seed':>12s}{'W_ll = 1':>10s}"
    )
    short = []
    for name in names:
        data = load(name)
        product, penalty = SerialProduct(data.adjacency), Scatter(data.sensitive_features)
        for start_name, start in STARTS.items():
            starts = [start(product, K, np.random.default_rng(seed)) for seed in range(n_seeds)]
            for mu in WEIGHTS:
                rival = np.array([multiplicative_best(product, H, W, penalty, mu) for H, W in starts])
                runs = [
                    coordinate_descent(
                        product, H, W, penalty=penalty, weight=mu, max_iter=max(PASSES) - 1, tol=0
                    )
                    for H, W in starts
                ]
                ours = np.array([[run.history[p - 2] for p in PASSES] for run in runs])
                gaps = np.median(ours, axis=0) / np.median(rival) - 1
                cells = "".join(
                    f"{value:10.5f} ({100 * gap:+5.2f})"
                    for value, gap in zip(np.median(ours, axis=0), gaps, strict=True)
                )
                worst = 100 * (ours[:, -1] / rival - 1).max()
                share = np.mean([np.diag(run.W) > 1 - 1e-9 for run in runs])
                missed = gaps[-1] > TOLERANCE
                print(
                    f"{name:11s}{start_name:9s}{mu:4g}{np.median(rival):14.5f}{cells}{worst:+11.2f}%{share:9.0%}"
                    + ("  FALLS SHORT" if missed else ""),
                    flush=True,
                )
                if missed:
                    short.append(f"{name}/{start_name}/{mu:g}")
    print(
        f"Within {TOLERANCE:.1%} after {PASSES[-1]} passes: all"
        if not short
        else f"Fall short: {', '.join(short)}"
    )


def seconds(function, repeats=15):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def speed(name="lastfm", steps=30):
    """Print what a step costs beside a product, from the difference of two lengths of run."""
    data = load(name)
    product, penalty = SerialProduct(data.adjacency), Scatter(data.sensitive_features)
    H, W = svd_start(product, K, np.random.default_rng(0))
    once = seconds(lambda: product(H), 200)
    print(f"One product on {name}: {1e3 * once:.3f} ms")
    for mu in WEIGHTS:

        def run(n, mu=mu):
            coordinate_descent(product, H, W, penalty=penalty, weight=mu, max_iter=n, tol=0)

        step = (seconds(lambda run=run: run(steps)) - seconds(lambda run=run: run(1))) / (steps - 1)
        print(f"mu = {mu:g}: a step takes {1e3 * step:.3f} ms, {step / once:.1f} products")
    rival = seconds(lambda: multiplicative_updates(product, H, W, max_iter=steps, tol=0)) / steps
    print(f"A multiplicative update takes {1e3 * rival:.3f} ms, {rival / once:.1f} products")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=GRAPHS, choices=GRAPHS)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    with single_blas_thread():
        speed()
        table(options.graphs, options.seeds)


if __name__ == "__main__":
    main()
