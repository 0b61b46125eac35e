"""The random graphs: sizes, densities, seeds, and the sampling below them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equigraph.datasets import make_fair_sbm, make_planted_graph
from equigraph.datasets.sbm import largest_remainder, sample_distinct, triangle_pair
from equigraph.exceptions import ParameterError


def check_canonical(adjacency):
    assert adjacency.format == "csr"
    assert adjacency.has_canonical_format
    copy = adjacency.copy()
    copy.has_canonical_format = False
    copy.sum_duplicates()
    assert copy.nnz == adjacency.nnz
    np.testing.assert_array_equal(copy.indices, adjacency.indices)
    assert adjacency.indices.dtype == np.int32
    assert np.all(adjacency.data == 1)
    assert adjacency.diagonal().sum() == 0
    assert (adjacency != adjacency.T).nnz == 0


def block_counts(data, n_groups, n_blocks):
    """Return the number of edge ends between every two (cluster, group) blocks, and the block sizes."""
    block = data.target * n_groups + data.sensitive_features
    onehot = np.eye(n_blocks)[block]
    return onehot.T @ (data.adjacency @ onehot), onehot.sum(axis=0)


@pytest.mark.parametrize("chances", [(0.6, 0.35, 0.2, 0.05), (1, 0, 1, 0), (0, 0, 0, 0)])
def test_block_densities(chances):
    data = make_fair_sbm(900, 3, 2, probabilities=chances, random_state=3)
    check_canonical(data.adjacency)
    assert data.probabilities == chances
    ends, sizes = block_counts(data, 2, 6)
    assert sizes.tolist() == [150] * 6
    for one in range(6):
        for two in range(one, 6):
            same_cluster, same_group = one // 2 == two // 2, one % 2 == two % 2
            p = chances[2 * (not same_group) + (not same_cluster)]
            pairs = 150 * 149 / 2 if one == two else 150 * 150
            edges = ends[one, two] / 2 if one == two else ends[one, two]
            assert abs(edges - pairs * p) <= 4.5 * np.sqrt(pairs * p * (1 - p))


@pytest.mark.parametrize(("n_groups", "expected"), [(5, 136_135), (2, 223_806)])
def test_published_edge_counts(n_groups, expected):
    data = make_fair_sbm(2000, 5, n_groups, random_state=0)
    assert data.adjacency.nnz / 2 == pytest.approx(expected, rel=0.01)
    chances = np.array([10, 7, 4, 1]) * (np.log(2000) / 2000) ** (2 / 3)
    np.testing.assert_allclose(data.probabilities, chances)


def test_order_and_sizes_with_unequal_shares():
    shares = {"cluster_shares": [0.7, 0.2, 0.1], "group_shares": [0.6, 0, 0.4]}
    data = make_fair_sbm(1000, 3, 3, **shares, probabilities=(0.1,) * 4, random_state=0)
    block = data.target * 3 + data.sensitive_features
    assert np.all(np.diff(block) >= 0)
    assert np.bincount(block).tolist() == [420, 0, 280, 120, 0, 80, 60, 0, 40]
    assert data.node_names.tolist() == list(range(1000))
    check_canonical(data.adjacency)


@pytest.mark.parametrize(
    "make",
    [lambda s: make_fair_sbm(500, random_state=s), lambda s: make_planted_graph(500, 4, random_state=s)],
)
def test_seeds(make):
    one, two, other = make(7), make(7), make(8)
    assert (one.adjacency != two.adjacency).nnz == 0
    assert (one.adjacency != other.adjacency).nnz > 0
    assert (make(np.random.default_rng(7)).adjacency != one.adjacency).nnz == 0
    state = np.random.RandomState
    assert (make(state(7)).adjacency != make(state(7)).adjacency).nnz == 0
    assert (make(state(7)).adjacency != make(state(8)).adjacency).nnz > 0
    assert (make(None).adjacency != make(None).adjacency).nnz > 0


UNEVEN = {"cluster_shares": [0.992, 0.004, 0.004], "mixing": 1.0, "mean_degree": 40}
SBM = {"n_nodes": 500}
PLANTED = {"n_nodes": 250, "n_clusters": 2}


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (make_fair_sbm, SBM | {"n_nodes": 1.5}, "n_nodes must be"),
        (make_fair_sbm, {"n_nodes": 20, "probabilities": (0.1,) * 4}, "too small"),
        (make_fair_sbm, {"n_nodes": 120}, "161 nodes or more"),
        (make_fair_sbm, SBM | {"random_state": "seed"}, "random_state must be"),
        (make_fair_sbm, SBM | {"probabilities": (0.1, 0.2, 0.3, 1.2)}, "four numbers"),
        (make_fair_sbm, SBM | {"probabilities": "abcd"}, "give numbers"),
        (make_fair_sbm, SBM | {"cluster_shares": [0.5, 0.5]}, "give 5 shares"),
        (make_fair_sbm, SBM | {"group_shares": [0.5, 0.5, 0.5, 0, 0]}, "sums to 1.5"),
        (make_fair_sbm, SBM | {"group_shares": [1.5, -0.5, 0, 0, 0]}, "nonnegative"),
        (make_fair_sbm, {"n_nodes": 10**6}, "above the limit"),
        (make_planted_graph, PLANTED | {"n_clusters": 1}, "mixing=0"),
        (make_planted_graph, PLANTED | {"n_clusters": 20}, "cannot hold an inner degree of 16"),
        (make_planted_graph, PLANTED | {"n_clusters": 3} | UNEVEN, "too few"),
        (make_planted_graph, PLANTED | {"n_clusters": 3, "cluster_shares": [0.999, 0.001, 0]}, "too small"),
        (make_planted_graph, PLANTED | {"mixing": 1.5}, "mixing must be"),
        (make_planted_graph, PLANTED | {"mean_degree": 0}, "mean_degree must be"),
        (make_planted_graph, PLANTED | {"group_mix": [[0.5, 0.5]]}, "one row"),
        (make_planted_graph, PLANTED | {"group_mix": [[0.5, 0.5], [0.5, 0.4]]}, "Row 1 of group_mix sums to"),
    ],
)
def test_graphs_that_cannot_be_drawn(make, arguments, message):
    with pytest.raises(ParameterError, match=message):
        make(**arguments)


def test_planted_graph():
    mix = [[0.7, 0.3], [0.3, 0.7], [0.5, 0.5]]
    options = {"mean_degree": 16, "mixing": 0.25, "group_mix": mix, "cluster_shares": [0.5, 0.3, 0.2]}
    data = make_planted_graph(6000, 3, **options, random_state=1)
    check_canonical(data.adjacency)
    table = np.zeros((3, 2), dtype=int)
    np.add.at(table, (data.target, data.sensitive_features), 1)
    assert table.tolist() == [[2100, 900], [540, 1260], [600, 600]]
    degree = data.adjacency.sum(axis=1)
    assert degree.mean() == pytest.approx(16, rel=0.02)
    edges = data.adjacency.tocoo()
    out = data.target[edges.row] != data.target[edges.col]
    assert out.mean() == pytest.approx(0.25, rel=0.03)
    inner = np.bincount(edges.row[~out], minlength=6000)
    for cluster in range(3):
        assert inner[data.target == cluster].mean() == pytest.approx(12, rel=0.03)
    # Inside a cluster, edges do not know the groups.
    first = data.target == 0
    block = data.adjacency[first][:, first].tocoo()
    girls = data.sensitive_features[first] == 0
    assert (girls[block.row] & girls[block.col]).mean() == pytest.approx(0.49, abs=0.01)


def test_planted_single_cluster():
    data = make_planted_graph(300, 1, mixing=0, mean_degree=10, random_state=0)
    assert data.adjacency.nnz / 300 == pytest.approx(10, rel=0.1)
    assert data.probabilities == ([10 / 299], 0)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 120),
    k=st.integers(1, 5),
    h=st.integers(1, 4),
    chances=st.tuples(*[st.floats(0, 1)] * 4),
    seed=st.integers(0, 2**32),
)
def test_any_sbm_is_a_graph(n, k, h, chances, seed):
    if n < k * h:
        with pytest.raises(ParameterError, match="too small"):
            make_fair_sbm(n, k, h, probabilities=chances, random_state=seed)
        return
    data = make_fair_sbm(n, k, h, probabilities=chances, random_state=seed)
    check_canonical(data.adjacency)
    sizes = np.bincount(data.target * h + data.sensitive_features, minlength=k * h)
    assert sizes.sum() == n
    assert sizes.max() - sizes.min() <= 1


@settings(deadline=None)
@given(n=st.integers(0, 10**6), weights=st.lists(st.floats(0.01, 1), min_size=1, max_size=12))
def test_largest_remainder(n, weights):
    shares = np.array(weights) / np.sum(weights)
    parts = largest_remainder(n, shares)
    assert parts.sum() == n
    assert np.all(np.abs(parts - n * shares) < 1 + 1e-6)


@settings(deadline=None)
@given(
    ranges=st.lists(st.tuples(st.integers(0, 300), st.floats(0, 1)), min_size=1, max_size=8),
    seed=st.integers(0, 99),
)
def test_distinct_slots(ranges, seed):
    slots = np.array([size for size, _ in ranges])
    counts = np.array([int(size * share) for size, share in ranges])
    chosen = sample_distinct(slots, counts, np.random.default_rng(seed))
    assert np.all(np.diff(chosen) > 0)
    bounds = np.concatenate([[0], np.cumsum(slots)])
    assert chosen.size == counts.sum()
    for low, high, count in zip(bounds[:-1], bounds[1:], counts, strict=True):
        assert np.count_nonzero((chosen >= low) & (chosen < high)) == count


@pytest.mark.parametrize("count", [2, 8])
def test_every_slot_is_as_likely(count):
    rng = np.random.default_rng(0)
    rounds = 6000
    hits = np.zeros(10)
    for _ in range(rounds):
        hits[sample_distinct(np.array([10]), np.array([count]), rng)] += 1
    share = count / 10
    assert np.abs(hits / rounds - share).max() < 4.5 * np.sqrt(share * (1 - share) / rounds)


_ROWS = st.integers(1, 2**30)


@given(
    index=st.integers(0, 2**59)
    | _ROWS.map(lambda row: row * (row - 1) // 2)
    | _ROWS.map(lambda row: row * (row + 1) // 2 - 1)
)
def test_triangle_pair_is_exact(index):
    row, column = (int(part[0]) for part in triangle_pair(np.array([index])))
    assert 0 <= column < row
    assert row * (row - 1) // 2 + column == index


def test_planted_default_mix_turns():
    data = make_planted_graph(400, 4, random_state=0)
    shares = [np.mean(data.sensitive_features[data.target == cluster] == 0) for cluster in range(4)]
    assert shares == pytest.approx([0.7, 0.3, 0.7, 0.3])
