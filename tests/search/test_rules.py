"""The search under rules: nothing that comes out breaks one, and little that is better is missed."""

import numpy as np
import pytest

import equigraph as eg
from benchmarks._rule_instances import random_asked, random_instance, with_people_rules
from benchmarks.rule_search import answer, shortfall, small_instance
from equigraph.exceptions import (
    ConflictError,
    EquigraphError,
    InfeasibleError,
    NotFoundError,
    ParameterError,
    RulesRelaxedWarning,
    SmallClusterWarning,
)
from equigraph.rules import Facts, Friends, Rules, compile_rules, keeps, most_friends
from equigraph.search import plans
from equigraph.search.feasible import FeasibleSearch, make_feasible_search
from equigraph.search.pool import Target

pytestmark = [
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallGroupWarning"),
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.OwnGroupsWarning"),
]


@pytest.fixture(scope="module")
def room():
    found = eg.datasets.make_classroom()
    return eg.Graph(
        found.adjacency, found.node_names, {"gender": found.sensitive_features, "house": found.house}
    )


ROOM_RULES = Rules(
    together=[("Naledi", "Beatriz")],
    apart=[("Anton", "Fatima")],
    sizes=(9, 11),
    friends=1,
    shares={"gender": 0.1},
    not_alone={"house": 2},
)


def test_least_size_is_the_largest_that_rules_leave_room_for(room):
    """24 of 30 who have to be together leave six for two clusters, where a third of the mean is four."""
    rules = Rules(together=[room.node_names[:24].tolist()])
    with pytest.warns(SmallClusterWarning, match="is 3"):
        labels = eg.FairPartition(3, rules=rules, random_state=0).fit_predict(room)
    assert np.bincount(labels).tolist() == [24, 3, 3]


def with_asked(instance, seed):
    """Return an instance in which nodes need some of those they asked for, beside its other rules."""
    asked = random_asked(instance.graph.node_names.tolist(), np.random.default_rng(seed))
    return instance._replace(rules=Rules.of([*instance.rules.items, Friends(2, of=asked)]))


@pytest.mark.parametrize("seed", range(12))
def test_what_the_search_counts_as_kept_is_what_the_oracle_accepts(seed):
    instance = random_instance(seed, nodes=(8, 16), clusters=(2, 3))
    changed = (with_asked, with_people_rules, lambda same, _: same)[seed % 3](instance, seed)
    graph, groups, rules, k = changed
    compiled = compile_rules(rules, graph, groups, k)
    search = FeasibleSearch(Facts(graph, groups), None, compiled)
    rng = np.random.default_rng(seed)
    for _ in range(60):
        units = rng.integers(k, size=search.inner.level.n_sites)
        labels = units[compiled.unit]
        accepted = not rules.check(graph, labels, groups, n_clusters=k) and np.unique(labels).size == k
        assert keeps(compiled, labels) == accepted
        if not compiled.contradiction:
            assert (search.inner.keep(units.astype(np.int32)).broken == 0) == accepted


def test_random_instances_are_solved_or_proven_to_be_impossible():
    """All 300 are a benchmark; seeds that take the solver long are left to it."""
    answers = [answer(random_instance(seed), effort=0.01) for seed in (1, 2, 3, 14, 23)]
    assert "not found" not in answers
    assert {"solved", "impossible"} == set(answers)


def test_the_best_division_of_small_graphs_is_found():
    short = [shortfall(small_instance(seed), (0.0, 0.5)[seed % 2], effort=0.1) for seed in range(6)]
    short = [one for one in short if one is not None]
    assert len(short) >= 2
    assert min(short) > -1e-9
    assert sum(one > 1e-9 for one in short) <= 1


def test_rules_as_a_dict_and_the_same_seed(room):
    first, second = (
        eg.FairPartition(3, rules=rules, effort=0.1, random_state=3).fit(room)
        for rules in (ROOM_RULES, ROOM_RULES.to_dict())
    )
    assert (first.labels_ == second.labels_).all()
    assert first.rules_ == ROOM_RULES
    assert first.relaxed_ == ()
    assert ROOM_RULES.check(room, first.labels_) == []


@pytest.mark.parametrize(
    "options", [{"at_least": 0.9}, {"notion": "evenness"}, {"fairness": 0.0}, {"n_clusters": None}]
)
def test_rules_go_with_every_target(room, options):
    rules = Rules(apart=[("Anton", "Fatima")], friends=1)
    model = eg.FairPartition(**{"n_clusters": 3, "effort": 0.05, "random_state": 0, **options}, rules=rules)
    assert rules.check(room, model.fit(room).labels_) == []


def test_clusters_keep_the_numbers_that_rules_speak_of(room):
    rules = Rules(fixed={"Naledi": 2, "Anton": 0}, sizes=[(5, 8), (8, 12), (12, None)])
    model = eg.FairPartition(3, rules=rules, effort=0.05, random_state=0).fit(room)
    assert rules.check(room, model.labels_) == []
    assert np.bincount(model.labels_)[2] >= 12
    curve = eg.tradeoff_curve(room, n_clusters=3, rules=rules, fairness=[0, 0.5], effort=0.05, random_state=0)
    assert all(rules.check(room, point.labels) == [] for point in (*curve.points, *curve.front))


def test_all_points_of_a_curve_keep_the_rules(room):
    curve = eg.tradeoff_curve(room, n_clusters=3, rules=ROOM_RULES, effort=0.05, random_state=0)
    assert all(ROOM_RULES.check(room, point.labels) == [] for point in (*curve.points, *curve.front))
    with pytest.raises(ParameterError, match="FairLouvain has no parameter 'rules'"):
        eg.tradeoff_curve(room, estimator=eg.FairLouvain(3), rules=ROOM_RULES, fairness=[0])


IMPOSSIBLE = Rules(
    together=[("Naledi", "Beatriz"), ("Beatriz", "Anton")], friends=1, apart=[("Naledi", "Anton")]
)


def test_people_in_some_clusters_few_of_a_list_and_friends_asked_for(room):
    names = room.node_names.tolist()
    allowed = {names[0]: [1, 2], names[1]: [0], names[2]: [0, 2]}
    rules = Rules(allowed=allowed, at_most=[(names[:6], 2)], sizes=(9, 11), friends=1)
    asked = Friends(1, of=random_asked(names, np.random.default_rng(0)))
    rules = Rules.of([*rules.items, most_friends(rules, asked, room, n_clusters=3).rule])
    model = eg.FairPartition(3, rules=rules, effort=0.05, random_state=0).fit(room)
    assert rules.check(room, model.labels_, n_clusters=3) == []
    both = {"allowed": {names[0]: [1], names[1]: [1]}, "at_most": [(names[:2], 1)]}
    with pytest.raises(
        ConflictError, match=f"{names[0]} in cluster 1, {names[1]} in cluster 1, at most 1 of"
    ):
        eg.FairPartition(2, rules=both).fit(room)


def test_a_conflict_is_named_or_relaxed(room):
    with pytest.raises(ConflictError, match="Naledi and Beatriz together, Beatriz and Anton together"):
        eg.FairPartition(3, rules=IMPOSSIBLE).fit(room)
    with pytest.warns(RulesRelaxedWarning, match="given up: Naledi and Anton apart"):
        model = eg.FairPartition(3, rules=IMPOSSIBLE, on_conflict="relax", effort=0.05, random_state=0).fit(
            room
        )
    assert [rule.describe() for rule in model.relaxed_] == ["Naledi and Anton apart"]
    assert model.rules_.check(room, model.labels_) == []
    assert len(model.rules_) == 3


def test_size_bounds_and_sizes_are_one_mechanism(room):
    model = eg.FairPartition(
        3, rules={"apart": [("Anton", "Fatima")]}, size_bounds=(9, 11), effort=0.05, random_state=0
    )
    assert set(np.bincount(model.fit(room).labels_)) <= {9, 10, 11}
    rules = {"sizes": [(1, 4), (1, None), (1, None)]}
    with pytest.raises(ParameterError, match=r"size_bounds=\(5, None\) contradicts the rule 'clusters of 1"):
        eg.FairPartition(3, rules=rules, size_bounds=(5, None)).fit(room)


def test_labels_that_break_a_rule_never_leave(room):
    feasible = make_feasible_search(ROOM_RULES, Facts(room), None, 3, effort=0.0)
    with pytest.raises(EquigraphError, match="labels that break one"):
        feasible.checked(np.arange(30) % 3)


def test_a_large_graph_is_brought_to_keep_the_rules(monkeypatch):
    monkeypatch.setattr(plans, "_LARGE_NODES", 300)
    rng = np.random.default_rng(0)
    instance = random_instance(5, nodes=(400, 400), clusters=(4, 4))
    names = instance.graph.node_names.tolist()
    chosen = rng.permutation(names)[:40].reshape(10, 2, 2).tolist()
    rules = Rules(
        together=[tuple(pair[0]) for pair in chosen],
        apart=[tuple(pair[1]) for pair in chosen],
        sizes=(90, 110),
        shares={"gender": 0.05, "needs": 0.05},
    )
    feasible = make_feasible_search(rules, Facts(instance.graph, instance.groups), None, 4)
    assert feasible.is_large
    labels = feasible.solve([Target()])[0]
    assert rules.check(instance.graph, labels, instance.groups, n_clusters=4) == []
    assert feasible.score(labels)[0] > 0.3


def test_what_is_not_found_is_not_called_impossible(monkeypatch):
    monkeypatch.setattr(plans, "_LARGE_NODES", 30)
    monkeypatch.setattr("equigraph.rules.solve.MAX_ENTRIES", 10)
    star = np.zeros((40, 40))
    star[0, 1:] = star[1:, 0] = 1
    feasible = make_feasible_search(Rules(friends=1), Facts(star), None, 3)
    with pytest.raises(NotFoundError, match="Whether there are any is not known"):
        feasible.solve([Target()])


def start_of(room):
    return eg.RandomClustering(3, random_state=0).fit_predict(room)


def test_labels_are_repaired_with_few_moves(room):
    start = start_of(room)
    for max_moves in (14, 6):
        better = eg.refine_labels(room, start, rules=ROOM_RULES, max_moves=max_moves, random_state=0)
        assert ROOM_RULES.check(room, better) == []
        assert 0 < (better != start).sum() <= max_moves
    with pytest.raises(InfeasibleError, match=r"max_moves=1: at least \d nodes must move"):
        eg.refine_labels(room, start, rules=ROOM_RULES, max_moves=1)
    assert (eg.refine_labels(room, start, max_moves=0, random_state=0) == start).all()


def test_the_dearer_a_move_the_fewer(room):
    start = start_of(room)
    moved = [
        int((eg.refine_labels(room, start, stay=stay, random_state=0) != start).sum())
        for stay in (0.0005, 0.01, 0.03, 1.0)
    ]
    assert moved == sorted(moved, reverse=True)
    assert moved[0] > moved[-1] == 0


def test_no_single_move_is_worth_its_price(room):
    start, stay = start_of(room), 0.01
    found = eg.refine_labels(room, start, stay=stay, fairness=0, random_state=0)

    def value(labels):
        return eg.metrics.modularity_score(room, labels) - stay * (labels != start).sum()

    best = value(found)
    for node in range(30):
        for cluster in range(3):
            other = found.copy()
            other[node] = cluster
            if np.unique(other).size == 3:
                assert value(other) <= best + 1e-12


def test_new_nodes_go_where_it_is_best(room):
    start = start_of(room).astype(object)
    start[[3, 7]] = None
    found = eg.refine_labels(room, start, max_moves=0, random_state=0)
    known = np.array([label is not None for label in start])
    assert (found[known] == start[known]).all()
    with pytest.raises(eg.exceptions.InputError, match="2 of 30 labels are missing"):
        eg.refine_labels(room, start)


def test_rules_speak_of_the_labels_given(room):
    start = start_of(room)
    rules = Rules(fixed={"Naledi": int((start[0] + 1) % 3), "Anton": 2})
    assert rules.check(room, eg.refine_labels(room, start, rules=rules, random_state=0)) == []
    with pytest.raises(ParameterError, match="no cluster can vanish"):
        eg.refine_labels(room, start, n_clusters=2, max_moves=5)


def test_a_floor_gives_way_to_rules_as_little_as_need_be(room):
    """A third of the mean of 30 in 3 is 4; where ten and all others are together it cannot be kept."""
    names = room.node_names.tolist()
    model = eg.FairPartition(3, rules={"apart": [names[:2]]}, effort=0.05, random_state=0).fit(room)
    assert np.bincount(model.labels_).min() >= 4
    rules = {"together": [names[:27]], "apart": [[names[27], names[28]]]}
    with pytest.warns(eg.exceptions.SmallClusterWarning, match="no room for clusters of at least 4"):
        model = eg.FairPartition(2 + 1, 0.0, rules={**rules, "together": [names[:26]]}, effort=0.05).fit(room)
    assert np.bincount(model.labels_).min() == 2


def test_swaps_keep_rules():
    data = eg.datasets.make_planted_graph(520, 2, mean_degree=6, random_state=0)
    rules = eg.Rules(apart=[(0, 1)], sizes=(260, 260), shares={"group": 0.0})
    graph = eg.Graph(data.adjacency, None, data.sensitive_features, "group")
    model = eg.FairPartition(2, 0.5, effort=0.1, rules=rules, random_state=0).fit(graph)
    assert rules.check(graph, model.labels_) == []
