"""Fit a method by its name and return a scored result; build results from given labels."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Watched
from equigraph._utils.records import plain
from equigraph._utils.text import did_you_mean
from equigraph.base import interaction_of
from equigraph.exceptions import InputError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.adapters import library_of
from equigraph.graph.groups.encode import indicator
from equigraph.methods import get_method
from equigraph.metrics import evaluate
from equigraph.metrics._table import make_tables
from equigraph.metrics.notions import get_notion
from equigraph.metrics.summary import score_name
from equigraph.results.features import facts_of, featured_graph
from equigraph.results.result import ClusteringResult
from equigraph.stores.blocks import BlockGraph, evaluate_blocks


def cluster(
    graph: Any, *, sensitive_features: Any = None, method: str = "fair-partition", **parameters: Any
) -> ClusteringResult:
    """Fit a method by its name and return the result with scores.

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.graph.as_graph` takes, or a `BlockGraph`.
    sensitive_features : array-like, dict of columns, frame or 2-D array, optional
        Group of each node by one attribute or several, as for ``fit``; by default those that came with the graph.
    method : str, default="fair-partition"
        A name from `equigraph.methods.METHODS`.
    **parameters
        Parameters of the estimator; `n_clusters` must be given for a method that needs it.

    Returns
    -------
    ClusteringResult

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> result = eg.cluster(
    ...     room.adjacency,
    ...     sensitive_features=room.sensitive_features,
    ...     method="scalable-fair-sc",
    ...     n_clusters=3,
    ...     random_state=0,
    ... )
    >>> result.labels.shape
    (30,)
    """
    estimator = get_method(method).load()
    known = estimator._get_param_names()
    for name in sorted(set(parameters) - set(known)):
        hint = did_you_mean(name, known)
        raise InputError(
            f"{estimator.__name__} has no parameter {name!r}{hint}; it takes {', '.join(known)}."
        )
    if "n_clusters" not in parameters and getattr(estimator(), "n_clusters", None) is not None:
        raise ParameterError(
            f"n_clusters is not given: {estimator.__name__} needs the number of clusters; stability(graph) and "
            "`equigraph choose-k` compare several numbers."
        )
    graph = featured_graph(graph, sensitive_features)
    watch = Watched(parameters.get("callbacks"))
    if parameters.get("callbacks") is not None:
        parameters = {**parameters, "callbacks": watch}
    start = time.perf_counter()
    model = estimator(**parameters).fit(graph)
    result = ClusteringResult.from_estimator(model, graph, seconds=time.perf_counter() - start)
    # A method without a status of its own may still have been stopped.
    return replace(result, status="stopped") if watch.stopped else result


def fair_communities(
    graph: Any,
    sensitive_features: Any,
    n_clusters: int,
    *,
    attribute: str | None = None,
    method: str = "fair-partition",
    **parameters: Any,
) -> list[set[Any]]:
    """Return communities that are cohesive and fair, as sets of nodes.

    Parameters
    ----------
    graph : graph
        A networkx, igraph or networkit graph, or anything else that `equigraph.graph.as_graph` takes.
    sensitive_features : str, list of str, array-like, dict or frame
        Name of a node attribute such as ``"gender"``, several names, or the groups themselves.
    n_clusters : int
        Number of communities.
    attribute : str, optional
        Write the number of its community to this attribute of every node of a networkx or igraph graph.
    method : str, default="fair-partition"
        A name from `equigraph.methods.METHODS`.
    **parameters
        Parameters of the estimator, such as ``fairness`` and ``random_state``.

    Returns
    -------
    list of set
        The graph's own nodes, largest community first.

    Examples
    --------
    >>> import networkx as nx
    >>> club = nx.karate_club_graph()
    >>> parts = fair_communities(club, "club", 2, attribute="community", random_state=0)
    >>> sorted(map(len, parts), reverse=True) == [len(part) for part in parts]
    True
    >>> 0 in parts[club.nodes[0]["community"]]
    True
    """
    if attribute is not None and library_of(graph) not in ("networkx", "igraph"):
        raise ParameterError(
            f"fair_communities: attribute={attribute!r} is written to the nodes of networkx and igraph graphs, and "
            f"this is a {type(graph).__name__}: leave it out."
        )
    result = cluster(
        graph, sensitive_features=sensitive_features, method=method, n_clusters=n_clusters, **parameters
    )
    parts = result.communities
    if attribute is not None:
        for number, part in enumerate(parts):
            for node in part:
                vertex = graph.nodes[node] if library_of(graph) == "networkx" else _vertex(graph, node)
                vertex[attribute] = number
    return parts


def _vertex(graph: Any, node: Any) -> Any:
    return graph.vs.find(name=node) if "name" in graph.vs.attributes() else graph.vs[node]


def result_of_labels(
    graph: Graph,
    labels: NDArray[np.intp],
    method: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    seconds: float = float("nan"),
) -> ClusteringResult:
    """Return labels as a result, with their scores and the interaction of their clusters."""
    k = int(labels.max()) + 1
    return ClusteringResult(
        method=method,
        labels=labels,
        membership=indicator(labels, k),
        interaction=interaction_of(graph, labels, k),
        scores=evaluate(graph, labels),
        parameters={name: plain(value) for name, value in (parameters or {}).items()},
        seed=seed,
        seconds=seconds,
        **facts_of(graph),
    )


def score_labels(graph: Any, labels: NDArray, notion: Any) -> dict[str, float]:
    """Return the usual scores of labels and, if there are groups, the measure of the notion."""
    scores = evaluate_blocks(graph, labels) if isinstance(graph, BlockGraph) else evaluate(graph, labels)
    notion = get_notion(notion)
    if notion.measure in scores or graph.attributes is None:
        return scores
    attributes, tables = make_tables(labels, graph.attributes)
    values = [notion.value(table.counts, table.groups.sizes) for table in tables]
    # It goes before the number of clusters, which is followed by the scores of each attribute.
    place, items = list(scores).index("n_nonempty"), list(scores.items())
    items.insert(place, (notion.measure, attributes.mean(values)))
    if attributes.are_several:
        names = (score_name(notion.measure, name) for name in attributes.names)
        items += zip(names, values, strict=True)
    return dict(items)
