"""What takes long, done in a process of its own: first labels, the curve, repairs, alternatives, pictures, files."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Progress
from equigraph._utils.text import one_line
from equigraph.analysis.tradeoff.alignment import best_numbers
from equigraph.apps.explore import files, uploads
from equigraph.apps.explore.judging import scores
from equigraph.apps.explore.matter import Matter
from equigraph.apps.explore.steps import Step
from equigraph.exceptions import EquigraphError

Tell = Callable[[Progress], None]
SEED = 0
_QUICK = 1000  # more people get their first labels by local moves alone
_ALTERNATIVES = 3
_SLACK = 0.02  # how much less even an alternative may be
# A repair may move so many more than have to move, each of whom has to bring so much.
_MORE_MOVES, _STAY = 2, 0.002


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
    return {name: np.array(matter.attributes[name], dtype=str) for name in names} or None


def first_labels(matter: Matter, step: Step, tell: Tell) -> NDArray[np.intp]:
    """Return the labels a board begins with, half way along the dial."""
    effort = 1.0 if matter.n_people <= _QUICK else 0.0
    fairness = 0.5 if step.attributes else 0.0
    model = model_of(matter, step, fairness=fairness, effort=effort, callbacks=tell)
    return model.fit_predict(matter.graph, sensitive_features=features_of(matter, step))


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
    """Return labels near to those of the board that keep every rule; those who are locked stay.

    A solver says how few people have to move. The search may move a few more if that is better for friendships and
    evenness, and where it finds nothing the solver's labels stand.
    """
    from equigraph.community import refine_labels
    from equigraph.rules import settle_rules

    rules = step.all_rules(matter.names)
    tell(Progress("repair", 0, 2))
    settled = settle_rules(rules, matter.facts, n_clusters=step.n_clusters, start=step.labels)
    tell(Progress("repair", 1, 2))
    needed = int((settled.labels != step.labels).sum())
    try:
        return refine_labels(
            matter.graph,
            step.labels,
            sensitive_features=features_of(matter, step),
            attribute_weights=weights_of(step),
            n_clusters=step.n_clusters,
            fairness=0.5 if step.attributes else 0.0,
            rules=rules,
            max_moves=needed + _MORE_MOVES,
            stay=_STAY,
            random_state=SEED,
        )
    except EquigraphError:
        return settled.labels


def alternatives(matter: Matter, step: Step, tell: Tell) -> list[dict[str, Any]]:
    """Return other labels that are about as even, each the best of another search."""
    import equigraph as eg

    here = scores(matter, step.labels, step.attributes, step.n_clusters)
    wanted = {} if here["even"] is None else {"at_least": max(0.0, here["even"] - _SLACK)}
    found: list[dict[str, Any]] = []
    for seed in range(1, 2 * _ALTERNATIVES + 1):
        tell(Progress("alternatives", len(found), _ALTERNATIVES))
        model = model_of(matter, step, effort=0.2, **wanted).set_params(random_state=seed)
        labels = model.fit_predict(matter.graph, sensitive_features=features_of(matter, step))
        labels = _numbered(labels, step)
        others = [step.labels, *(one["labels"] for one in found)]
        if all(eg.metrics.adjusted_rand_score(labels, other) < 1 for other in others):
            found.append({"labels": labels, **scores(matter, labels, step.attributes, step.n_clusters)})
        if len(found) == _ALTERNATIVES:
            break
    return found


def price(matter: Matter, step: Step, tell: Tell) -> list[dict[str, Any]]:
    """Return what each rule costs: how many more friendships there would be without it, and how much more even."""
    from equigraph.results.result import ClusteringResult

    features = features_of(matter, step)
    model = model_of(matter, step, fairness=0.5 if step.attributes else 0.0)
    model.fit(matter.graph, sensitive_features=features)
    result = ClusteringResult.from_estimator(model, matter.graph, sensitive_features=features)
    here, *rows = result.price(by="rule", callbacks=tell).rows
    wished = scores(matter, model.labels_, step.attributes, step.n_clusters)["wished"]
    return [
        {
            "kept": round((row.links - here.links) * wished) if row.binds else 0,
            "even": row.notion - here.notion if step.attributes else None,
            "says": "",
        }
        for row in rows[: len(step.rules)]
    ]


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
}


def sentence(error: BaseException) -> str:
    """Return what went wrong in one sentence, without a path and without what only programmers read."""
    if isinstance(error, EquigraphError):
        return one_line(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    return f"Something went wrong inside ({type(error).__name__}); the board is as it was."
