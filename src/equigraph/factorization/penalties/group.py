r"""Penalties on groups: all products are functions of the group sums of H, in O(n k)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.text import count
from equigraph.exceptions import GroupsError
from equigraph.factorization.penalties.base import (
    MOST_GROUPS,
    GroupForm,
    Penalty,
    PenaltyByTerms,
    PenaltyTerms,
    WeightedSum,
    precision,
)
from equigraph.graph.groups import Attributes, Groups, encode_groups
from equigraph.graph.groups.encode import indicator


def over_attributes(
    attributes: Attributes | None, make: Callable[[Groups], Penalty], weight: float = 1.0
) -> WeightedSum:
    """Return the weighted mean over attributes of a penalty on groups, times a weight; of none an empty sum.

    Examples
    --------
    >>> from equigraph.graph.groups import encode_attributes
    >>> attributes = encode_attributes({"a": ["x", "y", "x"], "b": ["u", "u", "v"]})
    >>> over_attributes(attributes.weighted({"b": 3}), Scatter)
    0.25 * Scatter(2 groups) + 0.75 * Scatter(2 groups)
    """
    if attributes is None or weight == 0:
        return WeightedSum([])
    penalties = map(make, attributes.groups.values())
    return weight * WeightedSum(zip(attributes.weights.tolist(), penalties, strict=True))


class _GroupPenalty(PenaltyByTerms):
    """Base class of penalties whose products depend on the group of a node (and on the node's own row) only.

    A subclass implements each product on the group sums of H; ``own`` is that of `GroupForm`.
    """

    def __init__(self, sensitive_features: ArrayLike | Groups):
        groups = encode_groups(sensitive_features)
        if groups.n_ungrouped:
            raise GroupsError(
                f"{type(self).__name__} needs a group for every node, and {groups.n_ungrouped} of {groups.n_nodes} "
                f"have none: use FairPartition, or drop them with missing='drop'."
            )
        if groups.n_groups < 2:
            raise GroupsError(
                f"The sensitive feature has the same value ({groups.names.tolist()[0]!r}) for all "
                f"{count(groups.n_nodes, 'node')}: fairness between groups needs at least two groups."
            )
        self.groups = groups
        # A sparse product computes the group sums in one pass over H.
        self._collect = indicator(groups.codes, groups.n_groups).T.tocsr()
        self._sizes = groups.sizes.astype(np.float64)[:, None]
        self._own = np.zeros(groups.n_groups)

    def terms(self, H: NDArray) -> PenaltyTerms:
        """Return both products and the value from one pass over H."""
        sums = self._collect @ H
        up, down = self._up(sums), self._down(sums)
        positive, value = self._spread(up, H), float(np.sum(sums * (up - down)))
        if self._own.any():
            # Rounding of group sums less a node's own row may give tiny negative values.
            positive = np.maximum(positive + self._spread(self._own[:, None], H) * H, 0)
            value += float(self._own @ (self._collect @ np.einsum("ij,ij->i", H, H, dtype=np.float64)))
        return PenaltyTerms(positive, self._spread(down, H), value)

    def group_form(self) -> GroupForm | None:
        """Return both products as tables on group sums, or None for very many groups."""
        if self.groups.n_groups > MOST_GROUPS:
            return None
        each = np.eye(self.groups.n_groups)
        return GroupForm(self.groups.codes, self._up(each), self._down(each), self._own)

    def curvature(self) -> float:
        """Return the largest eigenvalue of the symmetric part of L, or 0 where that is negative."""
        each, roots = np.eye(self.groups.n_groups), np.sqrt(self._sizes)
        table = roots * (self._up(each) - self._down(each)) * roots.T + np.diag(self._own)
        return max(float(np.linalg.eigvalsh((table + table.T) / 2)[-1]), 0.0)

    @abstractmethod
    def _up(self, sums: NDArray) -> NDArray:
        """Return the positive product of each group, without the node's own row."""

    @abstractmethod
    def _down(self, sums: NDArray) -> NDArray:
        """Return the negative product of each group."""

    def _spread(self, table: NDArray, H: NDArray) -> NDArray:
        """Return the row of its group for each node."""
        return np.take(table.astype(precision(H), copy=False), self.groups.codes, axis=0)


class Contrastive(_GroupPenalty):
    r"""The contrastive penalty of iFairNMTF.

    .. math:: R(H) = \mathrm{Tr}(H^\top L H), \qquad L = N - P,

    where row i of N averages over the nodes of i's group and row i of P over all nodes of other groups. (The
    row sums of N and P are both one, hence the degree part of the Laplacian of the paper vanishes.) Small values
    mean that a node's memberships resemble those of other groups more than those of its own.

    For unequal groups L is not symmetric and its symmetric part is indefinite; ``positive`` and ``negative`` are
    the products that the paper's update uses, ``gradient`` is the gradient of ``value``.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_nodes,) or Groups
        Group of each node; at least two groups.
    self_pairs : bool, default=True
        Whether a node counts in the average over its own group, as printed in the paper; False as in the
        authors' code. A node that is alone in its group then has an empty average, defined as 0.

    References
    ----------
    Ghodsi, Seyedi, Ntoutsi. Towards Cohesion-Fairness Harmony: Contrastive Regularization in Individual Fair
    Graph Clustering. PAKDD 2024.

    Examples
    --------
    >>> import numpy as np
    >>> penalty = Contrastive(["a", "a", "b", "b"])
    >>> segregated = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> mixed = segregated[[0, 2, 1, 3]]
    >>> penalty.value(segregated), penalty.value(mixed)
    (4.0, 0.0)
    """

    def __init__(self, sensitive_features: ArrayLike | Groups, *, self_pairs: bool = True):
        super().__init__(sensitive_features)
        self.self_pairs = self_pairs
        self._per_other = 1 / (self.groups.n_nodes - self._sizes)
        members = self._sizes if self_pairs else self._sizes - 1
        self._per_same = np.divide(1.0, members, out=np.zeros_like(members), where=members > 0)
        if not self_pairs:
            self._own = -self._per_same.ravel()

    def gradient(self, H: NDArray) -> NDArray:
        """Return (L + L')H: N is symmetric, P is not."""
        terms, weighted = self.terms(H), self._per_other * (self._collect @ H)
        transposed = self._spread(weighted.sum(axis=0) - weighted, H)
        return 2 * terms.positive - terms.negative - transposed

    def _up(self, sums: NDArray) -> NDArray:
        return self._per_same * sums

    def _down(self, sums: NDArray) -> NDArray:
        return self._per_other * (sums.sum(axis=0) - sums)

    def __repr__(self) -> str:
        return f"Contrastive({self.groups.n_groups} groups, self_pairs={self.self_pairs})"


class Scatter(_GroupPenalty):
    r"""The scatter of the group means of H around the overall mean.

    .. math:: R(H) = \sum_s n_s \|\bar h_s - \bar h\|^2 = \mathrm{Tr}\bigl(H^\top (N - \tfrac1n 11^\top) H\bigr)

    Symmetric and positive semidefinite for groups of any sizes, zero exactly when every group is spread over the
    clusters alike, and of curvature one. For equal groups it equals `Contrastive` up to the factor (m - 1) / m.

    It fixes no scale of H by itself: use it in a model that does.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_nodes,) or Groups
        Group of each node; at least two groups.

    Examples
    --------
    >>> import numpy as np
    >>> Scatter(["a", "a", "b", "b"]).value(np.array([[1.0], [1.0], [0.0], [0.0]]))
    1.0
    """

    def curvature(self) -> float:
        """Return 1: the penalty is the squared length of a projection of H."""
        return 1.0

    def _up(self, sums: NDArray) -> NDArray:
        return sums / self._sizes

    def _down(self, sums: NDArray) -> NDArray:
        return np.broadcast_to(sums.sum(axis=0) / self.groups.n_nodes, sums.shape)

    def __repr__(self) -> str:
        return f"Scatter({self.groups.n_groups} groups)"


class GroupParity(_GroupPenalty):
    r"""The group-parity penalty of DFNMF.

    .. math:: R(H) = \|F^\top H\|_F^2, \qquad F_{is} = [g_i = s] - n_s / n

    Symmetric and positive semidefinite, zero exactly when every group is spread over the clusters alike; unlike
    `Scatter` it counts large groups more than small ones, and grows with the square of the number of nodes.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_nodes,) or Groups
        Group of each node; at least two groups.
    all_columns : bool, default=True
        Use all groups, which makes the penalty independent of their order. False leaves out the last one, as
        in the authors' code.

    References
    ----------
    Ghodsi, Seyedi, Le Quy, Karimi, Ntoutsi. Deep fair nonnegative matrix factorisation for graph clustering.
    arXiv 2510.23507, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> GroupParity(["a", "a", "b", "b"]).value(np.array([[1.0], [1.0], [0.0], [0.0]]))
    2.0
    """

    def __init__(self, sensitive_features: ArrayLike | Groups, *, all_columns: bool = True):
        super().__init__(sensitive_features)
        self.all_columns = all_columns
        centred = np.eye(self.groups.n_groups) - self.groups.shares
        rows = centred if all_columns else centred[:, :-1]
        # Row s of F is the same for all nodes of group s, so FF' is this small table, spread over the nodes.
        self._table = rows @ rows.T

    def _up(self, sums: NDArray) -> NDArray:
        return np.maximum(self._table, 0) @ sums

    def _down(self, sums: NDArray) -> NDArray:
        return np.maximum(-self._table, 0) @ sums

    def __repr__(self) -> str:
        return f"GroupParity({self.groups.n_groups} groups, all_columns={self.all_columns})"
