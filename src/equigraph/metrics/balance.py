"""Group fairness of a clustering: how the groups are spread over the clusters.

The ``*_score`` functions take labels and groups of any type; the others one contingency table (clusters x groups).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.parameters import check_known
from equigraph.exceptions import ParameterError
from equigraph.graph.groups import Groups, encode_groups
from equigraph.graph.groups.encode import column_of, names_of_rows
from equigraph.metrics._table import LabelTable, check_n_clusters, mean_over_attributes
from equigraph.metrics.notions import BALANCE, EVENNESS, MOUFLON, NORMALIZED

Average = Literal["mean", "min", "weighted"]
Empty = Literal["ignore", "zero"]


def balance_score(
    labels: ArrayLike,
    *,
    sensitive_features: Any,
    average: Average = "mean",
    n_clusters: int | None = None,
    empty: Empty = "ignore",
) -> float:
    """Return the balance B of a clustering.

    The balance of a cluster is ``min_s T[l, s] / max_s T[l, s]``, its smallest group over its largest,
    and B is the average over the clusters. B lies in [0, 1]: 1 means that every cluster holds all groups
    in equal numbers, 0 that every cluster lacks some group. B does not know the population: clusters that
    mirror unequal groups score less than 1, see :func:`normalized_balance_score`.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,), Groups, or several attributes
        Group of each node; of several attributes (a dict of columns, frame, 2-D array or `Attributes`) the mean of
        their scores counts. If all nodes are of one group the balance is 1.
    average : {"mean", "min", "weighted"}, default "mean"
        Over the clusters: the plain mean (the paper's B), the worst cluster, or the mean weighted by
        cluster size.
    n_clusters : int, optional
        Number of clusters that was asked for; needed by ``empty="zero"``.
    empty : {"ignore", "zero"}, default "ignore"
        Whether empty clusters are left out (as in the paper) or count as 0. When everything collapses into
        one cluster, the first gives the balance of the population, the second tells.

    Returns
    -------
    float
        The balance.

    Raises
    ------
    ParameterError, GroupsError
        If labels and groups do not fit, or an option is unknown or contradicts another.

    References
    ----------
    F. Chierichetti et al., "Fair Clustering Through Fairlets", NeurIPS 2017 (``average="min"``).
    S. Ghodsi, S. A. Seyedi, E. Ntoutsi, "Towards Cohesion-Fairness Harmony: Contrastive Regularization
    in Individual Fair Graph Clustering", PAKDD 2024 (``average="mean"``).

    Examples
    --------
    >>> labels, groups = [0, 0, 0, 1, 1], ["x", "x", "y", "x", "y"]
    >>> balance_score(labels, sensitive_features=groups)
    0.75
    >>> balance_score(labels, sensitive_features=groups, average="min")
    0.5
    >>> balance_score(labels, sensitive_features=groups, n_clusters=3, empty="zero")
    0.5
    """
    check_known("empty", empty, ("ignore", "zero"))
    score = partial(balance, average=average, n_clusters=n_clusters, empty=empty)
    return mean_over_attributes(labels, sensitive_features, score)


def normalized_balance_score(
    labels: ArrayLike, *, sensitive_features: Any, average: Average = "weighted"
) -> float:
    """Return the normalised balance NB of a clustering.

    ``NB = sum_l |C_l|/n * min_s m(T_ls, e_ls)`` with T the members of group s in cluster l and ``e_ls = |C_l| n_s / n``
    those it would have in proportion: m is 1 between ``floor(e)`` and ``ceil(e)``, ``T / floor(e)`` below and
    ``ceil(e) / T`` above. NB lies in [0, 1]: 1 means that every cluster mirrors the population as closely as whole
    nodes allow, 0 that every cluster lacks a group that it should have. Where nodes have no group, ``|C_l|`` and n
    count those that have one.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,), Groups, or several attributes
        Group of each node; of several attributes (a dict of columns, frame, 2-D array or `Attributes`) the mean of
        their scores counts. If all nodes are of one group the score is 1.
    average : {"weighted", "mean", "min"}, default "weighted"
        Over the non-empty clusters: weighted by cluster size (NB), plain mean, or worst cluster.

    Returns
    -------
    float
        The normalised balance.

    Raises
    ------
    ParameterError, GroupsError
        If labels and groups do not fit, or the average is unknown.

    References
    ----------
    S. Bera et al., "Fair Algorithms for Clustering", NeurIPS 2019 (the ratio of shares of a cluster).

    Examples
    --------
    Clusters of one third ``y``, as the population, and then four of one group beside one of the other, twice:

    >>> groups = ["x", "x", "y"] * 2
    >>> normalized_balance_score([0, 0, 0, 1, 1, 1], sensitive_features=groups)
    1.0
    >>> round(normalized_balance_score([0] * 5 + [1] * 5, sensitive_features=list("xxxxyxyyyy")), 3)
    0.5
    """
    score = partial(normalized_balance, average=average)
    return mean_over_attributes(labels, sensitive_features, score)


def mouflon_balance_score(labels: ArrayLike, *, sensitive_features: Any, expected: bool = False) -> float:
    """Return the proportional balance of MOUFLON.

    The balance of a cluster is ``bal(C) = (h-1) min_s T[C, s] / (|C| - T[C, s])`` for h groups, and the
    score is ``F_base = sum_C |C|/n bal(C)``. With ``expected`` every cluster is compared with what its
    size would hold in proportion: ``F_prop = sum_C |C|/n min(1, 1 - (F_exp(C) - bal(C)))``, with 0 for
    clusters smaller than h; F_exp(C) is the balance of the counts ``floor(n_s |C| / n)`` with what the
    floors leave over spread evenly (in the closed form of MOUFLON). Both lie in [0, 1]. F_base is 1 if
    every cluster holds all groups in equal numbers and 0 if every cluster lacks one; F_prop is 1 if every
    cluster reaches what its size would hold in proportion.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,), Groups, or several attributes
        Group of each node; of several attributes (a dict of columns, frame, 2-D array or `Attributes`) the mean of
        their scores counts. If all nodes are of one group the score is 1.
    expected : bool, default False
        False for F_base, True for F_prop.

    Returns
    -------
    float
        F_base or F_prop.

    Raises
    ------
    ParameterError, GroupsError
        If labels and groups do not fit.

    References
    ----------
    G. Panayiotou, A. Simon, M. Magnani, E. Calikus, "MOUFLON", arXiv 2510.12348, 2025.

    Examples
    --------
    >>> labels, groups = [0, 0, 0, 1, 1, 1], ["x", "x", "y", "x", "x", "y"]
    >>> mouflon_balance_score(labels, sensitive_features=groups)
    0.5
    >>> mouflon_balance_score(labels, sensitive_features=groups, expected=True)
    1.0
    """
    return mean_over_attributes(labels, sensitive_features, partial(_mouflon_balance, expected=expected))


def proportional_balance_score(
    labels: ArrayLike, *, sensitive_features: Any, average: Average = "mean"
) -> float:
    """Return the proportional balance of a clustering, as FNM defines it.

    With ``r_ls = T_ls / |C_l|`` the share of group s in cluster l and ``p_s = n_s / n`` its share in the population, a
    cluster scores ``min_s min(r_ls / p_s, p_s / r_ls)``. It lies in [0, 1]: 1 means exact proportions, which whole
    nodes seldom allow (:func:`normalized_balance_score` forgives that), 0 that a group is missing.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,), Groups, or several attributes
        Group of each node; of several attributes (a dict of columns, frame, 2-D array or `Attributes`) the mean of
        their scores counts. If all nodes are of one group the score is 1.
    average : {"mean", "min", "weighted"}, default "mean"
        Over the clusters: the plain mean, the worst cluster, or the mean weighted by cluster size.

    Returns
    -------
    float
        The proportional balance.

    References
    ----------
    J. Li, Y. Wang, A. Merchant, "Spectral Normalized-Cut Graph Partitioning with Fairness Constraints", ECAI 2023.

    Examples
    --------
    >>> labels, groups = [0, 0, 0, 1, 1, 1], ["x", "x", "y", "x", "y", "y"]
    >>> round(proportional_balance_score(labels, sensitive_features=groups), 3)
    0.667
    """
    check_known("average", average, ("mean", "min", "weighted"))
    score = partial(proportional_balance, average=average)
    return mean_over_attributes(labels, sensitive_features, score)


def evenness_score(labels: ArrayLike, *, sensitive_features: Any) -> float:
    """Return the evenness of a clustering: one minus the index of dissimilarity.

    For two groups the index of Duncan and Duncan is ``D = sum_l |a_l / A - b_l / B| / 2``, the share of either group
    that would have to move for all clusters to mirror the population. For more groups it is the mean deviation of the
    shares of a cluster from those of the population, weighted by size, over what full segregation would give. 1 means
    that every cluster mirrors the population exactly, 0 that no cluster holds two groups.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,), Groups, or several attributes
        Group of each node; of several attributes (a dict of columns, frame, 2-D array or `Attributes`) the mean of
        their scores counts. If all nodes are of one group the score is 1.

    Returns
    -------
    float
        The evenness.

    References
    ----------
    O. D. Duncan, B. Duncan, "A Methodological Analysis of Segregation Indexes", American Sociological Review, 1955.
    S. F. Reardon, G. Firebaugh, "Measures of Multigroup Segregation", Sociological Methodology, 2002.

    Examples
    --------
    >>> evenness_score([0, 0, 0, 1], sensitive_features=["x", "x", "y", "y"])
    0.5
    """
    return mean_over_attributes(
        labels, sensitive_features, lambda table: EVENNESS.value(table.counts, table.groups.sizes)
    )


def population_balance(sensitive_features: ArrayLike | Groups) -> float:
    """Return the balance of the population, ``min_s n_s / max_s n_s``.

    It lies in (0, 1]: 1 means groups of equal size (or a single group). It is what :func:`balance_score`
    gives to a clustering that mirrors the population, and to one single cluster.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_nodes,) or Groups
        Group of each node.

    Returns
    -------
    float
        The balance of the population.

    Raises
    ------
    GroupsError
        If the groups are not usable.

    Examples
    --------
    >>> population_balance(["x", "x", "y"])
    0.5
    """
    named = names_of_rows(sensitive_features) is not None
    sizes = encode_groups(column_of(sensitive_features) if named else sensitive_features).sizes
    if sizes.size == 0:
        raise ParameterError("sensitive_features is empty: give at least one node.")
    return float(sizes.min() / sizes.max())


def balance(
    table: LabelTable, average: Average = "mean", n_clusters: int | None = None, empty: Empty = "ignore"
) -> float:
    """Return the balance B; clusters without a node of any group are left out, or count as 0 with ``empty="zero"``."""
    counts = table.counts
    if n_clusters is None and empty == "zero":
        raise ParameterError('empty="zero" needs n_clusters, the number of clusters that was asked for.')
    if n_clusters is not None:
        n_empty = check_n_clusters(n_clusters, counts.shape[0]) - counts.shape[0]
        counts = np.pad(counts, ((0, n_empty), (0, 0)))
    return _averaged(BALANCE.cluster_scores(counts), counts.sum(axis=1), average, empty)


def normalized_balance(table: LabelTable, average: Average = "weighted") -> float:
    """Return the normalised balance NB."""
    counts = table.counts
    return _averaged(NORMALIZED.cluster_scores(counts, table.groups.sizes), counts.sum(axis=1), average)


def proportional_balance(table: LabelTable, average: Average = "mean") -> float:
    """Return the proportional balance of FNM."""
    members = table.counts.sum(axis=1)
    counts, members = table.counts[members > 0], members[members > 0]
    expected = table.groups.shares * members[:, None]
    ratios = np.minimum(counts, expected) / np.maximum(counts, expected)
    return _averaged(ratios.min(axis=1), members, average)


def _mouflon_balance(table: LabelTable, expected: bool) -> float:
    """Return MOUFLON's F_base, or F_prop with ``expected``."""
    sizes, group_sizes = table.counts.sum(axis=1), table.groups.sizes
    if group_sizes.size == 1:
        return 1.0
    scores = MOUFLON.cluster_scores(table.counts)
    if expected:
        scores = np.minimum(1.0, 1.0 - (_expected_balances(sizes, group_sizes) - scores))
        scores[sizes < group_sizes.size] = 0.0
    return _averaged(scores, sizes, "weighted")


def _expected_balances(sizes: NDArray[np.integer], group_sizes: NDArray[np.integer]) -> NDArray[np.float64]:
    """MOUFLON's F_exp for clusters of the given sizes (0 for an empty cluster)."""
    h, n = group_sizes.size, group_sizes.sum()
    phi = (h - 1) * group_sizes.min() / (n - group_sizes.min())
    leftover = sizes - (group_sizes * sizes[:, None] // n).sum(axis=1)
    numerator = h * phi * sizes + (phi + h - 1 - phi * h) * leftover
    denominator = h * sizes + (phi - 1) * leftover
    return np.divide(numerator, denominator, out=np.zeros(sizes.size), where=sizes > 0)


def _averaged(
    scores: NDArray[np.float64], members: NDArray[np.integer], average: Average, empty: Empty = "ignore"
) -> float:
    """Return the average of the scores of clusters with so many members of groups."""
    check_known("average", average, ("mean", "min", "weighted"))
    if average == "weighted":
        return float(members @ scores / members.sum())
    if empty == "ignore":
        scores = scores[members > 0]
    return float(scores.min() if average == "min" else scores.mean())
