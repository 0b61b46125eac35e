"""Clustering by the name of a method: fit, score, and collect the result."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from equigraph._utils.callbacks import Watched
from equigraph._utils.text import did_you_mean
from equigraph.exceptions import InputError
from equigraph.graph.features import with_features
from equigraph.methods import get_method
from equigraph.results.result import ClusteringResult
from equigraph.stores.block_scores import evaluate_blocks
from equigraph.stores.blocks import BlockGraph


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
        Parameters of the estimator.

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
