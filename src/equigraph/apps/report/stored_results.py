"""Results and curves that commands stored in a folder, read for a page about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.analysis.tradeoff import contents as curves
from equigraph.analysis.tradeoff.point import TradeoffPoint
from equigraph.apps.report.baseline import Baseline, aligned
from equigraph.exceptions import InputError
from equigraph.graph.groups.encode import unique_values
from equigraph.metrics import evaluate
from equigraph.results.contents import KIND, POSSIBLE_FILES, labels_table
from equigraph.results.formats import Stored
from equigraph.results.persistence import read_stored
from equigraph.results.result import ClusteringResult


def read_folder(folder: Path) -> tuple[ClusteringResult | TradeoffCurve, TradeoffPoint | None, Stored]:
    """Return the result or the curve that a command wrote into a folder, and the recommended point of a curve."""
    stored = read_stored(folder, {*POSSIBLE_FILES, *curves.CURVE_FILES})
    kind = stored.manifest["kind"]
    if kind == KIND:
        return ClusteringResult.from_stored(stored), None, stored
    if kind == curves.KIND:
        curve = TradeoffCurve.from_stored(stored)
        return curve, curves.recommended_point(stored, curve), stored
    raise InputError(f"{folder} holds neither a clustering nor a curve, but {kind!r}, which has no page.")


def labels_before(stored: Stored, result: ClusteringResult, graph: Any) -> Baseline | None:
    """Return the labels that `equigraph refine` started from, None where the folder is of another command."""
    columns = labels_table(stored, result.labels.size)
    if "before" not in columns:
        return None
    before = np.array(["" if label is None else str(label) for label in columns["before"].tolist()])
    codes = np.asarray(unique_values(before)[1], dtype=np.intp)
    scores = {} if graph is None else evaluate(graph, codes, sensitive_features=result.attributes)
    return aligned(codes, result.labels, scores, "before", [])
