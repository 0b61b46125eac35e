"""The compiled partition and its moves against the naive one, which recomputes everything."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equigraph as eg
from benchmarks._rule_instances import random_instance
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.metrics.notions import EVENNESS
from equigraph.rules import compile_rules
from equigraph.search.arrays import BROKEN, GAIN, LACKING, MOVED, Cooling, Tour
from equigraph.search.kernels.anneal import anneal as anneal_kernel
from equigraph.search.kernels.local import MOST_DENSE, visit
from equigraph.search.level import aggregate, common_parts, compact, first_level
from equigraph.search.level_rules import LevelRules
from equigraph.search.moves import anneal, by_cluster, climb, local_search, neighbour_buffers, swap
from equigraph.search.objective import MOST_GROUPS, make_objective
from equigraph.search.partition import Partition, scores_of
from tests.reference.label_fixtures import SETTINGS, codes_for, labels_for, prepare
from tests.reference.labels_objective import NOTIONS
from tests.reference.naive_partition import NaivePartition

EVERYTHING, NOTHING = np.zeros(0, dtype=np.int32), np.zeros((0, 1), dtype=np.int64)


@st.composite
def cases(draw):
    """Return everything that a move depends on.

    A plain mean over clusters is drawn with a group for every node: a cluster without any would count in one place and
    not in the other.
    """
    n = draw(st.integers(6, 14))
    seed = draw(st.integers(0, 10**6))
    notion = draw(st.sampled_from(NOTIONS))
    n_unknown = 0 if notion == "balance" else draw(st.sampled_from([0, 0, 2]))
    n_attributes = draw(st.integers(1, 3))
    columns = [
        codes_for(n, draw(st.integers(2, 4)), seed + a, n_unknown if a == 0 else 0)
        for a in range(n_attributes)
    ]
    return {
        "n": n,
        "seed": seed,
        "k": draw(st.integers(2, 5)),
        "codes": np.column_stack(columns),
        "options": {
            "fairness": draw(st.sampled_from([0.0, 0.2, 0.5, 0.9])),
            "notion": notion,
            "resolution": draw(st.sampled_from([0.5, 1.0, 2.0])),
            "weights": np.array([1.0, 0.5, 3.0][:n_attributes]),
            "cap": draw(st.sampled_from([np.inf, 0.5, 0.9])),
            "even": draw(st.sampled_from([0.0, 0.1])) if notion == "normalized" else 0.0,
        },
    }


def pair_of(case, make_graph, labels=None, **bounds):
    """Return a compiled partition of a case, and the naive one."""
    adjacency = make_graph(case["n"], case["seed"])
    labels = labels_for(case["n"], case["k"], case["seed"]) if labels is None else labels
    k = bounds.pop("k", case["k"])
    level, objective = prepare(adjacency, case["codes"], **case["options"], k=k, **bounds)
    oracle = NaivePartition(adjacency.toarray(), labels, case["codes"], **case["options"], **bounds)
    return Partition(level, objective, labels, case["n"] if k == 0 else k), oracle


def one_visit(partition, site, *, within=EVERYTHING, fixed=True):
    """Let one site move; return the number of moves and what Q, the notion and the objective rose by."""
    awake, gained = np.ones(partition.level.n_sites, dtype=np.bool_), np.zeros(5)
    room = neighbour_buffers(partition.n_clusters)
    visit(*partition.arrays, Tour(0, np.array([site]), within, fixed, awake, NOTHING, gained, *room))
    return gained[:4]


def check_visit(partition, oracle, gained, expected):
    """The move is the best one if there is a gain, and nothing moves otherwise; what is told is what happened."""
    before, after = oracle.parts(), oracle.parts(partition.labels)
    assert gained[1] == pytest.approx(after[0] - before[0], abs=1e-9)
    if oracle.fairness > 0:
        assert gained[2] == pytest.approx(after[1] - before[1], abs=1e-9)
    if expected > 1e-9:
        assert gained[0] == 1
        assert gained[3] == pytest.approx(expected, abs=1e-9)
    elif expected < -1e-9:
        assert gained[0] == 0
    assert gained[0] == np.count_nonzero(partition.labels != oracle.labels)


def check_state(partition):
    """What is kept up to date is what a new partition of the labels has."""
    fresh = Partition(partition.level, partition.objective, partition.labels, partition.n_clusters)
    for name in ("size", "table"):
        np.testing.assert_array_equal(getattr(partition.state, name), getattr(fresh.state, name))
    for name in ("volume", "parts"):
        np.testing.assert_allclose(getattr(partition.state, name), getattr(fresh.state, name), atol=1e-9)
    np.testing.assert_allclose(partition.state.tally[[0, 1, 3]], fresh.state.tally[[0, 1, 3]], atol=1e-9)
    known, own = ~np.isnan(partition.state.cached), partition.state.cached
    for site in range(partition.level.n_sites if known.any() else 0):
        for c in range(partition.n_clusters):
            for side, column in ((side, s) for side in (0, 1) for s in partition.level.columns[site]):
                if column >= 0 and known[c, side, column]:
                    row = partition.state.table[c].copy()
                    row[column] += 1 - 2 * side
                    a = np.searchsorted(partition.objective.offsets, column, side="right") - 1
                    low, high = partition.objective.offsets[a : a + 2]
                    table, population = row[None, low:high], partition.objective.population[low:high]
                    score = partition.objective.notion.cluster_scores(table, population)[0]
                    evenness = EVENNESS.cluster_scores(table, population)[0] if table.any() else 1.0
                    score += partition.objective.terms.even * (evenness - 1)
                    size = row[low:high].sum() if partition.objective.notion.sized else 1
                    change = partition.objective.terms.weights[a] * score * size - partition.state.parts[c, a]
                    assert own[c, side, column] == pytest.approx(change, abs=1e-9)


@SETTINGS
@given(case=cases(), slack=st.sampled_from([None, 0, 1, 2]))
def test_with_k_fixed_the_best_of_all_clusters_is_taken(case, slack, make_graph):
    n, k = case["n"], case["k"]
    bounds = {} if slack is None else {"least": max(n // k - slack, 1), "most": -(-n // k) + slack}
    partition, oracle = pair_of(case, make_graph, **bounds)
    everywhere = case["options"]["fairness"] > 0 or oracle.most < n
    for site in range(n):
        near = range(k) if everywhere else {int(oracle.labels[j]) for j in np.flatnonzero(oracle.dense[site])}
        alone = np.count_nonzero(oracle.labels == oracle.labels[site]) == 1
        candidates = [
            c
            for c in near
            if c != oracle.labels[site] and not alone and oracle.broken(oracle.moved(site, c)) == 0
        ]
        moved = partition.relabelled(oracle.labels)
        check_visit(moved, oracle, one_visit(moved, site), oracle.best_move(site, candidates))


@SETTINGS
@given(case=cases(), bounded=st.booleans())
def test_with_k_free_the_best_of_the_neighbours_or_a_new_cluster_is_taken(case, bounded, make_graph):
    n = case["n"]
    cells = labels_for(n, 2, case["seed"] + 5) if bounded else np.zeros(n, dtype=np.int32)
    labels = common_parts(cells, labels_for(n, case["k"], case["seed"]))
    partition, oracle = pair_of(case, make_graph, labels, k=0)
    for site in range(n):
        near = {int(labels[j]) for j in np.flatnonzero(oracle.dense[site]) if cells[j] == cells[site]}
        if np.count_nonzero(labels == labels[site]) > 1:
            near |= {int(labels.max()) + 1}
        moved = partition.relabelled(labels)
        gained = one_visit(moved, site, within=cells if bounded else EVERYTHING, fixed=False)
        if labels.max() + 1 < n:
            check_visit(moved, oracle, gained, oracle.best_move(site, near - {int(labels[site])}))


@SETTINGS
@given(case=cases(), fixed=st.booleans())
def test_after_many_moves_everything_is_that_of_the_labels(case, fixed, make_graph):
    partition, oracle = pair_of(case, make_graph, **({} if fixed else {"k": 0}))
    gain = local_search(partition, np.random.default_rng(0), fixed=fixed)[2]
    assert gain == pytest.approx(oracle.value(partition.labels) - oracle.value(), abs=1e-9)
    check_state(partition)
    # No single move is left, to the cluster of a neighbour or where fairness counts to any.
    oracle.labels = partition.labels.copy()
    for site in range(case["n"]):
        alone = np.count_nonzero(oracle.labels == oracle.labels[site]) == 1
        near = {int(oracle.labels[j]) for j in np.flatnonzero(oracle.dense[site])}
        if fixed:
            near = set() if alone else set(range(case["k"])) if oracle.fairness > 0 else near
        assert oracle.best_move(site, near - {int(oracle.labels[site])}) <= 1e-9
    if fixed:
        assert np.unique(partition.labels).size == case["k"]


def annealed(partition, *, hot=5.0, n_steps=400, seed=0, cheap=1.0, dear=1.0):
    """Run the kernel of an annealing; return its cooling."""
    cooling = Cooling(hot, 0.5, cheap, dear, 50, n_steps, 0.4, np.array([seed], dtype=np.uint64),
                      partition.labels.copy(), np.array([0.0, 0.0, 0.0, float(partition.broken == 0)]),
                      **by_cluster(partition))  # fmt: skip
    anneal_kernel(*partition.arrays, cooling)
    return cooling


@SETTINGS
@given(case=cases(), coarse=st.booleans(), slack=st.sampled_from([None, 1]))
def test_an_annealing_counts_what_it_gains(case, coarse, slack, make_graph):
    n, k = case["n"], case["k"]
    bounds = {} if slack is None else {"least": max(n // k - slack, 1), "most": -(-n // k) + slack}
    partition, oracle = pair_of(case, make_graph, **bounds)
    parts = np.arange(n)
    if coarse:
        parts = common_parts(partition.labels, labels_for(n, 3, case["seed"] + 1))
        labels = np.empty(int(parts.max()) + 1, dtype=np.int32)
        labels[parts] = partition.labels
        partition = Partition(aggregate(partition.level, parts), partition.objective, labels, k)
    cooling = annealed(partition, seed=case["seed"])
    gain = oracle.value(partition.labels[parts]) - oracle.value()
    assert cooling.sums[GAIN] == pytest.approx(gain, abs=1e-9)
    check_state(partition)
    assert partition.broken == oracle.broken(partition.labels[parts])
    best = cooling.best[parts]
    assert np.unique(best).size == k
    if oracle.broken() == 0:
        assert oracle.broken(best) == 0
        assert oracle.value(best) >= oracle.value() - 1e-9


def ruled_pair(seed, with_home):
    """Return a partition of a random instance on its units, the naive one, and the unit of each node."""
    instance = random_instance(seed, nodes=(12, 30), clusters=(2, 4))
    graph, groups, rules, k = instance
    rng = np.random.default_rng(seed)
    codes = np.unique(groups["gender"], return_inverse=True)[1]
    objective, columns = make_objective(codes, n_nodes=graph.n_nodes, total=float(graph.adjacency.sum()))
    compiled = compile_rules(rules, graph, groups, k)
    level = aggregate(first_level(graph.adjacency, columns, objective.population.size), compiled.unit)
    home = rng.integers(k, size=graph.n_nodes) if with_home else None
    level_rules = LevelRules.of(compiled, home, 5)
    bounded = replace(
        objective.at(0.4), least=compiled.least_size, most=compiled.most_size, rules=level_rules
    )
    labels = level_rules.renumbered(level, rng.integers(k, size=level.n_sites).astype(np.int32))
    oracle = NaivePartition(
        graph.adjacency.toarray(), labels[compiled.unit], codes, 0.4,
        compiled=compiled, home=home, allowed=5, n_clusters=k,
    )  # fmt: skip
    return Partition(level, bounded, labels, k), oracle, compiled.unit


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("with_home", [False, True])
def test_rules_are_counted_exactly_through_moves_and_swaps(seed, with_home):
    partition, oracle, unit = ruled_pair(seed, with_home)
    assert int(partition.state.tally[BROKEN]) == oracle.broken()
    before = oracle.value()
    cooling = annealed(partition, hot=3.0, n_steps=3000, seed=seed, cheap=0.5, dear=2.0)
    gain = oracle.value(partition.labels[unit]) - before
    assert cooling.sums[GAIN] == pytest.approx(gain, abs=1e-9)
    for _ in range(2):
        assert int(partition.state.tally[BROKEN]) == oracle.broken(partition.labels[unit])
        fresh = Partition(partition.level, partition.objective, partition.labels, partition.n_clusters)
        for name in ("counts", "costs", "kept"):
            own, expected = (getattr(one.constraints, name) for one in (partition, fresh))
            np.testing.assert_array_equal(own, expected)
        moved = 0 if not with_home else int((oracle.home != partition.labels[unit]).sum())
        assert partition.constraints.sums[MOVED] == moved
        assert partition.constraints.sums[LACKING] >= 0
        missed = oracle.broken(partition.labels[unit])
        local_search(partition)
        assert oracle.broken(partition.labels[unit]) <= missed


@pytest.mark.parametrize("fairness", [0.0, 0.5])
@pytest.mark.parametrize("two", [False, True])
def test_swaps_gain_what_they_say_and_keep_sizes(fairness, two, make_graph):
    for seed in range(4):
        codes = codes_for(40, 3, seed, 1)
        codes = np.column_stack([codes, codes_for(40, 2, seed + 1)]) if two else codes
        adjacency, labels = make_graph(40, seed, 0.15), labels_for(40, 4, seed)
        level, objective = prepare(adjacency, codes, fairness, k=4, least=10, most=10)
        partition = Partition(level, objective, labels)
        partition = swap(partition, max_passes=30, least_gain=0.0)
        check_state(partition)
        np.testing.assert_array_equal(np.bincount(partition.labels), np.bincount(labels))
        before, after = (
            objective.value(*scores_of(level, one, objective)) for one in (labels, partition.labels)
        )
        assert after > before + 0.01


@settings(SETTINGS, max_examples=100)
@given(case=cases())
def test_scores_from_scratch_are_the_definitions(case, make_graph, naive):
    labels = compact(np.random.default_rng(case["seed"]).integers(0, case["k"], case["n"]))
    partition, oracle = pair_of(case, make_graph, labels, k=0)
    options = case["options"]
    q, fair = scores_of(partition.level, labels, partition.objective)
    assert q == pytest.approx(naive.naive_modularity(oracle.dense, labels, options["resolution"]), abs=1e-12)
    expected = naive.naive_notion(labels, case["codes"], options["notion"], options["weights"])
    assert fair == pytest.approx(expected, abs=1e-12)
    # On the clusters themselves, each a super-node, the same scores come out.
    coarse = aggregate(partition.level, labels)
    alone = np.arange(coarse.n_sites)
    assert scores_of(coarse, alone, partition.objective) == pytest.approx((q, fair), abs=1e-12)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("fairness", [0.0, 0.4])
def test_more_clusters_than_a_site_looks_at(notion, fairness, make_graph):
    """Only neighbours and a few others are looked at: gains stay exact, k stays, and sizes are mended."""
    n, k = 300, MOST_DENSE + 12
    level, objective = prepare(make_graph(n, 1, 0.03), codes_for(n, 3, 1), fairness, notion, k=k, least=2)
    labels = labels_for(n, k, 1)
    labels[labels == 3] = 4
    labels[0] = 3
    partition = Partition(level, objective, labels)
    before = partition.value
    gain = local_search(partition, np.random.default_rng(0))[2]
    assert gain == pytest.approx(partition.relabelled(partition.labels).value - before, abs=1e-9)
    assert partition.broken == 0
    assert np.unique(partition.labels).size == k


def test_same_seed_same_labels_and_annealing_finds_more_than_climbing(make_skewed):
    adjacency, codes = make_skewed(3)
    level, objective = prepare(adjacency, codes, 0.3, k=4)
    start = Partition(level, objective, labels_for(codes.size, 4, 0))
    runs = [anneal(start.relabelled(start.labels), np.random.default_rng(s), 20_000, 0.3) for s in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0].labels, runs[1].labels)
    local_search(start)
    assert max(run.value for run in runs) > start.value
    still = anneal(start.relabelled(start.labels), np.random.default_rng(0), 0, 0.3)
    np.testing.assert_array_equal(still.labels, start.labels)


def test_a_high_dial_prefers_the_notion_and_then_modularity():
    # Two cliques of four, each with one pair per group: any split is as fair as the cliques, no split as cohesive.
    from equigraph.graph import check_adjacency

    dense = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    level, objective = prepare(check_adjacency(dense), np.tile([0, 1], 4), 1.0)
    scrambled = np.array([0, 0, 1, 1, 2, 2, 3, 3], dtype=np.int32)
    labels, _ = climb(level, scrambled, objective.at(1.0), np.random.default_rng(0))
    assert labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_bad_codes_and_parameters_are_named(make_graph):
    adjacency = make_graph(6, 0)
    for codes, fairness, notion, error, match in (
        (np.arange(6) % 2, 0.5, "parity", ParameterError, "notion='parity'"),
        (np.arange(6) % 2, 1.5, "balance", ParameterError, "fairness"),
        (np.arange(6) % 2 * 2, 0.5, "balance", GroupsError, "Group 1 has no node"),
        (np.arange(5) % 2, 0.5, "balance", GroupsError, "shape"),
        (np.arange(6) % 2 - 2, 0.5, "balance", GroupsError, "one code per node"),
    ):
        with pytest.raises(error, match=match):
            prepare(adjacency, codes, fairness, notion)


def test_many_groups_are_refused_and_single_members_are_none():
    many = np.arange(2 * MOST_GROUPS + 2) // 2
    with pytest.raises(GroupsError, match=rf"{MOST_GROUPS + 1} groups.*bins"):
        make_objective(many, n_nodes=many.size, total=1.0)
    mixed = np.concatenate([np.arange(MOST_GROUPS + 5), np.zeros(20, dtype=int), np.ones(20, dtype=int)])
    objective, columns = make_objective(mixed, n_nodes=mixed.size, total=1.0)
    assert objective.population.tolist() == [21, 21]
    assert (columns[2 : MOST_GROUPS + 5] == -1).all()
    alone, _ = make_objective(np.arange(MOST_GROUPS + 5), n_nodes=MOST_GROUPS + 5, total=1.0)
    assert not alone.is_fair


def test_numbers_of_the_objective_have_one_type():
    # Another type would compile every loop again: seconds for who says at_least=1 in place of 1.0.
    plain, _ = make_objective(np.array([0, 1, 0]), n_nodes=3, total=2.0)
    odd, _ = make_objective(
        np.array([0, 1, 0]), n_nodes=np.int64(3), total=2, fairness=np.float32(0.5), resolution=1
    )
    kinds = [
        [type(value) for value in one.terms] for one in (plain, odd.at(1, cap=1), odd.at(np.float32(0.5)))
    ]
    assert kinds[0] == kinds[1] == kinds[2]


def test_one_pass_of_swaps_finds_partners_for_many():
    """Nodes wait in heaps, so that one pass serves many; one candidate for each pair of clusters serves few."""
    data = eg.datasets.make_planted_graph(3000, 4, mean_degree=12, mixing=0.3, random_state=0)
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(3000) < 0.3, rng.integers(2, size=3000), data.target % 2)
    labels = data.target
    for fairness in (0.2, 0.35, 0.5):
        level, objective = prepare(data.adjacency, codes, fairness, "evenness", k=4)
        partition = Partition(level, objective, labels)
        local_search(partition)
        labels = partition.labels
    start, once, often = (swap(partition, max_passes=passes, least_gain=0.0).value for passes in (0, 1, 30))
    assert once - start > 0.25 * (often - start) > 0
