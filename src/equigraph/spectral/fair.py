"""Spectral clustering under exact group fairness."""

from __future__ import annotations

from typing import ClassVar

from equigraph._utils.parameters import Constraint
from equigraph._utils.randomness import RandomState
from equigraph.spectral.method import NORMALIZED, SpectralMethod


class FairSC(SpectralMethod):
    r"""Fair spectral clustering: every cluster should have the group shares of the population.

    .. math:: \min_H \operatorname{tr}(H^\top L H) \quad \text{s.t.}\quad F^\top H = 0,\; H^\top H = I
        \quad (\text{or } H^\top D H = I)

    with L = D - A and F the centred group indicators, then k-means on the rows of H. For indicator vectors H
    the constraint says exactly that every cluster mirrors the population; the relaxed H meets it exactly, and
    the labels that k-means makes of it as well as they can.

    The original algorithm computes with a dense basis of the feasible subspace. Here a sparse factorisation
    and a Schur complement, or on large graphs products with A alone, give the same vectors in linear memory.

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
        H, before its rows are scaled; zeros for nodes without an edge. These are placed after k-means, where
        they help fairness most.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Of the constrained Laplacian, weights in units of the largest, ascending.

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

    _parameters: ClassVar[dict[str, Constraint]] = {**SpectralMethod._parameters, "normalized": NORMALIZED}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        normalized: bool = False,
        row_normalize: bool = False,
        n_init: int = 10,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.normalized = normalized
        self.row_normalize = row_normalize
        self.n_init = n_init
        self.random_state = random_state


class ScalableFairSC(SpectralMethod):
    r"""Fair spectral clustering of large graphs by the normalised cut.

    .. math:: \min_X \operatorname{tr}\bigl(X^\top (I - D^{-1/2} A D^{-1/2}) X\bigr)
        \quad \text{s.t.}\quad F^\top D^{-1/2} X = 0,\; X^\top X = I

    and :math:`H = D^{-1/2} X`, then k-means on the rows of H. It is the problem of
    ``FairSC(normalized=True)`` and has the same solution. The eigenvectors are taken at the top of the
    spectrum of the projected normalised adjacency, so that every step is one product with A and O(n h) for h
    groups.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    row_normalize : bool, default=False
        Whether the rows of H are scaled to unit length before k-means. Not part of the original method; it
        keeps a few extreme rows from taking clusters of their own.
    n_init : int, default=10
        Number of starts of k-means; the best one counts.
    random_state : int, Generator, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    embedding_ : ndarray of shape (n_nodes, n_clusters)
        H, before its rows are scaled; zeros for nodes without an edge. These are placed after k-means, where
        they help fairness most.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Of the constrained normalised Laplacian, ascending.

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

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        row_normalize: bool = False,
        n_init: int = 10,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.row_normalize = row_normalize
        self.n_init = n_init
        self.random_state = random_state
