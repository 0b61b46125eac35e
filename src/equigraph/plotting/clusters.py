"""Plots of clusters: links between them, shares of groups, and interactions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.text import GIVE_GROUPS, count, shown
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import as_graph
from equigraph.graph.groups.encode import indicator, unique_values
from equigraph.graph.labels import labels_in_order
from equigraph.metrics import composition
from equigraph.metrics._table import read_nodes
from equigraph.metrics.summary import MAX_CLUSTERS as MAX_BARS
from equigraph.plotting.base import Display, LabelsDisplay, new_figure
from equigraph.plotting.style import EDGE, MUTED, TEXT, cluster_colors, group_colors, look, text_color

MAX_DRAWN_CLUSTERS = 50
_WIDEST = 9.0  # line of the strongest link, in points
MAX_LINED_GROUPS = 6
_MAX_WRITTEN = 15  # more bars than that are too narrow for percentages
MAX_CLUSTERS = 2000  # a heat map of more is a grey square, and would be held as a dense array
_MAX_VALUES = 15  # more rows than that leave no room for numbers


class ClusterGraphDisplay(LabelsDisplay):
    """Draw each cluster as a disc on a ring, and the links between clusters as lines.

    The area of a disc is the number of nodes, the width of a line the weight of all links between two
    clusters. Of more than 50 clusters the largest are drawn.

    Parameters
    ----------
    adjacency : graph-like
        Anything that `equigraph.graph.as_graph` takes.
    labels : array-like of shape (n_nodes,)
        Cluster of each node.

    Attributes
    ----------
    clusters, sizes : ndarray of shape (n_drawn,)
        The clusters that are drawn, in the order of their labels, and their numbers of nodes.
    links : ndarray of shape (n_drawn, n_drawn)
        Weight of the links between the drawn clusters, in units of the largest weight; the diagonal is zero.
    n_clusters : int
        Number of all clusters.
    ax_, figure_
        Set by `plot`; see `Display`.

    Examples
    --------
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> display = ClusterGraphDisplay(path, [0, 0, 1]).plot()
    >>> display.sizes.tolist(), display.links.tolist()
    ([2, 1], [[0.0, 1.0], [1.0, 0.0]])
    """

    def __init__(self, adjacency: Any, labels: Any):
        graph = as_graph(adjacency)
        names, codes = unique_values(labels_in_order(labels, graph))
        sizes = np.bincount(codes)
        # Stable: of equally large clusters the first ones are kept.
        kept = np.sort(np.argsort(-sizes, kind="stable")[:MAX_DRAWN_CLUSTERS])
        self.n_clusters = int(names.size)
        self.clusters, self.sizes = names[kept], sizes[kept]
        self._codes = kept
        onehot = indicator(np.asarray(codes, dtype=np.intp), self.n_clusters)[:, kept]
        links = (onehot.T @ (graph.unit_adjacency @ onehot)).toarray().astype(np.float64)
        np.fill_diagonal(links, 0.0)
        self.links: NDArray[np.float64] = links

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw the clusters.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        title : str, optional
            By default the number of clusters.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        k = self.clusters.size
        # The first cluster is at the top, the others follow clockwise.
        angle = np.pi / 2 - 2 * np.pi * np.arange(k) / k
        places = np.column_stack((np.cos(angle), np.sin(angle))) if k > 1 else np.zeros((1, 2))
        radius = min(0.3, 0.85 * np.pi / k) * np.sqrt(self.sizes / self.sizes.max())
        drawn = count(self.n_clusters, "cluster")
        if k < self.n_clusters:
            drawn = f"The {k} largest of {drawn}"
        with look():
            ax = self._axes(ax, (7.0, 7.0))
            self._draw_links(ax, places)
            self._draw_clusters(ax, places, radius)
            self._set_title(ax, drawn if title is None else title)
            ax.set_aspect("equal")
            ax.set_xlim(-1.5, 1.5)
            ax.set_ylim(-1.4, 1.4)
            ax.set_axis_off()
        return self

    def _draw_links(self, ax: Any, places: NDArray[np.float64]) -> None:
        from matplotlib.collections import LineCollection

        rows, columns = np.nonzero(np.triu(self.links, k=1))
        if not rows.size:
            return
        weight = self.links[rows, columns]
        # The strongest come last, on top of the others.
        order = np.argsort(weight, kind="stable")
        share = weight[order] / weight.max()
        segments = list(places[np.column_stack((rows, columns))[order]])
        style = {"linewidths": 0.3 + _WIDEST * share, "alpha": 0.2 + 0.6 * share, "capstyle": "round"}
        ax.add_collection(LineCollection(segments, colors=EDGE, zorder=1, **style))

    def _draw_clusters(self, ax: Any, places: NDArray[np.float64], radius: NDArray[np.float64]) -> None:
        from matplotlib.patches import Circle

        colors = cluster_colors(self.n_clusters)
        few = self.clusters.size <= 16
        outward = places if self.clusters.size > 1 else np.array([[0.0, 1.0]])
        texts = places + outward * (radius + 0.05)[:, None]
        style = {"fontsize": 10 if few else 8, "color": TEXT if few else MUTED, "zorder": 3}
        edge = {"edgecolor": "white", "linewidth": 1.5, "zorder": 2}
        for i, (name, size) in enumerate(zip(self.clusters.tolist(), self.sizes.tolist(), strict=True)):
            ax.add_patch(Circle(places[i], radius[i], facecolor=colors[self._codes[i]], **edge))
            x, y = texts[i]
            text = shown(name, 12) + (f"\n{count(size, 'node')}" if few else "")
            ha = "center" if abs(x) < 0.15 else "left" if x > 0 else "right"
            va = "center" if abs(y) < 0.5 else "bottom" if y > 0 else "top"
            ax.text(x, y, text, ha=ha, va=va, **style)


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
            nodes = read_nodes(graph)
            attribute = nodes.graph.attribute if sensitive_features is None else None
            sensitive_features = nodes.attributes(sensitive_features)
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
        widest = max(min(what.clusters.size, MAX_BARS) for _, what in parts)
        width = float(np.clip(3.2 + 0.75 * (1 + widest), 5, 16))
        with look():
            if len(parts) == 1:
                self._draw_attribute(self._axes(ax, (width, 4.6)), *parts[0])
                return self
            if ax is not None:
                raise ParameterError("Several attributes need a figure of their own: leave ax= out.")
            self.figure_ = new_figure((width, 3.6 * len(parts)))
            axes = self.figure_.subplots(len(parts), 1).tolist()
            self.ax_, self._is_part = axes[0], False
            for one, (name, what) in zip(axes, parts, strict=True):
                self._draw_attribute(one, name, what, title=one is axes[0], label=one is axes[-1])
        return self

    def _draw_attribute(
        self, ax: Any, attribute: str | None, what: Any, title: bool = True, label: bool = True
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
        drawn = f" (the {len(part.clusters)} largest; {part.n_hidden:,} more are not drawn)"
        ax.set_xlabel(f"cluster{drawn if part.n_hidden else ''}" if label else "")
        ax.set_ylabel("share of nodes" + (" with a group" if counts[0].sum() < sizes[0] else ""))
        self._set_title(ax, "Groups in each cluster (number of nodes above)" if title else "", pad=20)
        # Not the labels of the bars: matplotlib would hide a group whose name starts with "_".
        names = [shown(name, 24) for name in part.groups]
        beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "alignment": "left"}
        ax.legend(handles[::-1], names[::-1], title=attribute or "group", **beside)


def _draw_bars(ax: Any, places: Any, shares: Any) -> list[Any]:
    bottom, drawn = np.zeros(places.size), []
    colors = group_colors(shares.shape[1])
    for group, color in enumerate(colors):
        share = shares[:, group]
        bars = ax.bar(places, share, 0.82, bottom, color=color, edgecolor="white", linewidth=1)
        drawn.append(bars)
        if places.size <= _MAX_WRITTEN:
            # Only into bars that are high enough, and above the lines of the population.
            texts = [f"{100 * one:.0f} %" if one >= 0.05 else "" for one in share.tolist()]
            style = {"fontsize": 8, "color": text_color(color), "zorder": 4}
            box = {"facecolor": color, "edgecolor": "none", "pad": 1.0}
            ax.bar_label(bars, texts, label_type="center", bbox=box, **style)
        bottom = bottom + share
    # Border lines of many groups would clutter the plot.
    for border in np.cumsum(shares[0])[:-1] if len(colors) <= MAX_LINED_GROUPS else ():
        ax.axhline(border, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=3)
    return drawn


class InteractionDisplay(Display):
    """Draw the interaction W as a heat map.

    Parameters
    ----------
    interaction : array-like or sparse array of shape (n_clusters, n_clusters)
        W, of at most 2,000 clusters.
    clusters : array-like of shape (n_clusters,), optional
        Names of the clusters; by default 0, 1, 2, ...

    Attributes
    ----------
    ax_, figure_
        Set by `plot`; see `Display`.

    Examples
    --------
    >>> display = InteractionDisplay([[0.9, 0.1], [0.1, 0.7]]).plot()
    >>> [text.get_text() for text in display.ax_.texts]
    ['0.9', '0.1', '0.1', '0.7']
    """

    def __init__(self, interaction: Any, *, clusters: ArrayLike | None = None):
        if len(getattr(interaction, "shape", ())) == 2 and max(interaction.shape) > MAX_CLUSTERS:
            raise ParameterError(
                f"The interaction of {max(interaction.shape):,} clusters cannot be drawn: expected at most "
                f"{MAX_CLUSTERS:,}; draw a part, such as interaction[:20, :20], the largest clusters."
            )
        values = interaction.toarray() if sparse.issparse(interaction) else interaction
        self.interaction: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
        shape = self.interaction.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ParameterError(
                f"The interaction has shape {shape}: expected a square matrix, one row per cluster."
            )
        self.clusters = np.arange(shape[0]) if clusters is None else np.asarray(clusters)
        if self.clusters.shape != shape[:1]:
            raise ParameterError(f"There are {self.clusters.size} cluster names for {shape[0]} clusters.")

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the ``interaction_`` of a fitted estimator."""
        return cls(model.interaction_).plot(ax)

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> Self:
        """Draw the interaction of a `ClusteringResult`."""
        return cls(result.interaction).plot(ax)

    def plot(self, ax: Any = None, *, values: bool | None = None) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        values : bool, optional
            Whether to write the numbers; by default up to 15 clusters.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        k = self.clusters.size
        side = float(np.clip(1.6 + 0.65 * k, 4, 11))
        with look():
            ax = self._axes(ax, (side + 1.2, side))
            image = ax.imshow(self.interaction, cmap="Blues", vmin=min(0.0, float(self.interaction.min())))
            step = max(1, k // 25)
            names = [str(name) for name in self.clusters[::step].tolist()]
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_ticks(range(0, k, step), names)
                axis.set_label_text("cluster")
            ax.tick_params(length=0)
            self._set_title(ax, "Interaction between clusters (W)")
            ax.spines[:].set_visible(False)
            if k <= _MAX_VALUES if values is None else values:
                self._write_values(ax, image)
            bar = ax.figure.colorbar(image, ax=ax, shrink=0.85)
            bar.outline.set_visible(False)
        return self

    def _write_values(self, ax: Any, image: Any) -> None:
        largest = float(np.abs(self.interaction).max())
        for (i, j), value in np.ndenumerate(self.interaction):
            color = text_color(image.cmap(image.norm(value)))
            size = 10 if self.clusters.size <= 8 else 7.5
            # Factors of tiny rounding residue would print as 1e-17.
            text = "≈ 0" if 0 < abs(value) < 1e-3 * largest else f"{value:.2g}"
            ax.text(j, i, text, ha="center", va="center", color=color, fontsize=size)
