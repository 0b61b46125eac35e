"""The picture: seconds and memory over the size of the graph, and an iteration beside the floor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.scale.graphs import POKEC
from benchmarks.scale.methods import METHODS
from benchmarks.scale.report import Row
from benchmarks.scale.rows import MEMORY, OK, TIME
from equigraph._utils.files import atomic_path
from equigraph.exceptions import require
from equigraph.plotting.style import MARKERS, MUTED, PALETTE, look

_OURS = dict(zip((name for name, method in METHODS.items() if method.kind == "ours"), PALETTE, strict=False))
_PEERS = [name for name, method in METHODS.items() if method.kind == "peer"]
_PARTS = [name for name, method in METHODS.items() if method.kind == "part"]


def style_of(name: str) -> dict[str, Any]:
    """Return how a method is drawn: ours thick and in colour, peers thin, grey, and told apart by their marker."""
    if name in _OURS:
        return {"color": _OURS[name], "linewidth": 2.5, "marker": "o", "markersize": 6, "zorder": 3}
    if name in _PARTS:
        color = PALETTE[5] if name.endswith("float64") else PALETTE[4]
        dashed = name.startswith("floor")
        return {"color": color, "linewidth": 1.5, "marker": "o", "linestyle": "--" if dashed else "-"}
    i = _PEERS.index(name)
    shade = str(0.25 + 0.45 * i / max(len(_PEERS) - 1, 1))
    return {"color": shade, "linewidth": 1, "marker": MARKERS[1 + i], "markersize": 5}


def draw(rows: Sequence[Row], path: Path, *, limit: float, memory_gib: float, title: str) -> None:
    """Draw all rows and write the picture as a file."""
    matplotlib = require("matplotlib", extra="plot", purpose="Drawing a picture")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with look():
        figure, panels = pyplot.subplots(1, 3, figsize=(15, 5.6), layout="constrained")
        whole = [row for row in rows if row["method"] not in _PARTS]
        for panel in panels:
            # Before anything is drawn: a method without points would leave limits that have no logarithm.
            panel.set(xscale="log", yscale="log")
        _curves(panels[0], whole, "seconds", limit, TIME)
        _curves(panels[1], whole, "peak_gib", memory_gib, MEMORY)
        _curves(panels[2], [row for row in rows if row["method"] in _PARTS], "seconds", None, TIME)
        heads = ("One run, seconds", "Peak memory, GiB", "One iteration and its floor, seconds")
        for panel, head in zip(panels, heads, strict=True):
            panel.set(title=head, xlabel="stored entries (two per edge)")
            panel.grid(color="0.9", linewidth=0.6)
            _label_ticks(panel.xaxis, _short)
            _label_ticks(panel.yaxis, lambda value: f"{value:g}")
        legends = [panel.get_legend_handles_labels() for panel in (panels[0], panels[2])]
        figure.legend(*map(sum, zip(*legends, strict=True), ([], [])), loc="outside lower center", ncols=5)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=MUTED)
        with atomic_path(path) as partial:
            figure.savefig(partial, dpi=130)
        pyplot.close(figure)


def _short(value: float) -> str:
    """Return a large number in thousands, millions or billions."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def _label_ticks(axis: Any, words: Callable[[float], str]) -> None:
    """Label an axis of logarithms in words, at 1, 2 and 5 of every power of ten where it spans few of them."""
    from matplotlib import ticker

    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1.0,) if high > 300 * low else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: words(value)))
    axis.set_minor_formatter(ticker.NullFormatter())


def _curves(panel: Any, rows: Sequence[Row], value: str, most: float | None, stopped: str) -> None:
    """Draw one line per method through the planted graphs, Pokec-n hollow, and a cross where the limit was hit."""
    hit = False
    for name in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == name]
        done = [row for row in mine if row["status"] == OK]
        line = sorted((row["n_stored"], row[value]) for row in done if row["graph"] != POKEC)
        style = style_of(name)
        # Drawn without points too: a method that always hit a limit belongs into the legend.
        panel.plot(*zip(*line, strict=True) if line else ((), ()), label=METHODS[name].label, **style)
        hollow = {**style, "linestyle": "none", "markerfacecolor": "white"}
        for row in done:
            if row["graph"] == POKEC:
                panel.plot(row["n_stored"], row[value], **hollow)
        for row in mine:
            if row["status"] == stopped and most is not None:
                hit = True
                panel.plot(row["n_stored"], most, marker="x", color=style["color"], markersize=8, zorder=4)
    if hit and most is not None:
        panel.axhline(most, color=MUTED, linewidth=0.8, linestyle=":")
        panel.annotate("limit", (0.5, most), xycoords=("axes fraction", "data"), va="bottom", color=MUTED)
    if any(row["graph"] == POKEC and row["status"] == OK for row in rows):
        panel.annotate("hollow: Pokec-n", (0.98, 0.02), xycoords="axes fraction", ha="right", color=MUTED)
