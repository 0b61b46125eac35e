"""Individually fair spectral clustering under a representation graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from equigraph._utils.parameters import AnyOf, Choice, Constraint, Instance, Integer
from equigraph.base import Problem
from equigraph.exceptions import EquigraphWarning, ParameterError, warn
from equigraph.graph.sparse_arrays import check_sparse
from equigraph.spectral.embedding import (
    check_dimensions,
    group_constraint,
    group_indicators,
    leading_eigenpairs,
)
from equigraph.spectral.methods import SpectralMethod

# Most distinct rows of a representation graph for the computation of its rank, by a dense matrix of that order.
_EXACT_ROWS = 2_000
# Most entries of a basis of its row space: half a gigabyte.
_EXACT_ENTRIES = 2**26
# Eigenvalues of R J R' below this share of the largest one count as zero.
_RANK_TOLERANCE = 1e-12


@dataclass(eq=False, repr=False)
class IndividualFairSC(SpectralMethod):
    r"""Individually fair spectral clustering: the representatives of each node are spread over the clusters.

    .. math:: \min_H \operatorname{tr}(H^\top L H) \quad \text{s.t.}\quad R J H = 0,\; H^\top H = I
        \quad (\text{or } H^\top D H = I)

    with L = D - A and J the centring matrix, then k-means on the rows of H. R is a second graph, whose edges link nodes
    that can represent each other. For indicator vectors H the constraint requires that the representatives of each node
    are distributed over the clusters in proportion to their sizes.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    representation : sparse matrix or array of shape (n_nodes, n_nodes), optional
        R: symmetric and nonnegative, in the node order of the graph. Every node represents itself: missing
        self-loops are added. By default the members of a group represent each other, which gives the
        constraint of `FairSC`.
    constraint : {"representation", "group", "group_no_constant"}, default="representation"
        "representation": R J H = 0. "group": the constraint of `FairSC`. "group_no_constant": the rows of H
        of every group sum to zero, which also excludes the constant vector. Unnormalised, these are the
        eigenvectors 2 to k + 1 of `FairSC`, called iFairSC in published comparisons.
    rank : int, optional
        Use the best approximation of R of this rank instead of R. The larger it is, the fairer and the less
        cohesive are the clusters. By default R itself, if its constraint leaves k dimensions; otherwise, as for a
        generic R, a rank of 2 k, and a warning.
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
        H, before its rows are scaled; zeros for nodes without an edge. These are assigned after k-means: to the
        clusters where they improve fairness most if there are groups, else to the smallest cluster.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Eigenvalues of the constrained Laplacian, weights in units of the largest, ascending.
    exact_ : bool
        Whether the constraint is the full one, not an approximation of lower rank.

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
    Two triangles joined by three edges, whose ends represent each other: each cluster should have one node of every
    pair.

    >>> import numpy as np
    >>> import equigraph as eg
    >>> opposite = sparse.csr_array(np.roll(np.eye(6), 3, axis=1))
    >>> prism = np.kron(np.eye(2), 1 - np.eye(3)) + opposite
    >>> model = eg.IndividualFairSC(n_clusters=2, representation=opposite, random_state=0).fit(prism)
    >>> bool((model.labels_[:3] != model.labels_[3:]).all())
    True
    """

    _: KW_ONLY
    representation: Any = None
    constraint: str = "representation"
    rank: int | None = None

    _parameters: ClassVar[dict[str, Constraint]] = {
        **SpectralMethod._parameters,
        "representation": AnyOf(
            options=(
                Instance(methods=("tocsr",), words="a sparse matrix"),
                Instance(methods=("__array__",), words="an array"),
            ),
            optional=True,
            help="Graph that says who represents whom.",
        ),
        "constraint": Choice(
            values=("representation", "group", "group_no_constant"), help="What the embedding must satisfy."
        ),
        "rank": Integer(low=1, optional=True, help="Rank of the approximation of the representation graph."),
    }

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

    def _constraint(
        self, problem: Problem, active: NDArray[np.bool_], make: Any = None
    ) -> tuple[NDArray | None, dict[str, Any]]:
        if self.representation is not None:
            full = check_representation(self.representation, active.size)
            basis, exact = representation_constraint(full[active][:, active], self.n_clusters, self.rank)
            return basis, {"exact_": exact}
        make = group_indicators if self.constraint == "group_no_constant" else group_constraint
        return super()._constraint(problem, active, make)[0], {"exact_": True}


def representation_constraint(
    representation: sparse.csr_array, n_clusters: int, rank: int | None
) -> tuple[NDArray, bool]:
    """Return vectors that span the constraint R J H = 0, and whether it is the full one or one of low rank."""
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


def check_representation(representation: Any, n_nodes: int) -> sparse.csr_array:
    """Check a representation graph and return it with a self-loop at every node.

    Everybody represents oneself: without self-loops, groups as a representation graph would leave no feasible
    vector but the constant one. Self-loops that are missing get the largest weight.
    """
    check_sparse(representation, "The representation")
    try:
        matrix = sparse.csr_array(representation, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"representation must be a sparse matrix of numbers ({error}).") from error
    if matrix.shape != (n_nodes, n_nodes):
        raise ParameterError(
            f"representation has shape {matrix.shape}; expected ({n_nodes}, {n_nodes}): one row per node."
        )
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise ParameterError("representation must be finite and nonnegative: it says who represents whom.")
    if abs(matrix - matrix.T).max() > 1e-12 * max(matrix.data.max(initial=0.0), np.finfo(float).tiny):
        raise ParameterError(
            "representation must be symmetric: use (R + R.T) / 2, or R.maximum(R.T), of your matrix R."
        )
    missing = matrix.diagonal() == 0
    weight = float(matrix.data.max(initial=0.0)) or 1.0
    matrix = sparse.csr_array(matrix + sparse.diags_array(weight * missing))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def exact_row_space(representation: sparse.csr_array) -> NDArray[np.float64] | None:
    """Return an orthonormal basis of the row space of R J, or None if that would be too large.

    A vector h meets R J h = 0 if and only if it is orthogonal to this basis. Only distinct rows of R are used: the
    representation graph of groups has one per group.
    """
    n_nodes = representation.shape[0]
    rows = representation[_distinct_rows(representation)]
    if rows.shape[0] > _EXACT_ROWS or rows.shape[0] * n_nodes > _EXACT_ENTRIES:
        return None
    # Rows are scaled to equal length, which does not change the constraint, only its rounding.
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows = sparse.csr_array(sparse.diags_array(1 / norms) @ rows)
    sums = np.asarray(rows.sum(axis=1)).ravel()
    gram = (rows @ rows.T).toarray() - np.outer(sums, sums) / n_nodes
    values, vectors = linalg.eigh(gram)
    kept = values > _RANK_TOLERANCE * max(1.0, values[-1])
    basis = rows.T @ vectors[:, kept] - (sums @ vectors[:, kept]) / n_nodes
    return np.linalg.qr(basis)[0]


def low_rank_row_space(representation: sparse.csr_array, rank: int) -> NDArray[np.float64]:
    """Return a spanning set of the row space of R_r J, with R_r the best approximation of R of a given rank.

    These are the centred eigenvectors of the r eigenvalues that are largest in absolute value; zeros do not count.
    """
    start = np.random.default_rng(0).standard_normal(representation.shape[0])
    error = f"The {rank} largest eigenvectors of the representation graph did not converge ({{}}): choose another rank."
    values, vectors = leading_eigenpairs(representation.__matmul__, rank, start, which="LM", error=error)
    vectors = vectors[:, np.abs(values) > 1e-10 * np.abs(values).max()]
    return vectors - vectors.mean(axis=0)


def _distinct_rows(matrix: sparse.csr_array) -> NDArray[np.intp]:
    """Return the first row of each set of equal rows."""
    seen: dict[tuple[bytes, bytes], int] = {}
    for row, (start, end) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)):
        seen.setdefault((matrix.indices[start:end].tobytes(), matrix.data[start:end].tobytes()), row)
    return np.fromiter(seen.values(), dtype=np.intp, count=len(seen))
