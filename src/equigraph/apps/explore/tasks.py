"""What takes long, done in a process of its own: first labels, the curve, repairs, alternatives, pictures, files."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Progress
from equigraph._utils.text import one_line
from equigraph.analysis.tradeoff.alignment import best_numbers
from equigraph.apps.classes.divide import DivisionSearch
from equigraph.apps.explore import files, uploads
from equigraph.apps.explore.judging import kept, scores
from equigraph.apps.explore.matter import Matter, known_values
from equigraph.apps.explore.steps import Step
from equigraph.exceptions import EquigraphError
from equigraph.rules import Friends, Rule, Rules, most_friends, settle_rules

Tell = Callable[[Progress], None]
SEED = 0
_QUICK = 1000  # more people get their first labels by local moves alone
_ALTERNATIVES = 3
_SLACK = 0.02  # how much less even an alternative may be


def run(task: str, told: Mapping[str, Any], tell: Tell) -> Any:
    """Do a task by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows sizes and evenness itself
        return TASKS[task](tell=tell, **told)


def warm_up(tell: Tell) -> None:
    """Load what the first search would else wait for."""
    import equigraph as eg

    room = eg.datasets.make_classroom(12, n_circles=2)
    eg.FairPartition(2, random_state=0, effort=0).fit(
        room.adjacency, sensitive_features=room.sensitive_features
    )


def model_of(matter: Matter, step: Step, **options: Any) -> Any:
    """Return the search that keeps the rules of a step."""
    import equigraph as eg

    rules = step.all_rules(matter.names)
    options = {"attribute_weights": weights_of(step), "random_state": SEED, **options}
    return eg.FairPartition(step.n_clusters, rules=rules, **options)


def weights_of(step: Step) -> dict[str, float] | None:
    """Return that attributes which only rules speak of are not to be spread evenly."""
    return dict.fromkeys(_ruled(step), 0.0) or None


def _ruled(step: Step) -> list[str]:
    named = [getattr(rule, "attribute", None) for rule in step.rules]
    return [name for name in dict.fromkeys(named) if name is not None and name not in step.attributes]


def features_of(matter: Matter, step: Step) -> dict[str, NDArray] | None:
    """Return the columns that are to be spread evenly, and those that rules speak of."""
    names = (*step.attributes, *_ruled(step))
    return {name: known_values(matter.attributes[name]) for name in names} or None


def settled_friends(matter: Matter, step: Step) -> tuple[tuple[Rule, ...], NDArray[np.intp] | None]:
    """Return the rules with as many of their own friends for everybody as can be had, and labels that keep them."""
    found = None
    rules = list(step.rules)
    for place, rule in enumerate(rules):
        if isinstance(rule, Friends) and rule.of is not None:
            others = [one for one in step.all_rules(matter.names).items if one is not rule]
            found = most_friends(Rules.of(others), rule, matter.facts, n_clusters=step.n_clusters)
            rules[place] = found.rule
    return tuple(rules), None if found is None else found.labels


def search_of(matter: Matter, step: Step, seed: int = SEED, tell: Tell | None = None) -> DivisionSearch:
    """Return the search that `divide` makes, for the rules and attributes of a board."""
    weights = dict.fromkeys(step.attributes, 1.0)
    rules = step.all_rules(matter.names)
    return DivisionSearch(matter.roster, rules, step.n_clusters, weights, seed=seed, callbacks=tell)


def first_labels(matter: Matter, step: Step, tell: Tell) -> dict[str, Any]:
    """Return the labels a board begins with, and its rules: of a roster as `divide` makes them, else half way along."""
    if matter.directed and matter.n_people <= _QUICK:
        rules, labels = settled_friends(matter, step)
        step = replace(step, rules=rules)
        if labels is None:
            rules_and_locks = step.all_rules(matter.names)
            labels = settle_rules(rules_and_locks, matter.facts, n_clusters=step.n_clusters).labels
        return {"rules": rules, "labels": search_of(matter, step, tell=tell).run(labels)}
    effort = 1.0 if matter.n_people <= _QUICK else 0.0
    fairness = 0.5 if step.attributes else 0.0
    model = model_of(matter, step, fairness=fairness, effort=effort, callbacks=tell)
    labels = model.fit_predict(matter.graph, sensitive_features=features_of(matter, step))
    return {"rules": step.rules, "labels": labels}


def curve(matter: Matter, step: Step, tell: Tell) -> list[dict[str, Any]]:
    """Return all labels that nothing dominates, from the most cohesive to the most even, with their scores."""
    from equigraph.analysis.tradeoff import tradeoff_curve

    found = tradeoff_curve(
        matter.graph,
        sensitive_features=features_of(matter, step),
        estimator=model_of(matter, step),
        random_state=SEED,
        callbacks=tell,
    )
    labelings = [_numbered(point.labels, step) for point in found.front]
    return [
        {"labels": labels, **scores(matter, labels, step.attributes, step.n_clusters)} for labels in labelings
    ]


def _numbered(labels: NDArray, step: Step) -> NDArray[np.intp]:
    """Return labels with the numbers that the clusters have on the board, as far as rules leave the numbers free."""
    labels = np.asarray(labels, dtype=np.intp)
    if not step.labels.size:
        return labels
    bound = {int(step.labels[who]) for who in step.locked}
    bound |= {cluster for rule in step.rules for cluster in rule.named_clusters}
    free = np.array([cluster for cluster in range(step.n_clusters) if cluster not in bound], dtype=np.intp)
    if free.size < 2:
        return labels
    place = np.full(step.n_clusters, free.size, dtype=np.intp)  # all that is bound goes under one number
    place[free] = np.arange(free.size)
    inside = np.isin(labels, free)
    aligned = labels.copy()
    # Of the labels that are compared, those outside of the free clusters count for none of them.
    overlap = place[step.labels[inside]]
    known = overlap < free.size
    table = np.zeros((free.size, free.size), dtype=np.int64)
    np.add.at(table, (place[labels[inside]][known], overlap[known]), 1)
    aligned[inside] = free[best_numbers(table)[place[labels[inside]]]]
    return aligned


def repair(matter: Matter, step: Step, tell: Tell) -> NDArray[np.intp]:
    """Return labels that keep every rule with as few people moved as a solver finds; those who are locked stay."""
    tell(Progress("repair", 0, 1))
    rules = step.all_rules(matter.names)
    return settle_rules(rules, matter.facts, n_clusters=step.n_clusters, start=step.labels).labels


def alternatives(matter: Matter, step: Step, tell: Tell) -> list[dict[str, Any]]:
    """Return other labels that are about as even, each the best of another search."""
    import equigraph as eg

    found: list[dict[str, Any]] = []
    for seed in range(1, 2 * _ALTERNATIVES + 1):
        tell(Progress("alternatives", len(found), _ALTERNATIVES))
        labels = _numbered(_other_labels(matter, step, seed), step)
        others = [step.labels, *(one["labels"] for one in found)]
        if all(eg.metrics.adjusted_rand_score(labels, other) < 1 for other in others):
            found.append({"labels": labels, **scores(matter, labels, step.attributes, step.n_clusters)})
        if len(found) == _ALTERNATIVES:
            break
    return found


def _other_labels(matter: Matter, step: Step, seed: int) -> NDArray[np.intp]:
    if matter.directed and matter.n_people <= _QUICK:
        rules = step.all_rules(matter.names)
        start = settle_rules(rules, matter.facts, n_clusters=step.n_clusters, start=step.labels).labels
        return search_of(matter, step, seed).run(start, n_runs=1)
    here = scores(matter, step.labels, step.attributes, step.n_clusters)
    wanted = {} if here["even"] is None else {"at_least": max(0.0, here["even"] - _SLACK)}
    model = model_of(matter, step, effort=0.2, **wanted).set_params(random_state=seed)
    return model.fit_predict(matter.graph, sensitive_features=features_of(matter, step))


def price(matter: Matter, step: Step, tell: Tell) -> dict[str, Any]:
    """Return how many more wishes would be kept without each rule, and without spreading each column."""
    rules = step.all_rules(matter.names)
    start = settle_rules(rules, matter.facts, n_clusters=step.n_clusters, start=step.labels).labels
    search = search_of(matter, step)
    kept = max(_kept(matter, step.labels), _kept(matter, search.again(start)))
    total = len(step.rules) + len(step.attributes)
    by_rule, by_attribute = [], {}
    for number, rule in enumerate(step.rules):
        tell(Progress("price", number, total))
        others = Rules.of(one for one in rules.items if one is not rule)
        by_rule.append(max(0, _kept(matter, replace(search, rules=others).again(start)) - kept))
    for number, name in enumerate(step.attributes):
        tell(Progress("price", len(step.rules) + number, total))
        without = {one: 1.0 for one in step.attributes if one != name}
        found = replace(search, attributes=without).run(start, n_runs=1)
        by_attribute[name] = max(0, _kept(matter, found) - kept)
    return {"rules": by_rule, "attributes": by_attribute}


def _kept(matter: Matter, labels: NDArray[np.intp]) -> int:
    return int(kept(matter, labels).sum()) // (1 if matter.directed else 2)


def download(matter: Matter, step: Step, kind: str, tell: Tell) -> bytes:
    """Return a file of the board."""
    with tempfile.TemporaryDirectory(prefix="equigraph-explore-") as folder:
        path = Path(folder) / f"board.{kind.rpartition('.')[2]}"
        files.WRITERS[kind](matter, step, path)
        return path.read_bytes()


TASKS: dict[str, Callable[..., Any]] = {
    "warm-up": warm_up,
    "first": first_labels,
    "curve": curve,
    "repair": repair,
    "alternatives": alternatives,
    "price": price,
    "layout": lambda matter, step, tell: files.drawn_graph(matter, step),
    "download": download,
    "inspect": uploads.inspect,
    "read": uploads.read,
    "preview": uploads.preview,
}


def sentence(error: BaseException) -> str:
    """Return what went wrong in one sentence, without a path and without what only programmers read."""
    if isinstance(error, EquigraphError):
        return one_line(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    return f"Something went wrong inside ({type(error).__name__}); the board is as it was."
