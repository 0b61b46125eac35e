"""Improvement of labels from any other tool, a shorthand for `FairPartition.refine`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from equigraph.community.partition import FairPartition
from equigraph.graph.features import with_features
from equigraph.graph.groups.encode import is_missing, unique_values
from equigraph.graph.labels import labels_in_order
from equigraph.rules.rules import as_rules


def refine_labels(
    graph: Any,
    labels: Any,
    *,
    sensitive_features: Any = None,
    max_moves: int | None = None,
    stay: float = 0.0,
    n_clusters: int | None = None,
    effort: float = 0.0,
    **parameters: Any,
) -> NDArray[Any]:
    r"""Improve labels from any other tool.

    A shorthand for ``FairPartition(...).refine(graph, labels, ...).labels_``, with cluster names as in ``labels``.

    Parameters
    ----------
    graph, labels, sensitive_features, max_moves, stay
        See `FairPartition.refine`.
    n_clusters : int, optional
        Number of clusters of the result; by default as many as the labels have.
    effort : float, default=0
        0 only applies local moves and swaps to the given labels; 1 and more search further, and may end far from them.
    parameters
        Further parameters of `FairPartition`.

    Returns
    -------
    ndarray of shape (n_nodes,)
        Labels of the given kind, numbers or texts, so that ``labels != given`` are the nodes that moved: a cluster has
        the label of the given one with which it shares most nodes. If ``n_clusters`` is another number, labels are
        0, 1, ... by size. No move of a single node raises :math:`(1 - f) Q + f N`; above 128 clusters, none to a
        neighbour's cluster. On large graphs (100,000 nodes or two million stored entries) this holds approximately, as
        the number of passes is bounded.

    Raises
    ------
    InfeasibleError
        If the size bounds cannot be met, or the rules with so few moves.
    ConflictError
        If rules contradict each other.
    NotFoundError
        If no labels that keep the rules were found, and the rules are not proven to be infeasible.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> first = eg.RandomClustering(3, random_state=0).fit_predict(room.adjacency)
    >>> better = eg.refine_labels(
    ...     room.adjacency, first, sensitive_features=room.sensitive_features, random_state=0
    ... )
    >>> eg.metrics.modularity_score(room.adjacency, better) > 0.3
    True

    Separate two nodes with few changes:

    >>> import numpy as np
    >>> first, second = np.flatnonzero(better == 0)[:2].tolist()
    >>> rules = eg.Rules(apart=[(first, second)], sizes=(8, 12))
    >>> apart = eg.refine_labels(
    ...     room.adjacency,
    ...     better,
    ...     sensitive_features=room.sensitive_features,
    ...     rules=rules,
    ...     max_moves=2,
    ...     random_state=0,
    ... )
    >>> rules.check(room.adjacency, apart), int((apart != better).sum()) <= 2
    ([], True)
    """
    model = FairPartition(n_clusters, effort=effort, **parameters)
    labels = list(labels) if isinstance(labels, Iterator) else labels  # it is read twice
    model.refine(graph, labels, sensitive_features=sensitive_features, max_moves=max_moves, stay=stay)
    keeps_numbers = max_moves is not None or stay > 0 or as_rules(model.rules or {}).names_clusters
    return in_given_terms(labels, graph, model.labels_, keeps_numbers)


def in_given_terms(labels: Any, graph: Any, found: NDArray[np.intp], keeps_numbers: bool) -> NDArray[Any]:
    """Return new labels with the cluster names of the given ones, so that a comparison shows which nodes moved.

    Clusters are matched one to one with those given, by the number of shared nodes. If their number differs, labels
    remain numbers. If clusters keep their numbers, these are indices into the sorted given labels.

    Examples
    --------
    >>> in_given_terms(["b", "b", "a"], np.zeros((3, 3)), np.array([0, 0, 1]), False).tolist()
    ['b', 'b', 'a']
    """
    column = labels_in_order(labels, with_features(graph), gaps=True)
    known = ~is_missing(column)
    names, codes = unique_values(column[known])
    n_clusters = int(found.max()) + 1
    numbered = all(isinstance(name, int) and 0 <= name < n_clusters for name in names.tolist())
    if names.size != n_clusters or (keeps_numbers and numbered):
        return found
    if keeps_numbers:
        return names[found]
    shared = np.zeros((n_clusters, n_clusters))
    np.add.at(shared, (found[known], codes), 1)
    _, columns = linear_sum_assignment(-shared)
    return names[columns][found]
