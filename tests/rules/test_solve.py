"""The solver against the oracle: what it finds keeps every rule, and what it calls impossible is."""

import subprocess
import sys
from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import OptimizeResult

from benchmarks._rule_instances import (
    FAMILIES,
    planted_instance,
    random_asked,
    random_instance,
    with_people_rules,
)
from equigraph.exceptions import ConflictError, NotFoundError, ParameterError
from equigraph.rules import (
    Answer,
    Facts,
    Friends,
    Rules,
    compile_rules,
    feasible_labels,
    find_conflict,
    keeps,
    settle_rules,
    solve,
    violations,
)
from equigraph.rules.solve import is_refuted, propagated


def ask(instance, rules=None, **more):
    items = instance.rules.items if rules is None else rules
    compiled = compile_rules(items, instance.graph, instance.groups, instance.n_clusters)
    return feasible_labels(compiled, **more)


def assert_kept(instance, labels, rules=None):
    rules = instance.rules if rules is None else rules
    assert rules.check(instance.graph, labels, instance.groups, n_clusters=instance.n_clusters) == []
    assert np.unique(labels).tolist() == list(range(instance.n_clusters))


def every_labels(instance):
    """Yield all labels without an empty cluster."""
    for labels in product(range(instance.n_clusters), repeat=instance.graph.n_nodes):
        if len(set(labels)) == instance.n_clusters:
            yield np.array(labels)


def brute_force(instance, rules=None):
    """Return all labels that keep the rules."""
    facts = Facts(instance.graph, instance.groups)
    items = instance.rules.items if rules is None else rules
    return [labels for labels in every_labels(instance) if not violations(items, facts, labels)]


def small(seed):
    instance = random_instance(seed, nodes=(6, 7), clusters=(2, 3))
    return with_people_rules(instance, seed) if seed % 2 else instance


@pytest.mark.parametrize("block", range(3))
def test_feasibility_agrees_with_brute_force(block):
    outcomes = set()
    for seed in range(1000 + 10 * block, 1010 + 10 * block):
        instance = small(seed)
        answer, all_labels = ask(instance), brute_force(instance)
        assert answer.status == ("found" if all_labels else "impossible"), seed
        start = np.random.default_rng(seed).integers(instance.n_clusters, size=instance.graph.n_nodes)
        nearest = ask(instance, start=start)
        assert nearest.status == answer.status
        outcomes.add(answer.status)
        if all_labels:
            assert_kept(instance, answer.labels)
            assert_kept(instance, nearest.labels)
            fewest = min(np.count_nonzero(labels != start) for labels in all_labels)
            assert nearest.fewest
            assert np.count_nonzero(nearest.labels != start) == fewest
    assert outcomes == {"found", "impossible"}


def test_conflicts_are_irreducible_and_relaxing_keeps_what_comes_first():
    lengths = []
    for seed in range(5, 20):
        instance = random_instance(seed, nodes=(20, 40), clusters=(2, 4), busy=2)
        if ask(instance).status != "impossible":
            continue
        graph, groups, rules, k = instance
        conflict = find_conflict(rules, graph, groups, n_clusters=k)
        lengths.append(len(conflict.rules))
        assert conflict.irreducible
        assert ask(instance, conflict.rules).status == "impossible"
        for rule in conflict.rules:
            rest = [other for other in conflict.rules if other is not rule]
            labels = ask(instance, rest).labels
            assert_kept(instance, labels, Rules.of(rest))
        settled = settle_rules(rules, graph, groups, n_clusters=k, on_conflict="relax")
        assert_kept(instance, settled.labels, settled.rules)
        for place, rule in enumerate(rules.items):
            before = [other for other in rules.items[:place] if other in settled.rules.items]
            assert (rule in settled.given_up) == (ask(instance, [*before, rule]).status == "impossible")
    assert len(lengths) >= 2
    assert max(lengths) >= 3


TRIANGLE = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_the_solver_is_asked_for_longer_before_a_question_is_left_open(monkeypatch):
    def short(compiled, node_limit, *labels):
        limits.append(node_limit)
        decided = len(limits) == 1 or node_limit > 100
        return feasible_labels(compiled, node_limit, *labels) if decided else Answer("not found")

    limits: list[int] = []
    monkeypatch.setattr("equigraph.rules.conflict.feasible_labels", short)
    assert find_conflict(Rules(together=[(0, 1)], apart=[(0, 1)]), TRIANGLE, n_clusters=2).irreducible
    assert settle_rules(Rules(together=[(0, 1)]), TRIANGLE, n_clusters=2).labels.max() == 1


def test_the_conflict_is_said_in_words():
    graph = np.ones((6, 6)) - np.eye(6)
    rules = Rules(sizes=(1, 4), together=[(0, 1), (1, 2), (3, 4)], friends=1, apart=[(3, 5), (0, 2)])
    with pytest.raises(ConflictError) as caught:
        settle_rules(rules, graph, n_clusters=2)
    assert str(caught.value) == (
        "These rules cannot all be kept in 2 clusters: 0 and 1 together, 1 and 2 together, 0 and 2 apart."
    )
    assert [rule.keyword for rule in caught.value.rules] == ["together", "together", "apart"]
    settled = settle_rules(rules, graph, n_clusters=2, on_conflict="relax")
    assert settled.describe() == "Given up: 0 and 2 apart."
    assert settled.rules.to_dict()["apart"] == [(3, 5)]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (Rules(apart=[(0, 1, 2)]), "0, 1 and 2 apart"),
        (Rules(sizes=(2, None)), "every cluster of at least 2 nodes"),
        (Rules(sizes=(None, 1)), "every cluster of at most 1 node"),
        (Rules(together=[(0, 1), (1, 2)]), "0 and 1 together, 1 and 2 together"),
        (Rules(friends=1), "everybody with at least 1 of the nodes linked to them"),
        (Rules(not_alone={"team": 2}), "of each team none or at least 2 in a cluster"),
        (Rules(at_least={"team": {"red": 1}}), "at least 1 of team 'red' in every cluster"),
        (Rules(at_most={"team": {"blue": 0}}), "at most 0 of team 'blue' in every cluster"),
    ],
)
def test_a_single_rule_can_be_impossible(rules, words):
    groups = {"team": ["red", "blue", "blue"]}
    conflict = find_conflict(rules, TRIANGLE, groups, n_clusters=2)
    assert conflict.irreducible
    assert conflict.describe() == words
    settled = settle_rules(rules, TRIANGLE, groups, n_clusters=2, on_conflict="relax")
    assert len(settled.given_up) == 1
    assert find_conflict(settled.rules, TRIANGLE, groups, n_clusters=2) is None
    assert np.unique(settled.labels).tolist() == [0, 1]


def test_repair_moves_no_more_than_it_must():
    graph = np.ones((12, 12)) - np.eye(12)
    start = np.repeat([0, 1, 2], 4)
    rules = Rules(sizes=(4, 4), apart=[(0, 1)], fixed={5: 2})
    settled = settle_rules(rules, graph, n_clusters=3, start=start)
    assert rules.check(graph, settled.labels) == []
    assert settled.fewest
    # One out of 0 into 1, 5 into 2, and one of 2 into 0.
    assert np.count_nonzero(settled.labels != start) == 3


def test_a_hint_leads_there():
    instance = random_instance(5)
    labels = ask(instance).labels
    again = ask(instance, hint=labels)
    assert again.status == "found"
    assert_kept(instance, again.labels)
    with pytest.raises(ParameterError, match="hint must be one whole number in 0 to"):
        ask(instance, hint=labels + instance.n_clusters)


def test_what_is_not_found_is_not_impossible(monkeypatch):
    def nothing(cost, **options):
        return OptimizeResult(status=4, x=None, message="(HiGHS Status 16: Solution limit reached)")

    instance = random_instance(119)
    monkeypatch.setattr(solve.optimize, "milp", nothing)
    answer = ask(instance)
    assert answer.status == "not found"
    assert "limit of 100 nodes" in answer.reason
    monkeypatch.setattr(solve, "MAX_ENTRIES", 1000)
    assert "the solver is asked up to 1,000" in ask(instance).reason
    graph, groups, rules, k = instance
    with pytest.raises(NotFoundError, match="not known"):
        settle_rules(rules, graph, groups, n_clusters=k, on_conflict="relax")


@pytest.mark.parametrize(
    ("rules", "labels"),
    [
        # Whoever has one friend is with them, so that all of a path of four are in one cluster.
        (Rules(friends=2, sizes=(2, None)), None),
        (Rules(friends=1, sizes=(2, 2)), [0, 0, 1, 1]),
        (Rules(friends=1, apart=[(0, 1)]), None),
        (Rules(friends=1, fixed={0: 0, 3: 1}, sizes=(1, 3)), [0, 0, 1, 1]),
        (Rules(friends=1, fixed={0: 0, 1: 1}), None),
        (Rules(friends=1, sizes=(None, 1)), None),
        (Rules(friends=1, allowed={0: [0], 1: [1]}), None),
    ],
)
def test_what_friends_force_needs_no_solver(rules, labels, monkeypatch):
    def refused(cost, **options):
        raise AssertionError

    path = np.eye(4, k=1) + np.eye(4, k=-1)
    compiled, allowed = propagated(compile_rules(rules, path, None, 2))
    assert compiled.contradiction == (labels is None)
    if labels is None:
        monkeypatch.setattr(solve.optimize, "milp", refused)
        assert feasible_labels(compile_rules(rules, path, None, 2)).status == "impossible"
    else:
        assert compiled.n_units == 2
        assert allowed.shape == (2, 2)


@pytest.mark.parametrize("block", range(2))
def test_propagation_loses_no_solution(block):
    for seed in range(3000 + 8 * block, 3008 + 8 * block):
        instance, rng = small(seed), np.random.default_rng(seed)
        names = instance.graph.node_names.tolist()
        friends = Friends(int(rng.integers(1, 3)), of=random_asked(names, rng))
        rules = Rules.of([*instance.rules.items, friends])
        instance = instance._replace(rules=rules)
        all_labels = brute_force(instance)
        compiled = compile_rules(rules, instance.graph, instance.groups, instance.n_clusters)
        assert sum(keeps(compiled, labels) for labels in every_labels(instance)) == len(all_labels)
        closer, allowed = propagated(compiled)
        if closer.contradiction:
            assert not all_labels
            continue
        for labels in all_labels:
            units = np.zeros(closer.n_units, dtype=int)
            units[closer.unit] = labels
            assert (units[closer.unit] == labels).all()
            assert allowed[np.arange(units.size), units].all()
        assert ask(instance).status == ("found" if all_labels else "impossible")


def test_project_groups_are_found():
    """Ten groups of seven or eight, planted, with a friend for everybody."""
    rng = np.random.default_rng(4)
    planted = rng.permutation(np.arange(73) % 10)
    apart = [pair for pair in rng.integers(73, size=(60, 2)).tolist() if planted[pair[0]] != planted[pair[1]]]
    asked = {}
    for node in range(73):
        mates = [other for other in np.flatnonzero(planted == planted[node]).tolist() if other != node]
        asked[node] = list({int(rng.choice(mates)), *rng.integers(73, size=2).tolist()} - {node})
    rules = Rules.of([*Rules(sizes=(7, 8), apart=apart[:25]).items, Friends(1, of=asked)])
    graph = np.zeros((73, 73))
    answer = feasible_labels(compile_rules(rules, graph, None, 10))
    assert answer.status == "found"
    assert rules.check(graph, answer.labels, n_clusters=10) == []


def test_many_nodes_are_few_kinds_of_nodes():
    rng = np.random.default_rng(0)
    n, k = 20_000, 8
    ends = np.arange(n)
    half = sparse.coo_array((np.ones(n - 1), (ends[:-1], ends[1:])), shape=(n, n))
    graph = (half + half.T).tocsr()
    groups = {"gender": rng.choice(["girl", "boy"], n), "needs": rng.choice(["yes", "no"], n, p=[0.1, 0.9])}
    people = rng.permutation(n).tolist()
    rules = Rules(
        together=[tuple(people[2 * i : 2 * i + 2]) for i in range(100)],
        apart=[tuple(people[500 + 2 * i : 502 + 2 * i]) for i in range(100)],
        sizes=(n // k, n // k),
        shares={"gender": 0.001, "needs": 0.001},
    )
    answer = feasible_labels(compile_rules(rules, graph, groups, k))
    assert answer.status == "found"
    assert rules.check(graph, answer.labels, groups, n_clusters=k) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1"),
        ({"n_clusters": 2, "on_conflict": "drop"}, "on_conflict must be one of 'error', 'relax'; got 'drop'"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ParameterError, match=message):
        settle_rules(Rules(), TRIANGLE, **options)


@pytest.mark.parametrize("seed", range(6))
def test_a_quick_refutation_is_a_proof(seed):
    instance, labels = planted_instance(seed, FAMILIES[seed])
    graph, groups, rules, k = instance
    assert not rules.check(graph, labels, groups, n_clusters=k)
    facts = Facts.of(graph, groups)
    assert not is_refuted(compile_rules(rules, facts, None, k))
    # One node more than there are clusters, any two of them apart.
    clique = combinations(graph.node_names[: k + 1].tolist(), 2)
    assert is_refuted(compile_rules(Rules(apart=list(clique)), facts, None, k))


SCRIPT = """
import ctypes, threading
from equigraph.rules.solve import no_stray_output

libc = ctypes.CDLL(None)
print("before")
libc.printf(b"C before\\n")

def stray(first, second):
    with no_stray_output():
        first.set()
        second.wait(5)
        libc.printf(b"stray\\n")

one, other = threading.Event(), threading.Event()
threads = [threading.Thread(target=stray, args=pair) for pair in ((one, other), (other, one))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.printf(b"C after\\n")
libc.fflush(None)
print("after")
"""


def test_only_the_stray_lines_are_gone():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n") == ["before", "C before", "C after", "after", ""]
    assert run.stderr == ""


def test_a_process_without_standard_output():
    script = """
import os
os.close(1)
from equigraph.rules.solve import no_stray_output
with no_stray_output():
    pass
"""
    run = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, check=True)
    assert run.stderr == ""
