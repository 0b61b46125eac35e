"""Scores and rules of a board, computed by the functions of the library."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.steps import Step, rule_facts
from equigraph.graph.groups import contingency_table
from equigraph.metrics.notions import NORMALIZED
from equigraph.metrics.quality import modularity_of
from equigraph.rules import Rule, Violation, violations

_EVEN = 0.995  # shown as 100 %


def scores(step: Step) -> dict[str, Any]:
    """Return the scores of the labels of a step.

    ``even`` is the mean normalised balance over the attributes to spread (None without any), ``uneven`` the clusters
    that could mirror everybody better, ``kept`` the number of wishes kept, of ``wished`` (an undirected link counts
    once), and ``cohesion`` the modularity.
    """
    people, labels, k = step.people, step.labels, step.n_clusters
    sides = 1 if people.directed else 2
    groups = {name: people.facts.codes(name) for name in people.columns}
    tables = {
        name: contingency_table(labels, codes, k, len(known)) for name, (known, codes) in groups.items()
    }
    even = {name: NORMALIZED.value(table) for name, table in tables.items()}
    uneven = [_uneven(tables[name]) for name in step.attributes]
    return {
        "even": float(np.mean([even[name] for name in step.attributes])) if uneven else None,
        "even_by_attribute": even,
        "uneven": np.flatnonzero(np.any(uneven, axis=0)).tolist() if uneven else [],
        "kept": int(kept(people, labels).sum()) // sides,
        "wished": int(people.wishes.nnz) // sides,
        "cohesion": modularity_of(people.adjacency, labels),
    }


def _uneven(table: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether a count of each cluster is not a whole number next to its exact share, or the balance is lower."""
    shares = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    beside = (np.abs(table - shares) > 1 - 1e-9).any(axis=1)
    return beside | (NORMALIZED.cluster_scores(table) < _EVEN)


def kept(people: BoardPeople, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of wishes of each person that are kept."""
    rows = np.repeat(np.arange(people.n_people), people.wished)
    same = labels[rows] == labels[people.wishes.indices]
    return np.bincount(rows[same], minlength=people.n_people)


def rule_states(step: Step) -> list[dict[str, Any]]:
    """Return each rule as JSON for the page, with its violations found by the oracle.

    ``broken`` is the number of violations, ``where`` the clusters in which they are.
    """
    broken: dict[Rule, list[Violation]] = {}
    if step.has_labels:
        for found in violations(step.rules, step.people.facts, step.labels, None, step.n_clusters):
            broken.setdefault(found.rule, []).append(found)
    states = []
    for rule in step.rules:
        where = {int(cluster) for found in broken.get(rule, ()) for cluster in found.clusters}
        counted = {"broken": len(broken.get(rule, ())), "where": sorted(where)}
        states.append({**rule_facts(step, rule), **counted})
    return states


def reasons(step: Step, who: int) -> dict[str, Any]:
    """Return the effects of placing a person in each of the clusters.

    The entry of a cluster has the friends of the person there, the change in wishes kept by anybody and in evenness,
    and the rules that would be broken there and hold now.
    """
    here, before = scores(step), _broken(step)
    wishes = step.people.wishes
    friends = wishes.indices[wishes.indptr[who] : wishes.indptr[who + 1]]
    options = []
    for cluster in range(step.n_clusters):
        labels = step.labels.copy()
        labels[who] = cluster
        moved = replace(step, labels=labels)
        there, after = scores(moved), _broken(moved)
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


def _broken(step: Step) -> set[int]:
    return {number for number, rule in enumerate(rule_states(step)) if rule["broken"]}
