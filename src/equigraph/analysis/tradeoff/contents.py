"""Points of a curve, and the files of a stored curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.records import plain
from equigraph.exceptions import InputError, ParameterError
from equigraph.metrics.notions import NOTIONS, Notion, get_notion
from equigraph.results.contents import LABELS, RunEntries, labels_table
from equigraph.results.features import stored_features
from equigraph.results.formats import Stored, decode
from equigraph.results.persistence import Contents, refusing_damage

KIND = "curve"
CURVE, TABLE = "curve.json", "curve.csv"
CURVE_FILES = (TABLE, CURVE, LABELS)
DIVERGED = "diverged"
# Fields of the run in curve.json.
RUN = ("parameters", "seeds", "seconds", "stopped", "versions", "input_hash", "source")


@dataclass(frozen=True, eq=False, repr=False)
class TradeoffPoint:
    """Labels on a curve: those of one value of the dial, or non-dominated ones.

    Attributes
    ----------
    fairness : float
        Value of the dial; for labels found at no value, the one at which an increasing dial passes them (see
        `passing_weights`).
    labels : ndarray of shape (n_nodes,)
        Cluster of each node; the numbers of clusters are aligned with the previous point.
    sizes : ndarray of shape (n_clusters,)
        Nodes of each cluster; 0 for an empty one.
    scores : dict
        Q, B, NB, min_balance, rho and n_nonempty of these labels (and the measure of the notion, if it is none
        of these).
    means, spreads : dict
        Mean and standard deviation of the scores over the restarts; a single one has spread NaN.
    stability : float
        Mean adjusted Rand index over all pairs of restarts: 1 when all give the same clusters; NaN for one.
    seed : int
        Seed of the restart that the labels are from.
    n_restarts : int
        Number of restarts.
    status : str or None
        Status of the fit of the labels, as in `ClusteringResult`: "converged", "max_iter", "stopped" or "diverged";
        None if the method has no status.
    """

    fairness: float
    labels: NDArray[np.intp]
    sizes: NDArray[np.intp]
    scores: Mapping[str, float]
    means: Mapping[str, float]
    spreads: Mapping[str, float]
    stability: float
    seed: int
    n_restarts: int
    status: str | None = None

    def summary(self) -> dict[str, Any]:
        """Return everything but the labels, ready for JSON."""
        return {name: plain(value) for name, value in vars(self).items() if name != "labels"}

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={self.scores[name]:.3f}" for name in ("Q", "B", "NB"))
        found = int(self.scores["n_nonempty"])
        asked = "" if found == self.sizes.size else f" of {self.sizes.size}"
        diverged = ", diverged" if self.status == DIVERGED else ""
        return f"TradeoffPoint(fairness={self.fairness:g}, {scores}, {found}{asked} clusters{diverged})"


def scores_of(points: Sequence[TradeoffPoint], name: str) -> NDArray[np.float64]:
    """Return one score of the labels of points."""
    if name not in points[0].scores:
        raise ParameterError(
            f"The curve has no score {name!r}: expected one of {', '.join(points[0].scores)}."
        )
    return np.array([point.scores[name] for point in points], dtype=np.float64)


def index_of(point: TradeoffPoint, points: Sequence[TradeoffPoint]) -> int | None:
    """Return the index of a point among others, or None."""
    return points.index(point) if point in points else None  # points are compared by identity


class CurveEntries(RunEntries):
    """Entries of curve.json that are read back."""

    n_clusters: int | None
    notion: str
    measure: str
    spacing: Literal["dial", "reached"]
    points: list[dict[str, Any]]
    # As the points, each with the index of the point that it is, or None.
    front: list[dict[str, Any]]
    seeds: tuple[int, ...]
    stopped: bool
    nodes: list[str]
    labels: list[Any]
    front_labels: list[Any]
    recommended: NotRequired[dict[str, Any]]  # index among the points and on the front, or None


def contents_of(curve: Any, point: TradeoffPoint, **further: Any) -> Contents:
    """Return the files of a curve, with the labels of one point and further entries of curve.json."""
    entries = {**curve.content(), "recommended": place_of(curve, point), **further}
    return {TABLE: curve.table(), CURVE: entries, LABELS: curve.labels_table(point)}


def place_of(curve: Any, point: TradeoffPoint) -> dict[str, Any]:
    """Return the position of a point: its index among the points and on the front, and its dial."""
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
    if features is None or entries["nodes"] != [str(name) for name in columns["node"].tolist()]:
        raise InputError(f"{path} and {LABELS} name different nodes or groups: they are of different curves.")

    def point(entries: Mapping[str, Any], labels: Any) -> TradeoffPoint:
        """Return a point whose labels fit its sizes."""
        found: TradeoffPoint = decode({**entries, "labels": labels}, TradeoffPoint, path)
        fits = found.labels.shape == columns["node"].shape and found.labels.max() < found.sizes.size
        if not fits or np.bincount(found.labels, minlength=found.sizes.size).tolist() != found.sizes.tolist():
            raise InputError(f"{path} has labels at fairness {found.fairness:g} that contradict their sizes.")
        return found

    points = tuple(point(*pair) for pair in zip(entries["points"], entries["labels"], strict=True))
    front = []
    for one, labels in zip(entries["front"], entries["front_labels"], strict=True):
        place = one.pop("point")  # None for labels of no point
        front.append(point(one, labels) if place is None else points[place])
    names = set(points[0].scores) | set(front[0].scores)
    notion: str | Notion = entries["notion"]
    if notion not in NOTIONS:
        notion = Notion(entries["notion"], entries["measure"], _not_kept)
    if not {"Q", "B", "NB", "n_nonempty", get_notion(notion).measure} <= names:
        raise InputError(f"{path} has points without Q, B, NB, n_nonempty or the measure of the notion.")
    for found in (*points, *front):
        consistent = names == set(found.scores) == set(found.means) == set(found.spreads)
        finite = consistent and np.isfinite([found.fairness, found.scores["Q"]]).all()
        if not finite or found.scores["n_nonempty"] != (found.sizes > 0).sum():
            raise InputError(f"{path} has scores at fairness {found.fairness:g} that contradict the others.")
    return {
        **{name: entries[name] for name in ("method", "n_clusters", "spacing", *RUN)},
        "notion": notion,
        "points": points,
        "front": tuple(front),
        "node_names": columns["node"],
        "sensitive_features": features,
        "attribute": attribute or (entries["source"] or {}).get("attribute"),
        "attribute_options": options,
    }


def _not_kept(counts: Any, population: Any) -> float:
    raise ParameterError("The score of a custom notion is a function, which is not stored in a folder.")


def recommended_point(stored: Stored, curve: Any) -> TradeoffPoint | None:
    """Return the point that a folder recommends, None if it recommends none."""
    chosen = stored.json(CURVE, CurveEntries).get("recommended") or {}
    with refusing_damage(stored.folder / CURVE):
        for name, points in (("index", curve.points), ("front", curve.front)):
            if chosen.get(name) is not None:
                return points[chosen[name]]
    return None
