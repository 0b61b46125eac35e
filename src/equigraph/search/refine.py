"""Refinement of the labels of any tool."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph.callbacks import Callbacks, Notifier
from equigraph.exceptions import (
    FairnessIgnoredWarning,
    FairnessNotReachedWarning,
    GroupsError,
    InputError,
    ParameterError,
    warn,
)
from equigraph.graph import read_graph
from equigraph.groups.encode import as_column, is_missing, unique_values
from equigraph.metrics.notions import Notion, get_notion
from equigraph.numbering import number_by_size
from equigraph.parameters import Integer, Real, check_parameters
from equigraph.randomness import RandomState, as_seed
from equigraph.search.search import Search, Target


def refine_labels(
    graph: Any,
    labels: ArrayLike,
    *,
    sensitive_features: ArrayLike | None = None,
    n_clusters: int | None = None,
    fairness: float = 0.5,
    notion: str | Notion = "normalized",
    at_least: float | None = None,
    size_bounds: tuple[int | None, int | None] | None = None,
    effort: float = 0.0,
    random_state: RandomState = None,
    callbacks: Callbacks = None,
) -> NDArray[np.intp]:
    r"""Improve labels that any other tool made.

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.graph.as_graph` takes.
    labels : array-like of shape (n_nodes,)
        Labels of any type, in node order.
    sensitive_features : array-like, optional
        Group of each node; by default the groups that came with the graph.
    n_clusters : int, optional
        Number of clusters of the result; by default as many as the labels have.
    fairness : float, default=0.5
        The dial f in [0, 1]. At 1 the notion comes first, up to .01, and then Q.
    notion : {"normalized", "balance", "mouflon", "evenness"} or Notion, default="normalized"
        The fairness N that the dial moves.
    at_least : float, optional
        The fairness asked for, in place of the dial: the most cohesive labels found whose N is at least this. Where
        none is found, the fairest, and a warning that says how fair they are.
    size_bounds : (least, most), optional
        Bounds on the number of nodes of a cluster; always met.
    effort : float, default=0
        0 keeps to local moves and swaps from the given labels; 1 and more search further, and may end far from them.
    random_state : int, Generator, RandomState or None
        Seed.
    callbacks : callable or list of callables, optional
        Told about progress; may stop the search.

    Returns
    -------
    ndarray of shape (n_nodes,), dtype intp
        Labels 0, 1, ..., numbered by size, largest first (ties: by their first node); exactly ``n_clusters`` of them.
        No move of a single node raises :math:`(1 - f) Q + f N`; above 128 clusters, none to a neighbour's cluster. On
        large graphs (100,000 nodes or two million stored entries) that is nearly so: the number of passes is bounded.

    Raises
    ------
    InfeasibleError
        If the size bounds cannot be met.

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
    """
    check_parameters(
        "refine_labels",
        {
            "fairness": Real(low=0, high=1),
            "at_least": Real(low=0, high=1, optional=True),
            "effort": Real(low=0),
            "n_clusters": Integer(low=2, optional=True),
        },
        {"fairness": fairness, "at_least": at_least, "effort": effort, "n_clusters": n_clusters},
    )
    notion = get_notion(notion)
    wanted = fairness > 0 or at_least is not None
    graph = read_graph(graph, groups=sensitive_features)
    names, start = unique_values(_checked_labels(labels, graph.n_nodes))
    if n_clusters is None:
        n_clusters = names.size
        if n_clusters < 2:
            raise ParameterError(
                "All nodes have the same label: say how many clusters you want with n_clusters=."
            )
    codes = None
    groups = graph.groups
    if groups is None and wanted:
        warn(
            "refine_labels: no sensitive_features were given, so there is no fairness term.",
            FairnessIgnoredWarning,
        )
    if groups is not None:
        if groups.n_groups < 2 and wanted:
            raise GroupsError(
                f"The sensitive feature is constant ({groups.names.tolist()[0]!r} for all nodes): nothing can be made "
                "fairer."
            )
        codes = groups.codes if groups.n_groups > 1 else None
    search = Search(
        graph.unit_adjacency,
        codes,
        n_clusters,
        notion=notion,
        size_bounds=size_bounds,
        effort=effort,
        seed=as_seed(random_state),
    )
    found = search.solve([Target(float(fairness), at_least)], [start], Notifier(callbacks))[0]
    if at_least is not None:
        warn_if_short("refine_labels", notion, search.score(found)[1], at_least)
    return number_by_size(found, int(n_clusters))


def warn_if_short(who: str, notion: Notion, reached: float, at_least: float) -> None:
    """Say how fair labels are that are not as fair as was asked for."""
    if reached < at_least - 1e-12:
        warn(
            f"{who}: no labels with {notion.measure} of at least {at_least:g} were found; the fairest have "
            f"{reached:.4f}. Ask for less, for other sizes or for fewer clusters, or raise effort=.",
            FairnessNotReachedWarning,
        )


def _checked_labels(labels: ArrayLike, n_nodes: int) -> NDArray[Any]:
    try:
        column = as_column(labels)
    except GroupsError:
        raise InputError(f"The labels are not a column: give one label per node, {n_nodes} in all.") from None
    if column.size != n_nodes:
        raise InputError(f"There are {column.size} labels for {n_nodes} nodes: give one label per node.")
    absent = np.flatnonzero(is_missing(column))
    if absent.size:
        raise InputError(
            f"The labels of {absent.size} of {n_nodes} nodes are missing (first at position {absent[0]}): give one "
            "label per node."
        )
    return column
