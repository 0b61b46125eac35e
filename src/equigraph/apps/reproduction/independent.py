"""Normalised FairSC against the raw results published by the authors of DFNMF, for k = 3, 5, 8 and 10.

Their values are single runs, each a local optimum of k-means. Ours are the best of ten starts, and 25 single starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.scoring import NETWORKS, fit_scores
from equigraph.apps.reproduction.tables import number, write_files

TITLE = "Normalised FairSC as others published it"
METHOD = "scalable-fair-sc"
NUMBERS = (3, 5, 8, 10)
TOLERANCE = 0.02
# Q and B by number of clusters; from experiments/*_comparison.csv of the repository of DFNMF.
PUBLISHED: dict[str, tuple[tuple[float, float], ...]] = {
    "diaries": ((0.534, 0.839), (0.684, 0.809), (0.686, 0.527), (0.698, 0.494)),
    "facebook": ((0.485, 0.596), (0.500, 0.602), (0.517, 0.493), (0.512, 0.436)),
    "friendship": ((0.571, 0.664), (0.627, 0.485), (0.672, 0.577), (0.665, 0.399)),
    "drugnet": ((0.211, 0.087), (0.270, 0.052), (0.407, 0.027), (0.526, 0.026)),
    "lastfm": ((0.029, 0.112), (0.035, 0.067), (0.036, 0.042), (0.041, 0.033)),
}


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per network and number of clusters."""
    common = {"first_seed": settings.seed, "n_single": 5 if settings.quick else 25}
    return [
        Cell(
            f"starts.{network}.k{k}",
            f"{__name__}:score_starts",
            {"network": network, "n_clusters": k, **common},
            seconds=20.0 if network == "lastfm" else 2.0,
        )
        for network in PUBLISHED
        for k in NUMBERS
    ]


def score_starts(*, network: str, n_clusters: int, first_seed: int, n_single: int) -> dict[str, Any]:
    """Return the scores of the best of ten starts of k-means as ``best``, and of single starts as ``single``."""
    seeds = range(first_seed, first_seed + n_single)
    single = [fit_scores(network, METHOD, n_clusters, seed, n_init=1) for seed in seeds]
    return {"best": fit_scores(network, METHOD, n_clusters, first_seed), "single": single}


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Write the table (md, csv)."""
    rows, shown, n_best, n_any = [], [], 0, 0
    for cell in cells(settings):
        network, k = NETWORKS[cell.arguments["network"]], cell.arguments["n_clusters"]
        pair = PUBLISHED[cell.arguments["network"]][NUMBERS.index(k)]
        published, found = dict(zip(("Q", "B"), pair, strict=True)), results[cell.key]

        def off(scores: dict[str, float], published: dict[str, float] = published) -> float:
            return max(abs(scores[name] - value) for name, value in published.items())

        best, single = found["best"], min(found["single"], key=off)
        row = {"network": network, "k": k, **_named(published, "published")}
        for name, scores in (("best", best), ("single", single)):
            row |= {**_named(scores, name), f"off_{name}": off(scores)}
        rows.append(row)
        shown.append(
            [
                network,
                str(k),
                _pair(published),
                _pair(best),
                number(off(best)),
                _pair(single),
                number(off(single)),
            ]
        )
        n_best += off(best) <= TOLERANCE
        n_any += min(off(best), off(single)) <= TOLERANCE
    page = {
        "n_single": cell.arguments["n_single"],
        "tolerance": number(TOLERANCE),
        "n_cells": len(rows),
        "n_best": n_best,
        "n_single_too": n_any,
        "rows": shown,
    }
    return write_files(folder, "table-dfnmf", page, rows, None)


def _named(scores: dict[str, float], name: str) -> dict[str, float]:
    return {f"{measure}_{name}": scores[measure] for measure in ("Q", "B")}


def _pair(scores: dict[str, float]) -> str:
    return f"{number(scores['Q'])} / {number(scores['B'])}"
