"""Curves in folders: written as a whole, and read back without running anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from equigraph._utils.notebook import page_of
from equigraph.analysis.tradeoff.point import TradeoffPoint, index_of
from equigraph.exceptions import InputError
from equigraph.results.featured import features_of, gaps_of
from equigraph.results.folders import Kept, OutputFolder, read_kept
from equigraph.results.loading import (
    LABELS,
    check_entries,
    entries,
    kinds_of,
    labels_table,
    not_a_number,
    numbers,
)

KIND = "curve"
CURVE, TABLE = "curve.json", "curve.csv"
CURVE_FILES = (TABLE, CURVE, LABELS)
_CURVE_ENTRIES: dict[str, tuple[type, ...]] = {
    "method": (str,),
    "n_nodes": (int,),
    "n_clusters": (int, type(None)),
    "notion": (str,),
    "spacing": (str,),
    "points": (list,),
    "front": (list,),
    "parameters": (dict,),
    "seeds": (list,),
    "seconds": (int, float, type(None)),
    "stopped": (bool,),
    "versions": (dict,),
    "input_hash": (str,),
    "source": (dict, type(None)),
    "nodes": (list,),
    "labels": (list,),
    "front_labels": (list,),
}
_POINT_ENTRIES: dict[str, tuple[type, ...]] = {
    "fairness": (int, float),
    "sizes": (list,),
    "scores": (dict,),
    "means": (dict,),
    "spreads": (dict,),
    "stability": (int, float, type(None)),
    "seed": (int,),
    "n_restarts": (int,),
}


class KeptCurve:
    """What a `TradeoffCurve` can do with folders and notebooks; apart from the curve, whose file is long."""

    def save(
        self: Any,
        folder: str | os.PathLike[str],
        *,
        select: TradeoffPoint | Literal["product", "intersection", "knee"] = "product",
        force: bool = False,
        raw: bool = False,
    ) -> None:
        """Write curve.csv, curve.json and labels.csv (of one point), all of them or none.

        An older result of equigraph in the folder is replaced as a whole; other files stay.

        Parameters
        ----------
        folder : path-like
            The folder, which may be new.
        select : TradeoffPoint or rule, default="product"
            The point whose labels go to labels.csv; those of all points and of the front are in curve.json.
        force : bool, default=False
            Whether files of these names that equigraph did not write, or that were changed since, may be replaced.
        raw : bool, default=False
            Whether names in csv files are written as they are, even those that a spreadsheet would run as formulas.

        Raises
        ------
        ParameterError
            If the folder cannot be written, somebody else is writing to it, or other files are in the way.
        OutputError
            If the disk is full; the folder is then as it was.
        """
        point = self.select(select) if isinstance(select, str) else select
        with OutputFolder(folder) as out, out.writing(KIND, force=force, **self.facts(raw)) as partial:
            self.write_files(partial, point, raw=raw)

    def facts(self: Any, raw: bool) -> dict[str, Any]:
        """Return what a manifest has to say so that `load` gives names and groups back as they were."""
        return {"raw": raw, "kinds": kinds_of({"node": self.node_names, **self.group_columns()})}

    def write_files(
        self: Any, folder: Path, point: TradeoffPoint, *, raw: bool = False, **further: Any
    ) -> None:
        """Write the files of `save`, with further entries of curve.json."""
        from equigraph._utils.records import write_csv

        self.to_csv(folder / TABLE, raw=raw)
        self.to_json(folder / CURVE, **{"recommended": self.place_of(point), **further})
        write_csv(folder / LABELS, self.labels_table(point), raw=raw)

    def place_of(self: Any, point: TradeoffPoint) -> dict[str, Any]:
        """Return where a point is: its index among the points and on the front, and its dial."""
        return {
            "index": index_of(point, self.points),
            "front": index_of(point, self.front),
            "fairness": point.fairness,
        }

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Return the curve that `save`, or ``equigraph tradeoff``, wrote into a folder.

        Nothing but numbers and texts is read: no pickle, no code. Names and groups are what they were where they
        were whole numbers, numbers, truth values or texts; others come back as texts.

        Raises
        ------
        InputError
            If it is no such folder, or a file of it is missing, damaged or changed.

        Examples
        --------
        >>> import tempfile
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> curve = eg.tradeoff_curve(
        ...     room.adjacency,
        ...     estimator=eg.FairLouvain(n_clusters=3),
        ...     sensitive_features=room.sensitive_features,
        ...     fairness=[0, 1],
        ...     random_state=0,
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     curve.save(folder)
        ...     eg.TradeoffCurve.load(folder).fairness.tolist()
        [0.0, 1.0]
        """
        return cls(**curve_parts(read_kept(folder, CURVE_FILES)))

    def _repr_html_(self: Any) -> str:
        """Return the table of the points, for a notebook."""
        names = [name for name in ("Q", "B", "NB", self.measure) if name in self.points[0].scores]
        heads = ["dial", *dict.fromkeys(names), "sizes"]
        rows = [
            [point.fairness, *(point.scores[name] for name in dict.fromkeys(names)), point.sizes.tolist()]
            for point in self.points
        ]
        return page_of(repr(self), heads, rows)


def curve_parts(kept: Kept) -> dict[str, Any]:
    """Return the parts of a `TradeoffCurve` from what its folder holds."""
    told = entries(kept, CURVE, _CURVE_ENTRIES)
    columns = labels_table(kept, told["n_nodes"], gaps_of(told, kept.folder / CURVE))
    features, attribute, options = features_of(told, columns, kept.folder / CURVE)
    where = kept.folder / CURVE
    if features is None:
        raise InputError(
            f"{kept.folder / LABELS} has no column group: expected the file that equigraph wrote."
        )
    if not told["points"] or len(told["labels"]) != len(told["points"]):
        raise InputError(f"{where} has {len(told['labels'])} labelings for {len(told['points'])} points.")
    if told["spacing"] not in ("dial", "reached"):
        raise InputError(f"{where} has points spaced in {told['spacing']!r}: expected 'dial' or 'reached'.")
    if not told["front"] or len(told["front_labels"]) != len(told["front"]):
        raise InputError(
            f"{where} has {len(told['front_labels'])} labelings for a front of {len(told['front'])}."
        )
    if told["nodes"] != [str(name) for name in columns["node"].tolist()]:
        raise InputError(f"{where} and {LABELS} name different nodes: the two files are of different curves.")
    points = tuple(_point(*pair, where) for pair in zip(told["points"], told["labels"], strict=True))
    kept_apart = ("n_nodes", "nodes", "labels", "front_labels")
    front = zip(told["front"], told["front_labels"], strict=True)
    return {
        **{name: told[name] for name in _CURVE_ENTRIES if name not in kept_apart},
        "points": points,
        "front": tuple(_front_point(one, labels, points, where) for one, labels in front),
        "node_names": columns["node"],
        "sensitive_features": features,
        "attribute": attribute or (told["source"] or {}).get("attribute"),
        "attribute_options": options,
        "seeds": tuple(told["seeds"]),
        "seconds": not_a_number(told["seconds"]),
    }


def _front_point(told: Any, labels: Any, points: tuple[TradeoffPoint, ...], where: Path) -> TradeoffPoint:
    """Return one point of the front, the same object where it is one of the points."""
    index = told.get("point") if isinstance(told, dict) else None
    if index is None:
        return _point(told, labels, where)
    if not isinstance(index, int) or not 0 <= index < len(points):
        raise InputError(f"{where} has a front with point {index!r} of {len(points)} points.")
    return points[index]


def _point(told: Any, labels: Any, where: Path) -> TradeoffPoint:
    if not isinstance(told, dict):
        raise InputError(f"{where} has a point that is none: expected the file that equigraph wrote.")
    check_entries(told, _POINT_ENTRIES, where)
    try:
        found, sizes = np.asarray(labels, dtype=np.intp), np.asarray(told["sizes"], dtype=np.intp)
        fits = found.ndim == sizes.ndim == 1 and np.array_equal(
            np.bincount(found, minlength=sizes.size), sizes
        )
    except (ValueError, TypeError, OverflowError):
        fits = False
    if not fits:
        raise InputError(f"{where} has labels at fairness {told['fairness']:g} that contradict their sizes.")
    known: Mapping[str, Any] = {
        **told,
        "labels": found,
        "sizes": sizes,
        **{name: numbers(told[name], where) for name in ("scores", "means", "spreads")},
        "stability": not_a_number(told["stability"]),
    }
    return TradeoffPoint(
        **{field.name: known[field.name] for field in fields(TradeoffPoint) if field.name in known}
    )


def recommended_point(kept: Kept, curve: Any) -> TradeoffPoint | None:
    """Return the point that a folder recommends."""
    chosen = entries(kept, CURVE, {}).get("recommended")
    if not isinstance(chosen, dict):
        return None
    for name, points in (("index", curve.points), ("front", curve.front)):
        index = chosen.get(name)
        if isinstance(index, int) and 0 <= index < len(points):
            return points[index]
    return None
