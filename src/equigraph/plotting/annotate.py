"""Labels beside points, placed so that they cover neither each other nor what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import require
from equigraph.plotting.style import MUTED

_DISTANCES = (9.0, 17.0, 27.0, 40.0, 56.0)  # in points
_ANGLES = np.deg2rad([0, 180, 45, 135, -45, -135, 90, -90, 22, 158, -22, -158])
_FAR = 12.0  # from here on a line leads from the label to its point


class PointLabel(NamedTuple):
    """A text for the point (x, y), in data coordinates."""

    x: float
    y: float
    text: str
    color: str
    bold: bool = False


def label_points(ax: Any, labels: Sequence[PointLabel], obstacles: NDArray[np.float64]) -> list[Any]:
    """Write labels beside their points, first come first served.

    The important labels come first; the limits and layout of the axes must be final. Obstacles are places, in data
    coordinates, that should stay free.
    """
    text = require("matplotlib.text", extra="plot", purpose="Drawing a picture")
    ax.figure.draw_without_rendering()
    pixels = ax.figure.dpi / 72
    busy = ax.transData.transform(obstacles) if len(obstacles) else np.empty((0, 2))
    frame = ax.get_window_extent()
    taken: list[tuple[float, float, float, float]] = []
    written = []
    for label in labels:
        note = _write(ax, label)
        box = text.Text.get_window_extent(note)  # an annotation would count its line in
        half = np.array([box.width / 2 + 2 * pixels, box.height / 2 + 1 * pixels])
        anchor = ax.transData.transform((label.x, label.y))
        options = []
        for distance in _DISTANCES:
            for angle in _ANGLES:
                center = _center(anchor, half, distance * pixels, angle)
                place = (*(center - half), *(center + half))
                options.append((_cost(place, busy, taken, frame, pixels) + distance, distance, center, place))
        _, distance, center, place = min(options, key=lambda option: option[0])
        taken.append(place)
        note.set_position(tuple((center - anchor) / pixels))
        if distance < _FAR:
            note.arrow_patch.set_visible(False)
        written.append(note)
    return written


def _write(ax: Any, label: PointLabel) -> Any:
    note = ax.annotate(
        label.text,
        (label.x, label.y),
        xytext=(0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=9,
        fontweight="bold" if label.bold else "normal",
        color=label.color,
        zorder=6,
        arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 5},
    )
    note.set_in_layout(False)
    return note


def _center(
    anchor: NDArray[np.float64], half: NDArray[np.float64], distance: float, angle: float
) -> NDArray[np.float64]:
    """Return the centre of a box whose edge is at a distance from the anchor, in a direction."""
    direction = np.array([np.cos(angle), np.sin(angle)])
    return anchor + direction * distance + np.sign(np.round(direction, 6)) * half


def _cost(
    place: tuple[float, float, float, float],
    busy: NDArray[np.float64],
    taken: list[tuple[float, float, float, float]],
    frame: Any,
    pixels: float,
) -> float:
    left, low, right, high = place
    pad = 4 * pixels
    inside = (
        (busy[:, 0] > left - pad)
        & (busy[:, 0] < right + pad)
        & (busy[:, 1] > low - pad)
        & (busy[:, 1] < high + pad)
    )
    cost = 20.0 * np.count_nonzero(inside)
    for other in taken:
        width = min(right, other[2]) - max(left, other[0])
        height = min(high, other[3]) - max(low, other[1])
        if width > 0 and height > 0:
            cost += 500
    if left < frame.x0 or low < frame.y0 or right > frame.x1 or high > frame.y1:
        cost += 1000
    return float(cost)
