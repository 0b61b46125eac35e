"""Placement of labels beside points and names beside nodes, without overlaps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.plotting.style import MUTED, TEXT

Points = NDArray[np.float64]
_DISTANCES = np.array([9.0, 17.0, 27.0, 40.0, 56.0])  # in points
_ANGLES = np.deg2rad([0, 180, 45, 135, -45, -135, 90, -90, 22, 158, -22, -158])
_AROUND = np.round(np.column_stack((np.cos(_ANGLES), np.sin(_ANGLES))), 6)
_BESIDE = np.array([(0, -1), (0, 1), (1, 0), (-1, 0)])  # directions from a node, in order of preference
_FAR = 12.0  # from here on a line leads from the label to its point
_GAP = 2.0  # between a node and its name, in points
# Costs of covering an obstacle or another label, and of leaving the axes; a point of distance costs 1.
_COVERS, _OVERLAPS, _LEAVES = 20.0, 500.0, 1000.0


class PointLabel(NamedTuple):
    """A text for the point (x, y), in data coordinates."""

    x: float
    y: float
    text: str
    color: str
    bold: bool = False


def label_points(ax: Any, labels: Sequence[PointLabel], obstacles: Points) -> None:
    """Write labels beside their points, one after another, with a line to distant ones.

    Important labels come first; the limits and layout of the axes must be final. Obstacles are positions, in data
    coordinates, that should stay free.
    """
    places = np.tile(_AROUND, (_DISTANCES.size, 1)), np.repeat(_DISTANCES, len(_AROUND))
    line = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 5}
    style: dict[str, Any] = {"fontsize": 9, "zorder": 6, "arrowprops": line}
    for note, distance in _write(ax, labels, obstacles, *places, pad=4.0, inside=True, **style):
        note.arrow_patch.set_visible(distance >= _FAR)


def write_names(ax: Any, positions: Points, names: list[str], *, reach: float, spare: float = 1.0) -> int:
    """Write names beside nodes, one after another; return the number of names written.

    Limits and layout of the axes must be final. `reach` is half the width of a node in points, and `spare` a factor on
    the room for a name, above 1 if the layout is not final.
    """
    distances = np.full(len(_BESIDE), reach + _GAP)
    labels = [PointLabel(x, y, name, TEXT) for (x, y), name in zip(positions, names, strict=True)]
    # Not a halo: matplotlib writes such a text as paths, which cannot be searched or read aloud in an svg.
    veil = {"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "boxstyle": "square,pad=0"}
    options: dict[str, Any] = {"fontsize": 8, "zorder": 3, "bbox": veil}
    options |= {"pad": reach, "spare": spare, "most": _COVERS}
    return len(_write(ax, labels, positions, _BESIDE, distances, **options))


def _write(
    ax: Any,
    labels: Sequence[PointLabel],
    obstacles: Points,
    directions: Points,
    distances: Points,
    *,
    pad: float,
    spare: float = 1.0,
    inside: bool = False,
    most: float = np.inf,
    **style: Any,
) -> list[tuple[Any, float]]:
    """Write labels at the best of some places and return them with their distances; drop those that cost `most`.

    Places are directions and distances in points. With `inside`, leaving the axes costs.
    """
    ax.figure.draw_without_rendering()
    pixels = ax.figure.dpi / 72  # in a point
    frame = ax.get_window_extent()
    busy = ax.transData.transform(obstacles) if len(obstacles) else np.empty((0, 2))
    taken = np.empty((0, 4))  # boxes are (left, low, right, high) in pixels
    middle = {"xytext": (0, 0), "textcoords": "offset points", "ha": "center", "va": "center"}
    written = []
    for label in labels:
        looks = {"color": label.color, "fontweight": "bold" if label.bold else "normal", **middle}
        note = ax.annotate(label.text, (label.x, label.y), **looks, **style)
        note.set_in_layout(False)  # else it would change the layout
        half = spare * (_size(note) / 2 + pixels * np.array([2, 1]))
        anchor = ax.transData.transform(note.xy)
        # The edge of the box is at the distance from the point.
        centers = anchor + directions * distances[:, None] * pixels + np.sign(directions) * half
        low, high = (centers - half)[:, None], (centers + half)[:, None]
        covered = ((busy > low - pad * pixels) & (busy < high + pad * pixels)).all(axis=2)
        overlapping = ((taken[:, :2] < high) & (taken[:, 2:] > low)).all(axis=2)
        outside = inside & ((low < frame.min) | (high > frame.max)).any(axis=(1, 2))
        cost = _COVERS * covered.sum(axis=1) + _OVERLAPS * overlapping.sum(axis=1) + _LEAVES * outside
        best = np.argmin(cost + distances)
        if cost[best] >= most:
            note.remove()
            continue
        taken = np.vstack((taken, [*low[best, 0], *high[best, 0]]))
        note.set_position(tuple((centers[best] - anchor) / pixels))
        written.append((note, distances[best]))
    return written


def _size(note: Any) -> Points:
    """Return width and height of a text in pixels, without the line of an annotation."""
    from matplotlib.text import Text

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # issued again when the plot is drawn
        box = Text.get_window_extent(note)
    return np.array([box.width, box.height])
