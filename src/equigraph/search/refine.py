"""Refinement of the labels of any tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.callbacks import Callbacks, Notifier
from equigraph._utils.numbering import number_by_size
from equigraph._utils.parameters import Integer, Real, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.text import NO_GROUPS
from equigraph.exceptions import (
    FairnessIgnoredWarning,
    FairnessNotReachedWarning,
    GroupsError,
    ParameterError,
    warn,
)
from equigraph.graph import Graph
from equigraph.graph.features import with_features
from equigraph.graph.groups import Attributes
from equigraph.graph.groups.encode import is_missing, unique_values
from equigraph.graph.labels import labels_in_order
from equigraph.metrics.notions import Notion, get_notion
from equigraph.rules import Facts, Rules
from equigraph.search.agree import ON_CONFLICT, RULES, Home, OnConflict, RuleKeeper, as_rules, search_under
from equigraph.search.objective import HIGHEST
from equigraph.search.ruled import RuledSearch
from equigraph.search.search import Search, Target


def refine_labels(
    graph: Any,
    labels: ArrayLike,
    *,
    sensitive_features: Any = None,
    attribute_weights: Mapping[str, float] | None = None,
    n_clusters: int | None = None,
    fairness: float = 0.5,
    notion: str | Notion = "normalized",
    at_least: float | None = None,
    size_bounds: tuple[int | None, int | None] | None = None,
    rules: Rules | Mapping[str, Any] | None = None,
    on_conflict: OnConflict = "error",
    max_moves: int | None = None,
    stay: float = 0.0,
    effort: float = 0.0,
    random_state: RandomState = None,
    callbacks: Callbacks = None,
) -> NDArray[np.intp]:
    r"""Improve labels that any other tool made.

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.graph.as_graph` takes.
    labels : array-like of shape (n_nodes,), Series or mapping
        Labels of any type, in node order or by the names of the nodes. With ``rules``, ``max_moves`` or ``stay`` some
        may be missing (None): these nodes are new, and go wherever it is best.
    sensitive_features : array-like, dict of columns, frame or 2-D array, optional
        Group of each node by one attribute or several, as for ``fit``; by default those that came with the graph.
    attribute_weights : mapping from attribute to number, optional
        How much each of several attributes counts; by default as the graph says, or all alike.
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
    rules : Rules or dict, optional
        Hard rules that the result keeps, always; see `equigraph.rules.Rules`. The cluster that a rule calls 0 is the
        one with the label 0.
    on_conflict : {"error", "relax"}, default="error"
        Whether rules that contradict each other are an error, or the last of them are given up.
    max_moves : int, optional
        How many nodes may get another label than they have.
    stay : float, default=0
        What each of these costs, in units of :math:`(1 - f) Q + f N` (of Q with ``at_least``): with .001 a node moves
        only if that, and what comes with it, brings more than .001.
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
        With ``max_moves`` or ``stay``, or rules that speak of the numbers of clusters, clusters keep the numbers that
        they have, where labels are the whole numbers 0, 1, ..., and otherwise the place of their label among all
        sorted labels.

    Raises
    ------
    InfeasibleError
        If the size bounds cannot be met, or the rules with so few moves.
    ConflictError
        If rules contradict each other.
    NotFoundError
        If no labels that keep the rules were found, and it is not known whether there are any.

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

    Two who do not get on, at the price of few changes:

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
    return refine(**locals()).labels


@dataclass(frozen=True, eq=False)
class Refined:
    """Labels, and what could be agreed on about rules; None without any."""

    labels: NDArray[np.intp]
    agreement: RuleKeeper | None


def refine(
    graph: Any,
    labels: ArrayLike,
    *,
    sensitive_features: Any = None,
    attribute_weights: Mapping[str, float] | None = None,
    n_clusters: int | None = None,
    fairness: float = 0.5,
    notion: str | Notion = "normalized",
    at_least: float | None = None,
    size_bounds: tuple[int | None, int | None] | None = None,
    rules: Rules | Mapping[str, Any] | None = None,
    on_conflict: OnConflict = "error",
    max_moves: int | None = None,
    stay: float = 0.0,
    effort: float = 0.0,
    random_state: RandomState = None,
    callbacks: Callbacks = None,
) -> Refined:
    """Do what `refine_labels` says, and tell about the rules as well."""
    check_parameters(
        "refine_labels",
        {
            "fairness": Real(low=0, high=1),
            "at_least": Real(low=0, high=1, optional=True),
            "effort": Real(low=0),
            "n_clusters": Integer(low=2, optional=True),
            "rules": RULES,
            "on_conflict": ON_CONFLICT,
            "max_moves": Integer(optional=True),
            "stay": Real(low=0),
        },
        locals(),
    )
    notion = get_notion(notion)
    wanted = fairness > 0 or at_least is not None
    graph = with_features(graph, sensitive_features, attribute_weights)
    few = max_moves is not None or stay > 0
    ruled = few or rules is not None
    start, n_labels = _start(labels, graph, n_clusters, gaps=ruled)
    if n_clusters is None:
        n_clusters = n_labels
        if n_clusters < 2:
            raise ParameterError(
                "All nodes have the same label: say how many clusters you want with n_clusters."
            )
    attributes = graph.attributes
    if attributes is None and wanted:
        warn(f"refine_labels: {NO_GROUPS}, so there is no fairness term.", FairnessIgnoredWarning)
    if attributes is not None and wanted:
        check_vary(attributes)
    codes = None if attributes is None else attributes.codes
    target = Target(float(fairness), at_least)
    options: dict[str, Any] = {
        "notion": notion,
        "size_bounds": size_bounds,
        "effort": effort,
        "seed": as_seed(random_state),
        "weights": None if attributes is None else attributes.weights,
    }
    search: Search | RuledSearch
    agreement = None
    if ruled:
        rules = as_rules(rules or {})
        placed = placed_nodes(graph.unit_adjacency, start, n_clusters)
        agreement = search_under(
            rules,
            Facts(graph),
            codes,
            n_clusters,
            on_conflict=on_conflict,
            starts=[placed],
            home=_home(start, placed, n_clusters, target, max_moves, stay) if few else None,
            **options,
        )
        search, start = agreement.search, placed
    else:
        search = Search(graph.unit_adjacency, codes, n_clusters, **options)
    found = search.solve([target], [start], Notifier(callbacks))[0]
    if at_least is not None:
        warn_if_short("refine_labels", notion, search.score(found)[1], at_least)
    if agreement is None:
        return Refined(number_by_size(found, int(n_clusters)), None)
    agreement.warn_if_relaxed("refine_labels")
    agreement.checked(found)
    numbered = few or agreement.rules.names_clusters
    labels = found.astype(np.intp) if numbered else number_by_size(found, int(n_clusters))
    return Refined(labels, agreement)


def _home(
    start: NDArray, placed: NDArray, n_clusters: int, target: Target, max_moves: int | None, stay: float
) -> Home:
    if int(start.max()) >= n_clusters:
        raise ParameterError(
            f"The labels are {int(start.max()) + 1} clusters, and n_clusters={n_clusters!r}: with "
            f"max_moves or stay no cluster can vanish."
        )
    weight = 1 - (HIGHEST if target.at_least is not None else min(target.fairness, HIGHEST))
    rate = stay if target.at_least is not None else stay / weight
    return Home(start, placed, max_moves, price=rate * weight, rate=rate)


def _start(
    labels: ArrayLike, graph: Graph, n_clusters: int | None, gaps: bool
) -> tuple[NDArray[np.int64], int]:
    """Return labels as numbers, -1 where there are gaps and may be, and how many labels there are.

    Whole numbers below the number of clusters stay what they are.
    """
    column = labels_in_order(labels, graph, gaps=gaps)
    known = ~is_missing(column)
    names, codes = unique_values(column[known])
    start = np.full(graph.n_nodes, -1, dtype=np.int64)
    start[known] = codes
    if all(isinstance(name, int) and 0 <= name < (n_clusters or names.size) for name in names.tolist()):
        start[known] = column[known].astype(np.int64)
    return start, names.size


def placed_nodes(adjacency: sparse.csr_array, start: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Return labels with a cluster for every new node: that of most of its links, or else the smallest.

    Examples
    --------
    >>> path = sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> placed_nodes(path, np.array([1, -1, 0]), 2).tolist()
    [1, 0, 0]
    """
    placed = start.copy()
    for node in np.flatnonzero(start < 0).tolist():
        row = slice(adjacency.indptr[node], adjacency.indptr[node + 1])
        near, weights = placed[adjacency.indices[row]], adjacency.data[row]
        known = placed[placed >= 0]
        size = np.bincount(known, minlength=n_clusters)
        links = np.bincount(near[near >= 0], weights[near >= 0], minlength=size.size)
        placed[node] = int(np.lexsort((size, -links))[0])
    return placed


def check_vary(attributes: Attributes) -> None:
    """Raise GroupsError where an attribute has one value alone."""
    for name, groups in attributes.groups.items():
        if groups.n_groups < 2:
            what = f"attribute {name!r}" if attributes.are_several else "sensitive feature"
            raise GroupsError(
                f"The {what} is constant ({groups.names.tolist()[0]!r} for all nodes): nothing can be made fairer."
            )


def warn_if_short(who: str, notion: Notion, reached: float, at_least: float) -> None:
    """Say how fair labels are that are not as fair as was asked for."""
    if reached < at_least - 1e-12:
        warn(
            f"{who}: no labels with {notion.measure} of at least {at_least:g} were found; the fairest have "
            f"{reached:.4f}. Ask for less, for other sizes or for fewer clusters, or raise effort.",
            FairnessNotReachedWarning,
        )
