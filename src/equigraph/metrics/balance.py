"""Group fairness of a clustering: how the groups are spread over the clusters.

Every score is an average over the clusters of a `Notion`, which scores a row of the contingency table.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.parameters import check_known
from equigraph.exceptions import ParameterError
from equigraph.graph.groups import Groups, encode_groups
from equigraph.graph.groups.encode import column_of, names_of_rows
from equigraph.metrics._table import LabelTable, check_n_clusters, mean_over_attributes
from equigraph.metrics.notions import BALANCE, EVENNESS, MOUFLON, NORMALIZED, PROPORTIONAL, Notion

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
    in equal numbers, 0 that every cluster lacks some group. B ignores the population: clusters that
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
        Whether empty clusters are left out (as in the paper) or count as 0. If all nodes collapse into one cluster,
        "ignore" gives the balance of the population, and "zero" a low score.

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

    def balance(table: LabelTable) -> Any:
        counted = check_empty(empty, n_clusters, table.labels.n_clusters)
        return averaged(BALANCE, table.counts, None, average, counted)

    return mean_over_attributes(labels, sensitive_features, balance)


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
    return _mean_score(labels, sensitive_features, NORMALIZED, average)


def mouflon_balance_score(labels: ArrayLike, *, sensitive_features: Any, expected: bool = False) -> float:
    """Return the balance of MOUFLON, weighted by the sizes of the clusters.

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
    if expected:
        return mean_over_attributes(labels, sensitive_features, _mouflon_expected)
    return _mean_score(labels, sensitive_features, MOUFLON, "weighted")


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
    return _mean_score(labels, sensitive_features, PROPORTIONAL, average)


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
    return _mean_score(labels, sensitive_features, EVENNESS, "weighted")


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


def averaged(
    notion: Notion,
    counts: NDArray[np.int64],
    population: NDArray[np.integer] | None = None,
    average: Average = "mean",
    n_clusters: int | None = None,
) -> NDArray[np.float64]:
    """Return a notion of every table of counts, averaged over the clusters in which a node has a group.

    Parameters
    ----------
    notion : Notion
        The score of a cluster.
    counts, population
        As of `Notion.cluster_scores`.
    average : {"mean", "min", "weighted"}, default "mean"
        Over the clusters.
    n_clusters : int, optional
        Number of clusters that was asked for, so that all others of them count as 0.
    """
    check_known("average", average, ("mean", "min", "weighted"))
    scores, members = notion.cluster_scores(counts, population), counts.sum(axis=-1)
    used = members > 0
    if average == "min":
        least = np.where(used, scores, np.inf).min(axis=-1)
        return least if n_clusters is None else np.where(used.sum(axis=-1) < n_clusters, 0.0, least)
    weights = members if average == "weighted" else used
    total = weights.sum(axis=-1) if n_clusters is None or average == "weighted" else n_clusters
    return (weights * scores).sum(axis=-1) / np.maximum(total, 1)


def check_empty(empty: Empty, n_clusters: int | None, n_nonempty: int) -> int | None:
    """Return the number of clusters that count, empty ones included; None if empty ones are left out."""
    check_known("empty", empty, ("ignore", "zero"))
    if n_clusters is not None:
        n_clusters = check_n_clusters(n_clusters, n_nonempty)
    elif empty == "zero":
        raise ParameterError('empty="zero" needs n_clusters, the number of clusters that was asked for.')
    return n_clusters if empty == "zero" else None


def _mean_score(labels: Any, sensitive_features: Any, notion: Notion, average: Average) -> float:
    return mean_over_attributes(
        labels,
        sensitive_features,
        lambda table: averaged(notion, table.counts, table.groups.sizes, average),
    )


def _mouflon_expected(table: LabelTable) -> float:
    """Return MOUFLON's F_prop."""
    counts, sizes, group_sizes = table.counts, table.counts.sum(axis=1), table.groups.sizes
    h, n = group_sizes.size, group_sizes.sum()
    if h == 1:
        return 1.0
    phi = (h - 1) * group_sizes.min() / (n - group_sizes.min())
    leftover = sizes - (group_sizes * sizes[:, None] // n).sum(axis=1)
    numerator = h * phi * sizes + (phi + h - 1 - phi * h) * leftover
    denominator = h * sizes + (phi - 1) * leftover
    expected = np.divide(numerator, denominator, out=np.zeros(sizes.size), where=sizes > 0)
    scores = np.minimum(1.0, 1.0 - (expected - MOUFLON.cluster_scores(counts)))
    scores[sizes < h] = 0.0
    return float(sizes @ scores / sizes.sum())
