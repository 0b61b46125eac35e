"""Base class of penalties, weighted sums of penalties, and the Laplacian penalty of a similarity graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GraphError, ParameterError
from equigraph.graph.sparse_arrays import check_sparse

_ROUNDS = 20  # iterations for a bound on the curvature

# Most groups for tables; larger ones would cost more than the (n, k) arrays that they replace.
MOST_GROUPS = 1024


def precision(H: NDArray) -> np.dtype:
    """Return the dtype of the products with a membership: its own, or float64 for whole numbers."""
    return np.result_type(H, np.float32)


class PenaltyTerms(NamedTuple):
    """Both products and the value of a penalty for one membership."""

    positive: NDArray
    negative: NDArray
    value: float


class GroupForm(NamedTuple):
    r"""Small tables of a penalty that treats all nodes of a group alike.

    With the (m, k) group sums S of H, row i of :math:`L^\pm H` is row :math:`g_i` of ``positive @ S`` (or ``negative
    @ S``), plus ``own`` of the group times row i of H in the positive product. A solver then needs no (n, k) array of
    the penalty, and out of core only group sums are transferred.

    Attributes
    ----------
    codes : ndarray of shape (n_nodes,)
        Group of each node.
    positive, negative : ndarray of shape (m, m)
        Tables on the group sums.
    own : ndarray of shape (m,)
        Coefficient of a node's own row in the positive product, at most 0; negative rounding errors are clipped to 0.
    """

    codes: NDArray[np.intp]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    own: NDArray[np.float64]

    def costs(self, sums: NDArray, squares: NDArray) -> NDArray[np.float64]:
        """Return R of each column of H from the (m, k) group sums of H and of its squared entries."""
        return np.sum(sums * ((self.positive - self.negative) @ sums), axis=0) + self.own @ squares


class Penalty(ABC):
    r"""A quadratic penalty :math:`R(H) = \mathrm{Tr}(H^\top L H)` with :math:`L = L^+ - L^-`.

    A subclass implements the two nonnegative products :math:`L^+ H`, which decreases entries, and :math:`L^- H`, which
    increases them. Value and gradient follow if L is symmetric; otherwise, or for a cheaper computation, override them.
    Penalties are combined by weights and sums: ``3 * Contrastive(groups) + 0.1 * GraphPenalty(similarity)``.

    Examples
    --------
    Pairs of nodes that should not share a cluster, in five lines:

    >>> import numpy as np
    >>> class KeepApart(Penalty):
    ...     def __init__(self, pairs):
    ...         self.pairs = np.asarray(pairs)
    ...
    ...     def positive(self, H):
    ...         out = np.zeros_like(H)
    ...         np.add.at(out, self.pairs[:, 0], H[self.pairs[:, 1]])
    ...         np.add.at(out, self.pairs[:, 1], H[self.pairs[:, 0]])
    ...         return out
    ...
    ...     def negative(self, H):
    ...         return np.zeros_like(H)
    >>> KeepApart([(0, 1)]).value(np.array([[1.0, 0.0], [1.0, 0.0]]))
    2.0
    """

    @abstractmethod
    def positive(self, H: NDArray) -> NDArray:
        """Return the nonnegative (n_nodes, k) product :math:`L^+ H`."""

    @abstractmethod
    def negative(self, H: NDArray) -> NDArray:
        """Return the nonnegative (n_nodes, k) product :math:`L^- H`."""

    def value(self, H: NDArray) -> float:
        """Return R(H)."""
        return self.terms(H).value

    def gradient(self, H: NDArray) -> NDArray:
        """Return the gradient of R at H; by default for a symmetric L."""
        return 2 * (self.positive(H) - self.negative(H))

    def curvature(self) -> float:
        r"""Return c with :math:`R(H+E) \le R(H) + \langle \nabla R(H), E\rangle + c \|E\|^2`.

        Infinity, the default, means unknown; solvers that need a bound reject such a penalty.
        """
        return float("inf")

    def group_form(self) -> GroupForm | None:
        """Return the penalty as tables on group sums, or None if it is not of this form."""
        return None

    def terms(self, H: NDArray) -> PenaltyTerms:
        """Return both products and the value; override it if they share work."""
        positive, negative = self.positive(H), self.negative(H)
        up = np.einsum("ij,ij->", H, positive, dtype=np.float64)
        down = np.einsum("ij,ij->", H, negative, dtype=np.float64)
        return PenaltyTerms(positive, negative, float(up - down))

    def __mul__(self, weight: float) -> WeightedSum:
        return WeightedSum([(weight, self)])

    __rmul__ = __mul__

    def __add__(self, other: Penalty) -> WeightedSum:
        return WeightedSum([(1.0, self), (1.0, other)])


class PenaltyByTerms(Penalty):
    """Base class of penalties that compute both products together, in ``terms``."""

    def positive(self, H: NDArray) -> NDArray:
        """Return the product that decreases H."""
        return self.terms(H).positive

    def negative(self, H: NDArray) -> NDArray:
        """Return the product that increases H."""
        return self.terms(H).negative

    @abstractmethod
    def terms(self, H: NDArray) -> PenaltyTerms:
        """Return both products and the value."""


class WeightedSum(PenaltyByTerms):
    """A sum of penalties with nonnegative weights; terms of weight zero are left out.

    Parameters
    ----------
    terms : iterable of (weight, Penalty)
        The terms. Sums inside the sum are flattened.

    Examples
    --------
    >>> from equigraph.factorization.penalties import Contrastive, Scatter
    >>> groups = ["a", "b", "a", "b"]
    >>> both = 3 * Contrastive(groups) + Scatter(groups)
    >>> both
    3 * Contrastive(2 groups, self_pairs=True) + 1 * Scatter(2 groups)
    """

    def __init__(self, terms: Iterable[tuple[float, Penalty]]):
        self.weighted: list[tuple[float, Penalty]] = []
        for weight, penalty in terms:
            if not np.isfinite(weight) or weight < 0:
                raise ParameterError(
                    f"The weight of a penalty must be a finite number of at least 0; got {weight!r}."
                )
            if isinstance(penalty, WeightedSum):
                self.weighted += [(weight * inner, one) for inner, one in penalty.weighted if weight * inner]
            elif weight:
                self.weighted.append((float(weight), penalty))

    def gradient(self, H: NDArray) -> NDArray:
        """Return the weighted sum of the gradients."""
        return self._sum(H, [penalty.gradient(H) for _, penalty in self.weighted])

    def curvature(self) -> float:
        """Return the weighted sum of the curvature bounds, which bounds the curvature of the sum."""
        return float(sum(weight * penalty.curvature() for weight, penalty in self.weighted))

    def group_form(self) -> GroupForm | None:
        """Return the weighted sum of the tables, on joint groups; None unless all terms have tables."""
        found = [form_of(penalty) for _, penalty in self.weighted]
        forms = [form for form in found if form is not None]
        if not forms or len(forms) < len(found):
            return None
        codes, members = _joint(forms)
        if len(members) > MOST_GROUPS:
            return None
        shape = len(members), len(members)
        positive, negative, own = np.zeros(shape), np.zeros(shape), np.zeros(len(members))
        for (weight, _), form, group in zip(self.weighted, forms, members.T, strict=True):
            positive += weight * form.positive[np.ix_(group, group)]
            negative += weight * form.negative[np.ix_(group, group)]
            own += weight * form.own[group]
        return GroupForm(codes, positive, negative, own)

    def terms(self, H: NDArray) -> PenaltyTerms:
        """Return both products and the value, with one call per term."""
        parts = [penalty.terms(H) for _, penalty in self.weighted]
        value = sum(w * part.value for (w, _), part in zip(self.weighted, parts, strict=True))
        positive = self._sum(H, [part.positive for part in parts])
        return PenaltyTerms(positive, self._sum(H, [part.negative for part in parts]), float(value))

    def _sum(self, H: NDArray, parts: list[NDArray]) -> NDArray:
        total = np.zeros_like(H, dtype=precision(H))
        for (weight, _), part in zip(self.weighted, parts, strict=True):
            total += total.dtype.type(weight) * part
        return total

    def __repr__(self) -> str:
        return " + ".join(f"{weight:g} * {penalty!r}" for weight, penalty in self.weighted) or "no penalty"


class GraphPenalty(Penalty):
    r"""Laplacian smoothing over a custom similarity graph S.

    .. math:: R(H) = \mathrm{Tr}(H^\top (D - S) H) = \tfrac12 \sum_{ij} S_{ij} \|h_i - h_j\|^2,

    where D is the diagonal matrix of the row sums of S.

    Positive weights attract pairs of nodes, negative weights repel them.

    Parameters
    ----------
    similarity : sparse or dense array of shape (n_nodes, n_nodes)
        Symmetric weights, in any scipy format. The diagonal has no effect.

    Examples
    --------
    >>> import numpy as np
    >>> penalty = GraphPenalty([[0, 1], [1, 0]])
    >>> penalty.value(np.array([[1.0, 0.0], [0.0, 1.0]]))
    2.0
    """

    def __init__(self, similarity: Any):
        check_sparse(similarity, "The similarity of a GraphPenalty")
        matrix = sparse.csr_array(similarity, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"The similarity of a GraphPenalty must be square; it has shape {matrix.shape}.")
        if not np.isfinite(matrix.data).all():
            raise GraphError("The similarity of a GraphPenalty has NaN or infinite weights.")
        gap = matrix - matrix.T
        scale = np.abs(matrix.data).max(initial=0.0)
        if gap.nnz and np.abs(gap.data).max() > 1e-10 * scale:
            raise GraphError("The similarity of a GraphPenalty must be symmetric: use (S + S.T) / 2.")
        matrix = matrix - sparse.diags_array(matrix.diagonal())
        laplacian = sparse.csr_array(sparse.diags_array(matrix.sum(axis=1)) - matrix)
        self._up = laplacian.maximum(0).tocsr()
        self._down = (-laplacian).maximum(0).tocsr()

    def positive(self, H: NDArray) -> NDArray:
        """Return the product with the positive entries of the Laplacian."""
        return (self._up @ H).astype(precision(H), copy=False)

    def negative(self, H: NDArray) -> NDArray:
        """Return the product with the negative entries of the Laplacian."""
        return (self._down @ H).astype(precision(H), copy=False)

    def curvature(self) -> float:
        """Return the largest row sum of absolute values, a bound on the largest eigenvalue."""
        return float((self._up.sum(axis=1) + self._down.sum(axis=1)).max(initial=0.0))

    def __repr__(self) -> str:
        return f"GraphPenalty({self._up.shape[0]} nodes)"


def form_of(penalty: Any) -> GroupForm | None:
    """Return the tables of a penalty; None for a custom penalty without ``group_form``."""
    make = getattr(penalty, "group_form", None)
    return None if make is None else make()


def _joint(forms: list[GroupForm]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the joint group of each node, and the group of each joint group in every form."""
    codes = forms[0].codes
    if all(np.array_equal(form.codes, codes) for form in forms[1:]):
        return codes, np.column_stack([np.arange(forms[0].own.size)] * len(forms))
    members, joint = np.unique(np.column_stack([form.codes for form in forms]), axis=0, return_inverse=True)
    return joint.ravel().astype(np.intp), members


def curvature_bound(penalty: Penalty, n_nodes: int, n_clusters: int) -> float:
    """Return `Penalty.curvature` if it is finite, otherwise a numerical bound.

    For a symmetric L the curvature is at most the largest eigenvalue of L+ plus that of L-. For a nonnegative matrix
    such an eigenvalue is at most the largest ratio of an entry of L x to that of x, for any positive x (Collatz and
    Wielandt). The L of a penalty that overrides ``gradient`` is not symmetric; the bound is then infinite.

    Parameters
    ----------
    penalty : Penalty
        The penalty; the bound of a sum is that of its terms.
    n_nodes, n_clusters : int
        Shape of a membership.

    Examples
    --------
    >>> class Shrink(Penalty):
    ...     def positive(self, H):
    ...         return 3 * H
    ...
    ...     def negative(self, H):
    ...         return 0 * H
    >>> Shrink().curvature(), curvature_bound(Shrink(), 4, 2)
    (inf, 3.0)
    """
    if isinstance(penalty, WeightedSum):
        return float(
            sum(weight * curvature_bound(one, n_nodes, n_clusters) for weight, one in penalty.weighted)
        )
    known = float(penalty.curvature())
    if np.isfinite(known) or getattr(type(penalty), "gradient", None) is not Penalty.gradient:
        return known
    shape = (n_nodes, n_clusters)
    return _largest_ratio(penalty.positive, shape) + _largest_ratio(penalty.negative, shape)


def _largest_ratio(product: Callable[[NDArray], NDArray], shape: tuple[int, int]) -> float:
    """Return a bound on the largest eigenvalue of a nonnegative matrix, by power iteration."""
    x, best = np.ones(shape), float("inf")
    for _ in range(_ROUNDS):
        image = np.asarray(product(x), dtype=np.float64)
        best = min(best, float((image / x).max()))
        if best == 0:
            break
        x = image / image.max() + 1e-3  # any positive vector gives a bound
    return best


def check_penalty(penalty: Any, H: NDArray) -> None:
    """Check, on an actual membership, that an object implements the interface of a penalty.

    Raises
    ------
    ParameterError
        If a method is missing or returns invalid values; the message names class and method.
    """
    name = type(penalty).__name__
    for method in ("positive", "negative", "gradient", "value", "curvature", "terms"):
        if not callable(getattr(penalty, method, None)):
            raise ParameterError(
                f"The penalty {name} has no method {method}(): derive it from equigraph.penalties.Penalty."
            )
    for method in ("positive", "negative"):
        try:
            product = np.asarray(getattr(penalty, method)(H))
        except (ValueError, IndexError) as error:
            raise ParameterError(
                f"{name}.{method}(H) fails for a membership of shape {H.shape} ({error}): is it made for a graph "
                "of another size?"
            ) from error
        if product.shape != H.shape:
            raise ParameterError(
                f"{name}.{method}(H) has shape {product.shape} for a membership of shape {H.shape}: it is made "
                "for a graph of another size, or does not return one row per node."
            )
        if not np.isfinite(product).all() or (product < 0).any():
            raise ParameterError(f"{name}.{method}(H) must be finite and nonnegative for nonnegative H.")
