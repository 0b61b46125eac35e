"""Run methods on one graph or several, each with several seeds: methods by name and custom estimators."""

from __future__ import annotations

import inspect
import numbers
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equigraph._utils.callbacks import Callbacks, Notifier, Progress, Watched
from equigraph._utils.parameters import Integer, Real, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.text import GIVE_GROUPS, counted, did_you_mean, listed, one_line
from equigraph.analysis.comparison.result import Comparison
from equigraph.analysis.comparison.rows import ComparedGraph, ComparisonRow, Fit
from equigraph.base import GraphClusterer
from equigraph.exceptions import InputError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.features import with_features
from equigraph.methods import METHODS, get_method
from equigraph.metrics import evaluate
from equigraph.metrics.agreement import seed_stability
from equigraph.metrics.scores import COMPARED, FURTHER, SCORES

Metric = Callable[[Graph, NDArray[Any]], float | None]
# Values that are tried for a dial without an upper end.
_TRIED_WEIGHTS = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
_TRIED_SHARES = 11


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

    The row of a method that fails has the error; the others continue. Scores are means over the seeds, with their
    spread.

    Parameters
    ----------
    graphs : graph, or mapping from name to graph
        Anything that `equigraph.as_graph` takes, or several of them by name.
    methods : str, iterable of str and estimators, or mapping from name to either, optional
        Names from `equigraph.methods.METHODS`, by default all; and custom estimators: anything with ``fit``,
        ``get_params`` and ``labels_``. Rows have the names of the mapping, otherwise that of the method or of the
        class. Estimators of equigraph are fitted to the graph, others to its adjacency, with ``sensitive_features``
        where their ``fit`` takes them. Parameters called ``n_clusters`` and ``random_state`` are set, the others are
        unchanged.
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
        ten if it has no upper end, the one whose Q times NB is largest with the first seed. Rows record it.
    n_seeds : int, default=3
        Number of seeds: ``random_state``, ``random_state + 1``, ...
    random_state : int, Generator, RandomState or None, default=0
        The first seed.
    sensitive_features : array-like of shape (n_nodes,), dict of columns, frame or 2-D array, optional
        Group of each node by one attribute or several, as for ``fit``; by default those that came with the graph. For
        several graphs, a mapping from each of their names to that, or names of node attributes that all of them have.
    callbacks : callable or list of callables, optional
        Called before, during and after every fit. The stage is the name of the method, the step the number of its fits
        that are done. One that returns True ends the comparison with the results so far, also during a fit if the
        method can be stopped.

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
    scored = _checked_metrics(COMPARED if metrics is None else metrics)
    models, dials = _models_and_dials(list(METHODS) if methods is None else methods, fairness)
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
        for method, model in models.items():
            if not stopped:
                row, stopped = trial.row(method, model, dials.get(method))
                rows.append(row)
    sizes = tuple(ComparedGraph(name, one.n_nodes, one.n_edges, asked[name]) for name, one in named.items())
    return Comparison(tuple(rows), sizes, seeds, tuple(scored), stopped)


def _named_graphs(graphs: Any, sensitive_features: Any) -> tuple[dict[str, Graph], bool]:
    """Return the graphs by name with their groups ("" for a single one), and whether they were given by name."""
    # A data set is a mapping, too.
    if not isinstance(graphs, Mapping) or "adjacency" in graphs:
        return {"": with_features(graphs, sensitive_features)}, False
    if not graphs or not all(isinstance(name, str) and name for name in graphs):
        raise ParameterError(
            "graphs must be a graph, or a mapping from the names of graphs, as texts, to graphs."
        )
    if isinstance(sensitive_features, Mapping):
        unknown = [name for name in sensitive_features if name not in graphs]
        if unknown:
            raise ParameterError(
                f"sensitive_features names {unknown[0]!r}, which is no graph: expected some of {listed(graphs)}."
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
    metrics: Mapping[str, str | Metric]
    seeds: tuple[int, ...]
    notify: Notifier
    tune: bool

    def row(self, method: str, model: Any, dial: float | None) -> tuple[ComparisonRow, bool]:
        """Return the row of a method, and whether a callback asks to stop."""
        row, stop = ComparisonRow(method, self.name), False
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            try:
                self._call(method, 0)
                if self.tune and dial is None and _has_dial(model):
                    dial = self._tuned(model)
                model, found = _with(model, fairness=dial), []
                for step, seed in enumerate(self.seeds):
                    # Callbacks can stop a fit halfway; they are not called for stages of the fit itself.
                    watch = Watched(partial(self._call, method, step)) if self.notify.callbacks else None
                    found.append(self._fit(model, seed, watch))
                    stop = self._call(method, step + 1) or found[-1][1].status == "stopped"
                    if stop:
                        break
                labels, fits = zip(*found, strict=True)
                dial = dial if _has_dial(model) else None
                row = replace(row, fits=fits, stability=seed_stability(labels), fairness=dial)
            # One method's failure, whatever it is, must not lose the rows of the others.
            except Exception as error:
                row = replace(row, error=one_line(error), bad_input=isinstance(error, InputError))
                stop = self._call(method, len(self.seeds))
        notes = [text for _, text in counted((one.category, one_line(one.message)) for one in caught)]
        return replace(row, notes=tuple(notes)), stop

    def _call(self, method: str, step: int, _: Progress | None = None) -> bool:
        stage = f"{self.name}: {method}" if self.name else method
        return self.notify(stage, step, len(self.seeds))

    def _fit(self, model: Any, seed: int, watch: Watched | None = None) -> tuple[NDArray[Any], Fit]:
        """Fit once; return the labels and what is kept of the fit."""
        model = _with(model, n_clusters=self.n_clusters, random_state=seed, callbacks=watch)
        start, ours = time.perf_counter(), isinstance(model, GraphClusterer)
        if ours:
            model.fit(self.graph)
        else:
            wanted = "sensitive_features" in inspect.signature(model.fit).parameters and self.graph.features
            groups = {"sensitive_features": self.graph.sensitive_features} if wanted else {}
            model.fit(self.graph.adjacency, **groups)
        seconds = time.perf_counter() - start
        labels = np.asarray(model.labels_)
        # Empty clusters are counted if the estimator is one of ours.
        sizes = np.unique(labels, return_counts=True)[1]
        if ours:
            sizes = np.bincount(labels, minlength=model.membership_.shape[1])
        status = "stopped" if watch is not None and watch.stopped else getattr(model, "status_", None)
        return labels, Fit(seed, self._scores(labels), tuple(sizes.tolist()), seconds, status)

    def _scores(self, labels: NDArray[Any]) -> dict[str, float | None]:
        """Return the usual scores and those asked for; None if one is not a finite number."""
        found: dict[str, Any] = dict(evaluate(self.graph, labels))
        for name, metric in self.metrics.items():
            if callable(metric):
                found[name] = metric(self.graph, labels)
                if not isinstance(found[name], (numbers.Real, type(None))):
                    raise ParameterError(f"The metric {name!r} returned {found[name]!r}: expected a number.")
            elif name not in SCORES:
                further = [metric] if metric in FURTHER else []
                found[name] = evaluate(self.graph, labels, further=further).get(metric)
        return {
            name: None if value is None or not np.isfinite(value) else float(value)
            for name, value in found.items()
        }

    def _tuned(self, model: Any) -> float:
        """Return the value of the dial for which Q times NB is largest."""
        constraint = getattr(model, "_parameters", {}).get("fairness")
        bounded = isinstance(constraint, Real) and constraint.high == 1
        values = np.linspace(0, 1, _TRIED_SHARES).tolist() if bounded else _TRIED_WEIGHTS
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits = [self._fit(_with(model, fairness=value), self.seeds[0])[1] for value in values]
        scores: list[Any] = [fit.scores for fit in fits]
        return values[int(np.argmax([max(one["Q"], 0.0) * one["NB"] for one in scores]))]


def _has_dial(model: Any) -> bool:
    return "fairness" in model.get_params(deep=False)


def _with(model: Any, **wanted: Any) -> Any:
    """Return a copy of an estimator with the given parameters set, as far as it has them."""
    known = model.get_params(deep=False)
    return clone(model).set_params(
        **{name: value for name, value in wanted.items() if name in known and value is not None}
    )


def _checked_metrics(metrics: Any) -> dict[str, str | Metric]:
    """Return the requested metrics by the name of their column; they are names, functions, or a mapping."""
    given = _as_list(metrics)
    pairs = given.items() if isinstance(given, Mapping) else [(_metric_name(one), one) for one in given]
    found: dict[str, str | Metric] = {}
    known = (*SCORES, *FURTHER)
    for name, metric in pairs:
        if not isinstance(name, str) or name in found or (name in SCORES and name != metric):
            raise ParameterError(f"metrics has the name {name!r}, which is taken or no text: give another.")
        if not callable(metric) and metric not in known:
            raise ParameterError(
                f"There is no metric {metric!r}{did_you_mean(metric, known)}: expected some of {', '.join(known)}, or "
                "functions of the graph and the labels."
            )
        found[name] = metric
    if not found:
        raise ParameterError(
            "metrics is empty: give the name of a score, or leave it out for the usual ones."
        )
    return found


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) or callable(given) else given


def _metric_name(metric: Any) -> Any:
    return getattr(metric, "__name__", type(metric).__name__) if callable(metric) else metric


def _models_and_dials(
    methods: Any, fairness: float | Mapping[str, float] | None
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the estimators to compare by unique names, and the dials to set."""
    models: dict[str, Any] = {}
    named: set[str] = set()
    by_name = isinstance(methods, Mapping)
    pairs: Any = methods.items() if by_name else [(None, one) for one in _as_list(methods)]
    for name, one in pairs:
        model = get_method(one).load()() if isinstance(one, str) else _checked(one)
        if by_name and (not isinstance(name, str) or not name):
            raise ParameterError(f"methods has the name {name!r}: expected a text.")
        if not by_name:
            first = one if isinstance(one, str) else type(one).__name__
            numbered = [first, *(f"{first} ({i})" for i in range(2, len(models) + 3))]
            name = next(other for other in numbered if other not in models)
        models[name] = model
        named |= {name} if isinstance(one, str) else set()
    if not models:
        raise ParameterError(
            "methods is empty: give the name of a method or an estimator, or leave it out for all."
        )
    if not isinstance(fairness, Mapping):
        # Estimators given as objects keep their dial.
        fairness = {} if fairness is None else dict.fromkeys(named, fairness)
    else:
        unknown = [name for name in fairness if name not in models]
        if unknown:
            raise ParameterError(
                f"fairness names {unknown[0]!r}, which is not compared; the methods are {', '.join(models)}."
            )
        for name in fairness:
            if not _has_dial(models[name]):
                raise ParameterError(f"fairness names {name!r}, which has no such dial: leave it out.")
    return models, {name: float(dial) for name, dial in fairness.items()}


def _checked(estimator: Any) -> Any:
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in ("fit", "get_params")):
        raise ParameterError(
            f"{estimator!r} cannot be compared: expected the name of a method, or an instance of an estimator with fit "
            "and get_params, such as NMTF()."
        )
    return estimator
