"""A picture of the clusters: how large they are, and how many links run between them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.text import count, shown
from equigraph.graph import as_graph
from equigraph.graph.groups.encode import unique_values
from equigraph.graph.groups.sums import indicator
from equigraph.graph.labels import labels_in_order
from equigraph.plotting.base import Display
from equigraph.plotting.style import EDGE, MUTED, TEXT, cluster_colors, look

MAX_DRAWN_CLUSTERS = 50
_WIDEST = 9.0  # line of the strongest link, in points


class ClusterGraphDisplay(Display):
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
        self.links = _links(graph.unit_adjacency, codes, kept, self.n_clusters)

    @classmethod
    def from_estimator(cls, model: Any, graph: Any, *, ax: Any = None) -> Self:
        """Draw the labels of a fitted estimator on the graph it was fitted to."""
        return cls(graph, model.labels_).plot(ax)

    @classmethod
    def from_result(cls, result: Any, graph: Any, *, ax: Any = None) -> Self:
        """Draw a `ClusteringResult` on the graph that was clustered."""
        return cls(graph, result.labels).plot(ax)

    @classmethod
    def from_predictions(cls, graph: Any, labels: Any, *, ax: Any = None) -> Self:
        """Draw any labels."""
        return cls(graph, labels).plot(ax)

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
        with look():
            ax = self._axes(ax, (7.0, 7.0))
            self._draw_links(ax, places)
            self._draw_clusters(ax, places, radius)
            drawn = count(self.n_clusters, "cluster")
            if k < self.n_clusters:
                drawn = f"The {k} largest of {drawn}"
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
        segments = np.stack((places[rows[order]], places[columns[order]]), axis=1)
        lines = LineCollection(
            list(segments), linewidths=0.3 + _WIDEST * share, colors=EDGE, alpha=0.2 + 0.6 * share, zorder=1
        )
        lines.set_capstyle("round")
        ax.add_collection(lines)

    def _draw_clusters(self, ax: Any, places: NDArray[np.float64], radius: NDArray[np.float64]) -> None:
        from matplotlib.patches import Circle

        colors = cluster_colors(self.n_clusters)
        few = self.clusters.size <= 16
        named = zip(
            places, radius, self._codes.tolist(), self.clusters.tolist(), self.sizes.tolist(), strict=True
        )
        for place, reach, code, name, size in named:
            ax.add_patch(
                Circle(place, reach, facecolor=colors[code], edgecolor="white", linewidth=1.5, zorder=2)
            )
            outward = place if self.clusters.size > 1 else np.array([0.0, 1.0])
            x, y = place + outward * (reach + 0.05)
            text = f"{shown(name, 12)}" + (f"\n{count(size, 'node')}" if few else "")
            ax.text(
                x,
                y,
                text,
                ha="center" if abs(x) < 0.15 else "left" if x > 0 else "right",
                va="center" if abs(y) < 0.5 else "bottom" if y > 0 else "top",
                fontsize=10 if few else 8,
                color=TEXT if few else MUTED,
                zorder=3,
            )


def _links(
    adjacency: sparse.csr_array, codes: NDArray[Any], kept: NDArray[np.intp], n_clusters: int
) -> NDArray[np.float64]:
    """Return the weight of the links between each two of the clusters that are kept."""
    onehot = indicator(np.asarray(codes, dtype=np.intp), n_clusters)[:, kept]
    links = (onehot.T @ (adjacency @ onehot)).toarray().astype(np.float64)
    np.fill_diagonal(links, 0.0)
    return links
