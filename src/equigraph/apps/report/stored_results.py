"""Reading what the commands stored in a folder, so that it can be told again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.analysis.tradeoff.keeping import CURVE_FILES, curve_parts, recommended_point
from equigraph.analysis.tradeoff.keeping import KIND as CURVE_KIND
from equigraph.analysis.tradeoff.point import TradeoffPoint
from equigraph.apps.report.baseline import Baseline, aligned
from equigraph.exceptions import InputError
from equigraph.graph.groups.encode import unique_values
from equigraph.metrics import evaluate
from equigraph.results.featured import gaps_of
from equigraph.results.folders import Kept, read_kept
from equigraph.results.loading import POSSIBLE_FILES, clustering_parts, labels_table
from equigraph.results.result import KIND, ClusteringResult


def read_folder(folder: Path) -> tuple[ClusteringResult | TradeoffCurve, TradeoffPoint | None, Kept]:
    """Return the result or the curve that a command wrote into a folder, and the recommended point of a curve."""
    kept = read_kept(folder, {*POSSIBLE_FILES, *CURVE_FILES})
    kind = kept.manifest.get("kind")
    if kind == KIND:
        return ClusteringResult(**clustering_parts(kept)), None, kept
    if kind == CURVE_KIND:
        curve = TradeoffCurve(**curve_parts(kept))
        return curve, recommended_point(kept, curve), kept
    raise InputError(f"{folder} holds neither a clustering nor a curve, but {kind!r}, which has no page.")


def labels_before(kept: Kept, result: ClusteringResult, graph: Any) -> Baseline | None:
    """Return the labels that `equigraph refine` started from, where the folder is one of its."""
    columns = labels_table(kept, result.labels.size, gaps_of(result.summary(), kept.folder))
    if "before" not in columns:
        return None
    codes = np.asarray(unique_values(columns["before"])[1], dtype=np.intp)
    scores = {} if graph is None else evaluate(graph, codes, sensitive_features=result.attributes)
    return aligned(codes, result.labels, scores, "before", [])
