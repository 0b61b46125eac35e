"""Refinement of labels: never worse, a local maximum, exactly k clusters, the same for the same seed."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equigraph as eg
from equigraph.exceptions import GroupsError, InputError, ParameterError
from equigraph.search.large import make_search
from equigraph.search.moves import local_search
from equigraph.search.partition import Partition
from equigraph.search.pool import TOLERANCE
from tests.reference.label_fixtures import SETTINGS, codes_for, labels_for, prepare
from tests.reference.labels_objective import NOTIONS
from tests.reference.marks import TINY_GRAPHS

pytestmark = TINY_GRAPHS
# Labels of all sizes are refined here.
refine_labels = partial(eg.refine_labels, size_bounds=None)


def scores(adjacency, labels, codes, notion="normalized"):
    search = make_search(adjacency, codes, int(labels.max()) + 1, notion=notion)
    return search.score(labels)


cases = st.fixed_dictionaries(
    {
        "n": st.integers(8, 16),
        "seed": st.integers(0, 10**6),
        "n_groups": st.integers(2, 4),
        "k": st.integers(2, 5),
        "fairness": st.one_of(st.sampled_from([0.0, 0.5, 0.97]), st.floats(0, 0.99)),
        "notion": st.sampled_from(NOTIONS),
    }
)


@SETTINGS
@given(case=cases)
def test_never_worse_than_the_start_and_a_local_maximum(case, make_graph, naive):
    n, seed, k, fairness, notion = (case[name] for name in ("n", "seed", "k", "fairness", "notion"))
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    start = labels_for(n, k, seed)
    found = refine_labels(
        adjacency, start, sensitive_features=codes, fairness=fairness, notion=notion, random_state=seed
    )
    dense = adjacency.toarray()

    def value(labels):
        return naive.naive_objective(dense, labels, codes, fairness, notion)

    best = value(found)
    assert np.unique(found).tolist() == list(range(k))
    assert best >= value(start) - 1e-9
    for node in range(n):
        if np.count_nonzero(found == found[node]) == 1:
            continue
        for cluster in range(k):
            other = found.copy()
            other[node] = cluster
            assert value(other) <= best + 1e-9


@SETTINGS
@given(case=cases)
def test_at_one_the_notion_comes_first_up_to_the_tolerance(case, make_graph, naive):
    n, seed, k, notion = case["n"], case["seed"], case["k"], case["notion"]
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    start = labels_for(n, k, seed)
    found = refine_labels(
        adjacency, start, sensitive_features=codes, fairness=1, notion=notion, random_state=seed
    )
    level, objective = prepare(adjacency, codes, 1.0, notion)
    partition = Partition(level, objective.at(1.0), found)
    local_search(partition, np.random.default_rng(seed))
    climbed = partition.labels
    reached = naive.naive_notion(found, codes, notion)
    assert reached >= naive.naive_notion(climbed, codes, notion) - TOLERANCE - 1e-9
    assert reached >= naive.naive_notion(start, codes, notion) - TOLERANCE - 1e-9


def test_at_one_cohesion_decides_among_equally_fair_labels():
    dense = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    start = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    found = refine_labels(
        dense, start, sensitive_features=np.tile([0, 1], 4), fairness=1, effort=1, random_state=0
    )
    assert found.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("options", [{}, {"max_moves": 3}, {"stay": 0.01}])
def test_labels_keep_their_numbers_and_texts_and_tell_who_moved(make_skewed, options):
    adjacency, codes = make_skewed(0)
    given = labels_for(codes.size, 4, 0)
    first = refine_labels(adjacency, given, sensitive_features=codes, fairness=0.2, random_state=0)
    texts = np.array(["north", "south", "west", "east"])[first]
    found = refine_labels(adjacency, texts, sensitive_features=codes, fairness=0.5, random_state=0, **options)
    again = refine_labels(adjacency, first, sensitive_features=codes, fairness=0.5, random_state=0, **options)
    assert set(found) == set(texts)
    # As many nodes stay as under any other naming of the clusters.
    kept = eg.metrics.clustering_accuracy(texts, found)
    assert np.mean(found == texts) == pytest.approx(kept)
    assert np.mean(again == first) == pytest.approx(eg.metrics.clustering_accuracy(first, again))
    if "max_moves" in options:
        assert 0 < np.count_nonzero(found != texts) <= 3
    # A limit on moves is no rule.
    model = eg.FairPartition(4, effort=0, random_state=0)
    assert model.refine(adjacency, first, sensitive_features=codes, **options).rules_ is None


@pytest.mark.parametrize(
    "convert",
    [
        lambda labels: labels.astype(np.uint64),
        lambda labels: labels.astype(float) + 0.5,
        lambda labels: labels.astype(np.int64) * 10**12 - 7,
        lambda labels: np.array(["north", "south", "west"], dtype=object)[labels],
        lambda labels: labels[:, None],
        lambda labels: pytest.importorskip("pandas").Series(labels),
    ],
    ids=["uint64", "float", "sparse numbers", "object", "column", "series"],
)
def test_labels_of_any_type(convert, make_graph):
    adjacency, codes, labels = make_graph(30, 0), codes_for(30, 2, 0), labels_for(30, 3, 0)
    expected = refine_labels(adjacency, labels, sensitive_features=codes, random_state=0)
    found = refine_labels(adjacency, convert(labels), sensitive_features=codes, random_state=0)
    np.testing.assert_array_equal(found, np.ravel(convert(expected)))


@pytest.mark.parametrize(("given_k", "wanted"), [(6, 2), (2, 6), (1, 3), (30, 4), (3, 29), (2, 30)])
@pytest.mark.parametrize("fairness", [0, 0.5, 1])
def test_another_number_of_clusters(given_k, wanted, fairness, make_graph):
    adjacency, codes = make_graph(30, 2), codes_for(30, 3, 2)
    found = refine_labels(
        adjacency,
        labels_for(30, given_k, 2),
        sensitive_features=codes,
        n_clusters=wanted,
        fairness=fairness,
        random_state=0,
    )
    assert np.unique(found).tolist() == list(range(wanted))
    assert (np.diff(np.bincount(found)) <= 0).all()


def test_bad_input_is_named(make_graph):
    adjacency, codes, labels = make_graph(12, 0), np.arange(12) % 2, np.arange(12) % 3

    def refuse(error, match, labels=labels, **settings):
        with pytest.raises(error, match=match):
            refine_labels(adjacency, labels, **{"sensitive_features": codes, **settings})

    refuse(InputError, "There are 5 labels for 12 nodes", labels=labels[:5])
    refuse(InputError, "one-dimensional", labels=3)
    refuse(InputError, "one-dimensional", labels=np.zeros((12, 2)))
    refuse(InputError, "4 of 12 labels are missing", labels=np.where(labels == 1, np.nan, labels))
    refuse(InputError, "1 of 12 labels are missing", labels=[None, *"abcabcabcab"])
    refuse(ParameterError, "All nodes have the same label", labels=np.zeros(12))
    refuse(GroupsError, "constant", sensitive_features=np.zeros(12))
    refuse(ParameterError, "n_clusters", n_clusters=1)
    refuse(ParameterError, "n_clusters", n_clusters=2.5)
    refuse(ParameterError, "fairness", fairness=1.5)
    refuse(ParameterError, "notion", notion="parity")
    refuse(ParameterError, "effort", effort=-1)


def test_effort_searches_further(make_skewed):
    adjacency, codes = make_skewed(3)
    start = np.zeros(codes.size, dtype=int)
    start[:2] = 1, 2
    options = {"sensitive_features": codes, "fairness": 0.5, "random_state": 0}
    values = [
        float(np.mean(scores(adjacency, refine_labels(adjacency, start, effort=effort, **options), codes)))
        for effort in (0, 1)
    ]
    assert values[1] >= values[0] - 1e-12
    # The pairs of blocks: fair, and as cohesive as fair clusters can be here.
    pairs = np.arange(codes.size) // 60
    assert values[1] >= np.mean(scores(adjacency, pairs, codes)) - 1e-9


def test_without_effort_swaps_are_tried_too():
    """Where sizes are tied, or every cluster mirrors the population, no move of a single node helps."""
    room = eg.datasets.make_classroom()
    options = {"sensitive_features": room.sensitive_features, "random_state": 0}
    start = np.arange(30) % 3
    for bounds in (None, (10, 10)):
        found = refine_labels(room.adjacency, start, size_bounds=bounds, **options)
        assert eg.metrics.modularity_score(room.adjacency, found) > 0.3
        assert eg.metrics.normalized_balance_score(found, sensitive_features=room.sensitive_features) == 1.0
