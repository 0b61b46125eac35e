"""The nodes of a graph in a store of rows: every walk gives what dense arrays say, however the rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equigraph.search.ground import Ground
from equigraph.search.levels import aggregate, first_level, scores_of
from equigraph.search.multilevel import local_moves
from equigraph.search.steps import Steps
from tests.reference.label_fixtures import SETTINGS, codes_for
from tests.search.test_parts import ground_of, random_weights

FEW = settings(SETTINGS, max_examples=25)
graphs = st.tuples(st.integers(6, 25), st.integers(0, 10**6), st.sampled_from([0.1, 0.4]))


def prepared(graph, k=3):
    """Return a graph in one block, the same in four, its level, objective and some labels."""
    n, seed, _ = graph
    adjacency = random_weights(*graph)
    codes = np.column_stack([codes_for(n, 2, seed, 1), codes_for(n, 3, seed + 1)])
    whole, objective = ground_of(adjacency, codes)
    cut, _ = ground_of(adjacency, codes, cuts=[0, n // 4, n // 4 + 1, n // 2, n])
    level = first_level(adjacency, whole.nodes.columns, objective.population.size)
    labels = np.random.default_rng(seed).permutation(np.arange(n) % k).astype(np.int32)
    return whole, cut, level, objective, labels


@FEW
@given(graph=graphs)
def test_sums_are_those_of_the_level(graph):
    whole, cut, level, objective, labels = prepared(graph)
    dense = level.graph.toarray()
    onehot = np.eye(3)[labels]
    for ground in (whole, cut):
        np.testing.assert_allclose(ground.strength, dense.sum(axis=1))
        np.testing.assert_allclose(ground.inside(labels, 3), np.diag(onehot.T @ dense @ onehot), atol=1e-12)
        assert ground.scores(labels, objective) == pytest.approx(scores_of(level, labels, objective))
        nodes = np.flatnonzero(labels == 1)
        np.testing.assert_allclose(ground.links(nodes, labels, 3), dense[nodes] @ onehot, atol=1e-12)
        coarse, expected = ground.aggregate(labels, objective), aggregate(level, labels, objective)
        np.testing.assert_allclose(coarse.graph.toarray(), expected.graph.toarray(), atol=1e-12)
        np.testing.assert_array_equal(coarse.counts, expected.counts)
        sizes = np.bincount(labels)
        mean = onehot.T @ dense @ onehot / np.outer(sizes, sizes)
        np.testing.assert_allclose(ground.interaction(labels, objective).toarray(), mean, atol=1e-12)


@FEW
@given(graph=graphs, fairness=st.sampled_from([0.0, 0.4]))
def test_moves_are_those_on_the_level_in_index_order(graph, fairness):
    whole, cut, level, objective, labels = prepared(graph)
    objective = objective.at(fairness)
    expected = local_moves(level, labels, objective, None, keep_clusters=True, max_passes=9).labels
    for ground in (whole, cut):
        found = ground.settle(labels, objective, max_passes=9, least_gain=0.0)
        np.testing.assert_array_equal(found, expected)


@FEW
@given(graph=graphs, fairness=st.sampled_from([0.0, 0.4, 0.97]))
def test_swaps_raise_the_objective_and_keep_sizes(graph, fairness):
    whole, cut, level, objective, labels = prepared(graph)
    objective = objective.at(fairness)

    def value(labels):
        return objective.value(*scores_of(level, labels, objective))

    found = [ground.swap(labels, objective, max_passes=30, least_gain=0.0) for ground in (whole, cut)]
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(Steps(level, 3).swap(labels, objective), whole.swap(labels, objective))
    np.testing.assert_array_equal(np.bincount(found[0]), np.bincount(labels))
    assert value(found[0]) >= value(labels) - 1e-12


@pytest.mark.parametrize("fairness", [0.0, 0.5])
def test_what_swaps_say_they_gain_is_what_they_gain(fairness, monkeypatch):
    whole, _, level, objective, labels = prepared((60, 0, 0.2))
    objective = objective.at(fairness)
    told = []
    walk = whole.store.walk

    def listening(visit, state, *arguments, **options):
        state = walk(visit, state, *arguments, **options)
        told.append(state[1].copy())
        return state

    monkeypatch.setattr(whole.store, "walk", listening)
    found = whole.swap(labels, objective, max_passes=30, least_gain=0.0)
    before, after = (objective.value(*scores_of(level, one, objective)) for one in (labels, found))
    assert told[-1][0] > 3
    assert after - before == pytest.approx(told[-1][1], abs=1e-12)
    # No pair is left in a last pass, which found nothing.
    assert told[-1][0] == told[-2][0]


def test_weights_are_in_units_of_the_largest(tmp_path):
    import equigraph as eg
    from equigraph.stores.distributed import StreamedRows

    adjacency = random_weights(30, 0, 0.3)
    blocks = eg.write_blocks(adjacency * 1e-3, tmp_path / "x", rows_per_block=11)
    ground = Ground(StreamedRows(blocks))
    assert ground.scale == pytest.approx(1e-3 * adjacency.data.max())
    np.testing.assert_allclose(ground.strength, adjacency.sum(axis=1) / adjacency.data.max(), rtol=1e-10)
