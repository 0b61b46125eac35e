"""Reading what the commands stored in a folder, so that it can be told again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import InputError
from equigraph.groups.encode import unique_values
from equigraph.groups.sums import indicator
from equigraph.metrics import evaluate
from equigraph.report.baseline import Baseline, aligned
from equigraph.results import ClusteringResult
from equigraph.tradeoff import TradeoffCurve
from equigraph.tradeoff.curve import TradeoffPoint

RESULT, CURVE, LABELS = "result.json", "curve.json", "labels.csv"
_RESULT_KEYS = {
    "method",
    "n_nodes",
    "n_clusters",
    "scores",
    "parameters",
    "seed",
    "seconds",
    "versions",
    "input_hash",
}
_CURVE_KEYS = {
    "method", "n_nodes", "n_clusters", "notion", "points", "parameters", "seeds", "seconds", "stopped", "versions",
    "input_hash", "nodes", "labels",
}  # fmt: skip


def read_folder(folder: Path) -> tuple[ClusteringResult | TradeoffCurve, TradeoffPoint | None]:
    """Return the result or the curve that a command wrote into a folder, and the recommended point of a curve.

    Names and groups come back as texts.

    Raises
    ------
    InputError
        If there is none, or its files do not belong together.
    """
    if (folder / RESULT).is_file():
        return _read_result(folder), None
    if (folder / CURVE).is_file():
        return _read_curve(folder)
    what = "holds neither result.json nor curve.json" if folder.is_dir() else "is no folder"
    raise InputError(
        f"{folder} {what}: expected a folder that `equigraph cluster`, `tradeoff`, `refine` or `demo` wrote."
    )


def labels_before(folder: Path, result: ClusteringResult, graph: Any) -> Baseline | None:
    """Return the labels that `equigraph refine` started from, where the folder is one of its."""
    columns = _read_labels(folder, result.labels.size)
    if "before" not in columns:
        return None
    codes = np.asarray(unique_values(columns["before"])[1], dtype=np.intp)
    scores = {} if graph is None else evaluate(graph, codes, sensitive_features=result.groups)
    return aligned(codes, result.labels, scores, "before", [])


def _read_result(folder: Path) -> ClusteringResult:
    told = _read_json(folder / RESULT, _RESULT_KEYS)
    columns = _read_labels(folder, told["n_nodes"])
    labels, k = _numbers(columns["cluster"], folder), told["n_clusters"]
    if labels.max() >= k:
        raise InputError(
            f"{folder / LABELS} has the cluster {labels.max()}, and {RESULT} says that there are {k}."
        )
    return ClusteringResult(
        method=told["method"],
        labels=labels,
        # The page does not tell how strongly a node belongs to its cluster.
        membership=indicator(labels, k),
        interaction=_read_interaction(folder / "interaction.csv", k),
        node_names=columns["node"],
        sensitive_features=_groups_of(columns, told),
        scores=_scores(told["scores"]),
        parameters=told["parameters"],
        seed=told["seed"],
        seconds=_number(told["seconds"]),
        versions=told["versions"],
        input_hash=told["input_hash"],
        attribute=told.get("attribute"),
        source=told.get("source"),
    )


def _read_curve(folder: Path) -> tuple[TradeoffCurve, TradeoffPoint | None]:
    told = _read_json(folder / CURVE, _CURVE_KEYS)
    columns = _read_labels(folder, told["n_nodes"])
    if "group" not in columns:
        raise InputError(
            f"{folder / LABELS} has no column group: expected the file that `equigraph tradeoff` wrote."
        )
    points = tuple(
        TradeoffPoint(
            fairness=one["fairness"],
            labels=np.asarray(labels, dtype=np.intp),
            sizes=np.asarray(one["sizes"], dtype=np.intp),
            scores=_scores(one["scores"]),
            means=_scores(one["means"]),
            spreads=_scores(one["spreads"]),
            stability=_number(one["stability"]),
            seed=one["seed"],
            n_restarts=one["n_restarts"],
        )
        for one, labels in zip(told["points"], told["labels"], strict=True)
    )
    curve = TradeoffCurve(
        points=points,
        node_names=columns["node"],
        sensitive_features=_groups_of(columns, told),  # type: ignore[arg-type]
        method=told["method"],
        parameters=told["parameters"],
        n_clusters=told["n_clusters"],
        notion=told["notion"],
        seeds=tuple(told["seeds"]),
        seconds=_number(told["seconds"]),
        stopped=told["stopped"],
        versions=told["versions"],
        input_hash=told["input_hash"],
        source=told.get("source"),
    )
    chosen = told.get("recommended")
    return curve, None if chosen is None else points[chosen["index"]]


def _read_json(path: Path, keys: set[str]) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no JSON ({error}): expected the file that equigraph wrote.") from None
    missing = sorted(keys - set(told)) if isinstance(told, dict) else sorted(keys)
    if missing:
        raise InputError(f"{path} has no entry {missing[0]!r}: expected the file that equigraph wrote.")
    return told


def _read_labels(folder: Path, n_nodes: int) -> dict[str, NDArray]:
    path = folder / LABELS
    if not path.is_file():
        raise InputError(f"{path} is missing: expected the clusters beside the other files of the folder.")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    heads = rows[0] if rows else []
    if not {"node", "cluster"} <= set(heads) or any(len(row) != len(heads) for row in rows):
        raise InputError(
            f"{path} is no table with the columns node and cluster: expected the one that equigraph wrote."
        )
    if len(rows) - 1 != n_nodes:
        raise InputError(
            f"{path} has {len(rows) - 1:,} rows for {n_nodes:,} nodes: expected one row per node."
        )
    columns = zip(*rows[1:], strict=True)
    return {head: np.asarray(column, dtype=object) for head, column in zip(heads, columns, strict=True)}


def _groups_of(columns: dict[str, NDArray], told: dict[str, Any]) -> NDArray | None:
    """Return the groups, with None for the nodes that had none: in the file their cells are empty."""
    groups = columns.get("group")
    if groups is None or not told.get("n_ungrouped"):
        return groups
    groups = groups.copy()
    groups[groups == ""] = None
    return groups


def _numbers(texts: NDArray, folder: Path) -> NDArray[np.intp]:
    try:
        numbers = texts.astype(np.intp)
    except ValueError:
        numbers = np.array([-1])
    if numbers.min() < 0:
        raise InputError(f"{folder / LABELS} has a cluster that is no number: expected 0, 1, 2, ...")
    return numbers


def _read_interaction(path: Path, n_clusters: int) -> Any:
    """Return the interaction: a square of numbers, or a table of its entries; None where there is no file."""
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8").splitlines()
    is_table = bool(text) and text[0].startswith("cluster,")
    try:
        values = np.array([line.split(",") for line in text[is_table:]], dtype=np.float64)
        if not is_table:
            return values.reshape(n_clusters, n_clusters)
        values = values.reshape(-1, 3)
        places = values[:, :2].astype(np.intp).T
        return sparse.csr_array((values[:, 2], tuple(places)), shape=(n_clusters, n_clusters))
    except ValueError:
        raise InputError(
            f"{path} is no interaction of {n_clusters} clusters: expected the file that equigraph wrote."
        ) from None


def _scores(told: dict[str, Any]) -> dict[str, Any]:
    return {name: _number(value) for name, value in told.items()}


def _number(value: Any) -> Any:
    """Return a number; JSON has none for NaN."""
    return float("nan") if value is None else value
