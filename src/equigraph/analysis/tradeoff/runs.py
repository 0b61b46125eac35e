"""Running the fits of a sweep, here or in other processes, until they are done or somebody wants to stop."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equigraph._utils.callbacks import Notifier, Watched
from equigraph._utils.text import one_line
from equigraph.base import GraphClusterer
from equigraph.graph import Graph
from equigraph.stores.blocks import BlockGraph


@dataclass(frozen=True)
class Sweep:
    """What is to be computed."""

    model: GraphClusterer
    graph: Graph | BlockGraph
    notion: str
    # None: the whole front, of which so many points are shown.
    values: tuple[float, ...] | None
    bounded: bool
    seeds: tuple[int, ...]
    n_jobs: int | None
    stage: str
    n_points: int = 0

    def tasks(self) -> list[tuple[int, tuple[float, ...] | None]]:
        """Return seeds with values; all values at once where the method searches for them together."""
        parts: list[tuple[float, ...] | None] = [self.values]
        if self.values is not None and not self.model._searches_dial:
            parts = [(value,) for value in self.values]
        return [(seed, part) for seed in self.seeds for part in parts]


class FitLabels(NamedTuple):
    """Labels of one fit, its seed, and how it ended where the method says so."""

    seed: int
    labels: NDArray[np.intp]
    status: str | None = None


@dataclass
class Runs:
    """Labels by value of the dial, those that may be on the front, and the warnings."""

    labels: dict[float, list[FitLabels]] = field(default_factory=dict)
    front: list[FitLabels] = field(default_factory=list)
    notes: list[tuple[type[Warning], str]] = field(default_factory=list)
    n_done: int = 0
    stopped: bool = False


@contextmanager
def _noted(notes: list[tuple[type[Warning], str]]) -> Iterator[None]:
    """Collect warnings instead of showing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    notes += [(warning.category, one_line(warning.message)) for warning in caught]


class _Solved(NamedTuple):
    """What was found for one task: labels for each value and on the front, how fits ended, and the warnings."""

    labels: list[NDArray[np.intp]]
    front: list[NDArray[np.intp]]
    statuses: list[str | None]
    notes: list[tuple[type[Warning], str]]


def _solve(
    model: GraphClusterer, graph: Graph | BlockGraph, seed: int, values: tuple[float, ...] | None, notify: Any
) -> _Solved:
    """Return what is found for one task; runs in any process."""
    model = clone(model).set_params(random_state=seed)
    notes: list[tuple[type[Warning], str]] = []
    with _noted(notes):
        if model._searches_dial:
            found = model._fit_dial(model._prepare(graph, None), values, notify)
            return _Solved(_whole(found.labels), _whole(found.front), [None] * len(found.labels), notes)
        fitted = [clone(model).set_params(fairness=value).fit(graph) for value in values or ()]
    return _Solved(_whole(one.labels_ for one in fitted), [], [_status(one) for one in fitted], notes)


def _status(model: Any) -> str | None:
    status: str | None = getattr(model, "status_", None)
    return status


def _whole(labelings: Iterable[NDArray]) -> list[NDArray[np.intp]]:
    return [np.asarray(labels, dtype=np.intp) for labels in labelings]


def _solve_together(sweep: Sweep) -> Iterator[tuple[int, _Solved]] | None:
    """Return places of tasks with what `_solve` gives for them, in any order, or None where fits run one by one."""
    tasks = sweep.tasks()
    if not sweep.model._shares_fits or len(tasks) < 2:
        return None
    pairs = [(seed, value) for seed, values in tasks for value in values or ()]
    highest = max(value for _, value in pairs)
    problem = clone(sweep.model).set_params(fairness=highest)._prepare(sweep.graph, None)
    models = [clone(sweep.model).set_params(random_state=seed, fairness=value) for seed, value in pairs]
    ready = sweep.model._fit_together(problem, models)
    return None if ready is None else _labels_of(ready)


def _labels_of(ready: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, _Solved]]:
    for place, finish in ready:
        notes: list[tuple[type[Warning], str]] = []
        with _noted(notes):
            model = finish()
        yield place, _Solved(_whole([model.labels_]), [], [_status(model)], notes)


def _results(sweep: Sweep, notify: Notifier) -> Iterator[tuple[int, _Solved]]:
    """Yield the places of tasks, and what each gives, as they are done."""
    tasks = sweep.tasks()
    if sweep.n_jobs in (None, 1):
        together = _solve_together(sweep)
        if together is not None:
            yield from together
            return
        for place, (seed, values) in enumerate(tasks):
            yield place, _solve(sweep.model, sweep.graph, seed, values, notify)
        return
    from joblib import Parallel, delayed, effective_n_jobs

    # In portions, so that a wish to stop is heard between them.
    size = 2 * effective_n_jobs(sweep.n_jobs)
    with Parallel(n_jobs=sweep.n_jobs) as pool:
        for start in range(0, len(tasks), size):
            done = pool(
                delayed(_solve)(sweep.model, sweep.graph, seed, values, Notifier())
                for seed, values in tasks[start : start + size]
            )
            yield from enumerate(done, start)


def run_sweep(sweep: Sweep, watch: Watched) -> Runs:
    """Return the labels of every task that was done; at least one is."""
    runs, tasks = Runs(), sweep.tasks()
    solved: dict[int, _Solved] = {}
    notify = Notifier(watch)
    notify(sweep.stage, 0, len(tasks))
    for place, one in _results(sweep, notify):
        solved[place] = one
        runs.n_done += 1
        halfway = watch.stopped
        if notify(sweep.stage, runs.n_done, len(tasks)):
            runs.stopped = halfway or runs.n_done < len(tasks)
            break
    # Tasks end in any order, which must not show in the callbacks.
    for place, one in sorted(solved.items()):
        runs.notes += one.notes
        seed, values = tasks[place]
        runs.front += [FitLabels(seed, labels) for labels in one.front]
        # A method that was stopped halfway may have fewer labels than values.
        for value, labels, status in zip(values or (), one.labels, one.statuses, strict=not watch.stopped):
            runs.labels.setdefault(value, []).append(FitLabels(seed, labels, status))
    runs.labels = {value: runs.labels[value] for value in sweep.values or () if value in runs.labels}
    return runs
