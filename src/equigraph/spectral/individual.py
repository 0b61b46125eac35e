"""Spectral clustering under a representation graph."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.parameters import AnyOf, Choice, Constraint, Instance, Integer
from equigraph._utils.randomness import RandomState
from equigraph.base import Problem
from equigraph.exceptions import EquigraphWarning, ParameterError, warn
from equigraph.spectral.constraints import (
    check_representation,
    exact_row_space,
    group_indicators,
    low_rank_row_space,
)
from equigraph.spectral.embedding import check_dimensions
from equigraph.spectral.method import NORMALIZED, ActivePart, SpectralMethod


class IndividualFairSC(SpectralMethod):
    r"""Individually fair spectral clustering: everybody's representatives are spread over the clusters.

    .. math:: \min_H \operatorname{tr}(H^\top L H) \quad \text{s.t.}\quad R J H = 0,\; H^\top H = I
        \quad (\text{or } H^\top D H = I)

    with L = D - A and J the centring matrix, then k-means on the rows of H. R is a second graph that says who
    can represent whom. For indicator vectors H the constraint makes the representatives of each node fall
    into every cluster in proportion to its size.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    representation : sparse matrix or array of shape (n_nodes, n_nodes), optional
        R: symmetric and nonnegative, in the node order of the graph. Everybody represents oneself: missing
        self-loops are added. By default the members of a group represent each other, which gives the
        constraint of `FairSC`.
    constraint : {"representation", "group", "group_no_constant"}, default="representation"
        "representation": R J H = 0. "group": the constraint of `FairSC`. "group_no_constant": the rows of H
        of every group sum to zero, which also rules out the constant vector. Unnormalised, these are the
        eigenvectors 2 to k + 1 of `FairSC`: what published comparisons call iFairSC.
    rank : int, optional
        Use the best approximation of R of this rank instead of R. A dial: the larger, the fairer and the less
        cohesive. By default R itself where it leaves k dimensions, which a generic R does not; then a rank of
        2 k, and a warning.
    normalized : bool, default=False
        Whether to minimise the normalised cut (:math:`H^\top D H = I`) instead of the ratio cut.
    row_normalize : bool, default=False
        Whether the rows of H are scaled to unit length before k-means. Not part of the original method.
    n_init : int, default=10
        Number of starts of k-means; the best one counts.
    random_state : int, Generator, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    embedding_ : ndarray of shape (n_nodes, n_clusters)
        H, before its rows are scaled; zeros for nodes without an edge. These are placed after k-means: where
        they help fairness most if there are groups, else in the smallest cluster.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Of the constrained Laplacian, weights in units of the largest, ascending.
    exact_ : bool
        Whether the constraint is the full one, not one of lower rank.

    Notes
    -----
    R is restricted to the nodes that have an edge in the graph, and centred there. Without groups and without
    ``representation`` this is plain spectral clustering; a `FairnessIgnoredWarning` says so.

    References
    ----------
    Gupta, Dukkipati. Consistency of Constrained Spectral Clustering under Graph Induced Fair Planted
    Partitions. NeurIPS 2022.

    Examples
    --------
    Six nodes on a ring; opposite nodes represent each other, so each cluster should have half of every pair.

    >>> import numpy as np
    >>> import equigraph as eg
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> opposite = sparse.csr_array(np.roll(np.eye(6), 3, axis=1))
    >>> model = eg.IndividualFairSC(n_clusters=2, representation=opposite, random_state=0).fit(ring)
    >>> bool((model.labels_[:3] != model.labels_[3:]).all())
    True
    """

    _parameters: ClassVar[dict[str, Constraint]] = {
        **SpectralMethod._parameters,
        "normalized": NORMALIZED,
        "representation": AnyOf(
            options=(Instance(methods=("tocsr",)), Instance(methods=("__array__",))),
            optional=True,
            help="Graph that says who represents whom.",
        ),
        "constraint": Choice(
            values=("representation", "group", "group_no_constant"), help="What the embedding must satisfy."
        ),
        "rank": Integer(low=1, optional=True, help="Rank of the approximation of the representation graph."),
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        representation: Any = None,
        constraint: str = "representation",
        rank: int | None = None,
        normalized: bool = False,
        row_normalize: bool = False,
        n_init: int = 10,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.representation = representation
        self.constraint = constraint
        self.rank = rank
        self.normalized = normalized
        self.row_normalize = row_normalize
        self.n_init = n_init
        self.random_state = random_state

    def _fairness_wanted(self) -> bool:
        return self.representation is None

    def _prepare(self, X: Any, sensitive_features: Any) -> Problem:
        if self.constraint != "representation" and self.representation is not None:
            raise ParameterError(
                f"IndividualFairSC: constraint={self.constraint!r} does not use representation: "
                "leave one of them out."
            )
        if self.rank is not None and self.representation is None:
            raise ParameterError(
                "IndividualFairSC: rank approximates a representation graph: give representation=."
            )
        return super()._prepare(X, sensitive_features)

    def _constraint(self, active: ActivePart) -> tuple[NDArray | None, dict[str, Any]]:
        if self.representation is not None:
            full = check_representation(self.representation, active.mask.size)
            basis, exact = representation_constraint(
                full[active.mask][:, active.mask], self.n_clusters, self.rank
            )
            return basis, {"exact_": exact}
        if self.constraint == "group_no_constant" and active.columns:
            return np.hstack([group_indicators(*column) for column in active.columns]), {"exact_": True}
        return super()._constraint(active)[0], {"exact_": True}


def representation_constraint(
    representation: sparse.csr_array, n_clusters: int, rank: int | None
) -> tuple[NDArray, bool]:
    """Return vectors that span the constraint R J H = 0, and whether it is the full one rather than of low rank."""
    n_nodes = representation.shape[0]
    representation = sparse.csr_array(representation)
    representation.sort_indices()
    if rank is not None:
        check_dimensions(n_nodes, rank, n_clusters)
        return low_rank_row_space(representation, rank), False
    check_dimensions(n_nodes, 0, n_clusters)
    basis = exact_row_space(representation)
    if basis is not None and n_nodes - basis.shape[1] >= n_clusters:
        return basis, True
    rank = max(1, min(2 * n_clusters, n_nodes - n_clusters))
    reason = "is too large to be used in full"
    if basis is not None:
        reason = f"has rank {basis.shape[1]} and leaves {n_nodes - basis.shape[1]} of {n_nodes} dimensions"
    warn(
        f"IndividualFairSC: the representation graph {reason}; it is approximated with rank {rank}. "
        "Give rank= to choose another one.",
        EquigraphWarning,
    )
    return low_rank_row_space(representation, rank), False
