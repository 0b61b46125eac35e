"""Names beside nodes, as many as fit without covering each other or a node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def write_names(
    ax: Any,
    positions: NDArray[np.float64],
    names: list[str],
    *,
    reach: float,
    spare: float = 1.0,
) -> int:
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


def _is_free(
    box: NDArray[np.float64], taken: NDArray[np.float64], nodes: NDArray[np.float64], own: int, reach: float
) -> bool:
    """Return whether a box covers no name that is written and no node but its own."""
    apart = (taken[:, :2] >= box[2:]).any(axis=1) | (taken[:, 2:] <= box[:2]).any(axis=1)
    others = np.delete(nodes, own, axis=0)
    outside = (others - reach >= box[2:]).any(axis=1) | (others + reach <= box[:2]).any(axis=1)
    return bool(apart.all()) and bool(outside.all())
