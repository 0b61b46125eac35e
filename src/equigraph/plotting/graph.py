"""Plot of a graph with clusters as colours and groups as shapes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.text import count, shown
from equigraph.graph.groups import Groups
from equigraph.graph.groups.attributes import joined_name
from equigraph.graph.groups.encode import unique_values
from equigraph.graph.labels import labels_in_order
from equigraph.metrics._table import read_nodes
from equigraph.plotting.annotate import write_names
from equigraph.plotting.base import LabelsDisplay
from equigraph.plotting.layout import spring_layout
from equigraph.plotting.style import (
    EDGE,
    MUTED,
    TEXT,
    UNGROUPED_MARKER,
    cluster_colors,
    group_markers,
    look,
    text_color,
)

MAX_NAMED_NODES = 60
MAX_DRAWN_EDGES = 20_000
_MAX_LEGEND = 12

# Where the legends of clusters (upper left corner) and groups (lower left corner) are, in the axes.
Corners = tuple[tuple[float, float], tuple[float, float]]
_RIGHT: Corners = ((1.0, 1.0), (1.0, 0.0))


class GraphDisplay(LabelsDisplay):
    """Draw a graph with its clusters as colours and its groups as shapes.

    Parameters
    ----------
    adjacency : graph-like
        Anything that `equigraph.graph.as_graph` takes.
    labels : array-like of shape (n_nodes,)
        Cluster of each node.
    sensitive_features : array-like of shape (n_nodes,) or Groups, optional
        Group of each node; by default the groups that came with the graph.
    node_names : array-like of shape (n_nodes,), optional
        Names to write at the nodes of graphs of at most 60 nodes; by default those of the graph.
    attribute : str, optional
        Name of the groups' attribute, which the legend shows; by default that of the graph, if the groups are.
    positions : ndarray of shape (n_nodes, 2), optional
        Where the nodes are; by default `spring_layout` decides.

    Attributes
    ----------
    ax_, figure_
        Set by `plot`; see `Display`.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> display = GraphDisplay(room.adjacency, room.target, sensitive_features=room.sensitive_features)
    >>> display.plot().ax_.get_title("left")
    '30 nodes, 73 edges, 3 clusters'
    """

    def __init__(
        self,
        adjacency: Any,
        labels: Any,
        *,
        sensitive_features: ArrayLike | Groups | None = None,
        node_names: ArrayLike | None = None,
        attribute: str | None = None,
        positions: NDArray[np.float64] | None = None,
    ):
        nodes = read_nodes(adjacency)
        graph = nodes.graph
        self.adjacency = graph.adjacency
        self.labels = labels_in_order(labels, graph)
        # A node has one shape, so of several attributes it is that of the joint group.
        attributes = nodes.attributes(sensitive_features)
        self.groups = None if attributes is None else attributes.joint
        own = graph.attribute if sensitive_features is None else None
        if own is None and attributes is not None and attributes.are_several:
            own = joined_name(attributes.names)
        self.attribute = own if attribute is None else attribute
        given = graph.node_names if node_names is None else node_names
        self.node_names = labels_in_order(given, graph, "node_names")
        self.clusters, self._codes = unique_values(self.labels)
        self.positions = spring_layout(graph, labels=self.labels) if positions is None else positions

    @classmethod
    def from_result(cls, result: Any, graph: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw a `ClusteringResult` on the graph that was clustered."""
        known = {name: getattr(result, name) for name in ("node_names", "attribute")}
        return super().from_result(result, graph, ax=ax, sensitive_features=result.groups, **known, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        names: bool | None = None,
        legend: bool = True,
        title: str | None = None,
        numbers: bool = False,
    ) -> Self:
        """Draw the graph.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        names : bool, optional
            Whether to write the names; by default up to 60 nodes. Names that would cover others, or nodes, are left
            out, and the plot shows how many are written.
        legend : bool, default=True
            Whether to explain colours and shapes.
        title : str, optional
            By default the numbers of nodes, edges and clusters.
        numbers : bool, default=False
            Whether to write its cluster into every node, so that it can be read without its colour.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        n, n_edges = self.labels.size, self.adjacency.nnz // 2
        names = n <= MAX_NAMED_NODES if names is None else names
        if title is None:
            title = f"{count(n, 'node')}, {count(n_edges, 'edge')}, {count(self.clusters.size, 'cluster')}"
        with look():
            ax = self._axes(ax, (9.0, 7.0))
            n_drawn = self._draw_edges(ax)
            self._draw_nodes(ax)
            if numbers:
                self._draw_numbers(ax)
            if legend:
                self._draw_legends(ax)
            self._set_title(ax, title)
            ax.set_aspect("equal")
            ax.margins(0.06)
            ax.set_axis_off()
            notes = []
            if n_drawn < n_edges:
                notes.append(f"{n_drawn:,} of {n_edges:,} edges drawn")
            if names:
                n_written = self._draw_names(ax)
                if n_written < n:
                    notes.append(f"{n_written:,} of {n:,} names written")
            if notes:
                ax.text(0, 0, ", ".join(notes), transform=ax.transAxes, fontsize=8, color=MUTED)
        return self

    def _node_size(self) -> float:
        """Return the area of a node in points: less in axes that are smaller than a default figure."""
        whole = self.ax_.get_window_extent()
        room = min(1.0, whole.width * whole.height / self.ax_.figure.dpi**2 / 40)
        return float(np.clip(9000 / self.labels.size, 4, 150)) * room

    def _draw_edges(self, ax: Any) -> int:
        from matplotlib.collections import LineCollection

        upper = sparse.triu(self.adjacency, k=1, format="coo")
        rows, columns = upper.coords
        if rows.size > MAX_DRAWN_EDGES:
            kept = np.random.default_rng(0).choice(rows.size, MAX_DRAWN_EDGES, replace=False)
            rows, columns = rows[kept], columns[kept]
        if not rows.size:
            return 0
        few = rows.size <= 1000
        # Edges between clusters are lighter and below, to emphasise those within clusters.
        within = self._codes[rows] == self._codes[columns]
        order = np.argsort(within, kind="stable")
        segments = list(self.positions[np.column_stack((rows, columns))[order]])
        alpha = np.clip(400 / rows.size, 0.06, 0.55) * np.where(within[order], 1.0, 0.6)
        style = {"linewidths": 0.9 if few else 0.35, "rasterized": not few, "zorder": 1}
        ax.add_collection(LineCollection(segments, colors=EDGE, alpha=alpha, **style))
        return int(rows.size)

    def _draw_nodes(self, ax: Any) -> None:
        colors = np.array(cluster_colors(self.clusters.size))
        shape = np.zeros(self.labels.size, dtype=np.intp) if self.groups is None else self.groups.codes
        # Last, so that the code -1 selects it.
        markers = [*group_markers(int(shape.max()) + 1), UNGROUPED_MARKER]
        few = self.labels.size <= 1000
        outline = {"edgecolors": TEXT if few else "white", "linewidths": 0.8 if few else 0.15}
        for group in np.unique(shape).tolist():
            chosen = shape == group
            style = {"s": self._node_size(), "c": colors[self._codes[chosen]], "zorder": 2}
            ax.scatter(*self.positions[chosen].T, marker=markers[group], **style, **outline)

    def _draw_names(self, ax: Any) -> int:
        names = [shown(name, 14) for name in self.node_names.tolist()]
        # Other plots of the same figure may still reduce the room.
        spare = 1.35 if self._is_part else 1.0
        reach = float(np.sqrt(self._node_size())) / 2
        return write_names(ax, self.positions, names, reach=reach, spare=spare)

    def _draw_numbers(self, ax: Any) -> None:
        colors = [text_color(color) for color in cluster_colors(self.clusters.size)]
        names = [shown(name, 3) for name in self.clusters.tolist()]
        size = 0.78 * np.sqrt(self._node_size())
        style = {"ha": "center", "va": "center_baseline", "fontsize": size, "zorder": 3}
        for (x, y), code in zip(self.positions, self._codes.tolist(), strict=True):
            ax.text(x, y, names[code], color=colors[code], **style)

    def _draw_legends(self, ax: Any) -> None:
        clusters, groups, n_ungrouped = _counted(self.clusters, np.bincount(self._codes)), [], 0
        if self.groups is not None:
            groups, n_ungrouped = _counted(self.groups.names, self.groups.sizes), self.groups.n_ungrouped
        draw_legends(ax, clusters, groups, title=self.attribute, n_ungrouped=n_ungrouped)


def draw_legends(
    ax: Any,
    clusters: list[str],
    groups: list[str],
    *,
    title: str | None = None,
    corners: Corners = _RIGHT,
    n_ungrouped: int = 0,
) -> None:
    """Draw the legends of colours and shapes, at the right of the axes or at other corners.

    The title of the groups is the name of their attribute, or ``group``.
    """
    upper, lower = ({"loc": f"{corner} left", "alignment": "left"} for corner in ("upper", "lower"))
    entries = _keys(clusters, ["o"] * len(clusters), cluster_colors(len(clusters)))
    first = ax.legend(handles=entries, title="cluster", bbox_to_anchor=corners[0], **upper)
    if groups:
        entries = _keys(groups, group_markers(len(groups)), ["white"] * len(groups))
        if n_ungrouped:
            entries += _keys([f"no group ({n_ungrouped:,})"], [UNGROUPED_MARKER], ["white"])
        ax.legend(handles=entries, title=title or "group", bbox_to_anchor=corners[1], **lower)
        ax.add_artist(first)  # else the second legend would replace it


def _keys(names: list[str], markers: list[str], colors: list[Any]) -> list[Any]:
    """Return the entries of a legend; if there are too many, the last one counts the rest."""
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {"markersize": 8, "markeredgecolor": TEXT, "markeredgewidth": 0.6}
    lines = [
        Line2D([], [], linestyle="", marker=marker, color=color, label=name, **style)
        for name, marker, color in zip(names, markers, colors, strict=True)
    ]
    if len(lines) > _MAX_LEGEND:
        more = f"and {len(lines) - _MAX_LEGEND + 1} more"
        lines[_MAX_LEGEND - 1 :] = [Line2D([], [], linestyle="", label=more)]
    return lines


def _counted(names: NDArray, sizes: NDArray) -> list[str]:
    return [f"{shown(name, 20)} ({size:,})" for name, size in zip(names.tolist(), sizes, strict=True)]
