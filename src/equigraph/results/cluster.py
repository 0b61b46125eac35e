"""Clustering by the name of a method: fit, score, and collect the result."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from equigraph._utils.callbacks import Watched
from equigraph._utils.text import did_you_mean
from equigraph.exceptions import InputError, ParameterError
from equigraph.graph.adapters import library_of
from equigraph.graph.features import with_features
from equigraph.methods import get_method
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
    unknown = sorted(set(parameters) - set(estimator._get_param_names()))
    if unknown:
        raise InputError(
            f"{estimator.__name__} has no parameter {unknown[0]!r}"
            f"{did_you_mean(unknown[0], estimator._get_param_names())}; it takes "
            f"{', '.join(estimator._get_param_names())}."
        )
    if "n_clusters" not in parameters and getattr(estimator(), "n_clusters", None) is not None:
        raise ParameterError(
            f"n_clusters is not given: {estimator.__name__} needs the number of clusters; stability(graph) and "
            "`equigraph choose-k` compare several numbers."
        )
    on_disk = isinstance(graph, BlockGraph)
    if on_disk and sensitive_features is not None:
        graph = graph.with_features_of(with_features(graph.without_edges(), sensitive_features))
    elif not on_disk:
        graph = with_features(graph, sensitive_features)
    watch = Watched(parameters.get("callbacks"))
    if parameters.get("callbacks") is not None:
        parameters = {**parameters, "callbacks": watch}
    start = time.perf_counter()
    model = estimator(**parameters).fit(graph)
    seconds = time.perf_counter() - start
    if on_disk:
        result = ClusteringResult.of_fit(
            model,
            graph,
            evaluate_blocks(graph, model.labels_, n_clusters=model.membership_.shape[1]),
            seconds,
        )
    else:
        result = ClusteringResult.from_estimator(model, graph, seconds=seconds)
    # A method that has no status of its own may still have been stopped.
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
        numbers = {node: number for number, part in enumerate(parts) for node in part}
        for node, number in numbers.items():
            vertex = graph.nodes[node] if library_of(graph) == "networkx" else _vertex(graph, node)
            vertex[attribute] = number
    return parts


def _vertex(graph: Any, node: Any) -> Any:
    return graph.vs.find(name=node) if "name" in graph.vs.attributes() else graph.vs[node]
