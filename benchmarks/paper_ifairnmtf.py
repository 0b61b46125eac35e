"""Whether some weight of a sweep reproduces the iFairNMTF column of the paper's table.

Protocol: k = 5, the authors' conventions (``self_pairs=False, init="svd", tol=0``, 500 iterations), 10 seeds each.
On the real networks the printed (Q, B) must be met within .03 and .05; on the SBM accuracy and B must reach .95.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import equigraph as eg

# Q and B of the iFairNMTF column.
PAPER = {
    "diaries": (0.640, 0.648),
    "facebook": (0.509, 0.514),
    "friendship": (0.669, 0.631),
    "drugnet": (0.588, 0.124),
    "nba": (0.150, 0.286),
    "lastfm": (0.600, 0.069),
}
SMALL = (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20)
LARGE = (0, 1, 3, 10, 30, 60, 100, 150, 200, 300)
SBM = (0, 30, 100, 300, 700, 1500, 2500, 3500)


def sweep(data, weights, n_seeds):
    """Return mean and standard deviation over seeds of the scores at every weight."""
    rows = []
    for weight in weights:
        scores = []
        for seed in range(n_seeds):
            model = eg.IFairNMTF(5, fairness=weight, self_pairs=False, tol=0, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # divergence and empty clusters show in the columns
                model.fit(data.adjacency, sensitive_features=data.sensitive_features)
            score = eg.metrics.evaluate(
                data.adjacency,
                model.labels_,
                sensitive_features=data.sensitive_features,
                target=data.get("target"),
            )
            scores.append([score.get("accuracy", score["Q"]), score["B"], score["NB"], score["n_nonempty"]])
        rows.append((weight, np.mean(scores, axis=0), np.std(scores, axis=0)))
    return rows


def show(name, rows, best, verdict, seconds):
    print(f"\n{name}: {verdict}  ({seconds:.0f} s)")
    for weight, mean, spread in rows:
        mark = "  <--" if weight == best else ""
        cells = "  ".join(f"{m:.3f} ±{s:.3f}" for m, s in zip(mean[:3], spread[:3], strict=True))
        print(f"  lam {weight:8g}   {cells}   {mean[3]:.1f} clusters{mark}")


def real(name, n_seeds):
    start = time.perf_counter()
    data = eg.datasets.load(name)
    rows = sweep(data, LARGE if name in ("lastfm",) else SMALL, n_seeds)
    Q, B = PAPER[name]
    # The weight whose worse miss, in units of what is allowed, is least.
    misses = [max(abs(mean[0] - Q) / 0.03, abs(mean[1] - B) / 0.05) for _, mean, _ in rows]
    best = int(np.argmin(misses))
    met = "reproduced" if misses[best] <= 1 else "NOT reproduced"
    verdict = f"paper Q {Q:.3f} B {B:.3f}; {met} (columns: Q, B, NB)"
    show(name, rows, rows[best][0], verdict, time.perf_counter() - start)
    return misses[best] <= 1


def synthetic(n_nodes, n_seeds):
    start = time.perf_counter()
    data = eg.datasets.make_fair_sbm(n_nodes, 5, 5, random_state=0)
    rows = sweep(data, SBM, n_seeds)
    worst = [min(mean[0], mean[1]) for _, mean, _ in rows]
    best = int(np.argmax(worst))
    met = "reached" if worst[best] >= 0.95 else "NOT reached"
    verdict = f"accuracy and B of .95 {met} (columns: accuracy, B, NB)"
    show(f"SBM {n_nodes}", rows, rows[best][0], verdict, time.perf_counter() - start)
    return worst[best] >= 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=[*PAPER, "2000", "5000", "10000"])
    options = parser.parse_args()
    met = [
        synthetic(int(name), options.seeds) if name.isdigit() else real(name, options.seeds)
        for name in options.only
    ]
    print(f"\n{sum(met)} of {len(met)} reproduced")


if __name__ == "__main__":
    main()
