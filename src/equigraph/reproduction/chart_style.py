"""The look of the methods in the charts, and saving a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equigraph.files import atomic_path
from equigraph.plotting.style import MUTED, PALETTE, look

_BLUE, _ORANGE, _GREEN, _PINK, _SKY, _RED, _, _GREY = PALETTE
_BROWN = "#8C6D46"  # the palette has no further colour that is seen on white
# A colour and a marker for each method: either is enough to tell them apart.
STYLES: dict[str, dict[str, Any]] = {
    "fair-sc": {"color": _ORANGE, "marker": "s", "markersize": 5, "linewidth": 1.4},
    "scalable-fair-sc": {"color": _GREEN, "marker": "^", "markersize": 6, "linewidth": 1.4},
    "individual-fair-sc": {"color": _PINK, "marker": "v", "markersize": 6, "linewidth": 1.4},
    "dmon": {"color": _SKY, "marker": "D", "markersize": 5, "linewidth": 1.4},
    "ifair-nmtf": {"color": _BLUE, "marker": "o", "markersize": 5.5, "linewidth": 2.2},
    "fair-nmtf": {"color": _BROWN, "marker": "h", "markersize": 6, "linewidth": 1.4},
    "fair-partition": {"color": _RED, "marker": "P", "markersize": 7, "linewidth": 2.2},
    "sc": {"color": _GREY, "marker": "X", "markersize": 6, "linewidth": 1.4},
    "nmtf": {"color": MUTED, "marker": "p", "markersize": 6, "linewidth": 1.4},
}


def save(figure: Any, path: Path) -> Path:
    """Write a figure as png, completely or not at all, and return its path."""
    with look(), atomic_path(path) as partial:
        figure.savefig(partial, format="png", dpi=150, bbox_inches="tight", pad_inches=0.15)
    return path
