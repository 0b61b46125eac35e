"""Fits with several seeds, and to graphs without a few edges, for several numbers of clusters."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from equigraph._utils.callbacks import Callbacks, Notifier
from equigraph._utils.parameters import Integer, Real, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph.analysis.choosing.result import Stability, StabilityRow
from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.base import GraphClusterer
from equigraph.exceptions import EquigraphWarning, GraphError, InfeasibleError, NotFoundError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.features import with_features
from equigraph.metrics import adjusted_rand_score, normalized_mutual_info_score
from equigraph.metrics.notions import Notion, get_notion
from equigraph.results.cluster import score_labels

# Effort of the default search: three times as much recommends no better (`python -m benchmarks choosing`).
_EFFORT = 0.1
# Methods whose dial weighs Q against a notion.
_DIALS = ("FairPartition", "FairLouvain")
# Maximum number of rounds of a consensus.
_ROUNDS = 20

Labels = NDArray[np.intp]


def stability(
    graph: Any,
    k_range: Iterable[int] = range(2, 11),
    *,
    sensitive_features: Any = None,
    estimator: Any = None,
    n_seeds: int = 3,
    n_removals: int = 4,
    removed: float = 0.1,
    random_state: RandomState = None,
    callbacks: Callbacks = None,
) -> Stability:
    """Estimate the number of clusters of a graph, by the stability and the objective of clusterings.

    For every number, the estimator is fitted with several seeds, and to several copies of the graph that lack a few
    edges. Clusters that the graph does not determine differ from fit to fit.

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.as_graph` takes.
    k_range : iterable of int, default=range(2, 11)
        Numbers of clusters to try.
    sensitive_features : array-like, dict of columns, frame or 2-D array, optional
        One attribute or several, as for ``fit``; by default those that came with the graph.
    estimator : estimator, optional
        Any of equigraph, or another with ``n_clusters``, ``labels_`` and a ``fit`` that takes an adjacency. By default
        `FairPartition` with a tenth of its effort, and without a fairness term if there are no groups.
    n_seeds : int, default=3
        Fits to the graph itself, two at least.
    n_removals : int, default=4
        Fits to copies without a few edges.
    removed : float, default=0.1
        Share of the edges that a copy lacks, one at least.
    random_state : int, Generator, RandomState or None
        Seed; the same copies of the graph serve every number of clusters.
    callbacks : callable or list of callables, optional
        Called after every fit; one that returns True ends it with the numbers that are complete (one at least).

    Returns
    -------
    Stability
        Agreement, objective and a consensus for every number, the certainty of every node, and a recommended number.

    Raises
    ------
    ParameterError
        If a number of clusters or another parameter is out of range.
    GraphError
        If the graph has no edges.

    Examples
    --------
    >>> import equigraph as eg
    >>> planted = eg.datasets.make_planted_graph(90, 3, mean_degree=10, mixing=0.1, random_state=0)
    >>> found = eg.stability(
    ...     planted.adjacency, [2, 3, 4], estimator=eg.FairLouvain(fairness=0), random_state=0
    ... )
    >>> found.recommended
    3
    """
    check_parameters(
        "stability",
        {
            "n_seeds": Integer(low=2),
            "n_removals": Integer(low=0),
            "removed": Real(low=0, high=0.5, open_low=True),
        },
        {"n_seeds": n_seeds, "n_removals": n_removals, "removed": removed},
    )
    known = with_features(graph, sensitive_features, getattr(estimator, "attribute_weights", None))
    numbers = _checked_numbers(k_range, known.n_nodes)
    if known.n_edges == 0:
        raise GraphError("The graph has no edges, so it does not determine a number of clusters.")
    seed = as_seed(random_state)
    rng = np.random.default_rng(seed)
    graphs = [known] * int(n_seeds) + [without_edges(known, removed, rng) for _ in range(int(n_removals))]
    if estimator is None:
        from equigraph.community import FairPartition

        estimator = FairPartition(fairness=0.5 if known.attributes is not None else 0.0, effort=_EFFORT)
    # The weight of fairness in the objective that numbers of clusters are compared by.
    dial, notion = 0.0, get_notion(getattr(estimator, "notion", "normalized"))
    if type(estimator).__name__ in _DIALS and getattr(estimator, "at_least", None) is None:
        dial = float(estimator.fairness)
    notify, stopped = Notifier(callbacks), False
    rows: list[StabilityRow] = []
    for number in numbers:
        found: list[Labels] = []
        try:
            for place, one in enumerate(graphs):
                found.append(_fitted(estimator, one, number, seed + place))
                # Called after every fit, also after a stop: the number of clusters is completed first.
                done = len(rows) * len(graphs) + len(found)
                stopped = notify("stability", done, len(numbers) * len(graphs)) or stopped
        except (InfeasibleError, NotFoundError) as error:
            rows.append(StabilityRow(number, error=str(error)))
        else:
            rows.append(_row(known, notion, dial, number, found[: int(n_seeds)], found[int(n_seeds) :]))
        if stopped:
            break
    return Stability(
        rows=tuple(rows),
        node_names=known.node_names,
        method=type(estimator).__name__,
        aim=f"{1 - dial:g} Q + {dial:g} {notion.measure}" if dial and known.attributes is not None else "Q",
        n_seeds=int(n_seeds),
        n_removals=int(n_removals),
        removed=float(removed),
        seed=seed,
        stopped=stopped,
    )


def _checked_numbers(k_range: Any, n_nodes: int) -> list[int]:
    try:
        numbers = [operator.index(number) for number in k_range]
    except TypeError:
        raise ParameterError(
            f"k_range must be whole numbers, such as range(2, 11); got {k_range!r}."
        ) from None
    if not numbers:
        raise ParameterError("k_range is empty: give at least one number of clusters.")
    wrong = next((number for number in numbers if not 2 <= number <= n_nodes), None)
    if wrong is not None:
        raise ParameterError(f"k_range has {wrong}: expected numbers of clusters from 2 to {n_nodes}.")
    return sorted(set(numbers))


def without_edges(graph: Graph, removed: float, rng: np.random.Generator) -> Graph:
    """Return a copy of a graph that lacks a part of its edges, one at least, chosen at random."""
    upper = sparse.triu(graph.adjacency, format="coo")
    rows, columns = upper.coords
    number = max(1, round(removed * upper.nnz))
    keep = np.ones(upper.nnz, dtype=bool)
    keep[rng.choice(upper.nnz, size=number, replace=False)] = False
    half = sparse.coo_array((upper.data[keep], (rows[keep], columns[keep])), shape=upper.shape)
    whole = sparse.csr_array(half + half.T)
    whole.sort_indices()
    return graph._but(adjacency=whole)


def _fitted(estimator: Any, graph: Graph, number: int, seed: int) -> Labels:
    """Return the labels of a fit in ``range(number)``; estimators of other libraries may have others."""
    model = clone(estimator).set_params(n_clusters=number)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=seed)
    with warnings.catch_warnings():
        # Warnings about one of many fits are not useful; tiny clusters show in the objective.
        warnings.simplefilter("ignore", EquigraphWarning)
        model.fit(graph if isinstance(model, GraphClusterer) else graph.adjacency)
    names, codes = np.unique(np.asarray(model.labels_), return_inverse=True)
    if names.size > number:
        raise ParameterError(
            f"{type(model).__name__} found {names.size} clusters where {number} were asked for: stability needs an "
            "estimator with at most n_clusters clusters."
        )
    return codes.astype(np.intp)


def _row(
    graph: Graph, notion: Notion, dial: float, number: int, own: list[Labels], others: list[Labels]
) -> StabilityRow:
    """Return the row of a number of clusters, by fits to a graph and to copies without a few edges."""
    found = []
    for labels in own:
        scores = score_labels(graph, labels, notion)
        modularity, fairness = scores["Q"], scores.get(notion.measure)
        objective = modularity if fairness is None else (1 - dial) * modularity + dial * fairness
        found.append((modularity, fairness, objective, labels))
    seeds_ari, seeds_nmi = mean_agreement(combinations(own, 2))
    removals_ari, removals_nmi = mean_agreement(product(own, others))
    agreement = (seeds_ari, seeds_nmi, removals_ari, removals_nmi)
    best = max(found, key=lambda one: one[2])
    return StabilityRow(number, *agreement, *best, **consensus([*own, *others], number))


def mean_agreement(pairs: Iterable[tuple[Labels, Labels]]) -> tuple[float, float]:
    """Return the mean adjusted Rand index and mean NMI over pairs of clusterings; NaN without pairs."""
    scores = [(adjusted_rand_score(*pair), normalized_mutual_info_score(*pair)) for pair in pairs]
    ari, nmi = np.mean(scores, axis=0) if scores else (np.nan, np.nan)
    return float(ari), float(nmi)


def consensus(labelings: Sequence[Labels], n_clusters: int) -> dict[str, Any]:
    """Return the consensus of several clusterings, the certainty of each node, and its second choice.

    The reference is the clustering that agrees best with all others. All are aligned with it, every node moves to its
    most frequent cluster (ties leave it in place), and this is repeated until nothing changes. If a cluster would
    become empty, the previous labels are kept. The second choice of a node is its own cluster if all agree.
    """
    # Rounded: the index of a pair depends on their order in the last digit.
    agreement = np.array([[adjusted_rand_score(one, other) for other in labelings] for one in labelings])
    reference = np.asarray(labelings[int(agreement.sum(axis=1).round(12).argmax())], dtype=np.intp)
    nodes = np.arange(reference.size)

    def count_votes() -> NDArray[np.float64]:
        votes = np.zeros((reference.size, n_clusters))
        for labels in labelings:
            votes[nodes, align_labels(labels, reference, n_clusters)] += 1
        return votes

    votes = count_votes()
    for _ in range(_ROUNDS):
        # Half a vote for where a node is now, so that ties change nothing.
        favoured = votes.copy()
        favoured[nodes, reference] += 0.5
        winner = favoured.argmax(axis=1)
        if np.array_equal(winner, reference) or np.unique(winner).size < np.unique(reference).size:
            break
        reference = winner
        votes = count_votes()
    sure = votes[nodes, reference] / len(labelings)
    votes[nodes, reference] = -1
    second = np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), reference)
    return {"consensus": reference, "sure": sure, "second": second}
