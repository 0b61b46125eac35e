"""Stacked bars: which groups each cluster is made of, against the population."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from equigraph._utils.text import GIVE_GROUPS, shown
from equigraph.exceptions import GroupsError, ParameterError, require
from equigraph.metrics.summary import MAX_CLUSTERS
from equigraph.plotting.base import Display
from equigraph.plotting.style import MUTED, group_colors, look, text_color

MAX_LINED_GROUPS = 6
_MAX_WRITTEN = 15  # more bars than that are too narrow for percentages


class CompositionDisplay(Display):
    """Draw the shares of the groups in each cluster.

    Parameters
    ----------
    composition : Composition or dict from attribute to Composition
        What `equigraph.metrics.composition` returns; of several attributes each has its own panel.
    attribute : str, optional
        Name of the groups' attribute, which the legend shows.

    Attributes
    ----------
    ax_, figure_
        Set by `plot`; see `Display`.

    Examples
    --------
    >>> display = CompositionDisplay.from_predictions([0, 0, 1], sensitive_features=["a", "b", "b"])
    >>> [tick.get_text() for tick in display.ax_.get_xticklabels()]
    ['all', '0', '1']
    """

    def __init__(self, composition: Any, *, attribute: str | None = None):
        self.composition = composition
        self.attribute = attribute

    @classmethod
    def from_estimator(
        cls, model: Any, graph: Any = None, *, sensitive_features: Any = None, ax: Any = None
    ) -> Self:
        """Draw the labels of a fitted estimator; the groups are given, or come with the graph."""
        attribute = None
        if graph is not None:
            from equigraph.metrics._table import read_nodes

            nodes = read_nodes(graph)
            if sensitive_features is not None:
                sensitive_features = nodes.attributes(sensitive_features)
            else:
                sensitive_features, attribute = nodes.graph.attributes, nodes.graph.attribute
        return cls.from_predictions(
            model.labels_, sensitive_features=sensitive_features, attribute=attribute, ax=ax
        )

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> Self:
        """Draw the labels and groups of a `ClusteringResult`."""
        return cls.from_predictions(
            result.labels, sensitive_features=result.attributes, attribute=result.attribute, ax=ax
        )

    @classmethod
    def from_predictions(
        cls, labels: ArrayLike, *, sensitive_features: Any, attribute: str | None = None, ax: Any = None
    ) -> Self:
        """Draw any labels and groups.

        Raises
        ------
        GroupsError
            If there are no groups: there is nothing to show then.
        """
        from equigraph.metrics import composition

        if sensitive_features is None:
            raise GroupsError(f"A composition needs groups: {GIVE_GROUPS}.")
        what = composition(labels, sensitive_features=sensitive_features)
        return cls(what, attribute=attribute).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars: the population first, then one bar per cluster, with its number of nodes above.

        Of more than 50 clusters the largest are drawn, and of more than 12 groups the small ones are one.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        several = isinstance(self.composition, dict)
        parts = list(self.composition.items()) if several else [(self.attribute, self.composition)]
        widest = max(min(what.clusters.size, MAX_CLUSTERS) for _, what in parts)
        width = float(np.clip(3.2 + 0.75 * (1 + widest), 5, 16))
        with look():
            if len(parts) == 1:
                self._draw(self._axes(ax, (width, 4.6)), *parts[0])
                return self
            if ax is not None:
                raise ParameterError("Several attributes need a figure of their own: leave ax= out.")
            make = require("matplotlib.figure", extra="plot", purpose="Drawing a picture").Figure
            figure = make(figsize=(width, 3.6 * len(parts)), layout="constrained")
            axes = figure.subplots(len(parts), 1).tolist()
            self._is_part = False
            for place, (one, (name, what)) in enumerate(zip(axes, parts, strict=True)):
                self._draw(one, name, what, title=place == 0, label=place == len(parts) - 1)
            self.ax_, self.figure_ = axes[0], figure
        return self

    def _draw(
        self, ax: Any, attribute: str | None, what: Any, *, title: bool = True, label: bool = True
    ) -> None:
        """Draw the bars of one attribute."""
        part = what.capped()
        counts = np.vstack((part.totals, part.counts))
        shares = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
        sizes = np.concatenate(([what.sizes.sum()], part.sizes))
        # A gap sets the population apart from the clusters.
        places = np.concatenate(([0.0], 1.4 + np.arange(len(part.clusters))))
        handles = _draw_bars(ax, places, shares)
        small = 9 if places.size <= 20 else 7
        for place, size in zip(places, sizes.tolist(), strict=True):
            ax.text(place, 1.015, f"{size:,}", ha="center", va="bottom", fontsize=small)
        ax.set_xticks(places, ["all", *(shown(name, 12) for name in part.clusters)], fontsize=small)
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        ax.set_ylim(0, 1)
        ax.tick_params(axis="x", length=0)
        ax.spines["bottom"].set_visible(False)
        rest = (
            f" (the {len(part.clusters)} largest; {part.n_hidden:,} more are not drawn)"
            if part.n_hidden
            else ""
        )
        ax.set_xlabel(f"cluster{rest}" if label else "")
        ax.set_ylabel("share of nodes")
        self._set_title(ax, "Groups in each cluster (number of nodes above)" if title else "", pad=20)
        # Not the labels of the bars: matplotlib would hide a group whose name starts with "_".
        ax.legend(
            handles[::-1],
            [shown(name, 24) for name in part.groups][::-1],
            title=attribute or "group",
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            alignment="left",
        )


def _draw_bars(ax: Any, places: Any, shares: Any) -> list[Any]:
    bottom, drawn = np.zeros(places.size), []
    colors = group_colors(shares.shape[1])
    for group, color in enumerate(colors):
        share = shares[:, group]
        drawn.append(ax.bar(places, share, 0.82, bottom, color=color, edgecolor="white", linewidth=1))
        if places.size <= _MAX_WRITTEN:
            _write_shares(ax, places, bottom, share, color)
        bottom = bottom + share
    # The borders of many groups would be a fence.
    for border in np.cumsum(shares[0])[:-1] if len(colors) <= MAX_LINED_GROUPS else ():
        ax.axhline(border, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=3)
    return drawn


def _write_shares(ax: Any, places: Any, bottom: Any, shares: Any, color: tuple[float, ...]) -> None:
    """Write the percentages into the bars that are high enough, above the lines of the population."""
    style: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "fontsize": 8,
        "color": text_color(color),
        "zorder": 4,
    }
    box = {"facecolor": color, "edgecolor": "none", "pad": 1.0}
    for place, low, share in zip(places, bottom, shares, strict=True):
        if share >= 0.05:
            ax.text(place, low + share / 2, f"{100 * share:.0f} %", bbox=box, **style)
