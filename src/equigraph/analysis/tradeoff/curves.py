"""Curves by number of clusters."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.hooks import hook
from equigraph._utils.records import Tabular, write_json
from equigraph.analysis.tradeoff.curve import TradeoffCurve


class TradeoffCurves(Tabular, Mapping[int, TradeoffCurve]):
    """Curves by number of clusters.

    Parameters
    ----------
    curves : mapping from int to TradeoffCurve
        One curve for each number of clusters.
    """

    def __init__(self, curves: Mapping[int, TradeoffCurve]):
        self._curves = dict(curves)

    def __getitem__(self, n_clusters: int) -> TradeoffCurve:
        return self._curves[n_clusters]

    def __iter__(self) -> Iterator[int]:
        return iter(self._curves)

    def __len__(self) -> int:
        return len(self._curves)

    def table(self) -> dict[str, NDArray]:
        """Return the tables of all curves below each other, with the column n_clusters in front."""
        tables = [
            {"n_clusters": np.full(len(curve.points), k), **curve.table()}
            for k, curve in self._curves.items()
        ]
        return {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}

    def summary(self) -> dict[str, Any]:
        """Return the summaries of all curves, ready for JSON."""
        return {"curves": [curve.summary() for curve in self._curves.values()]}

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write `summary` as JSON."""
        write_json(path, self.summary())

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the fronts of all curves; see `equigraph.plotting.TradeoffCurvesDisplay`."""
        return hook("TradeoffCurvesDisplay")(self).plot(ax)

    def __repr__(self) -> str:
        curves = ", ".join(f"{k}: {len(curve.points)} points" for k, curve in self._curves.items())
        return f"TradeoffCurves({{{curves}}})"
