"""A new kind of rule is a class and an entry in the registry: everything else reads it from there."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.exceptions import ConflictError
from equigraph.rules import Facts, Rules, Violation, compile_rules, find_conflict, keeps, settle_rules
from equigraph.rules.base import DictRule, names
from equigraph.rules.rules import KINDS


@dataclass(frozen=True)
class OneOf(DictRule):
    """A node shares its cluster with one of these."""

    keyword: ClassVar[str] = "one_of"
    example: ClassVar[str] = '{"Ada": ["Ben", "Cem"]}'
    node: str
    others: tuple[str, ...]

    @classmethod
    def read(cls, where, value):
        return names(where, value)

    def describe(self):
        return f"{self.node} with {' or '.join(self.others)}"

    def sentence(self, words):
        return f"{self.node} shares a {words.cluster} with {' or '.join(self.others)}."

    def violations(self, placement):
        own = placement.of(self.node)
        if own not in map(placement.of, self.others):
            yield Violation(self, (own,), (self.node,))

    def describe_violation(self, violation, words):
        return f"{self.node} is in {words.place(violation.clusters[0])} without {' or '.join(self.others)}."

    def compile(self, arrays):
        node, *others = map(arrays.facts.node, (self.node, *self.others))
        rows, shape = np.full(len(others), node), (arrays.n, arrays.n)
        links = sparse.coo_array((np.ones(len(others)), (rows, others)), shape=shape).tocsr()
        arrays.friends[self] = links, np.bincount([node], minlength=arrays.n)


@pytest.fixture
def room(monkeypatch):
    monkeypatch.setitem(KINDS, OneOf.keyword, OneOf)
    data = eg.datasets.make_classroom()
    return eg.Graph(data.adjacency, data.node_names, data.sensitive_features, "gender")


def test_search_solver_oracle_prices_and_explanations_know_a_new_kind(room, tmp_path):
    first, second, *_, last = room.node_names.tolist()
    (tmp_path / "rules.json").write_text(json.dumps({"one_of": {first: [second, last]}}))
    rules = Rules.of([*Rules.read(tmp_path / "rules.json"), *Rules(apart=[(first, second)])])
    assert eval(repr(rules)) == rules
    model = eg.FairPartition(3, rules=rules, effort=0.1, random_state=0)
    labels = model.fit(room).labels_
    assert rules.check(room, labels) == []
    assert keeps(compile_rules(rules, Facts(room), None, 3), labels)
    parted = labels.copy()
    parted[-1] = (parted[0] + 1) % 3
    (sentence,) = rules.check(room, parted)
    assert sentence.endswith(f" without {second} or {last}.")
    result = eg.cluster(room, n_clusters=3, rules=rules, effort=0.1, random_state=0)
    assert f"{first} with {second} or {last}" in [row.rule for row in result.price(effort=0.01).rows]
    assert result.explain(last)


def test_a_new_kind_takes_part_in_conflicts(room):
    first, second, third, *_ = room.node_names.tolist()
    rules = Rules(one_of={first: [second, third]}, apart=[(first, second), (first, third)])
    with pytest.raises(ConflictError):
        settle_rules(rules, room, n_clusters=3)
    assert find_conflict(rules, room, n_clusters=3).rules == rules.items
    settled = settle_rules(rules, room, n_clusters=3, on_conflict="relax")
    assert settled.given_up == rules.items[2:]
