"""How good a board is: the scores and rules that the page shows, from the same functions as everywhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.explore.matter import Matter
from equigraph.apps.explore.steps import Step
from equigraph.graph.groups import contingency_table
from equigraph.metrics.notions import NORMALIZED
from equigraph.metrics.quality import _modularity
from equigraph.rules import Rule, Violation, violations


def scores(matter: Matter, labels: NDArray[np.intp], attributes: tuple[str, ...], k: int) -> dict[str, Any]:
    """Return the scores of labels.

    ``even`` is the mean of the normalised balance over the attributes that are to be even (None without any), ``kept``
    the wishes kept of ``wished`` (a link without direction counts once), and ``cohesion`` the modularity.
    """
    sides = 1 if matter.directed else 2
    tables = {name: _table(matter, labels, name, k) for name in matter.attributes}
    even = {name: NORMALIZED.value(table) for name, table in tables.items()}
    by_cluster = [NORMALIZED.cluster_scores(tables[name]) for name in attributes]
    return {
        "even": float(np.mean([even[name] for name in attributes])) if attributes else None,
        "even_by_attribute": even,
        "even_by_cluster": np.mean(by_cluster, axis=0).tolist() if by_cluster else [],
        "kept": int(kept(matter, labels).sum()) // sides,
        "wished": int(matter.wishes.nnz) // sides,
        "cohesion": _modularity(matter.adjacency, labels, k),
    }


def kept(matter: Matter, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many of the people that each person wishes for are in the same cluster."""
    rows = np.repeat(np.arange(matter.n_people), matter.wished)
    same = labels[rows] == labels[matter.wishes.indices]
    return np.bincount(rows[same], minlength=matter.n_people)


def _table(matter: Matter, labels: NDArray[np.intp], attribute: str, k: int) -> NDArray:
    groups = matter.groups[attribute]
    return contingency_table(labels, groups.codes, k, groups.n_groups)


def judged_rules(matter: Matter, step: Step) -> list[dict[str, Any]]:
    """Return each rule as the page needs it, with what breaks it, which the oracle says.

    ``broken`` is how often labels break it, ``where`` the numbers of the clusters in which they do.
    """
    broken: dict[Rule, list[Violation]] = {}
    if step.labels.size:
        for found in violations(step.rules, matter.facts, step.labels, None, step.n_clusters):
            broken.setdefault(found.rule, []).append(found)
    return [
        {
            **rule_facts(matter, rule),
            "broken": len(broken.get(rule, ())),
            "where": sorted({int(cluster) for found in broken.get(rule, ()) for cluster in found.clusters}),
        }
        for rule in step.rules
    ]


def rule_facts(matter: Matter, rule: Rule) -> dict[str, Any]:
    """Return a rule in numbers and names, for a page that says it in words."""
    fields = {name: value for name, value in vars(rule).items() if name not in ("node", "nodes")}
    people = [matter.facts.node(name) for name in rule.named_nodes]
    return {"kind": rule.keyword, "people": people, "says": rule.describe(), **fields}


def reasons(matter: Matter, step: Step, who: int) -> dict[str, Any]:
    """Return what would change if one person were in each of the clusters: why she is where she is.

    The entry of a cluster holds the friends she would have there, the change of wishes kept by anybody and of evenness,
    and the rules that would be broken there and hold now.
    """
    here = scores(matter, step.labels, step.attributes, step.n_clusters)
    before = {i for i, rule in enumerate(judged_rules(matter, step)) if rule["broken"]}
    friends = matter.wishes.indices[matter.wishes.indptr[who] : matter.wishes.indptr[who + 1]]
    options = []
    for cluster in range(step.n_clusters):
        labels = step.labels.copy()
        labels[who] = cluster
        there = scores(matter, labels, step.attributes, step.n_clusters)
        moved = Step(labels, step.clusters, step.rules, step.locked, step.attributes)
        after = {i for i, rule in enumerate(judged_rules(matter, moved)) if rule["broken"]}
        options.append(
            {
                "cluster": cluster,
                "here": cluster == int(step.labels[who]),
                "friends": friends[step.labels[friends] == cluster].tolist(),
                "kept": there["kept"] - here["kept"],
                "even": None if here["even"] is None else there["even"] - here["even"],
                "breaks": sorted(after - before),
                "mends": sorted(before - after),
            }
        )
    return {"who": who, "locked": who in step.locked, "options": options}
