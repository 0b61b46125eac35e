"""Agreement of a clustering with a reference one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.randomness import random_state_kept
from equigraph.metrics._table import Labels, encode_labels, in_one_order


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the share of nodes that agree under the best matching of the clusters.

    ``max over one-to-one matchings pi of  #{i : pi(pred_i) = true_i} / n``, by the Hungarian method on the
    contingency table. The numbers of clusters may differ; nodes of unmatched clusters count as errors.
    It lies in (0, 1]: 1 means the same clusters up to their names. It cannot reach 0, since one matched
    pair of clusters always shares a node.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_nodes,)
        Reference labels and predicted labels, of any type.

    Returns
    -------
    float
        The accuracy.

    Raises
    ------
    ParameterError
        If the two have different lengths or a label is missing.

    References
    ----------
    H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics 2, 1955.

    Examples
    --------
    >>> clustering_accuracy([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    true, pred = _encode_pair(labels_true, labels_pred)
    shape = (true.n_clusters, pred.n_clusters)
    ones = np.ones(true.n_nodes, dtype=np.int64)
    table = sparse.coo_array((ones, (true.codes, pred.codes)), shape=shape).tocsr()
    rows, columns = _best_matching(table)
    return int(table[rows, columns].sum()) / true.n_nodes


def normalized_mutual_info_score(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the normalised mutual information of two clusterings.

    ``NMI = I(true; pred) / ((H(true) + H(pred)) / 2)``, computed by scikit-learn. It lies in [0, 1]: 1 means
    the same clusters up to their names, 0 means independent ones. It is not corrected for chance: many
    small clusters score above 0 on random labels.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_nodes,)
        Reference labels and predicted labels, of any type.

    Returns
    -------
    float
        The normalised mutual information.

    Raises
    ------
    ParameterError
        If the two have different lengths or a label is missing.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster Ensembles", JMLR 3, 2002.

    Examples
    --------
    >>> normalized_mutual_info_score([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return _by_sklearn("normalized_mutual_info_score", labels_true, labels_pred)


def adjusted_rand_score(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the adjusted Rand index of two clusterings.

    ``ARI = (RI - E[RI]) / (max RI - E[RI])`` with RI the share of node pairs that both clusterings join or
    both separate, computed by scikit-learn. It lies in [-1/2, 1]: 1 means the same clusters up to their
    names, 0 what chance gives.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_nodes,)
        Reference labels and predicted labels, of any type.

    Returns
    -------
    float
        The adjusted Rand index.

    Raises
    ------
    ParameterError
        If the two have different lengths or a label is missing.

    References
    ----------
    L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> adjusted_rand_score([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return _by_sklearn("adjusted_rand_score", labels_true, labels_pred)


def seed_stability(labelings: Sequence[NDArray]) -> float | None:
    """Return the mean adjusted Rand index over all pairs of labellings, or None for fewer than two."""
    pairs = [adjusted_rand_score(one, two) for one, two in itertools.combinations(labelings, 2)]
    return float(np.mean(pairs)) if pairs else None


def _encode_pair(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[Labels, Labels]:
    labels_true, labels_pred = in_one_order(labels_true, labels_pred, ("labels_true", "labels_pred"))
    true = encode_labels(labels_true, name="labels_true")
    return true, encode_labels(labels_pred, n_nodes=true.n_nodes, name="labels_pred")


def _by_sklearn(name: str, labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    with random_state_kept():
        from sklearn import metrics

    true, pred = _encode_pair(labels_true, labels_pred)
    return float(getattr(metrics, name)(true.codes, pred.codes))


def _best_matching(table: sparse.csr_array) -> Any:
    """Return the largest matching of a table, which may have many cells and few entries.

    An extra column per row lets the row stay unmatched, so that a full matching exists. Adding 1 to
    every weight does not change the best matching (one entry per row) and keeps weights from being zero.
    """
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if table.shape[0] > table.shape[1]:
        return _best_matching(table.T.tocsr())[::-1]
    weights = table.astype(np.float64)
    weights.data += 1.0
    padded = sparse.hstack([weights, sparse.eye_array(table.shape[0])], format="csr")
    rows, columns = min_weight_full_bipartite_matching(padded, maximize=True)
    real = columns < table.shape[1]
    return rows[real], columns[real]
