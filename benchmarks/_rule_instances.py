"""Random graphs with random rules of all kinds; about half of them can be kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from equigraph.graph import Graph
from equigraph.rules import Friends, Rules

KINDS = ("together", "apart", "fixed", "sizes", "friends", "at_least", "at_most", "not_alone", "shares")


class Instance(NamedTuple):
    graph: Graph
    groups: dict[str, np.ndarray]
    rules: Rules
    n_clusters: int


def random_graph(rng: np.random.Generator, n: int) -> Graph:
    mean_degree = rng.uniform(2, 7)
    upper = np.triu(rng.random((n, n)) < mean_degree / n, 1)
    return Graph(sparse.csr_array((upper | upper.T).astype(float)), np.array([f"p{i}" for i in range(n)]))


def random_instance(
    seed: int, nodes: tuple[int, int] = (20, 120), clusters: tuple[int, int] = (2, 6), busy: int = 6
) -> Instance:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(nodes[0], nodes[1] + 1))
    k = int(rng.integers(clusters[0], clusters[1] + 1))
    graph = random_graph(rng, n)
    groups = {
        "gender": rng.choice(["girl", "boy"], n, p=[0.45, 0.55]),
        "needs": rng.choice(["yes", "no", "some"], n, p=[0.15, 0.7, 0.15]),
    }
    wanted = rng.permutation([kind for kind in KINDS if rng.random() < 0.5])
    arguments = {str(kind): _argument(str(kind), rng, graph, groups, k, busy) for kind in wanted}
    return Instance(graph, groups, Rules.from_dict(arguments), k)


def _argument(
    kind: str, rng: np.random.Generator, graph: Graph, groups: dict[str, np.ndarray], k: int, busy: int
) -> Any:
    n, names = graph.n_nodes, graph.node_names.tolist()
    share = n / k
    if kind in ("together", "apart"):
        most = 3 if kind == "together" else min(k, 4)
        tuples = int(rng.integers(1, max(2, n // busy)))
        return [
            tuple(rng.choice(names, int(rng.integers(2, max(most, 2) + 1)), replace=False).tolist())
            for _ in range(tuples)
        ]
    if kind == "fixed":
        chosen = rng.choice(names, int(rng.integers(1, 4)), replace=False).tolist()
        return {name: int(rng.integers(k)) for name in chosen}
    if kind == "sizes":
        slack = rng.uniform(0, 3)
        pair = (max(int(share - slack), 1), int(np.ceil(share + slack)))
        if rng.random() < 0.3:
            return [
                (pair[0], None) if rng.random() < 0.3 else (max(pair[0] - 1, 0), pair[1] + 1)
                for _ in range(k)
            ]
        return pair if pair[0] <= pair[1] else (pair[1], pair[0])
    if kind == "friends":
        return int(rng.integers(1, 3))
    attribute = str(rng.choice(list(groups)))
    values, totals = np.unique(groups[attribute], return_counts=True)
    place = int(rng.integers(values.size))
    value, mean = str(values[place]), totals[place] / k
    if kind == "at_least":
        return {attribute: {value: max(int(mean - rng.uniform(0, 3)), 0)}}
    if kind == "at_most":
        return {attribute: {value: int(np.ceil(mean + rng.uniform(0, 2)))}}
    if kind == "not_alone":
        return {attribute: int(rng.integers(2, 4))}
    return {attribute: float(rng.choice([0.0, 0.05, 0.1, 0.2]))}


FAMILIES = ("sizes", "units", "cliques", "groups", "friends", "mixed")


def tight_instance(seed: int, nodes: tuple[int, int] = (14, 60)) -> tuple[Instance, np.ndarray]:
    """Return an instance whose rules leave no slack around labels that were drawn first, and these labels."""
    rng = np.random.default_rng([seed, 99])
    n, k = int(rng.integers(nodes[0], nodes[1] + 1)), int(rng.integers(2, 5))
    labels = rng.permutation(np.arange(n) % k)
    blocks = np.where(rng.random(n) < rng.uniform(0.3, 0.9), labels, rng.integers(0, k, n))
    chance = np.where(blocks[:, None] == blocks, rng.uniform(3, 6) * k, rng.uniform(1, 3)) / n
    upper = np.triu(rng.random((n, n)) < chance, 1)
    upper[0, 1] = True
    graph = Graph(sparse.csr_array((upper | upper.T).astype(float)), np.array([f"p{i}" for i in range(n)]))
    groups = {
        "gender": rng.choice(["girl", "boy"], n, p=[0.45, 0.55]),
        "needs": rng.choice(["yes", "no"], n, p=[0.2, 0.8]),
    }
    groups["gender"][:2], groups["needs"][:2] = ["girl", "boy"], ["yes", "no"]
    names, sizes = graph.node_names.tolist(), np.bincount(labels)
    rules: dict[str, Any] = {"sizes": (int(sizes.min()), int(sizes.max()))}
    for attribute in groups:
        for value in np.unique(groups[attribute]).tolist():
            counts = np.bincount(labels[groups[attribute] == value], minlength=k)
            if rng.random() < 0.5:
                rules.setdefault("at_most", {}).setdefault(attribute, {})[value] = int(counts.max())
            if rng.random() < 0.5:
                rules.setdefault("at_least", {}).setdefault(attribute, {})[value] = int(counts.min())
    pairs = rng.permutation(n)[: 2 * (n // 6)].reshape(-1, 2)
    alike = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    for kind, chosen in (("together", pairs[alike]), ("apart", pairs[~alike])):
        if len(chosen) and rng.random() < 0.8:
            rules[kind] = [(names[i], names[j]) for i, j in chosen.tolist()]
    kept = ((upper | upper.T) & (labels[:, None] == labels)).sum(axis=1)
    lonely = np.flatnonzero((kept == 0) & ((upper | upper.T).sum(axis=1) > 0))
    if not lonely.size and rng.random() < 0.5:
        rules["friends"] = 1
    return Instance(graph, groups, Rules.from_dict(rules), k), labels


def planted_instance(seed: int, family: str) -> tuple[Instance, np.ndarray]:
    """Return an instance that is tight in one way or in all (see `FAMILIES`), and labels that keep its rules."""
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    n, k = int(rng.integers(30, 100)), int(rng.integers(4, 11))
    labels = rng.permutation(np.arange(n) % k)
    graph = random_graph(rng, n)
    names, sizes = graph.node_names.tolist(), np.bincount(labels)
    groups = {"gender": rng.choice(["girl", "boy"], n), "street": rng.choice(list("abcde"), n)}
    rules: dict[str, Any] = {"sizes": (int(sizes.min()), int(sizes.max()))}
    if family in ("units", "mixed"):
        for cluster in range(k):
            members = rng.permutation(np.flatnonzero(labels == cluster))
            for unit in np.array_split(members, max(members.size // 3, 1)):
                if unit.size > 1 and rng.random() < 0.7:
                    rules.setdefault("together", []).append(tuple(names[i] for i in unit))
    if family in ("cliques", "mixed"):
        clusters = [rng.permutation(k)[: int(rng.integers(2, k + 1))] for _ in range(n // 4)]
        rules["apart"] = [
            tuple(names[int(rng.choice(np.flatnonzero(labels == c)))] for c in some) for some in clusters
        ]
    if family in ("groups", "mixed"):
        for attribute, column in groups.items():
            for value in np.unique(column).tolist():
                counts = np.bincount(labels[column == value], minlength=k)
                rules.setdefault("at_most", {}).setdefault(attribute, {})[value] = int(counts.max())
    items = list(Rules.from_dict(rules).items)
    if family in ("friends", "mixed"):
        asked = {}
        for node in range(n):
            same = np.flatnonzero((labels == labels[node]) & (np.arange(n) != node))
            others = [rng.choice(same), *rng.choice(np.flatnonzero(labels != labels[node]), 2, replace=False)]
            asked[names[node]] = [names[int(other)] for other in others]
        items.append(Friends(1, of=asked))
    return Instance(graph, groups, Rules.of(items), k), labels


def with_people_rules(instance: Instance, seed: int) -> Instance:
    """Return an instance with further rules: clusters allowed to some nodes, and at most so many of a list."""
    rng = np.random.default_rng(seed)
    names, k = instance.graph.node_names.tolist(), instance.n_clusters
    some = rng.choice(names, 4, replace=False).tolist()
    further = Rules(
        allowed={one: rng.choice(k, int(rng.integers(1, k + 1)), replace=False).tolist() for one in some[:2]},
        at_most=[(some[1:], int(rng.integers(1, 3)))],
    )
    return instance._replace(rules=Rules.of([*instance.rules.items, *further.items]))


def random_asked(names: list[str], rng: np.random.Generator) -> dict[str, list[str]]:
    """Return whom each node asks for: up to three others."""
    asked = {
        name: rng.choice([other for other in names if other != name], size, replace=False).tolist()
        for name, size in zip(names, rng.integers(0, 4, len(names)), strict=True)
    }
    return {name: others for name, others in asked.items() if others}
