"""Two attributes balanced together against each of them alone, at the same cohesion.

For every graph three curves are searched: one for each attribute alone, and one for the mean of both. At every point
of the last, what either attribute has there is compared with the fairest labels that were found for it alone and are
at least as cohesive. `--picture FILE` draws the curves of the first seed.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import equigraph as eg
from equigraph.graph.groups import bin_groups

EFFORT = 0.2


class Case(NamedTuple):
    """A graph with two attributes."""

    name: str
    adjacency: sparse.csr_array
    features: dict[str, NDArray[Any]]
    n_clusters: int


def cases() -> Iterator[Case]:
    """Yield the real graphs, and the block model."""
    for name in ("diaries", "facebook", "friendship"):
        school = eg.datasets.load(name, raw=True)
        features = {"gender": school.sensitive_features, "class": school.school_class}
        yield Case(name, school.adjacency, features, 4)
    drugnet = eg.datasets.load("drugnet", raw=True)
    gender = np.where(drugnet.gender == "unknown", None, drugnet.gender.astype(object))
    yield Case("drugnet", drugnet.adjacency, {"ethnicity": drugnet.sensitive_features, "gender": gender}, 4)
    nba = eg.datasets.load("nba")
    # The files have one attribute of the players; the second is how many links they have, in three bins.
    links = bin_groups(np.diff(nba.adjacency.indptr), 3).values()
    yield Case("nba", nba.adjacency, {"nationality": nba.sensitive_features, "links": links}, 4)
    yield block_model()


def block_model(n: int = 300, n_clusters: int = 5) -> Case:
    """Return a graph of ten joint groups (two by five) in which people link to those who share a value."""
    rng = np.random.default_rng(0)
    place, one, other = (np.arange(n) % n_clusters, rng.integers(2, size=n), rng.integers(5, size=n))
    same = [column[:, None] == column for column in (place, one, other)]
    chance = 0.01 + 0.06 * same[0] + 0.04 * same[1] + 0.10 * same[2]
    upper = np.triu(rng.random((n, n)) < chance, k=1)
    adjacency = sparse.csr_array((upper | upper.T).astype(float))
    return Case("block model", adjacency, {"one": one, "other": other}, n_clusters)


def curve_of(case: Case, features: dict[str, Any], seed: int) -> eg.TradeoffCurve:
    """Return the curve of some of the attributes."""
    graph = eg.read_graph(case.adjacency, features, missing="ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about small groups, which are meant here
        return eg.tradeoff_curve(graph, n_clusters=case.n_clusters, effort=EFFORT, random_state=seed)


def front_of(curve: eg.TradeoffCurve, score: str) -> list[tuple[float, float]]:
    """Return Q and a score of all labels on the front."""
    return [(float(point.scores["Q"]), float(point.scores[score])) for point in curve.front]


def at_least_as_cohesive(front: list[tuple[float, float]], quality: float) -> float:
    """Return the fairest of labels whose Q is at least this; of none the most cohesive."""
    enough = [fair for q, fair in front if q >= quality - 1e-12]
    return max(enough) if enough else max(front)[1]


def measure(case: Case, seed: int) -> dict[str, Any]:
    """Return what one seed finds: before, together, alone at the same Q."""
    start = time.process_time()
    names = list(case.features)
    alone = {name: front_of(curve_of(case, {name: case.features[name]}, seed), "NB") for name in names}
    together = curve_of(case, case.features, seed)
    first, chosen = together.points[0], together.select("product")
    gaps = {
        name: [
            at_least_as_cohesive(alone[name], point.scores["Q"]) - float(point.scores[f"NB[{name}]"])
            for point in together.front
        ]
        for name in names
    }
    here = together.front.index(chosen)
    return {
        "case": case.name,
        "k": case.n_clusters,
        "seed": seed,
        "names": names,
        "Q": [float(first.scores["Q"]), float(chosen.scores["Q"])],
        "NB": {name: [float(point.scores[f"NB[{name}]"]) for point in (first, chosen)] for name in names},
        "gap": {name: gaps[name][here] for name in names},
        "mean_gap": {name: float(np.mean(gaps[name])) for name in names},
        "alone": alone,
        "together": {name: front_of(together, f"NB[{name}]") for name in names},
        "seconds": time.process_time() - start,
    }


def told(rows: list[dict[str, Any]]) -> str:
    """Return a table: means over the seeds, and their standard deviations."""
    lines = [
        "| graph, k | attribute | Q before | Q together | NB before | NB together | behind alone at that Q | "
        "worst seed | behind, mean of the front | worst point of all seeds |",
        "|---" * 10 + "|",
    ]
    for name in dict.fromkeys(row["case"] for row in rows):
        own = [row for row in rows if row["case"] == name]
        for attribute in own[0]["names"]:
            cells = [
                _spread([row["Q"][0] for row in own]),
                _spread([row["Q"][1] for row in own]),
                _spread([row["NB"][attribute][0] for row in own]),
                _spread([row["NB"][attribute][1] for row in own]),
                _spread([row["gap"][attribute] for row in own]),
                f"{max(row['gap'][attribute] for row in own):.3f}",
                _spread([row["mean_gap"][attribute] for row in own]),
                f"{max(gap for row in own for gap in gaps_of(row, attribute)):.3f}",
            ]
            lines.append(f"| {name}, {own[0]['k']} | {attribute} | {' | '.join(cells)} |")
    return "\n".join(lines)


def gaps_of(row: dict[str, Any], attribute: str) -> list[float]:
    """Return how far an attribute is behind at every point of the curve of both."""
    alone = row["alone"][attribute]
    return [at_least_as_cohesive(alone, quality) - fair for quality, fair in row["together"][attribute]]


def within(rows: list[dict[str, Any]], least: float = 0.02) -> str:
    """Say how many attributes and seeds are at most so far behind at the chosen point."""
    gaps = [gap for row in rows for gap in row["gap"].values()]
    return f"{sum(gap <= least for gap in gaps)} of {len(gaps)} attributes and seeds are at most {least:g} behind"


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def picture(rows: list[dict[str, Any]], path: str) -> None:
    """Draw the curves of the first seed of every graph, one panel each."""
    from matplotlib.figure import Figure

    from equigraph.plotting.style import look

    firsts = list({row["case"]: row for row in reversed(rows)}.values())[::-1]
    with look():
        figure = Figure(figsize=(12, 7), layout="constrained")
        for ax, row in zip(figure.subplots(2, 3).ravel(), firsts, strict=False):
            for name, color in zip(row["names"], ("#2b3a55", "#b5532a"), strict=True):
                for kind, style in (("alone", ":"), ("together", "-")):
                    points = sorted(row[kind][name])
                    ax.plot(
                        *zip(*points, strict=True), style, color=color, marker=".", label=f"{name}, {kind}"
                    )
            ax.set_title(f"{row['case']}, k = {row['k']}", fontsize=10)
            ax.set_xlabel("modularity Q")
            ax.set_ylabel("NB of the attribute")
            ax.legend(fontsize=7, loc="lower left")
        figure.savefig(path, dpi=110)


def main() -> None:
    """Measure, print the table, and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", help="names of graphs")
    parser.add_argument("--keep", type=Path, help="file of rows, which is continued")
    parser.add_argument("--picture")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if options.keep is not None and options.keep.exists():
        rows = json.loads(options.keep.read_text(encoding="utf-8"))
    done = {(row["case"], row["seed"]) for row in rows}
    chosen = [case for case in cases() if not options.only or case.name in options.only]
    for seed in range(options.seeds):
        for case in chosen:
            if (case.name, seed) not in done:
                rows.append(measure(case, seed))
                print(case.name, seed, f"{rows[-1]['seconds']:.1f} s", flush=True)
                if options.keep is not None:
                    options.keep.write_text(json.dumps(rows), encoding="utf-8")
    print(told(rows))
    print(within(rows))
    if options.picture:
        picture(rows, options.picture)


if __name__ == "__main__":
    main()
