"""Agreement and objective over the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from equigraph.plotting.base import Display
from equigraph.plotting.style import MUTED, PALETTE, TEXT, look

if TYPE_CHECKING:
    from equigraph.analysis.choosing import Stability

_LINES = {
    "seeds_ari": ("agreement between seeds", PALETTE[0], "o", "-"),
    "removals_ari": ("agreement without a few links", PALETTE[1], "s", "-"),
    "Q": ("modularity Q", PALETTE[2], "^", "--"),
    "fairness": ("fairness", PALETTE[3], "v", "--"),
}


class StabilityDisplay(Display):
    """Draw how stable and how good clusters are over their number.

    All lines lie between 0 and 1, so they share an axis: solid are the agreements (adjusted Rand index), dashed are
    modularity and fairness. The recommended number is marked.

    Parameters
    ----------
    stability : Stability
        What `equigraph.stability` returned.

    Attributes
    ----------
    ax_, figure_
        Set by `plot`; see `Display`.

    Examples
    --------
    >>> import equigraph as eg
    >>> planted = eg.datasets.make_planted_graph(60, 2, mean_degree=10, mixing=0.1, random_state=0)
    >>> model = eg.FairLouvain(fairness=0)
    >>> found = eg.stability(planted.adjacency, [2, 3], estimator=model, n_removals=2, random_state=0)
    >>> [line.get_label() for line in found.plot().ax_.get_lines()][:3]
    ['agreement between seeds', 'agreement without a few links', 'modularity Q']
    """

    def __init__(self, stability: Stability):
        self.stability = stability

    def plot(self, ax: Any = None) -> Self:
        """Draw the lines, on axes of one's own or on new ones."""
        with look():
            ax = self._axes(ax, (7.2, 4.2))
            table = self.stability.table()
            lowest = 0.0
            for name, (label, color, marker, style) in _LINES.items():
                known = ~np.isnan(table[name])
                values = table[name][known]
                if values.size:
                    ax.plot(table["k"][known], values, style, marker=marker, color=color, label=label)
                    lowest = min(lowest, float(values.min()))
            self._mark(ax)
            ax.set_xticks(table["k"])
            ax.set_ylim(lowest, 1.04)
            ax.set_xlabel("number of clusters")
            ax.set_title("How many clusters?")
            ax.grid(axis="y", color=MUTED, alpha=0.15)
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return self

    def _mark(self, ax: Any) -> None:
        chosen = self.stability.recommended
        if chosen is None:
            ax.text(0.02, 0.03, "no number is stable", transform=ax.transAxes, color=TEXT)
            return
        ax.axvline(chosen, color=TEXT, linewidth=1, linestyle=":")
        ax.annotate(
            "recommended", (chosen, 0.0), xytext=(4, 4), textcoords="offset points", color=TEXT, fontsize=9
        )
