"""Spectral clustering, plain and under a group fairness constraint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.parameters import Boolean, Constraint, Integer
from equigraph._utils.randomness import RandomState
from equigraph.base import Clustering, GraphClusterer, Problem
from equigraph.exceptions import InfeasibleError
from equigraph.graph.groups.placement import place_isolated
from equigraph.spectral.embedding import constrained_embedding, group_constraint
from equigraph.spectral.labels import kmeans_labels, unit_rows


@dataclass(eq=False, repr=False)
class SpectralMethod(GraphClusterer):
    """Base class: embed the nodes with an edge under a constraint, run k-means, and assign the other nodes."""

    n_clusters: int = 2
    _: KW_ONLY
    normalized: bool = False
    row_normalize: bool = False
    n_init: int = 10
    random_state: RandomState = None

    _square_passes: ClassVar[int] = 30
    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "normalized": Boolean(help="Minimise the normalised cut instead of the ratio cut."),
        "row_normalize": Boolean(help="Scale the rows of the embedding to unit length before k-means."),
        "n_init": Integer(low=1, help="Number of starts of k-means; the best one counts."),
    }
    # Whether there is a constraint; a method without one also accepts fewer nodes with an edge than clusters.
    _fair: ClassVar[bool] = True

    def _fairness_wanted(self) -> bool:
        return self._fair

    def _fit(self, problem: Problem) -> Clustering:
        adjacency, groups = problem.adjacency, problem.groups
        active = np.diff(adjacency.indptr) > 0
        if not active.all():
            adjacency = sparse.csr_array(adjacency[active][:, active])
        if self._fair and not active.any():
            raise InfeasibleError(
                f"{type(self).__name__}: the graph has no edges, so there is nothing to embed; give a graph with "
                "edges, or use RandomClustering."
            )
        constraint, attributes = self._constraint(problem, active)
        n_parts = self.n_clusters if self._fair else min(self.n_clusters, adjacency.shape[0])
        labels, eigenvalues = np.zeros(problem.n_nodes, dtype=np.intp), np.zeros(0)
        embedding = np.zeros((problem.n_nodes, self.n_clusters))
        if n_parts:
            # Without a constraint products with A are the fastest way to the top of the normalised spectrum.
            solver = "iterate" if self.normalized and not self._fair else "auto"
            eigenvalues, vectors = constrained_embedding(
                adjacency, constraint, n_parts, normalized=self.normalized, method=solver
            )
            points = unit_rows(vectors) if self.row_normalize else vectors
            labels[active] = kmeans_labels(points, n_parts, n_init=self.n_init, seed=problem.seed)
            embedding[active, :n_parts] = vectors
        codes, n_groups = (None, 1) if groups is None else (groups.codes, groups.n_groups)
        labels = place_isolated(labels, ~active, codes, self.n_clusters, n_groups)
        return Clustering(
            labels=labels, attributes={"embedding_": embedding, "eigenvalues_": eigenvalues, **attributes}
        )

    def _constraint(
        self,
        problem: Problem,
        active: NDArray[np.bool_],
        make: Callable[[NDArray, int], NDArray] = group_constraint,
    ) -> tuple[NDArray | None, dict[str, Any]]:
        """Return F for the nodes with an edge, None for no constraint, and further fitted attributes.

        The columns for several attributes are concatenated; they may be linearly dependent, since F is orthonormalised
        later.
        """
        if problem.attributes is None or not self._fair:
            return None, {}
        groups = problem.attributes.groups.values()
        return np.hstack([make(one.codes[active], one.n_groups) for one in groups]), {}


@dataclass(eq=False, repr=False)
class SpectralClustering(SpectralMethod):
    r"""Spectral clustering, the baseline without fairness.

    .. math:: \min_H \operatorname{tr}(H^\top L H) \quad \text{s.t.}\quad H^\top D H = I
        \quad (\text{or } H^\top H = I)

    with L = D - A, then k-means on the rows of H. Groups, if given, affect only the assignment of nodes without
    an edge.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    normalized : bool, default=True
        Whether to minimise the normalised cut (:math:`H^\top D H = I`) or the ratio cut (:math:`H^\top H =
        I`). The ratio cut tends to split off single nodes of low degree.
    row_normalize : bool, default=True
        Whether the rows of H are scaled to unit length before k-means, so that a few extreme rows do not form
        clusters of their own.
    n_init : int, default=10
        Number of starts of k-means; the best one counts.
    random_state : int, Generator, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    embedding_ : ndarray of shape (n_nodes, n_clusters)
        H, before its rows are scaled; zeros for nodes without an edge.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Eigenvalues of the Laplacian, weights in units of the largest, ascending; fewer if fewer nodes than clusters
        have an edge.

    References
    ----------
    Ng, Jordan, Weiss. On Spectral Clustering: Analysis and an Algorithm. NeurIPS 2001.
    Shi, Malik. Normalized Cuts and Image Segmentation. IEEE TPAMI 2000.

    Examples
    --------
    >>> import equigraph as eg
    >>> two_triangles = [
    ...     [0, 1, 1, 0, 0, 0],
    ...     [1, 0, 1, 0, 0, 0],
    ...     [1, 1, 0, 1, 0, 0],
    ...     [0, 0, 1, 0, 1, 1],
    ...     [0, 0, 0, 1, 0, 1],
    ...     [0, 0, 0, 1, 1, 0],
    ... ]
    >>> eg.SpectralClustering(n_clusters=2, random_state=0).fit_predict(two_triangles).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _: KW_ONLY
    normalized: bool = True
    row_normalize: bool = True

    _fair: ClassVar[bool] = False


class FairSC(SpectralMethod):
    r"""Fair spectral clustering: every cluster should have the group shares of the population.

    .. math:: \min_H \operatorname{tr}(H^\top L H) \quad \text{s.t.}\quad F^\top H = 0,\; H^\top H = I
        \quad (\text{or } H^\top D H = I)

    with L = D - A and F the centred group indicators, then k-means on the rows of H. For indicator vectors H
    the constraint holds if and only if every cluster mirrors the population. The relaxed H meets it exactly, the
    labels by k-means approximately.

    The original algorithm uses a dense basis of the feasible subspace. Here a sparse factorisation and a Schur
    complement, or on large graphs products with A alone, give the same vectors in linear memory.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    normalized : bool, default=False
        Whether to minimise the normalised cut (:math:`H^\top D H = I`) instead of the ratio cut. The
        unnormalised version is the FairSC of published comparisons; it tends to split off single nodes of low
        degree.
    row_normalize : bool, default=False
        Whether the rows of H are scaled to unit length before k-means. Not part of the original method; often
        better.
    n_init : int, default=10
        Number of starts of k-means; the best one counts.
    random_state : int, Generator, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    embedding_ : ndarray of shape (n_nodes, n_clusters)
        H, before its rows are scaled; zeros for nodes without an edge. These are assigned after k-means, to the
        clusters where they improve fairness most.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Eigenvalues of the constrained Laplacian, weights in units of the largest, ascending.

    Notes
    -----
    Without groups the constraint is empty and this is plain spectral clustering; a `FairnessIgnoredWarning`
    says so.

    References
    ----------
    Kleindessner, Samadi, Awasthi, Morgenstern. Guarantees for Spectral Clustering with Fairness Constraints.
    ICML 2019.

    Examples
    --------
    In this graph ties inside a group are stronger than ties inside a planted cluster.

    >>> import equigraph as eg
    >>> data = eg.datasets.make_fair_sbm(80, 2, 2, probabilities=(0.9, 0.6, 0.4, 0.1), random_state=0)
    >>> model = eg.FairSC(n_clusters=2, random_state=0)
    >>> labels = model.fit_predict(data.adjacency, sensitive_features=data.sensitive_features)
    >>> eg.metrics.normalized_balance_score(labels, sensitive_features=data.sensitive_features)
    1.0
    """


@dataclass(eq=False, repr=False)
class ScalableFairSC(SpectralMethod):
    r"""Fair spectral clustering of large graphs by the normalised cut.

    .. math:: \min_X \operatorname{tr}\bigl(X^\top (I - D^{-1/2} A D^{-1/2}) X\bigr)
        \quad \text{s.t.}\quad F^\top D^{-1/2} X = 0,\; X^\top X = I

    and :math:`H = D^{-1/2} X`, then k-means on the rows of H. The problem and its solution are those of
    ``FairSC(normalized=True)``. The eigenvectors are computed at the top of the spectrum of the projected
    normalised adjacency, so that every step costs one product with A and O(n h) for h groups.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    row_normalize : bool, default=False
        Whether the rows of H are scaled to unit length before k-means, so that a few extreme rows do not form
        clusters of their own. Not part of the original method.
    n_init : int, default=10
        Number of starts of k-means; the best one counts.
    random_state : int, Generator, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    embedding_ : ndarray of shape (n_nodes, n_clusters)
        H, before its rows are scaled; zeros for nodes without an edge. These are assigned after k-means, to the
        clusters where they improve fairness most.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Eigenvalues of the constrained normalised Laplacian, ascending.

    Notes
    -----
    Without groups the constraint is empty and this is plain spectral clustering; a `FairnessIgnoredWarning`
    says so.

    References
    ----------
    Wang, Lu, Davidson, Bai. Scalable Spectral Clustering with Group Fairness Constraints. AISTATS 2023.

    Examples
    --------
    >>> import equigraph as eg
    >>> data = eg.datasets.make_fair_sbm(2000, 5, 5, random_state=0)
    >>> model = eg.ScalableFairSC(n_clusters=5, random_state=0)
    >>> labels = model.fit_predict(data.adjacency, sensitive_features=data.sensitive_features)
    >>> eg.metrics.normalized_balance_score(labels, sensitive_features=data.sensitive_features) > 0.8
    True
    """

    # This model is the normalised cut.
    normalized: bool = field(init=False, default=True)

    _parameters: ClassVar[dict[str, Constraint]] = {
        name: constraint for name, constraint in SpectralMethod._parameters.items() if name != "normalized"
    }
