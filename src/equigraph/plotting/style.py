"""Style of all plots: colour-blind safe colours, a marker per group, fonts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from equigraph.exceptions import require

# Okabe and Ito's palette, in an order whose first colours differ most; black is kept for text.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "<", ">", "h", "*")
# Groups are shown by shape where clusters have the colours; where groups need colours, these are other ones.
GROUP_COLORS = ("#2B3A55", "#C9CCD3", "#6B7A99", "#E8DCC4", "#8C6D46", "#A9B8D0", "#594A42", "#D9C3A0")
TEXT = "#222222"
MUTED = "#666666"
EDGE = "#9AA0A6"

_RC = {
    "font.family": "sans-serif",
    # Verdana is as wide as DejaVu Sans, so an svg keeps its look where only that is installed.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "font.size": 10,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    # Names are texts: "$5" is no formula.
    "text.parse_math": False,
    # Text stays text in an svg, so that it can be found and read aloud; the salt makes its ids the same every time.
    "svg.fonttype": "none",
    "svg.hashsalt": "equigraph",
}


@contextmanager
def look() -> Iterator[None]:
    """Use the fonts and colours of equigraph inside the block, and restore the user's after it."""
    matplotlib = require("matplotlib", extra="plot", purpose="Drawing a picture")
    with matplotlib.rc_context(_RC):
        yield


def cluster_colors(n_clusters: int) -> list[tuple[float, float, float]]:
    """Return one colour per cluster; every further round through the palette is darker."""
    return [_darker(PALETTE[i % len(PALETTE)], i // len(PALETTE)) for i in range(n_clusters)]


def group_colors(n_groups: int) -> list[tuple[float, float, float]]:
    """Return one colour per group, distinct from those of clusters."""
    return [_darker(GROUP_COLORS[i % len(GROUP_COLORS)], i // len(GROUP_COLORS)) for i in range(n_groups)]


def group_markers(n_groups: int) -> list[str]:
    """Return one marker per group; there are twelve, after which they repeat."""
    return [MARKERS[i % len(MARKERS)] for i in range(n_groups)]


# Marker of nodes without a group, distinct from those of groups.
UNGROUPED_MARKER = "."


def text_color(background: tuple[float, ...]) -> str:
    """Return a text colour that can be read on a background."""
    red, green, blue = background[:3]
    return TEXT if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def _darker(color: str, rounds: int) -> tuple[float, float, float]:
    red, green, blue = (int(color[i : i + 2], 16) / 255 * 0.7**rounds for i in (1, 3, 5))
    return red, green, blue
