"""Labels beside points and names beside nodes, placed so that they cover neither each other nor what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import require
from equigraph.plotting.style import MUTED

Points = NDArray[np.float64]
Box = tuple[float, float, float, float]
_DISTANCES = (9.0, 17.0, 27.0, 40.0, 56.0)  # in points
_ANGLES = np.deg2rad([0, 180, 45, 135, -45, -135, 90, -90, 22, 158, -22, -158])
_DIRECTIONS = np.column_stack((np.cos(_ANGLES), np.sin(_ANGLES)))
_FAR = 12.0  # from here on a line leads from the label to its point


class PointLabel(NamedTuple):
    """A text for the point (x, y), in data coordinates."""

    x: float
    y: float
    text: str
    color: str
    bold: bool = False


def label_points(ax: Any, labels: Sequence[PointLabel], obstacles: Points) -> list[Any]:
    """Write labels beside their points, first come first served.

    The important labels come first; the limits and layout of the axes must be final. Obstacles are places, in data
    coordinates, that should stay free.
    """
    text = require("matplotlib.text", extra="plot", purpose="Drawing a picture")
    ax.figure.draw_without_rendering()
    pixels = ax.figure.dpi / 72
    busy = ax.transData.transform(obstacles) if len(obstacles) else np.empty((0, 2))
    frame = ax.get_window_extent()
    taken: list[Box] = []
    written = []
    for label in labels:
        note = _write(ax, label)
        box = text.Text.get_window_extent(note)  # an annotation would count its line in
        half = np.array([box.width / 2 + 2 * pixels, box.height / 2 + 1 * pixels])
        anchor = ax.transData.transform((label.x, label.y))
        options = []
        for distance in _DISTANCES:
            for direction in _DIRECTIONS:
                # The edge of the box is at the distance from the point.
                center = anchor + direction * distance * pixels + np.sign(np.round(direction, 6)) * half
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


def _cost(place: Box, busy: Points, taken: list[Box], frame: Any, pixels: float) -> float:
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


_FONT = 8  # points
_LETTER = 0.62  # width of a letter over the size of the font, on the safe side
_LINE = 0.75  # half the height of a line over the size of the font
_GAP = 2.0  # between a node and its name, in points

# Where a name may be, the most welcome first: direction from the node, and how the text is aligned.
_PLACES: tuple[tuple[tuple[int, int], str, str], ...] = (
    ((0, -1), "center", "top"),
    ((0, 1), "center", "bottom"),
    ((1, 0), "left", "center"),
    ((-1, 0), "right", "center"),
)


def write_names(ax: Any, positions: Points, names: list[str], *, reach: float, spare: float = 1.0) -> int:
    """Write names beside nodes, first come first served, and return how many found a place.

    Limits and layout of the axes must be final. `reach` is half the width of a node in points, and `spare` how much
    more room than it needs a name is given, where the layout is not.
    """
    from matplotlib.patheffects import withStroke

    ax.figure.draw_without_rendering()
    # In points, as the offsets of texts are.
    nodes = ax.transData.transform(positions) * 72 / ax.figure.dpi
    taken = np.empty((len(names), 4))
    written = 0
    for i, name in enumerate(names):
        half = spare * np.array([_LETTER * _FONT * len(name) / 2, _LINE * _FONT])
        for direction, across, along in _PLACES:
            middle = nodes[i] + np.array(direction) * (reach + _GAP + half)
            box = np.concatenate((middle - half, middle + half))
            if _is_free(box, taken[:written], nodes, i, reach):
                taken[written] = box
                written += 1
                note = ax.annotate(
                    name,
                    positions[i],
                    xytext=np.array(direction) * (reach + _GAP),
                    textcoords="offset points",
                    ha=across,
                    va=along,
                    fontsize=_FONT,
                    zorder=3,
                    path_effects=[withStroke(linewidth=2.2, foreground="white")],
                )
                note.set_in_layout(False)  # or what was final would not be
                break
    return written


def _is_free(box: Points, taken: Points, nodes: Points, own: int, reach: float) -> bool:
    """Return whether a box covers no name that is written and no node but its own."""
    apart = (taken[:, :2] >= box[2:]).any(axis=1) | (taken[:, 2:] <= box[:2]).any(axis=1)
    others = np.delete(nodes, own, axis=0)
    outside = (others - reach >= box[2:]).any(axis=1) | (others + reach <= box[:2]).any(axis=1)
    return bool(apart.all()) and bool(outside.all())
