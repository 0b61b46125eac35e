"""What the spectral estimators have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.parameters import Boolean, Constraint, Integer
from equigraph.base import Clustering, GraphClusterer, Problem
from equigraph.exceptions import InfeasibleError
from equigraph.graph.groups.placement import place_isolated
from equigraph.spectral.constraints import group_constraint
from equigraph.spectral.embedding import constrained_embedding
from equigraph.spectral.labels import kmeans_labels, unit_rows

NORMALIZED = Boolean(help="Minimise the normalised cut instead of the ratio cut.")


@dataclass(frozen=True)
class ActivePart:
    """The part of a problem that has edges; nodes without one are placed afterwards."""

    adjacency: sparse.csr_array
    mask: NDArray[np.bool_]
    codes: NDArray[np.intp] | None
    n_groups: int
    # Codes and number of groups of each attribute; `codes` are the joint ones.
    columns: tuple[tuple[NDArray[np.intp], int], ...] = ()

    @property
    def n_nodes(self) -> int:
        """Number of nodes with an edge."""
        return int(self.adjacency.shape[0])


def active_part(problem: Problem) -> ActivePart:
    """Return the nodes with an edge, the graph among them and their groups."""
    adjacency, groups = problem.adjacency, problem.groups
    mask = np.diff(adjacency.indptr) > 0
    if not mask.all():
        adjacency = sparse.csr_array(adjacency[mask][:, mask])
    if groups is None or problem.attributes is None:
        return ActivePart(adjacency, mask, None, 1)
    columns = tuple((one.codes[mask], one.n_groups) for one in problem.attributes.groups.values())
    return ActivePart(adjacency, mask, groups.codes[mask], groups.n_groups, columns)


class SpectralMethod(GraphClusterer):
    """Embed the nodes with an edge under a constraint, run k-means, then place the other nodes."""

    _square_passes: ClassVar[int] = 30
    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "row_normalize": Boolean(help="Scale the rows of the embedding to unit length before k-means."),
        "n_init": Integer(low=1, help="Number of starts of k-means; the best one counts."),
    }
    # Whether a graph without any edge is refused, rather than placed node by node.
    _needs_edges: ClassVar[bool] = True
    # How the eigenproblem is solved; see `equigraph.spectral.solvers.smallest`.
    _solver: ClassVar[str] = "auto"
    n_clusters: int
    row_normalize: bool
    n_init: int

    def _fairness_wanted(self) -> bool:
        return True

    def _fit(self, problem: Problem) -> Clustering:
        active = active_part(problem)
        if self._needs_edges and active.n_nodes == 0:
            raise InfeasibleError(
                f"{type(self).__name__}: the graph has no edges, so there is nothing to embed; give a graph with "
                "edges, or use RandomClustering."
            )
        constraint, attributes = self._constraint(active)
        eigenvalues, vectors = self._embed(active, constraint)
        n_parts = vectors.shape[1]
        labels = np.zeros(problem.n_nodes, dtype=np.intp)
        embedding = np.zeros((problem.n_nodes, self.n_clusters))
        if n_parts:
            points = unit_rows(vectors) if self.row_normalize else vectors
            labels[active.mask] = kmeans_labels(points, n_parts, n_init=self.n_init, seed=problem.seed)
            embedding[active.mask, :n_parts] = vectors
        codes = None if problem.groups is None else problem.groups.codes
        labels = place_isolated(labels, ~active.mask, codes, self.n_clusters, active.n_groups)
        return Clustering(
            labels=labels, attributes={"embedding_": embedding, "eigenvalues_": eigenvalues, **attributes}
        )

    def _embed(self, active: ActivePart, constraint: NDArray | None) -> tuple[NDArray, NDArray]:
        return constrained_embedding(
            active.adjacency,
            constraint,
            self.n_clusters,
            normalized=getattr(self, "normalized", True),
            method=self._solver,
        )

    def _constraint(self, active: ActivePart) -> tuple[NDArray | None, dict[str, Any]]:
        """Return F, None for no constraint, and further fitted attributes.

        The constraints of several attributes stand side by side; that they may depend on each other is seen to where F
        is made orthonormal.
        """
        if not active.columns:
            return None, {}
        return np.hstack([group_constraint(*column) for column in active.columns]), {}
