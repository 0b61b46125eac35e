"""The search: exactly k clusters, one pool for all targets, and the seed alone decides."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import equigraph as eg
from equigraph._utils.callbacks import Notifier
from equigraph.graph.validate import unit_weights
from equigraph.search.large import best_number, make_search
from equigraph.search.pool import TOLERANCE, Target
from equigraph.search.search import Search
from tests.reference.label_fixtures import SETTINGS, codes_for, labels_for, skewed_blocks
from tests.reference.labels_objective import NOTIONS

VALUES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)


def value(fairness, scores):
    return (1 - fairness) * scores[0] + fairness * scores[1]


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("effort", [0.0, 0.2])
def test_along_the_dial_fairness_rises_and_every_value_has_the_best_labels(notion, effort, make_skewed):
    adjacency, codes = make_skewed(0, n_blocks=4, size=20)
    search = make_search(adjacency, codes, 3, notion=notion, effort=effort, seed=0)
    found = search.solve([Target(f) for f in VALUES], [labels_for(codes.size, 3, 0)])
    points = [search.score(labels) for labels in found]
    for labels in found:
        assert np.unique(labels).size == 3
    fair = np.array([point[1] for point in points])
    assert (np.diff(fair) >= -TOLERANCE).all()
    for fairness, own in zip(VALUES[:-1], points[:-1], strict=True):
        assert value(fairness, own) >= max(value(fairness, other) for other in points) - 1e-9


@pytest.mark.parametrize("seed", range(2))
def test_a_curve_is_at_least_as_good_as_every_single_fit(seed, make_graph):
    """What is done for one target does not depend on the others, and all share the pool."""
    n = 20 + 10 * seed
    adjacency, codes = make_graph(n, seed, 0.15), codes_for(n, 2 + seed % 2, seed)
    targets = [Target(0.0), Target(0.2), Target(0.5), Target(0.8), Target(at_least=0.9)]
    options = {"effort": 0.3, "seed": seed}
    together = make_search(adjacency, codes, 3, **options).solve(targets)
    for target, labels in zip(targets, together, strict=True):
        search = make_search(adjacency, codes, 3, **options)
        alone, curve = search.score(search.solve([target])[0]), search.score(labels)
        if target.at_least is None:
            assert value(target.fairness, curve) >= value(target.fairness, alone) - 1e-12
        else:
            assert curve[1] >= min(target.at_least, alone[1]) - 1e-12
            assert curve[0] >= alone[0] - 1e-12 or alone[1] < target.at_least


@pytest.mark.parametrize("target", [Target(0.3), Target(1.0), Target(at_least=0.8)])
def test_the_labels_returned_are_the_best_of_all_that_were_seen(target, make_skewed, monkeypatch):
    adjacency, codes = make_skewed(1, n_blocks=4, size=15)
    seen = []
    keep = Search.keep

    def watched(self, labels):
        seen.append(self.score(labels))
        return keep(self, labels)

    monkeypatch.setattr(Search, "keep", watched)
    search = make_search(adjacency, codes, 4, effort=0.3, seed=2)
    found = search.score(search.solve([target])[0])
    assert len(seen) > 10
    if target.at_least is not None:
        assert found[1] >= 0.8
        assert found[0] >= max(q for q, n in seen if n >= 0.8)
    elif target.fairness < 1:
        assert value(target.fairness, found) >= max(value(target.fairness, one) for one in seen)
    else:
        fairest = max(n for _, n in seen)
        assert found[1] >= fairest - TOLERANCE
        assert found[0] >= max(q for q, n in seen if n >= fairest - TOLERANCE)


@settings(SETTINGS, max_examples=20)
@given(
    n=st.integers(6, 30),
    k=st.integers(2, 6),
    seed=st.integers(0, 1000),
    density=st.sampled_from([0.0, 0.1, 0.4]),
    fairness=st.sampled_from([0.0, 0.5, 1.0]),
    n_unknown=st.sampled_from([0, 2]),
)
def test_exactly_k_clusters(n, k, seed, density, fairness, n_unknown, make_graph):
    codes = codes_for(n, 2, seed, n_unknown)
    search = make_search(make_graph(n, seed, density), codes, k, effort=0.05, seed=seed)
    labels = search.solve([Target(fairness)])[0]
    assert labels.dtype == np.int32
    assert np.unique(labels).tolist() == list(range(k))


@pytest.mark.parametrize("factor", [1e-9, 7.0])
def test_the_unit_of_weights_does_not_matter_to_the_bit(factor):
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.2), k=1)
    adjacency, codes = sparse.csr_array(upper + upper.T), codes_for(40, 2, 0)
    np.testing.assert_array_equal(unit_weights(adjacency * factor).data, unit_weights(adjacency).data)
    targets = [Target(0.0), Target(0.3), Target(at_least=0.9)]
    first, other = (
        make_search(a, codes, 4, effort=0.2).solve(targets) for a in (adjacency, adjacency * factor)
    )
    np.testing.assert_array_equal(first, other)


def test_the_seed_alone_decides(make_skewed):
    adjacency, codes = make_skewed(2, n_blocks=4, size=15, inside=0.2, outside=0.1)
    targets = [Target(0.4), Target(at_least=0.7)]
    runs = [make_search(adjacency, codes, 5, effort=0.2, seed=seed).solve(targets) for seed in (1, 1)]
    np.testing.assert_array_equal(runs[0], runs[1])
    # Without a search that ends in the same optimum, another seed gives other labels.
    starts = [
        make_search(adjacency, codes, 5, effort=0, seed=seed).solve([Target(0.4)])[0] for seed in range(6)
    ]
    assert len({one.tobytes() for one in starts}) > 1


def test_without_groups_the_dial_has_no_effect(make_skewed):
    adjacency, _ = make_skewed(0, n_blocks=4, size=15, inside=0.2, outside=0.1)
    for effort in (0, 0.2):
        targets = [Target(0.0), Target(0.5), Target(1.0), Target(at_least=0.9)]
        alone = [make_search(adjacency, None, 5, effort=effort).solve([target])[0] for target in targets]
        for labels in alone + make_search(adjacency, None, 5, effort=effort).solve(targets):
            np.testing.assert_array_equal(labels, alone[0])


def test_starts_may_leave_numbers_out(make_skewed):
    """A factorisation may leave columns without a node: labels 0, 5 and 9 are three clusters."""
    adjacency, codes = make_skewed(0)
    labels = np.array([0, 5, 9])[labels_for(codes.size, 3, 0)]
    for k in (2, 3, 7):
        search = make_search(adjacency, codes, k, effort=0)
        assert np.unique(search.exactly(labels)).tolist() == list(range(k))
        assert np.unique(search.solve([Target(0.5)], [labels])[0]).tolist() == list(range(k))
    search = make_search(adjacency, codes, 3, effort=0)
    np.testing.assert_array_equal(search.exactly(labels), labels_for(codes.size, 3, 0))


def test_starts_take_part(make_skewed):
    """The blocks in pairs are the best fair clusters; even without effort, who is given them does not lose them."""
    adjacency, codes = make_skewed(0)
    pairs = np.arange(codes.size) // 60
    search = make_search(adjacency, codes, 3, effort=0)
    labels = search.solve([Target(0.3)], [pairs])[0]
    assert value(0.3, search.score(labels)) >= value(0.3, search.score(pairs)) - 1e-12


def test_several_attributes_are_weighed(make_graph, naive):
    adjacency = make_graph(24, 3, 0.2)
    codes = np.column_stack([np.arange(24) % 2, np.arange(24) // 8])
    reached = []
    for weights in ([1.0, 0.001], [0.001, 1.0]):
        search = make_search(adjacency, codes, 3, weights=np.array(weights), effort=0.2)
        labels = search.solve([Target(0.9)])[0]
        expected = naive.naive_notion(labels, codes, "normalized", weights)
        assert search.score(labels)[1] == pytest.approx(expected, abs=1e-12)
        reached.append([naive.naive_notion(labels, codes[:, a], "normalized") for a in (0, 1)])
    assert reached[0][0] > 0.99
    assert reached[1][1] > 0.99


def test_the_callback_is_told_and_stops(make_skewed):
    adjacency, codes = make_skewed(2, n_blocks=4, size=15)
    told = []

    def stop(progress):
        told.append((progress.stage, progress.step, progress.total))
        return len(told) == 2

    labels = make_search(adjacency, codes, 4, effort=1).solve([Target(0.5)], notify=Notifier(stop))[0]
    assert [stage for stage, _, _ in told] == ["search", "search"]
    assert told[-1][1] == 2 < told[-1][2]
    assert np.unique(labels).size == 4


def test_the_number_of_clusters_comes_out(make_skewed):
    cliques = np.kron(np.eye(5), np.ones((6, 6)) - np.eye(6))
    cliques[np.arange(0, 24, 6), np.arange(6, 30, 6)] = 1
    adjacency = eg.graph.check_adjacency(np.maximum(cliques, cliques.T))
    assert best_number(adjacency, None, Target(0.0)) == 5
    # Blocks in pairs, each of one group: where fairness counts, the pairs are the clusters.
    adjacency, codes = make_skewed(0)
    assert best_number(adjacency, codes, Target(0.0)) >= 3
    assert best_number(adjacency, codes, Target(0.8)) == 3
    assert best_number(adjacency, codes, Target(at_least=0.95)) == 3


def test_the_front_fills_the_gaps_of_the_dial():
    adjacency, codes = skewed_blocks(0, n_blocks=4, size=15, paired=2)
    search = make_search(adjacency, codes, 4, effort=0.3)
    pool = search.front()
    for labels, told in zip(pool.labels, pool.scores, strict=True):
        assert np.unique(labels).size == 4
        assert search.score(labels) == pytest.approx(told, abs=1e-12)
    notions = np.sort([notion for _, notion in pool.scores])
    assert notions[0] < 0.3
    assert notions[-1] > 0.95
    assert np.diff(notions).max() < 0.1
    assert len(notions) > 10


def test_swaps_at_the_end_only_help():
    adjacency, codes = skewed_blocks(1, n_blocks=6, size=100, paired=3)
    found = []
    for n_swaps in (0, 3):
        search = make_search(adjacency, codes, 6, effort=0.1)
        assert search.plan.n_swaps  # these nodes are so many that an annealing misses some
        search.plan = replace(search.plan, n_swaps=n_swaps)
        modularity, notion = search.score(search.solve([Target(0.5)])[0])
        found.append((modularity + notion) / 2)
    assert found[1] > found[0]


def test_longer_annealings_pay_on_a_graph_without_clusters():
    rng, n = np.random.default_rng(6), 800
    pairs = sparse.coo_array((np.ones(3 * n), rng.integers(n, size=(2, 3 * n))), shape=(n, n)).tocsr()
    pairs.setdiag(0)
    adjacency = (pairs + pairs.T).sign().tocsr()
    adjacency.eliminate_zeros()
    found = []
    for changes in ({"n_plain": 0}, {"n_unclear": 0}, {}):
        search = make_search(adjacency, None, 12)
        search.plan = replace(search.plan, **changes)
        found.append(search.score(search.solve([Target()])[0])[0])
    assert found[1] > found[0]
    assert found[2] > found[1] + 0.001


def test_annealing_under_the_guide_finds_more_where_every_cluster_is_fair(monkeypatch):
    """Where NB is 1, no small change of the labels pays under NB itself."""
    mix = np.random.default_rng(2).dirichlet(np.full(4, 1.5), size=12)
    data = eg.datasets.make_planted_graph(600, 12, mean_degree=14, mixing=0.35, group_mix=mix, random_state=2)
    anneal = Search._annealed

    def annealed_without(search, labels, objective, rng, hot, share=1.0, guide=None):
        return anneal(search, labels, objective, rng, hot, share)

    def mean_value():
        models = [eg.FairPartition(12, 0.5, random_state=seed) for seed in (0, 1)]
        fits = [model.fit(data.adjacency, sensitive_features=data.sensitive_features) for model in models]
        assert min(fit.notion_ for fit in fits) == 1
        return np.mean([fit.objective_ for fit in fits])

    with_guide = mean_value()
    monkeypatch.setattr(Search, "_annealed", annealed_without)
    assert with_guide > mean_value()
