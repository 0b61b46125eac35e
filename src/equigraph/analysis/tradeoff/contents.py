"""Files of a curve: what its folder holds, and the curve that is read back from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from equigraph.analysis.tradeoff.point import TradeoffPoint, index_of
from equigraph.exceptions import InputError
from equigraph.metrics.notions import get_notion
from equigraph.results.contents import LABELS, Parameters, Source, labels_table
from equigraph.results.features import AttributeEntry, group_columns, stored_features
from equigraph.results.formats import Stored
from equigraph.results.persistence import Contents

KIND = "curve"
CURVE, TABLE = "curve.json", "curve.csv"
CURVE_FILES = (TABLE, CURVE, LABELS)


class PointEntries(TypedDict):
    """Entries of curve.json for a point; its labels stand apart."""

    fairness: float
    sizes: NDArray[np.intp]
    scores: dict[str, float]
    means: dict[str, float]
    spreads: dict[str, float]
    stability: float
    seed: int
    n_restarts: int
    status: NotRequired[str | None]


class FrontEntries(PointEntries):
    """Entries of curve.json for a point of the front."""

    point: int | None  # its place among the points of the curve, None if it is none of them


class Recommended(TypedDict):
    """The recommended point: its place among the points, or on the front."""

    index: int | None
    front: int | None


class CurveEntries(TypedDict):
    """Entries of curve.json that are read back."""

    method: str
    n_nodes: int
    n_clusters: int | None
    attributes: NotRequired[list[AttributeEntry]]
    notion: str
    spacing: Literal["dial", "reached"]
    points: list[PointEntries]
    front: list[FrontEntries]
    parameters: Parameters
    seeds: tuple[int, ...]
    seconds: float
    stopped: bool
    versions: dict[str, str]
    input_hash: str
    source: Source | None
    nodes: list[str]
    labels: list[NDArray[np.intp]]
    front_labels: list[NDArray[np.intp] | None]
    recommended: NotRequired[Recommended]


_DERIVED = ("n_nodes", "attributes", "points", "front", "nodes", "labels", "front_labels", "recommended")


def contents_of(curve: Any, point: TradeoffPoint, **further: Any) -> Contents:
    """Return the files of a curve, with the labels of one point and further entries of curve.json."""
    recommended = {"recommended": place_of(curve, point), **further}
    return {
        TABLE: table_of(curve),
        CURVE: {**json_of(curve), **recommended},
        LABELS: labels_of(curve, point),
    }


def labels_of(curve: Any, point: TradeoffPoint) -> dict[str, NDArray]:
    """Return the columns node, cluster and group of one point."""
    return {"node": curve.node_names, "cluster": point.labels, **group_columns(curve)}


def table_of(curve: Any) -> dict[str, NDArray]:
    """Return one row per point; see `TradeoffCurve.table`."""
    points, names = curve.points, list(curve.points[0].scores)
    columns: dict[str, list[Any]] = {"fairness": [point.fairness for point in points]}
    columns |= {name: [point.scores[name] for point in points] for name in names}
    for name in names:
        columns[f"{name}_mean"] = [point.means[name] for point in points]
        columns[f"{name}_std"] = [point.spreads[name] for point in points]
    columns["stability"] = [point.stability for point in points]
    columns["sizes"] = [" ".join(map(str, point.sizes.tolist())) for point in points]
    columns["seed"] = [point.seed for point in points]
    columns["n_restarts"] = [point.n_restarts for point in points]
    columns["status"] = [point.status or "" for point in points]
    # A point that is as good as one of the front is on it, though it is another object.
    pairs = {_pair(point, curve.measure) for point in curve.front}
    columns["on_front"] = [_pair(point, curve.measure) in pairs for point in points]
    return {name: np.array(column) for name, column in columns.items()}


def _pair(point: TradeoffPoint, measure: str) -> tuple[float, float]:
    return round(point.scores["Q"], 12), round(point.scores[measure], 12)


def json_of(curve: Any) -> dict[str, Any]:
    """Return the summary of a curve, the names of the nodes, and the labels of each point in their order."""
    others = [
        point.labels.tolist() if index_of(point, curve.points) is None else None for point in curve.front
    ]
    return {
        **curve.summary(),
        "nodes": [str(name) for name in curve.node_names.tolist()],
        "labels": [point.labels.tolist() for point in curve.points],
        "front_labels": others,
    }


def place_of(curve: Any, point: TradeoffPoint) -> dict[str, Any]:
    """Return where a point is: its index among the points and on the front, and its dial."""
    return {
        "index": index_of(point, curve.points),
        "front": index_of(point, curve.front),
        "fairness": point.fairness,
    }


def curve_parts(stored: Stored) -> dict[str, Any]:
    """Return the parts of a `TradeoffCurve` from the files of its folder."""
    path = stored.folder / CURVE
    entries = stored.json(CURVE, CurveEntries)
    columns = labels_table(stored, entries["n_nodes"])
    features, attribute, options = stored_features(entries.get("attributes", []), columns, path)
    if features is None:
        raise InputError(
            f"{stored.folder / LABELS} has no column group: expected the file that equigraph wrote."
        )
    for name in ("points", "front"):
        n_labels = len(entries["labels" if name == "points" else "front_labels"])
        if not entries[name] or n_labels != len(entries[name]):
            raise InputError(f"{path} has {n_labels} labelings for {len(entries[name])} {name}.")
    if entries["nodes"] != [str(name) for name in columns["node"].tolist()]:
        raise InputError(f"{path} and {LABELS} name different nodes: the two files are of different curves.")
    names = set(entries["points"][0]["scores"])
    if not {"Q", "B", "NB", "n_nonempty", get_notion(entries["notion"]).measure} <= names:
        raise InputError(f"{path} has points without Q, B, NB, n_nonempty or the measure of the notion.")
    points = tuple(
        _point(one, labels, names, entries, path)
        for one, labels in zip(entries["points"], entries["labels"], strict=True)
    )
    front = tuple(
        _point(one, labels, names, entries, path) if one["point"] is None else _at(points, one["point"], path)
        for one, labels in zip(entries["front"], entries["front_labels"], strict=True)
    )
    return {
        **{name: entries[name] for name in CurveEntries.__annotations__ if name not in _DERIVED},
        "points": points,
        "front": front,
        "node_names": columns["node"],
        "sensitive_features": features,
        "attribute": attribute or (entries["source"] or {}).get("attribute"),
        "attribute_options": options,
    }


def _at(points: tuple[TradeoffPoint, ...], index: int, path: Path) -> TradeoffPoint:
    if not 0 <= index < len(points):
        raise InputError(f"{path} has a front with point {index} of {len(points)} points.")
    return points[index]


def _point(
    entries: PointEntries, labels: NDArray[np.intp] | None, names: set[str], curve: CurveEntries, path: Path
) -> TradeoffPoint:
    """Return a point whose labels fit its sizes, and whose scores are those of all points."""
    by_name: Mapping[str, Any] = entries
    sizes, found = entries["sizes"], np.zeros(0, dtype=np.intp) if labels is None else labels
    fits = found.shape == (curve["n_nodes"],) and found.min() >= 0 and found.max() < sizes.size
    if not fits or not np.array_equal(np.bincount(found, minlength=sizes.size), sizes):
        raise InputError(
            f"{path} has labels at fairness {entries['fairness']:g} that contradict their sizes."
        )
    consistent = all(set(by_name[kind]) == names for kind in ("scores", "means", "spreads"))
    known = np.isfinite([entries["fairness"], entries["scores"]["Q"] if consistent else np.nan]).all()
    if not known or entries["scores"]["n_nonempty"] != (sizes > 0).sum():
        raise InputError(f"{path} has scores at fairness {entries['fairness']:g} that contradict the others.")
    known_names = [name for name in PointEntries.__annotations__ if name in entries]
    return TradeoffPoint(labels=found, **{name: by_name[name] for name in known_names})


def recommended_point(stored: Stored, curve: Any) -> TradeoffPoint | None:
    """Return the point that a folder recommends, None if it recommends none."""
    chosen = stored.json(CURVE, CurveEntries).get("recommended")
    for name, points in (("index", curve.points), ("front", curve.front)):
        if chosen is not None and chosen[name] is not None:
            return _at(points, chosen[name], stored.folder / CURVE)
    return None
