"""The number of clusters of a graph, by the stability and the objective of clusterings."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from equigraph._utils.callbacks import Callbacks, Notifier
from equigraph._utils.hooks import hook
from equigraph._utils.notebook import page_of
from equigraph._utils.parameters import Integer, Real, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.records import Tabular, framed, plain
from equigraph._utils.text import count, listed
from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.analysis.wording import in_words, objective_in_words
from equigraph.base import GraphClusterer
from equigraph.exceptions import EquigraphWarning, GraphError, InfeasibleError, NotFoundError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.features import with_features
from equigraph.metrics import adjusted_rand_score, normalized_mutual_info_score
from equigraph.metrics.notions import Notion, get_notion
from equigraph.results.cluster import score_labels

# Numbers whose agreement is at most this much below the highest one count as stable. Which nodes move for fairness is
# arbitrary, which makes the right number less stable than a smaller one.
_AS_STABLE = 0.2
# Objectives that differ by less are the same; the smaller number of clusters is then preferred.
_SAME = 1e-3
# Stable numbers whose objectives differ by less count as equally good: a few nodes of another group change as much.
_CLOSE = 3e-3
# Below the first, nothing is recommended; below the second, the answer is called unclear.
_UNSTABLE, _UNCLEAR = 0.5, 0.75
_COLUMNS = (
    "k", "seeds_ari", "removals_ari", "seeds_nmi", "removals_nmi", "stability", "Q", "fairness", "objective",
)  # fmt: skip
# Effort of the default search: three times as much recommends no better (`python -m benchmarks choosing`).
_EFFORT = 0.1
# Methods whose dial weighs Q against a notion.
_DIALS = ("FairPartition", "FairLouvain")
_ROUNDS = 20  # of a consensus, at most
Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class StabilityRow:
    """Stability and scores for one number of clusters.

    Attributes
    ----------
    k : int
        The number.
    seeds_ari, seeds_nmi : float
        Mean agreement of all pairs of fits to the graph itself: adjusted Rand index, normalised mutual information.
    removals_ari, removals_nmi : float
        Mean agreement of these with the fits to copies that lack a few edges; NaN without copies.
    Q, fairness, objective : float
        Scores of the best fit; the fairness is None without groups.
    best, consensus : ndarray of shape (n_nodes,)
        Labels of the best fit, and consensus labels of all fits.
    sure : ndarray of shape (n_nodes,)
        Share of all fits that put a node where the consensus does.
    second : ndarray of shape (n_nodes,)
        The most frequent other cluster of each node.
    error : str or None
        Reason why there are no results.
    """

    k: int
    seeds_ari: float = math.nan
    seeds_nmi: float = math.nan
    removals_ari: float = math.nan
    removals_nmi: float = math.nan
    Q: float = math.nan
    fairness: float | None = None
    objective: float = math.nan
    best: Any = None
    consensus: Any = None
    sure: Any = None
    second: Any = None
    error: str | None = None

    @property
    def stability(self) -> float:
        """The smaller of the two adjusted Rand indices."""
        return float(np.fmin(self.seeds_ari, self.removals_ari))


def recommend(rows: Sequence[StabilityRow], aim: str) -> tuple[int | None, str, tuple[int, ...]]:
    """Return the recommended number of clusters, or None, why, and the numbers that are about as good.

    Of the numbers whose stability is within .2 of the best, it is the one with the largest objective; of numbers that
    differ by less than .001 it is the smallest. Those within .003 are plausible, too. Where the best stability is below
    .5 there is none.

    Examples
    --------
    >>> rows = [
    ...     StabilityRow(2, 1.0, 1.0, 0.6, 0.6, objective=0.5),
    ...     StabilityRow(3, 1.0, 1, 0.97, 1, objective=0.7),
    ... ]
    >>> recommend(rows, "Q")[0]
    3
    """
    complete = [row for row in rows if row.error is None]
    steady = max(complete, key=lambda row: row.stability)
    highest = _smallest_best(complete)
    if steady.stability < _UNSTABLE:
        return None, in_words("no_choice", aim=aim, steady=steady, highest=highest), ()
    stable = [row for row in complete if row.stability >= steady.stability - _AS_STABLE]
    chosen = _smallest_best(stable)
    close = [row for row in stable if row.objective >= chosen.objective - _CLOSE]
    shown = {"last": complete[-1], "highest": highest, "stable": stable, "chosen": chosen, "close": close}
    limits = {"n_tried": len(complete), "tolerance": _CLOSE, "unclear": _UNCLEAR}
    return chosen.k, in_words("choice", aim=aim, **shown, **limits), tuple(row.k for row in close)


def _smallest_best(rows: Sequence[StabilityRow]) -> StabilityRow:
    top = max(row.objective for row in rows)
    return next(row for row in rows if row.objective >= top - _SAME)


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Tabular):
    """Stability and objective of clusterings, by number of clusters.

    Attributes
    ----------
    rows : tuple of StabilityRow
        One for each number, in order.
    node_names : ndarray of shape (n_nodes,)
        Names of the nodes.
    method : str
        Name of the estimator.
    aim : str
        The objective by which numbers are compared, as a formula.
    recommended : int or None
        The recommended number of clusters; None where none is stable.
    conclusion : str
        The reason for the recommendation, in words.
    plausible : tuple of int
        The recommended number and those as good as it; empty if none is stable.
    n_seeds, n_removals : int
        Fits to the graph itself and to copies without a few edges.
    removed : float
        Share of the edges that a copy lacks.
    seed : int
        The seed that was used.
    stopped : bool
        Whether a callback stopped it, so that numbers are missing.
    """

    rows: tuple[StabilityRow, ...]
    node_names: NDArray[Any]
    method: str
    aim: str
    recommended: int | None
    conclusion: str
    plausible: tuple[int, ...]
    n_seeds: int
    n_removals: int
    removed: float
    seed: int
    stopped: bool = False

    def row(self, k: int | None = None) -> StabilityRow:
        """Return the row of a number of clusters; by default the recommended one.

        Raises
        ------
        ParameterError
            If it was not tried, or there is none to recommend.
        """
        wanted = self.recommended if k is None else k
        if wanted is None:
            raise ParameterError("No number of clusters is recommended: say which one with k=.")
        known = {row.k: row for row in self.rows if row.error is None}
        if wanted not in known:
            raise ParameterError(f"There are no clusters for k={wanted!r}: expected one of {listed(known)}.")
        return known[wanted]

    def consensus(self, k: int | None = None) -> NDArray[np.intp]:
        """Return the cluster that most fits put each node into; by default for the recommended number."""
        return self.row(k).consensus

    def sure(self, k: int | None = None) -> NDArray[np.float64]:
        """Return the share of all fits that put a node where the consensus does, for each node."""
        return self.row(k).sure

    def unsure(self, n: int = 10, k: int | None = None) -> Any:
        """Return the nodes that change clusters most between fits, as a pandas frame or a list of dicts.

        Parameters
        ----------
        n : int, default=10
            Maximum number of nodes; those that never change clusters are not listed.
        k : int, optional
            Number of clusters; by default the recommended one.
        """
        check_parameters("Stability.unsure", {"n": Integer(low=1)}, {"n": n})
        row = self.row(k)
        nodes = np.argsort(row.sure, kind="stable")[: int(n)]
        nodes = nodes[row.sure[nodes] < 1]
        return framed(
            {
                "node": self.node_names[nodes].tolist(),
                "cluster": row.consensus[nodes].tolist(),
                "sure": row.sure[nodes].tolist(),
                "second": row.second[nodes].tolist(),
            }
        )

    def table(self) -> dict[str, NDArray]:
        """Return one row per number of clusters."""
        columns = {
            name: np.array([getattr(row, name) for row in self.rows], dtype=float) for name in _COLUMNS
        }
        k = columns["k"].astype(int)
        return {**columns, "k": k, "recommended": k == self.recommended}

    def summary(self) -> dict[str, Any]:
        """Return everything but the per-node arrays, ready for JSON."""
        rows = []
        for row in self.rows:
            columns = {name: plain(getattr(row, name)) for name in (*_COLUMNS, "error")}
            rows.append({**columns, "recommended": row.k == self.recommended})
        fields = {
            name: plain(value) for name, value in vars(self).items() if name not in ("rows", "node_names")
        }
        return {**fields, "n_nodes": int(self.node_names.size), "rows": rows}

    def plot(self, ax: Any = None) -> Any:
        """Draw agreement and objective over the number of clusters (extra ``plot``)."""
        return hook("StabilityDisplay")(self).plot(ax)

    def _repr_html_(self) -> str:
        """Return the table, for a notebook."""
        table = self.table()
        rows = zip(*(column.tolist() for column in table.values()), strict=True)
        return page_of(self.conclusion, list(table), rows)

    def __repr__(self) -> str:
        tried = f"{len(self.rows)} numbers of clusters on {count(self.node_names.size, 'node')}"
        return f"Stability({tried}, {self.method}, recommended: {self.recommended})"


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
    ParameterError, GraphError
        If a number of clusters or another parameter is out of range, or the graph has no edges.

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
    has_dial = type(estimator).__name__ in _DIALS and getattr(estimator, "at_least", None) is None
    if has_dial and known.attributes is not None:
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
    if all(row.error is not None for row in rows):
        raise ParameterError(f"No number of clusters could be fitted: {rows[0].error}")
    aim = objective_in_words(dial, notion.measure)
    return Stability(
        tuple(rows),
        known.node_names,
        type(estimator).__name__,
        aim,
        *recommend(rows, aim),
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
    scores = [score_labels(graph, labels, notion) for labels in own]
    objectives = [(1 - dial) * one["Q"] + dial * one.get(notion.measure, 0.0) for one in scores]
    best = int(np.argmax(objectives))
    return StabilityRow(
        number,
        *mean_agreement(combinations(own, 2)),
        *mean_agreement(product(own, others)),
        Q=scores[best]["Q"],
        fairness=scores[best].get(notion.measure),
        objective=objectives[best],
        best=own[best],
        **consensus([*own, *others], number),
    )


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
    winner = labelings[int(agreement.sum(axis=1).round(12).argmax())]
    nodes = np.arange(winner.size)
    for _ in range(_ROUNDS):
        reference = winner
        votes = np.zeros((nodes.size, n_clusters))
        for labels in labelings:
            votes[nodes, align_labels(labels, reference, n_clusters)] += 1
        # Half a vote for where a node is now, so that ties change nothing.
        favoured = votes + 0.5 * np.eye(n_clusters)[reference]
        winner = favoured.argmax(axis=1)
        if np.array_equal(winner, reference) or np.unique(winner).size < np.unique(reference).size:
            break
    sure = votes[nodes, reference] / len(labelings)
    votes[nodes, reference] = -1
    second = np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), reference)
    return {"consensus": reference, "sure": sure, "second": second}
