"""Refinement of labels, alone or as the last step of a method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.callbacks import Callbacks, Notifier
from equigraph.exceptions import FairnessIgnoredWarning, GroupsError, InputError, ParameterError, warn
from equigraph.graph import read_graph
from equigraph.groups import encode_groups
from equigraph.groups.encode import as_column, is_missing, unique_values
from equigraph.numbering import number_by_size
from equigraph.parameters import Choice, Integer, Real, check_parameters
from equigraph.randomness import RandomState, as_seed
from equigraph.refinement.large import make_search
from equigraph.refinement.objective import NOTIONS


@dataclass(frozen=True)
class LabelProblem:
    """What a refiner works on: a validated graph, group codes (None = cohesion only), k, notion, sizes and a seed."""

    adjacency: sparse.csr_array
    codes: NDArray[np.intp] | None
    n_clusters: int
    notion: str = "normalized"
    size_bounds: tuple[int | None, int | None] | None = None
    seed: int = 0


class RefinerLike(Protocol):
    """Anything with this method can refine labels."""

    def refine(
        self, problem: LabelProblem, values: Sequence[float], starts: Iterable[NDArray], notify: Notifier
    ) -> list[NDArray]:
        """Return labels with exactly k clusters for every value of the dial."""


@dataclass(frozen=True)
class Refiner:
    r"""Search for labels with a high :math:`(1 - f) Q + f N`, with exactly k clusters.

    Labels are annealed on the nodes and on coarser levels of the graph, perturbed and annealed again, and at last
    climb until no move of a single node raises the objective. Swaps of two nodes, which leave all sizes as they are,
    are proposed throughout. What is found at one value of the dial is used at the others.

    Parameters
    ----------
    effort : float, default=1
        Multiplies the length of the search. 0 only climbs from the starts.
    n_runs : int, default=1
        How often the search is repeated, from other random labels; what it has found so far stays.
    """

    effort: float = 1.0
    n_runs: int = 1

    def refine(
        self, problem: LabelProblem, values: Sequence[float], starts: Iterable[NDArray], notify: Notifier
    ) -> list[NDArray]:
        """Return labels for every value of the dial; see `RefinerLike`."""
        search = make_search(
            problem.adjacency,
            problem.codes,
            problem.n_clusters,
            notion=problem.notion,
            size_bounds=problem.size_bounds,
            effort=self.effort,
            seed=problem.seed,
        )
        return search.solve(values, starts, notify, self.n_runs)


def refine_labels(
    graph: Any,
    labels: ArrayLike,
    *,
    sensitive_features: ArrayLike | None = None,
    n_clusters: int | None = None,
    fairness: float = 0.5,
    notion: str = "normalized",
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
    notion : {"normalized", "balance", "mouflon"}, default="normalized"
        The fairness N that the dial moves.
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
        No move of a single node raises :math:`(1 - f) Q + f N`; above 64 clusters, none to a neighbour's cluster. On
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
            "notion": Choice(values=tuple(NOTIONS)),
            "effort": Real(low=0),
            "n_clusters": Integer(low=2, optional=True),
        },
        {"fairness": fairness, "notion": notion, "effort": effort, "n_clusters": n_clusters},
    )
    graph = read_graph(graph, groups=sensitive_features)
    names, start = unique_values(_checked_labels(labels, graph.n_nodes))
    if n_clusters is None:
        n_clusters = names.size
        if n_clusters < 2:
            raise ParameterError(
                "All nodes have the same label: say how many clusters you want with n_clusters=."
            )
    codes = None
    if graph.sensitive_features is None and fairness > 0:
        warn(
            "refine_labels: no sensitive_features were given, so there is no fairness term.",
            FairnessIgnoredWarning,
        )
    if graph.sensitive_features is not None:
        groups = encode_groups(graph.sensitive_features)
        if groups.n_groups < 2 and fairness > 0:
            raise GroupsError(
                f"The sensitive feature is constant ({groups.names.tolist()[0]!r} for all nodes): nothing can be made "
                "fairer."
            )
        codes = groups.codes if groups.n_groups > 1 else None
    problem = LabelProblem(
        graph.adjacency, codes, n_clusters, notion, size_bounds=size_bounds, seed=as_seed(random_state)
    )
    found = Refiner(effort).refine(problem, [float(fairness)], [start], Notifier(callbacks))[0]
    return number_by_size(found, int(n_clusters))


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
