"""Parts of a graph and its rows in a store: every walk gives what dense arrays say, however the rows are cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from equigraph.graph import check_adjacency
from equigraph.search.kernels.parts import collapse, own_weight
from equigraph.search.large import coarsen
from equigraph.search.level import aggregate, common_parts, compact, first_level
from equigraph.search.moves import local_search, swap
from equigraph.search.objective import make_objective
from equigraph.search.partition import Partition, scores_of
from equigraph.search.rows import GraphRows
from equigraph.stores.blocks import MemoryBlocks
from equigraph.stores.rows import StreamedRows
from tests.reference.label_fixtures import SETTINGS, codes_for, prepare
from tests.reference.naive_steps import spread_labels


def random_weights(n, seed, density):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), k=1)
    return check_adjacency(upper + upper.T)


def rows_in(adjacency, codes=None, cuts=None):
    """Return the nodes of a graph in memory, cut into blocks, and their objective."""
    objective, columns = make_objective(codes, n_nodes=adjacency.shape[0], total=float(adjacency.sum()))
    ground = GraphRows(StreamedRows(MemoryBlocks.of(adjacency, cuts)), scale=1.0)
    ground.divide(columns, objective.population.size)
    return ground, objective


def dense_of(level):
    return sparse.csr_array((level.data, level.indices, level.indptr), shape=(level.n_sites,) * 2).toarray()


graphs = st.tuples(st.integers(2, 25), st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.4]))


@SETTINGS
@given(graph=graphs, k=st.integers(1, 8))
def test_weights_of_clusters_are_products_with_the_indicators(graph, k):
    adjacency = random_weights(*graph)
    labels = compact(np.random.default_rng(graph[1]).integers(0, k, graph[0]))
    k = int(labels.max()) + 1
    onehot = np.eye(k)[labels]
    expected = onehot.T @ adjacency.toarray() @ onehot
    level, _ = prepare(adjacency, None, 0.0)
    own = own_weight(level.indptr, level.indices, level.data, 0, labels)
    np.testing.assert_allclose(np.bincount(labels, own, k), np.diag(expected), atol=1e-12)
    indptr, indices, data = collapse(level.indptr, level.indices, level.data, 0, labels, k)
    collapsed = sparse.csr_array((data, indices, indptr), shape=(k, k)).toarray()
    np.testing.assert_allclose(collapsed, expected - np.diag(np.diag(expected)), atol=1e-12)
    # Every pair of parts has one entry, so that the arrays are a graph as they are.
    assert all(np.unique(row).size == row.size for row in np.split(indices, indptr[1:-1]))


@SETTINGS
@given(graph=graphs, k=st.integers(1, 8), n_unknown=st.sampled_from([0, 1]))
def test_a_level_of_clusters(graph, k, n_unknown):
    n, seed, _ = graph
    adjacency = random_weights(*graph)
    codes = np.column_stack([codes_for(n, 1, seed, n_unknown), codes_for(n, min(2, n), seed + 1)])
    level, _ = prepare(adjacency, codes, 0.5)
    labels = compact(np.random.default_rng(seed).integers(0, k, n))
    onehot = np.eye(labels.max() + 1)[labels]
    coarse = aggregate(level, labels)
    expected = onehot.T @ adjacency.toarray() @ onehot
    np.testing.assert_allclose(dense_of(coarse), expected - np.diag(np.diag(expected)), atol=1e-12)
    np.testing.assert_allclose(coarse.strength, expected.sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(coarse.sizes, onehot.sum(axis=0))
    groups = [(column[:, None] == np.arange(column.max() + 1)).astype(int) for column in codes.T]
    np.testing.assert_array_equal(coarse.counts, (onehot.T @ np.column_stack(groups)).astype(int))
    assert all((np.diff(row) > 0).all() for row in np.split(coarse.indices, coarse.indptr[1:-1]))
    assert [array.dtype for array in coarse] == [array.dtype for array in level]
    # Twice aggregated is aggregated at once.
    again = compact(np.arange(coarse.n_sites) // 2)
    twice, once = aggregate(coarse, again), aggregate(level, again[labels])
    np.testing.assert_allclose(dense_of(twice), dense_of(once), atol=1e-12)
    np.testing.assert_array_equal(twice.counts, once.counts)
    np.testing.assert_array_equal(twice.sizes, once.sizes)


@SETTINGS
@given(graph=graphs, bounded=st.booleans(), share=st.sampled_from([0.15, 0.4, 2.0]))
def test_labels_spread_as_defined(graph, bounded, share):
    n, seed, _ = graph
    adjacency = random_weights(*graph)
    ground, _ = rows_in(adjacency, cuts=[0, n // 3, n // 2, n])
    cells = np.random.default_rng(seed).integers(0, 2, n).astype(np.int32) * bounded
    most = share * float(ground.strength.sum())
    found = ground.spread(cells if bounded else None, most, 4)
    np.testing.assert_array_equal(found, spread_labels(adjacency.toarray(), cells, most, 4))


@pytest.mark.parametrize("seed", range(5))
def test_parts_stay_within_cells_and_below_the_bound(seed, make_graph):
    ground, _ = rows_in(make_graph(80, seed, 0.05))
    cells = (np.arange(80) % 2).astype(np.int32)
    most = 0.2 * ground.strength.sum()
    parts = ground.spread(cells, most, 3)
    strengths = np.bincount(parts, weights=ground.strength)
    assert strengths.max() <= max(most, ground.strength.max())
    assert all(np.unique(cells[parts == part]).size == 1 for part in np.unique(parts))
    assert np.unique(parts).size < 60


def test_without_cells_the_whole_graph_is_one_cell(make_graph):
    level, _ = rows_in(make_graph(60, 0, 0.05))
    one_cell = coarsen(level, np.zeros(60, dtype=np.int32), 6)[0]
    np.testing.assert_array_equal(coarsen(level, None, 6)[0], one_cell)


def scattered(n_pairs, n_leaves, n_alone):
    """Return many components of two nodes, a star, and nodes without edges."""
    pairs = np.kron(np.eye(n_pairs), [[0.0, 1.0], [1.0, 0.0]])
    star = np.zeros((n_leaves + 1, n_leaves + 1))
    star[0, 1:] = star[1:, 0] = 1
    return sparse.csr_array(sparse.block_diag([pairs, star, sparse.csr_array((n_alone, n_alone))]))


def test_what_is_left_over_is_packed_within_cells():
    adjacency = scattered(200, 300, 300)
    n = adjacency.shape[0]
    rng = np.random.default_rng(0)
    codes, cells = rng.integers(0, 3, n), rng.integers(0, 2, n).astype(np.int32)
    level, _ = rows_in(adjacency, codes)
    parts, coarse = coarsen(level, cells, 20)
    assert 20 <= coarse.n_sites <= 200
    assert all(np.unique(cells[parts == part]).size == 1 for part in range(coarse.n_sites))
    np.testing.assert_array_equal(coarse.counts.sum(axis=0), np.bincount(codes))
    # Nodes without edges serve fairness best in parts of one group.
    alone = np.unique(parts[-300:])
    purity = coarse.counts[alone].max(axis=1).sum() / coarse.counts[alone].sum()
    assert purity > 0.9


@SETTINGS
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=30))
def test_pairs_of_labels_are_numbered(pairs):
    one, other = (np.array(column, dtype=np.int32) for column in zip(*pairs, strict=True))
    found = common_parts(one, other)
    assert sorted(set(found.tolist())) == list(range(len(set(pairs))))
    for i, pair in enumerate(pairs):
        for j, peer in enumerate(pairs):
            assert (found[i] == found[j]) == (pair == peer)


FEW = settings(SETTINGS, max_examples=25)
larger = st.tuples(st.integers(6, 25), st.integers(0, 10**6), st.sampled_from([0.1, 0.4]))


def prepared(graph, k=3):
    """Return a graph in one block, the same in four, its level, objective and some labels."""
    n, seed, _ = graph
    adjacency = random_weights(*graph)
    codes = np.column_stack([codes_for(n, 2, seed, 1), codes_for(n, 3, seed + 1)])
    whole, objective = rows_in(adjacency, codes)
    cut, _ = rows_in(adjacency, codes, cuts=[0, n // 4, n // 4 + 1, n // 2, n])
    level = first_level(adjacency, whole.nodes.columns, objective.population.size)
    labels = np.random.default_rng(seed).permutation(np.arange(n) % k).astype(np.int32)
    return whole, cut, level, objective, labels


@FEW
@given(graph=larger)
def test_sums_are_those_of_the_level(graph):
    whole, cut, level, objective, labels = prepared(graph)
    dense = dense_of(level)
    onehot = np.eye(3)[labels]
    for ground in (whole, cut):
        np.testing.assert_allclose(ground.strength, dense.sum(axis=1))
        np.testing.assert_allclose(
            np.bincount(labels, ground.own(labels), 3), np.diag(onehot.T @ dense @ onehot), atol=1e-12
        )
        assert ground.scores(labels, objective) == pytest.approx(scores_of(level, labels, objective))
        nodes = np.flatnonzero(labels == 1)
        np.testing.assert_allclose(ground.links(nodes, labels, 3), dense[nodes] @ onehot, atol=1e-12)
        coarse, expected = ground.aggregate(labels), aggregate(level, labels)
        np.testing.assert_allclose(dense_of(coarse), dense_of(expected), atol=1e-12)
        np.testing.assert_array_equal(coarse.counts, expected.counts)
        sizes = np.bincount(labels)
        mean = onehot.T @ dense @ onehot / np.outer(sizes, sizes)
        np.testing.assert_allclose(ground.interaction(labels).toarray(), mean, atol=1e-12)


@FEW
@given(graph=larger, fairness=st.sampled_from([0.0, 0.4]))
def test_moves_are_those_on_the_level_in_index_order(graph, fairness):
    whole, cut, level, objective, labels = prepared(graph)
    objective = objective.at(fairness)
    partition = Partition(level, objective, labels)
    local_search(partition, max_passes=9)
    for ground in (whole, cut):
        found, gain = ground.settle(labels, objective, max_passes=9, least_gain=0.0)
        np.testing.assert_array_equal(found, partition.labels)
        before, after = (scores_of(level, one, objective)[0] for one in (labels, found))
        assert gain == pytest.approx(after - before, abs=1e-12)


@FEW
@given(graph=larger, fairness=st.sampled_from([0.0, 0.4, 0.97]))
def test_swaps_raise_the_objective_and_keep_sizes(graph, fairness):
    whole, cut, level, objective, labels = prepared(graph)
    objective = objective.at(fairness)

    def value(labels):
        return objective.value(*scores_of(level, labels, objective))

    found = [ground.swap(labels, objective, max_passes=30, least_gain=0.0) for ground in (whole, cut)]
    np.testing.assert_array_equal(*found)
    swapped = swap(Partition(level, objective, labels))
    np.testing.assert_array_equal(swapped.labels, whole.swap(labels, objective))
    np.testing.assert_array_equal(np.bincount(found[0]), np.bincount(labels))
    assert value(found[0]) >= value(labels) - 1e-12


def test_weights_are_in_units_of_the_largest(tmp_path):
    import equigraph as eg

    adjacency = random_weights(30, 0, 0.3)
    blocks = eg.write_blocks(adjacency * 1e-3, tmp_path / "x", rows_per_block=11)
    ground = GraphRows(StreamedRows(blocks))
    assert ground.scale == pytest.approx(1e-3 * adjacency.data.max())
    np.testing.assert_allclose(ground.strength, adjacency.sum(axis=1) / adjacency.data.max(), rtol=1e-10)
