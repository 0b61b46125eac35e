"""Initial labels of a refinement, and the cost of changing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import FairnessNotReachedWarning, ParameterError, warn
from equigraph.graph.groups.encode import is_missing, unique_values
from equigraph.graph.labels import labels_in_order
from equigraph.metrics.notions import Notion
from equigraph.search.feasible import HomeLabels
from equigraph.search.pool import Target

# Largest dial for moves, which ignore Q beyond it.
_HIGHEST = 0.97


@dataclass(frozen=True, eq=False)
class Start:
    """Initial labels as numbers, -1 for new nodes, and the number of clusters of the result."""

    labels: NDArray[np.int64]
    n_clusters: int

    def placed(self, adjacency: sparse.csr_array) -> NDArray[np.int64]:
        """Return labels in which every new node has a cluster."""
        return placed_nodes(adjacency, self.labels, self.n_clusters)

    def home(self, target: Target, max_moves: int | None, stay: float) -> HomeLabels:
        """Return home clusters and the cost of leaving them, for a target."""
        if int(self.labels.max()) >= self.n_clusters:
            raise ParameterError(
                f"The labels are {int(self.labels.max()) + 1} clusters, and n_clusters={self.n_clusters!r}: "
                f"with max_moves or stay no cluster can vanish."
            )
        weight = 1 - (_HIGHEST if target.at_least is not None else min(target.fairness, _HIGHEST))
        rate = stay if target.at_least is not None else stay / weight
        return HomeLabels(self.labels, max_moves, price=rate * weight, rate=rate)


def read_start(labels: Any, graph: Any, n_clusters: int | None, gaps: bool) -> Start:
    """Read labels of any type; with ``gaps`` some may be missing.

    Whole numbers below the number of clusters are kept.
    """
    column = labels_in_order(labels, graph, gaps=gaps)
    known = ~is_missing(column)
    names, codes = unique_values(column[known])
    start = np.full(graph.n_nodes, -1, dtype=np.int64)
    start[known] = codes
    if all(isinstance(name, int) and 0 <= name < (n_clusters or names.size) for name in names.tolist()):
        start[known] = column[known].astype(np.int64)
    if n_clusters is None and names.size < 2:
        raise ParameterError("All nodes have the same label: say how many clusters you want with n_clusters.")
    return Start(start, int(n_clusters or names.size))


def placed_nodes(adjacency: sparse.csr_array, start: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Return labels in which every new node has the cluster with most of its links; ties go to the smallest.

    Examples
    --------
    >>> path = sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> placed_nodes(path, np.array([1, -1, 0]), 2).tolist()
    [1, 0, 0]
    """
    placed, size = start.copy(), np.bincount(start[start >= 0], minlength=n_clusters)
    for node in np.flatnonzero(start < 0).tolist():
        row = slice(adjacency.indptr[node], adjacency.indptr[node + 1])
        near, weights = placed[adjacency.indices[row]], adjacency.data[row]
        links = np.bincount(near[near >= 0], weights[near >= 0], minlength=size.size)
        placed[node] = int(np.lexsort((size, -links))[0])
        size[placed[node]] += 1
    return placed


def warn_if_short(who: str, notion: Notion, reached: float, at_least: float) -> None:
    """Warn if the notion of labels is below the requested bound."""
    if reached < at_least - 1e-12:
        warn(
            f"{who}: no labels with {notion.measure} of at least {at_least:g} were found; the fairest have "
            f"{reached:.4f}. Ask for less, for other sizes or for fewer clusters, or raise effort.",
            FairnessNotReachedWarning,
        )
