"""Labels beside points and names beside nodes, placed so that they cover neither each other nor what is drawn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.plotting.style import MUTED, TEXT

Points = NDArray[np.float64]
_DISTANCES = (9.0, 17.0, 27.0, 40.0, 56.0)  # in points
_ANGLES = np.deg2rad([0, 180, 45, 135, -45, -135, 90, -90, 22, 158, -22, -158])
_AROUND = np.round(np.column_stack((np.cos(_ANGLES), np.sin(_ANGLES))), 6)
_BESIDE = np.array([(0, -1), (0, 1), (1, 0), (-1, 0)])  # of a node, the most welcome first
_FAR = 12.0  # from here on a line leads from the label to its point
_GAP = 2.0  # between a node and its name, in points
# What it costs a label to cover an obstacle or another label, or to leave the axes; a point of distance costs 1.
_COVERS, _OVERLAPS, _LEAVES = 20.0, 500.0, 1000.0


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
    places = [(direction, distance) for distance in _DISTANCES for direction in _AROUND]
    line = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 5}
    writer = _Writer(ax, obstacles, pad=4.0, inside=True)
    written = []
    for label in labels:
        weight = "bold" if label.bold else "normal"
        note = writer.note(label, fontsize=9, fontweight=weight, zorder=6, arrowprops=line)
        distance, _ = writer.place(note, places)
        note.arrow_patch.set_visible(distance >= _FAR)
        written.append(note)
    return written


def write_names(ax: Any, positions: Points, names: list[str], *, reach: float, spare: float = 1.0) -> int:
    """Write names beside nodes, first come first served, and return how many found a place.

    Limits and layout of the axes must be final. `reach` is half the width of a node in points, and `spare` how much
    more room than it needs a name is given, where the layout is not.
    """
    from matplotlib.patheffects import withStroke

    places = [(direction, reach + _GAP) for direction in _BESIDE]
    halo = [withStroke(linewidth=2.2, foreground="white")]
    writer = _Writer(ax, positions, pad=reach, spare=spare)
    written = 0
    for (x, y), name in zip(positions, names, strict=True):
        note = writer.note(PointLabel(x, y, name, TEXT), fontsize=8, zorder=3, path_effects=halo)
        _, cost = writer.place(note, places, most=_COVERS)
        if cost < _COVERS:
            written += 1
        else:
            note.remove()
    return written


class _Writer:
    """Axes with obstacles and the labels that were written so far; boxes are (left, low, right, high) in pixels."""

    def __init__(self, ax: Any, obstacles: Points, *, pad: float, spare: float = 1.0, inside: bool = False):
        ax.figure.draw_without_rendering()
        self.ax, self.spare = ax, spare
        self.frame = ax.get_window_extent() if inside else None
        self.pixels = ax.figure.dpi / 72  # in a point
        self.pad = pad * self.pixels
        self.busy = ax.transData.transform(obstacles) if len(obstacles) else np.empty((0, 2))
        self.taken = np.empty((0, 4))

    def note(self, label: PointLabel, **style: Any) -> Any:
        """Write a label on its point."""
        note = self.ax.annotate(
            label.text,
            (label.x, label.y),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            color=label.color,
            **style,
        )
        note.set_in_layout(False)  # or what was final would not be
        return note

    def place(
        self, note: Any, places: Sequence[tuple[Points, float]], most: float = np.inf
    ) -> tuple[float, float]:
        """Move a label to the best place, and return its distance and cost; what costs too much takes no room."""
        from matplotlib.text import Text

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # that is said when the picture is drawn
            box = Text.get_window_extent(note)  # an annotation would count its line in
        half = self.spare * np.array([box.width / 2 + 2 * self.pixels, box.height / 2 + self.pixels])
        anchor = self.ax.transData.transform(note.xy)
        options = []
        for direction, distance in places:
            # The edge of the box is at the distance from the point.
            center = anchor + direction * distance * self.pixels + np.sign(direction) * half
            here = np.concatenate((center - half, center + half))
            options.append((self._cost(here), distance, center, here))
        cost, distance, center, here = min(options, key=lambda option: option[0] + option[1])
        if cost < most:
            self.taken = np.vstack((self.taken, here))
            note.set_position(tuple((center - anchor) / self.pixels))
        return distance, cost

    def _cost(self, box: Points) -> float:
        low, high = box[:2], box[2:]
        covered = ((self.busy > low - self.pad) & (self.busy < high + self.pad)).all(axis=1)
        overlapping = ((self.taken[:, :2] < high) & (self.taken[:, 2:] > low)).all(axis=1)
        outside = self.frame is not None and ((low < self.frame.min).any() or (high > self.frame.max).any())
        return float(_COVERS * covered.sum() + _OVERLAPS * overlapping.sum() + _LEAVES * outside)
