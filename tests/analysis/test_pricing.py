"""Prices of rules against all clusterings of small graphs."""

import json
from dataclasses import replace

import numpy as np
import pytest

import equigraph as eg
from benchmarks.rule_search import best_value, small_instance
from equigraph.analysis.pricing import RulePrices
from equigraph.exceptions import ConflictError, ParameterError
from equigraph.rules import Rules

pytestmark = pytest.mark.filterwarnings("ignore::equigraph.exceptions.EquigraphWarning")
FAIRNESS = 0.5


def result_of(instance, effort):
    graph = eg.Graph(instance.graph.adjacency, instance.graph.node_names, instance.groups)
    options = {"n_clusters": instance.n_clusters, "rules": instance.rules, "size_bounds": None}
    return eg.cluster(graph, fairness=FAIRNESS, **options, effort=effort, random_state=0)


def test_prices_are_those_of_all_divisions():
    rows = idle = 0
    for seed in range(3):
        instance = small_instance(seed)
        if not len(instance.rules) or len(instance.rules) > 6:
            continue
        try:
            result = result_of(instance, effort=0.1)
        except ConflictError:
            continue
        prices = result.price(by="rule", effort=0.1)
        with_all = best_value(instance, FAIRNESS)
        assert prices.rows[0].objective + prices.missed == pytest.approx(with_all, abs=1e-9)
        for row, rule in zip(prices.rows[1:-1], instance.rules.items, strict=True):
            rest = Rules.of(other for other in instance.rules.items if other is not rule)
            true = best_value(instance._replace(rules=rest), FAIRNESS) - with_all
            assert row.cost == pytest.approx(true, abs=1e-9)
            assert row.binds == (true > 1e-9)
            assert row.low <= row.cost <= row.high + 1e-12
            rows, idle = rows + 1, idle + (not row.binds)
    assert rows > idle > 0


@pytest.fixture(scope="module")
def room():
    found = eg.datasets.make_classroom()
    groups = {"gender": found.sensitive_features, "house": found.house}
    return eg.Graph(found.adjacency, found.node_names, groups)


def test_prices_are_relative_to_the_best_clusters_found(room):
    """Labels found without a rule count as clusters with all rules if they keep all."""
    rules = Rules(sizes=(9, 11), apart=[("Anton", "Fatima")])
    result = eg.cluster(room, n_clusters=3, rules=rules, effort=0.05, random_state=0)
    poor = eg.refine_labels(room, np.arange(30) % 3, rules=rules, stay=1.0, random_state=0)
    prices = replace(result, labels=poor).price(effort=0.05)
    assert prices.rows[0].objective == pytest.approx(0.5 * prices.rows[0].Q + 0.5 * prices.rows[0].notion)
    assert pytest.approx(eg.metrics.modularity_score(room, poor)) == prices.rows[0].Q
    assert prices.missed > 0.05
    assert all(row.cost < prices.missed for row in prices.rows)
    assert all(row.high >= row.cost + prices.missed - 1e-9 for row in prices.rows[1:])
    assert "more effort" in prices.describe()
    assert len(result.price(effort=0.0, by="kind").rows) == 4


def test_attributes_have_a_price(room):
    result = eg.cluster(room, n_clusters=3, effort=0.05, random_state=0)
    with pytest.raises(ParameterError, match="no rules to price"):
        result.price()
    prices = result.price(attributes=True, effort=0.05)
    names = [row.rule for row in prices.rows]
    assert names[:3] == ["as they are", "gender not spread evenly", "house not spread evenly"]
    for row, left in zip(prices.rows[1:3], ("house", "gender"), strict=True):
        alone = eg.Graph(room.adjacency, room.node_names, {left: room.features[left]})
        now = eg.metrics.evaluate(alone, result.labels)
        assert row.objective - row.high == pytest.approx(0.5 * now["Q"] + 0.5 * now["NB"])
        assert row.cost > 0
    told = json.loads(json.dumps(prices.to_dict()))
    assert set(told) == {"measure", "missed", "rows"}
    assert RulePrices(prices.rows, "NB").idle == prices.idle == ()


def test_a_rule_may_cost_cohesion_only():
    """At a dial of 1 a search takes the most cohesive labels whose fairness is within .01 of the highest."""
    rng = np.random.default_rng(2)
    links = np.triu(rng.random((40, 40)) < 0.15, 1).astype(float)
    graph = eg.Graph(links + links.T, sensitive_features=rng.choice(list("abc"), 40))
    options = {"rules": Rules(together=[(2, 3)], sizes=(5, 16)), "notion": "evenness", "effort": 0.02}
    result = eg.cluster(graph, n_clusters=4, fairness=1.0, **options, random_state=2)
    now, alone = result.price(effort=0.02).rows[:2]
    assert alone.binds
    assert (alone.notion, round(alone.Q - now.Q, 2)) == (now.notion, 0.04)


def test_prices_of_a_run_that_was_stopped(room):
    rules = Rules(apart=[("Anton", "Fatima")], sizes=(1, 30))
    result = eg.cluster(room, n_clusters=3, rules=rules, effort=0.02, random_state=0)
    prices = result.price(effort=0.01, callbacks=lambda progress: progress.step == 2)
    assert [row.rule for row in prices.rows[1:]] == [rule.describe() for rule in rules.items]
    assert "every cluster of 1 to 30 nodes" in prices.idle
