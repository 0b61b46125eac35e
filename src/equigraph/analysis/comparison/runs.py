"""Run methods on one graph or several, each with several seeds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from equigraph._utils.callbacks import Callbacks, Notifier, Watched
from equigraph._utils.parameters import Integer, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.text import GIVE_GROUPS, counted, listed, one_line
from equigraph.analysis.comparison.candidates import (
    Candidate,
    Metrics,
    candidates_of,
    fit,
    same_without_fairness,
    tuned,
)
from equigraph.analysis.comparison.result import Comparison
from equigraph.analysis.comparison.rows import ComparedGraph, ComparisonRow, Fit
from equigraph.exceptions import InputError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.features import with_features
from equigraph.methods import METHODS
from equigraph.metrics.agreement import seed_stability


def compare(
    graphs: Any,
    *,
    methods: Any = None,
    n_clusters: int | Mapping[str, int],
    metrics: Any = None,
    fairness: float | Mapping[str, float] | None = None,
    tune: bool = False,
    n_seeds: int = 3,
    random_state: RandomState = 0,
    sensitive_features: Any = None,
    callbacks: Callbacks = None,
) -> Comparison:
    """Run several methods on one graph or several, each with several seeds.

    A method that fails is a row that says why; the others go on. Scores are means over the seeds, with their spread. A
    row whose clusters are the same without fairness says so, for which the method is fitted once more.

    Parameters
    ----------
    graphs : graph, or mapping from name to graph
        Anything that `equigraph.as_graph` takes, or several of them by name.
    methods : str, iterable of str and estimators, or mapping from name to either, optional
        Names from `equigraph.methods.METHODS`, by default all; and estimators of one's own: anything with ``fit``,
        ``get_params`` and ``labels_``. Rows have the names of the mapping, otherwise that of the method or of the
        class. Estimators of equigraph are fitted to the graph, others to its adjacency, with ``sensitive_features``
        where their ``fit`` takes them. Parameters called ``n_clusters`` and ``random_state`` are set, the others are
        as they come.
    n_clusters : int or mapping from graph to int
        Number of clusters, for the methods that take one.
    metrics : str, callable, iterable of them, or mapping from name to either, optional
        The scores that tables show, by default Q, B, NB, min_balance and rho: names of `equigraph.metrics.evaluate`,
        the further ones too, and functions that take the `Graph` and the labels and return a number.
    fairness : float or mapping from method to float, optional
        The dial of the methods that have one. Its scale differs between methods, hence the mapping. By
        default each method's own default.
    tune : bool, default=False
        Whether every dial that ``fairness`` does not set is chosen first: of eleven values in [0, 1], or of powers of
        ten where it has no upper end, the one whose Q times NB is largest with the first seed. Rows have it.
    n_seeds : int, default=3
        Number of seeds: ``random_state``, ``random_state + 1``, ...
    random_state : int, Generator, RandomState or None, default=0
        The first seed.
    sensitive_features : array-like of shape (n_nodes,), dict of columns, frame or 2-D array, optional
        Group of each node by one attribute or several, as for ``fit``; by default those that came with the graph. For
        several graphs, a mapping from each of their names to that, or names of node attributes that all of them have.
    callbacks : callable or list of callables, optional
        Called before, during and after every fit. The stage is the name of the method, the step the number of its
        fits that are done. One that returns True ends the comparison with what there is, also in the middle of a fit,
        where the method can be stopped.

    Returns
    -------
    Comparison
        One row per graph and method, each with one fit per seed.

    Raises
    ------
    ParameterError
        If a method is unknown or a number out of range.
    GraphError, GroupsError
        If a graph or its groups are not usable.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> comparison = compare(room.adjacency, methods=["sc", eg.NMTF(tol=1e-3)], n_clusters=3)
    >>> [row.method for row in comparison.rows]
    ['sc', 'NMTF']
    >>> dials = {"low": eg.FairLouvain(fairness=0.1), "high": eg.FairLouvain(fairness=0.9)}
    >>> table = compare({"class": room}, methods=dials, n_clusters=3, metrics=["NB", "conductance"])
    >>> [(row.graph, row.method, round(row.NB, 2)) for row in table.rows]
    [('class', 'low', 0.72), ('class', 'high', 1.0)]
    """
    named, several = _named_graphs(graphs, sensitive_features)
    asked = n_clusters if isinstance(n_clusters, Mapping) else dict.fromkeys(named, n_clusters)
    if set(asked) != set(named):
        raise ParameterError(
            f"n_clusters is given for {listed(map(repr, asked)) if asked else 'no graph'}: expected a number, or one "
            f"for each of {listed(map(repr, named)) if several else 'several graphs'}."
        )
    for number in asked.values():
        check_parameters("compare", {"n_clusters": Integer(low=2)}, {"n_clusters": number})
    check_parameters("compare", {"n_seeds": Integer(low=1)}, {"n_seeds": n_seeds})
    scored = Metrics.of(metrics)
    chosen = candidates_of(METHODS if methods is None else methods, fairness)
    for name, graph in named.items():
        if tune and graph.sensitive_features is None:
            raise ParameterError(
                f"tune=True needs groups{f' of {name!r}' if several else ''}: {GIVE_GROUPS}."
            )
    first = as_seed(random_state)
    seeds = tuple(range(first, first + n_seeds))
    rows: list[ComparisonRow] = []
    stopped = False
    for name, graph in named.items():
        trial = _GraphRuns(name, graph, asked[name], scored, seeds, Notifier(callbacks), tune)
        for entry in chosen:
            if not stopped:
                row, stopped = trial.row(entry)
                rows.append(row)
    sizes = tuple(ComparedGraph(name, one.n_nodes, one.n_edges, asked[name]) for name, one in named.items())
    return Comparison(tuple(rows), sizes, seeds, scored.shown, stopped)


def _named_graphs(graphs: Any, sensitive_features: Any) -> tuple[dict[str, Graph], bool]:
    """Return the graphs by name with their groups, and whether they were given by name; one has an empty name."""
    # A data set is a mapping, too.
    if not isinstance(graphs, Mapping) or "adjacency" in graphs:
        return {"": with_features(graphs, sensitive_features)}, False
    if not graphs or not all(isinstance(name, str) and name for name in graphs):
        raise ParameterError(
            "graphs must be a graph, or a mapping from the names of graphs, as texts, to graphs."
        )
    if isinstance(sensitive_features, Mapping):
        strangers = [name for name in sensitive_features if name not in graphs]
        if strangers:
            raise ParameterError(
                f"sensitive_features names {strangers[0]!r}, which is no graph: expected some of {listed(graphs)}."
            )
        each = sensitive_features
    else:
        names = [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
        if names is not None and not (
            isinstance(names, (list, tuple)) and all(isinstance(one, str) for one in names)
        ):
            raise ParameterError(
                "sensitive_features of several graphs must be a mapping from the name of each to its groups, or the "
                "names of node attributes."
            )
        each = dict.fromkeys(graphs, sensitive_features)
    return {name: with_features(graph, each.get(name)) for name, graph in graphs.items()}, True


@dataclass(frozen=True)
class _GraphRuns:
    """All fits to one graph."""

    name: str
    graph: Graph
    n_clusters: int
    metrics: Metrics
    seeds: tuple[int, ...]
    notify: Notifier
    tune: bool

    def row(self, entry: Candidate) -> tuple[ComparisonRow, bool]:
        """Return the row of a method, and whether a callback wants to stop."""
        row, stop, remark = ComparisonRow(entry.name, self.name), False, ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            try:
                self._call(entry, 0)
                if self.tune and entry.fairness is None:
                    entry = tuned(entry, self.graph, self.n_clusters, self.seeds[0])
                labels, fits, stop = self._fits(entry)
                dial = entry.fairness if entry.has_dial else None
                row = replace(row, fits=fits, stability=seed_stability(labels), fairness=dial)
                if not stop:
                    remark = same_without_fairness(
                        entry, self.graph, self.n_clusters, self.seeds[0], labels[0]
                    )
            # One method's failure, whatever it is, must not lose the rows of the others.
            except Exception as error:
                row = replace(row, error=one_line(error), bad_input=isinstance(error, InputError))
                stop = self._call(entry, len(self.seeds))
        notes = [text for _, text in counted((one.category, one_line(one.message)) for one in caught)]
        return replace(row, notes=(*notes, *([remark] if remark else []))), stop

    def _fits(self, entry: Candidate) -> tuple[list[NDArray[Any]], tuple[Fit, ...], bool]:
        """Fit with one seed after the other; also return whether a callback wants to stop."""
        found: list[NDArray[Any]] = []
        fits: list[Fit] = []
        for step, seed in enumerate(self.seeds, start=1):
            labels, one = fit(entry, self.graph, self.n_clusters, seed, self._watch(entry, step - 1))
            found.append(labels)
            fits.append(replace(one, scores=self.metrics.scores(self.graph, labels)))
            if self._call(entry, step) or one.status == "stopped":
                return found, tuple(fits), True
        return found, tuple(fits), False

    def _call(self, entry: Candidate, step: int) -> bool:
        stage = f"{self.name}: {entry.name}" if self.name else entry.name
        return self.notify(stage, step, len(self.seeds))

    def _watch(self, entry: Candidate, done: int) -> Watched | None:
        """Return what lets the callbacks stop a fit halfway; they are not called for stages of the fit itself."""
        return Watched(lambda progress: self._call(entry, done)) if self.notify.callbacks else None
