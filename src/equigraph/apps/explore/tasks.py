"""Tasks run in worker processes: first labels, curve, repairs, alternatives, pictures, files."""

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
from equigraph.apps.classes.anneal import DivisionSearch
from equigraph.apps.classes.costs import find_costs
from equigraph.apps.classes.divide import find_friends
from equigraph.apps.classes.division import friends_as_kept
from equigraph.apps.classes.measure import best_movers
from equigraph.apps.explore import files, uploads
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.scoring import scores
from equigraph.apps.explore.steps import Step, group_words, in_language, rule_facts
from equigraph.exceptions import ConflictError
from equigraph.graph import Graph
from equigraph.graph.groups import contingency_table
from equigraph.rules import Friends, Rule, Rules, compile_rules, settle_rules

Notify = Callable[[Progress], None]
SEED = 0
_QUICK = 1000  # with more people, first labels come from local moves alone
_ALTERNATIVES, _TRIES, _EFFORT = 3, 4, 0.2
_SLACK = 0.02  # largest loss of evenness of an alternative


def run(task: str, payload: Mapping[str, Any], notify: Notify) -> Any:
    """Run a task by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows sizes and evenness
        try:
            return TASKS[task](notify=notify, **payload)
        except ConflictError as error:
            raise conflict(error, payload["step"]) from None


def conflict(error: ConflictError, step: Step) -> BoardError:
    """Return a conflict of rules as an error in the words of a board."""
    words = group_words(step)
    rules = [rule_facts(step, rule) for rule in error.rules]
    return BoardError("conflict", says=" ".join(rule.sentence(words) for rule in error.rules), rules=rules)


def model_of(step: Step, **options: Any) -> tuple[Any, Graph]:
    """Return the estimator with the rules of a step, and its graph.

    The graph has the columns to spread evenly, and those used by rules only.
    """
    import equigraph as eg

    people = step.people
    ruled = dict.fromkeys(rule.named_attribute for rule in step.rules if rule.named_attribute is not None)
    weights = {str(name): 0.0 for name in ruled if name not in step.attributes}
    columns = {name: people.columns[name] for name in (*step.attributes, *weights)}
    graph = Graph(people.adjacency, people.graph.node_names, columns or None, missing="ignore")
    options = {"attribute_weights": weights or None, "random_state": SEED, **options}
    return eg.FairPartition(step.n_clusters, rules=step.all_rules, **options), graph


def with_scores(step: Step, labels: NDArray[np.intp]) -> dict[str, Any]:
    """Return labels with their scores."""
    return {"labels": labels, **scores(replace(step, labels=labels))}


def first_labels(step: Step, notify: Notify) -> dict[str, Any]:
    """Return the first labels of a board: those of `divide` for a roster, else those half way along the curve.

    The result also has the ``rules``, relaxed for people who cannot have enough friends, and the rules ``given_up``
    because of conflicts.
    """
    people = step.people
    if people.directed and people.n_people <= _QUICK:
        own = [rule for rule in step.rules if isinstance(rule, Friends) and rule.of is not None]
        others = Rules.of(rule for rule in step.all_rules.items if rule not in own)
        settled = settle_rules(others, people.facts, n_clusters=step.n_clusters, on_conflict="relax")
        options: dict[str, Any] = {"friends": max((rule.least for rule in own), default=0)}
        options |= {"callbacks": notify, "evenness": step.evenness}
        search = DivisionSearch(people.roster, settled.rules, step.n_clusters, step.weights, **options)
        labels, *_ = find_friends(search, settled.labels)
        kept: dict[Rule, Rule] = {rule: friends_as_kept(rule, people.names, [labels]) for rule in own}
        rules = tuple(kept.get(rule, rule) for rule in step.rules)
        return {"labels": labels, "rules": rules, "given_up": settled.given_up}
    effort = 1.0 if people.n_people <= _QUICK else 0.0
    fairness = 0.5 if step.attributes else 0.0
    model, graph = model_of(step, fairness=fairness, effort=effort, callbacks=notify)
    return {"labels": model.fit_predict(graph), "rules": step.rules, "given_up": ()}


def curve(step: Step, notify: Notify) -> list[dict[str, Any]]:
    """Return the nondominated labels, from most cohesive to most even, with their scores."""
    from equigraph.analysis.tradeoff import tradeoff_curve

    model, graph = model_of(step)
    found = tradeoff_curve(graph, estimator=model, random_state=SEED, callbacks=notify)
    return [with_scores(step, _numbered(point.labels, step)) for point in found.front]


def _numbered(labels: NDArray, step: Step) -> NDArray[np.intp]:
    """Return labels aligned with the clusters of the board, as far as rules allow."""
    from equigraph.analysis.tradeoff.alignment import best_numbers

    labels, k = np.asarray(labels, dtype=np.intp), step.n_clusters
    bound = {int(step.labels[who]) for who in step.locked}
    bound |= {cluster for rule in step.rules for cluster in rule.named_clusters}
    free = np.setdiff1d(np.arange(k), list(bound)).astype(np.intp)
    overlap = contingency_table(labels, step.labels, k, k)[np.ix_(free, free)]
    numbers = np.arange(k)
    numbers[free] = free[best_numbers(overlap)]
    return numbers[labels]


def repair(step: Step, notify: Notify) -> NDArray[np.intp]:
    """Return labels that keep every rule, with as few people moved as a solver finds; locked people stay."""
    notify(Progress("repair", 0, 1))
    rules, k, people = step.all_rules, step.n_clusters, step.people
    labels = settle_rules(rules, people.facts, n_clusters=k, start=step.labels).labels
    compiled = compile_rules(rules, people.facts, None, k)
    return best_movers(people.roster, step.weights, step.labels, labels, compiled, step.evenness)


def alternatives(step: Step, notify: Notify) -> list[dict[str, Any]]:
    """Return other labels of similar evenness, each the best of another search."""
    found: list[dict[str, Any]] = []
    search = _other_search(step)
    for seed in range(1, _TRIES + 1):
        notify(Progress("alternatives", len(found), _ALTERNATIVES))
        labels = _numbered(search(seed), step)  # so that equal clusters have equal numbers
        known = [step.labels, *(one["labels"] for one in found)]
        if not any(np.array_equal(labels, other) for other in known):
            found.append(with_scores(step, labels))
        if len(found) == _ALTERNATIVES:
            break
    return found


def _other_search(step: Step) -> Callable[[int], NDArray[np.intp]]:
    """Return a function from a seed to other labels."""
    people, rules = step.people, step.all_rules
    if people.directed and people.n_people <= _QUICK:
        # Not from the labels of the board, to which a search would return.
        start = settle_rules(rules, people.facts, n_clusters=step.n_clusters).labels
        search = DivisionSearch(people.roster, rules, step.n_clusters, step.weights, step.evenness)
        return lambda seed: replace(search, seed=seed, effort=_EFFORT).run(start)
    even = scores(step)["even"]
    wanted = {} if even is None else {"at_least": max(0.0, even - _SLACK)}
    model, graph = model_of(step, effort=_EFFORT, **wanted)
    return lambda seed: model.set_params(random_state=seed).fit_predict(graph)


def price(step: Step, notify: Notify) -> dict[str, Any]:
    """Return the cost of each rule, and of spreading each column, in wishes.

    If there are many rules of a kind they are left out together; each entry of ``rules`` has their indices.
    """
    notify(Progress("price", 0, 0))
    costs = find_costs(step.division.repaired())
    sides = 1 if step.people.directed else 2
    rules = [
        {"numbers": [step.rules.index(rule) for rule in cost.rules], "wishes": cost.wishes // sides}
        for cost in costs
        if cost.rules and set(cost.rules) <= set(step.rules)
    ]
    attributes = {cost.what: cost.wishes // sides for cost in costs if cost.attribute}
    return {"rules": rules, "attributes": attributes}


def download(step: Step, kind: str, notify: Notify, language: str = "en") -> bytes:
    """Return a file of the board."""
    # Without the prefix of the server's folder, since a new server removes unlocked folders with it.
    with tempfile.TemporaryDirectory(prefix="equigraph-file-") as folder:
        path = Path(folder) / f"board.{kind.rpartition('.')[2]}"
        files.WRITERS[kind](in_language(step, language), path, language)
        return path.read_bytes()


TASKS: dict[str, Callable[..., Any]] = {
    "first": first_labels,
    "curve": curve,
    "repair": repair,
    "alternatives": alternatives,
    "price": price,
    "layout": lambda step, notify: files.drawn_graph(step),
    "download": download,
    "inspect": uploads.inspect,
    "read": uploads.read,
    "preview": uploads.preview,
}
