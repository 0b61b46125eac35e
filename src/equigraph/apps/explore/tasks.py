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
from equigraph.apps.classes.costs import find_costs
from equigraph.apps.classes.divide import DivisionSearch
from equigraph.apps.classes.movers import best_movers
from equigraph.apps.explore import files, uploads
from equigraph.apps.explore.people import BoardPeople, known_values
from equigraph.apps.explore.scoring import group_words, rule_facts, scores
from equigraph.apps.explore.steps import Step, division_of_board
from equigraph.exceptions import ConflictError, EquigraphError
from equigraph.graph import Graph
from equigraph.rules import Friends, Rule, Rules, compile_rules, most_friends, settle_rules

Notify = Callable[[Progress], None]
SEED = 0
_QUICK = 1000  # more people get their first labels by local moves alone
_ALTERNATIVES, _TRIES, _EFFORT = 3, 4, 0.2
_SLACK = 0.02  # how much less even an alternative may be


def run(task: str, payload: Mapping[str, Any], notify: Notify) -> Any:
    """Run a task by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows sizes and evenness itself
        return TASKS[task](notify=notify, **payload)


def model_of(people: BoardPeople, step: Step, **options: Any) -> Any:
    """Return the search that keeps the rules of a step."""
    import equigraph as eg

    rules = step.all_rules(people.names)
    options = {"attribute_weights": weights_of(step), "random_state": SEED, **options}
    return eg.FairPartition(step.n_clusters, rules=rules, **options)


def weights_of(step: Step) -> dict[str, float] | None:
    """Return that attributes which only rules speak of are not to be spread evenly."""
    return dict.fromkeys(_ruled(step), 0.0) or None


def _ruled(step: Step) -> list[str]:
    named = [getattr(rule, "attribute", None) for rule in step.rules]
    return [name for name in dict.fromkeys(named) if name is not None and name not in step.attributes]


def graph_of(people: BoardPeople, step: Step) -> Graph:
    """Return the graph with the columns that are to be spread evenly, and those that rules speak of."""
    columns = {name: known_values(people.attributes[name]) for name in (*step.attributes, *_ruled(step))}
    return Graph(people.adjacency, people.graph.node_names, columns or None, missing="ignore")


def search_of(
    people: BoardPeople, step: Step, rules: Rules, seed: int = SEED, notify: Notify | None = None
) -> DivisionSearch:
    """Return the search that `divide` makes, for rules and the attributes of a board."""
    weights = dict.fromkeys(step.attributes, 1.0)
    return DivisionSearch(people.roster, rules, step.n_clusters, weights, seed=seed, callbacks=notify)


def first_labels(people: BoardPeople, step: Step, notify: Notify) -> dict[str, Any]:
    """Return the labels a board begins with: of a roster as `divide` makes them, else half way along the curve.

    With them come the ``rules``, in which people who cannot have as many friends need fewer, and those that were
    ``given_up`` because they contradict others.
    """
    if people.directed and people.n_people <= _QUICK:
        rules = step.all_rules(people.names)
        own = [rule for rule in rules.items if isinstance(rule, Friends) and rule.of is not None]
        others = Rules.of(rule for rule in rules.items if rule not in own)
        settled = settle_rules(others, people.facts, n_clusters=step.n_clusters, on_conflict="relax")
        labels = settled.labels
        friends: dict[Rule, Rule] = {}
        for rule in own:
            found = most_friends(
                settled.rules, rule, people.facts, n_clusters=step.n_clusters, start=settled.labels
            )
            labels, friends[rule] = found.labels, found.rule
        search = search_of(people, step, Rules.of([*settled.rules.items, *friends.values()]), notify=notify)
        return {
            "labels": search.run(labels),
            "rules": tuple(friends.get(rule, rule) for rule in step.rules),
            "given_up": settled.given_up,
        }
    effort = 1.0 if people.n_people <= _QUICK else 0.0
    fairness = 0.5 if step.attributes else 0.0
    model = model_of(people, step, fairness=fairness, effort=effort, callbacks=notify)
    labels = model.fit_predict(graph_of(people, step))
    return {"labels": labels, "rules": step.rules, "given_up": ()}


def curve(people: BoardPeople, step: Step, notify: Notify) -> list[dict[str, Any]]:
    """Return all labels that nothing dominates, from the most cohesive to the most even, with their scores."""
    from equigraph.analysis.tradeoff import tradeoff_curve

    found = tradeoff_curve(
        graph_of(people, step),
        estimator=model_of(people, step),
        random_state=SEED,
        callbacks=notify,
    )
    labelings = [_numbered(point.labels, step) for point in found.front]
    return [
        {"labels": labels, **scores(people, labels, step.attributes, step.n_clusters)} for labels in labelings
    ]


def _numbered(labels: NDArray, step: Step) -> NDArray[np.intp]:
    """Return labels with the numbers that the clusters have on the board, as far as rules leave the numbers free."""
    from equigraph.analysis.tradeoff.alignment import best_numbers

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


def repair(people: BoardPeople, step: Step, notify: Notify) -> NDArray[np.intp]:
    """Return labels that keep every rule with as few people moved as a solver finds; those who are locked stay."""
    notify(Progress("repair", 0, 1))
    rules, k = step.all_rules(people.names), step.n_clusters
    labels = settle_rules(rules, people.facts, n_clusters=k, start=step.labels).labels
    compiled, weights = compile_rules(rules, people.facts, None, k), dict.fromkeys(step.attributes, 1.0)
    return best_movers(people.roster, weights, step.labels, labels, compiled)


def alternatives(people: BoardPeople, step: Step, notify: Notify) -> list[dict[str, Any]]:
    """Return other labels that are about as even, each the best of another search."""
    found: list[dict[str, Any]] = []
    search = _other_search(people, step)
    for seed in range(1, _TRIES + 1):
        notify(Progress("alternatives", len(found), _ALTERNATIVES))
        labels = _numbered(search(seed), step)
        others = [step.labels, *(one["labels"] for one in found)]
        if not any(np.array_equal(labels, other) for other in others):  # numbers are those of the board
            found.append({"labels": labels, **scores(people, labels, step.attributes, step.n_clusters)})
        if len(found) == _ALTERNATIVES:
            break
    return found


def _other_search(people: BoardPeople, step: Step) -> Callable[[int], NDArray[np.intp]]:
    """Return a function that finds other labels by a seed."""
    if people.directed and people.n_people <= _QUICK:
        rules = step.all_rules(people.names)
        # From elsewhere: a search that starts from the board comes back to it.
        start = settle_rules(rules, people.facts, n_clusters=step.n_clusters).labels
        search = search_of(people, step, rules)
        return lambda seed: replace(search, seed=seed, effort=_EFFORT).run(start)
    here = scores(people, step.labels, step.attributes, step.n_clusters)
    wanted = {} if here["even"] is None else {"at_least": max(0.0, here["even"] - _SLACK)}
    model, graph = model_of(people, step, effort=_EFFORT, **wanted), graph_of(people, step)
    return lambda seed: model.set_params(random_state=seed).fit_predict(graph)


def price(people: BoardPeople, step: Step, notify: Notify) -> dict[str, Any]:
    """Return how many more wishes would be kept without each rule, and without spreading each column.

    Rules of one kind are left out together where there are many: each entry of ``rules`` has their numbers.
    """
    notify(Progress("price", 0, 0))
    costs = find_costs(division_of_board(people, step).repaired())
    sides = 1 if people.directed else 2
    rules = [
        {"numbers": [step.rules.index(rule) for rule in cost.rules], "wishes": cost.wishes // sides}
        for cost in costs
        if cost.rules and set(cost.rules) <= set(step.rules)
    ]
    return {
        "rules": rules,
        "attributes": {cost.what: cost.wishes // sides for cost in costs if cost.attribute},
    }


def download(people: BoardPeople, step: Step, kind: str, notify: Notify, language: str = "en") -> bytes:
    """Return a file of the board."""
    # Not with the prefix of the server's own folder: the next server removes all of those that no process holds.
    with tempfile.TemporaryDirectory(prefix="equigraph-file-") as folder:
        path = Path(folder) / f"board.{kind.rpartition('.')[2]}"
        files.WRITERS[kind](people, step, path, language)
        return path.read_bytes()


TASKS: dict[str, Callable[..., Any]] = {
    "first": first_labels,
    "curve": curve,
    "repair": repair,
    "alternatives": alternatives,
    "price": price,
    "layout": lambda people, step, notify: files.drawn_graph(people, step),
    "download": download,
    "inspect": uploads.inspect,
    "read": uploads.read,
    "preview": uploads.preview,
}


def failure(error: BaseException, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what went wrong in a sentence without a path, and the rules if they contradict each other."""
    if isinstance(error, ConflictError):
        people, step = payload["people"], payload["step"]
        words = group_words(step.clusters)
        sentences = " ".join(rule.sentence(words) for rule in error.rules)
        rules = [rule_facts(people, rule, step.clusters) for rule in error.rules]
        return {"error": f"These rules cannot all be kept: {sentences}", "rules": rules}
    return {"error": sentence(error), "rules": []}


def sentence(error: BaseException) -> str:
    """Return what went wrong in one sentence, without what only programmers read."""
    if isinstance(error, EquigraphError):
        return one_line(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    return f"Something went wrong inside ({type(error).__name__}); the board is as it was."
