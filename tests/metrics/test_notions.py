"""Notions of fairness: their properties, in plain and in compiled code, and custom notions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equigraph as eg
from equigraph.exceptions import ParameterError
from equigraph.metrics import notions
from equigraph.metrics.notions import BALANCE, EVENNESS, MOUFLON, NORMALIZED, NOTIONS, Notion, get_notion
from tests.reference.labels_objective import cluster_score, naive_notion

FAST = settings(max_examples=40, deadline=None, derandomize=True)
COUNTS = st.integers(0, 9)


@st.composite
def tables(draw, most_clusters=5, most_groups=5, counts=COUNTS):
    """Return a table in which every cluster and every group has a member."""
    k, h = draw(st.integers(1, most_clusters)), draw(st.integers(1, most_groups))
    rows = draw(st.lists(st.lists(counts, min_size=h, max_size=h), min_size=k, max_size=k))
    table = np.array(rows, dtype=np.int64)
    table[table.sum(axis=1) == 0, 0] = 1
    table[0, table.sum(axis=0) == 0] = 1
    return table


def exact_scores(table, notion):
    population = table.sum(axis=0).tolist()
    return [cluster_score(row, population, notion) for row in table.tolist()]


def is_rounded(table):
    """Whether every count is the floor or the ceiling of what its cluster would have in proportion."""
    n, sizes, population = table.sum(), table.sum(axis=1), table.sum(axis=0)
    return all(
        math.floor(Fraction(int(size * p), int(n))) <= count <= math.ceil(Fraction(int(size * p), int(n)))
        for size, row in zip(sizes, table, strict=True)
        for p, count in zip(population, row, strict=True)
    )


# Normalised balance counts whole nodes.


@FAST
@given(tables())
def test_nb_lies_between_0_and_1_and_is_the_definition(table):
    value = NORMALIZED.value(table)
    assert 0 <= value <= 1
    scores = exact_scores(table, "normalized")
    np.testing.assert_allclose(NORMALIZED.cluster_scores(table), scores, rtol=1e-15)
    assert value == pytest.approx(table.sum(axis=1) @ scores / table.sum(), abs=1e-15)


@FAST
@given(tables(counts=st.integers(0, 3)))
def test_nb_is_1_exactly_where_all_counts_are_rounded_proportions(table):
    assert (NORMALIZED.value(table) == 1) == is_rounded(table)
    scores = NORMALIZED.cluster_scores(table)
    assert (scores < 1).any() == (not is_rounded(table))


@pytest.mark.parametrize("n", [7, 10**6, 10**9, 3 * 10**9])
def test_whole_numbers_near_a_boundary(n):
    """Expected counts that are whole, or miss it by one part in billions, are told apart."""
    # Half of the population in half of the nodes: exactly n of 2n, no rounding allowed.
    assert NORMALIZED.cluster_scores([[n, n]], [2 * n, 2 * n]).tolist() == [1.0]
    (found,) = NORMALIZED.cluster_scores([[n - 1, n + 1]], [2 * n, 2 * n])
    assert found == pytest.approx((n - 1) / n, rel=1e-15)
    assert found < 1
    # One node more in the population and nothing is whole: both neighbours count as fair.
    population = [2 * n, 2 * n + 1]
    for counts in ([n, n], [n - 1, n + 1]):
        expected = [Fraction(2 * n * p, 4 * n + 1) for p in population]
        fair = all(math.floor(e) <= c <= math.ceil(e) for c, e in zip(counts, expected, strict=True))
        assert (NORMALIZED.cluster_scores([counts], population)[0] == 1) == fair
    assert NORMALIZED.cluster_scores([[n - 1, n + 1]], population)[0] == 1.0


def _call(score, counts, population):
    """Call a compiled score from compiled code, as the search does."""
    return float(notions._score_rows()(score, counts[None], population, np.array([True]))[0])


# Every notion, plain and compiled.


@settings(FAST, max_examples=30)
@given(tables(), st.sampled_from(list(NOTIONS)))
def test_plain_and_compiled_scores_agree(table, name):
    notion, population = NOTIONS[name], table.sum(axis=0)
    plain = notion.cluster_scores(table)
    np.testing.assert_allclose(plain, exact_scores(table, name), atol=1e-12)
    compiled = [_call(notion.compiled(), row, population) for row in table]
    np.testing.assert_array_equal(compiled, plain)
    assert notion.value(table, compiled=True) == notion.value(table)


@pytest.mark.parametrize("name", NOTIONS)
def test_large_tables_are_scored_by_compiled_code(name, monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 4, (60, 5))
    table[3] = 0
    plain = NOTIONS[name].cluster_scores(table)
    assert plain[3] == 0
    monkeypatch.setattr(notions, "_MOST_PLAIN", 1)
    np.testing.assert_allclose(NOTIONS[name].cluster_scores(table), plain, rtol=1e-15)
    labels = np.repeat(np.arange(60), table.sum(axis=1))
    groups = np.concatenate([np.repeat(np.arange(5), row) for row in table])
    assert NOTIONS[name].value(table) == pytest.approx(naive_notion(labels, groups, name))


@FAST
@given(tables(), st.sampled_from(list(NOTIONS)))
def test_empty_clusters_do_not_count(table, name):
    padded = np.vstack([table, np.zeros((2, table.shape[1]), dtype=np.int64)])
    assert NOTIONS[name].value(padded) == NOTIONS[name].value(table)


@FAST
@given(tables(most_groups=2))
def test_evenness_of_two_groups_is_one_minus_the_index_of_dissimilarity(table):
    value = EVENNESS.value(table)
    if table.shape[1] == 1:
        assert value == 1.0
        return
    a, b = table.T
    dissimilarity = np.abs(a / a.sum() - b / b.sum()).sum() / 2
    assert value == pytest.approx(1 - dissimilarity, abs=1e-12)


def test_notions_are_found_by_name():
    assert [NOTIONS[name].measure for name in NOTIONS] == ["NB", "B", "mouflon", "evenness"]
    assert get_notion("balance") is BALANCE
    assert get_notion(MOUFLON) is MOUFLON
    for wrong in ("parity", 3, None):
        with pytest.raises(ParameterError, match="'normalized', 'balance', 'mouflon', 'evenness'"):
            get_notion(wrong)


# A custom notion.


def halves(counts, population):
    """Half of every cluster should be of the first group, whatever the population is."""
    size = 0
    for count in counts:
        size += count
    return 1 - abs(2 * counts[0] / size - 1)


HALVES = Notion("halves", "H", halves)


def test_search_maximises_a_custom_notion():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((24, 24)) < 0.3, 1)
    # A third of the first group: the population cannot be mirrored and halved at once.
    groups = np.where(np.arange(24) % 3 == 0, "a", "b")
    model = eg.FairPartition(4, 0.9, notion=HALVES, effort=0.2, random_state=0)
    model.fit((upper + upper.T).astype(float), sensitive_features=groups)
    table = np.array([[np.sum((model.labels_ == c) & (groups == g)) for g in ("a", "b")] for c in range(4)])
    assert model.notion_ == pytest.approx(HALVES.value(table))
    # Every cluster has at most its half of the first group: then the mean is twice its share, the most there is.
    assert model.notion_ == pytest.approx(2 / 3)
    assert (2 * table[:, 0] <= table.sum(axis=1)).all()
    bounded = eg.FairPartition(4, at_least=0.6, notion=HALVES, effort=0.2, random_state=0)
    bounded.fit((upper + upper.T).astype(float), sensitive_features=groups)
    assert bounded.notion_ >= 0.6 - 1e-12
    assert bounded.modularity_ >= model.modularity_ - 1e-12


def test_notion_defined_at_a_prompt_is_compiled():
    names = {}
    exec("def first(counts, population):\n    return counts[0] / (counts[0] + counts[1])", names)
    notion = Notion("first", "F", names["first"])
    assert notion.value([[1, 3], [2, 2]]) == 0.375
    assert _call(notion.compiled(), np.array([1, 3]), np.array([3, 5])) == 0.25


def importing(counts, population):
    import math

    return math.exp(-abs(counts[0] - counts[1]))


def with_a_dict(counts, population):
    return {0: 1.0, 1: 0.5}.get("first" if counts[0] else "other", WEIGHTS["a"])


WEIGHTS = {"a": 0.5}


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda counts, population: float("nan"), "is nan"),
        (lambda counts, population: counts[0] / counts[1], r"fails for .* division by zero"),
        (lambda counts, population: [0.5, 0.5], r"is \[0.5, 0.5\]"),
        (lambda counts, population: "fair", "is 'fair'"),
        (lambda counts, population: counts.sum(), "no attribute 'sum'"),
        (lambda counts: 1.0, "fails for"),
        (importing, "cannot be compiled"),
        (with_a_dict, "cannot be compiled"),
    ],
)
def test_invalid_notions_raise(score, message):
    path = np.diag(np.ones(11), 1)
    model = eg.FairPartition(2, 0.5, notion=Notion("own", "O", score), effort=0, random_state=0)
    with pytest.raises(ParameterError, match=message) as caught:
        model.fit(path + path.T, sensitive_features=list("ab" * 6))
    assert "'own'" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("given", "message"),
    [((1, "O", halves), "name"), (("own", "", halves), "measure"), (("own", "O", 0.5), "score")],
)
def test_parts_of_a_notion_are_checked(given, message):
    with pytest.raises(ParameterError, match=message):
        Notion(*given)
    with pytest.raises(ParameterError, match="guide"):
        Notion("own", "O", halves, guide="up")


# Scores of one cluster, by hand.


@pytest.mark.parametrize(
    ("notion", "counts", "population", "score"),
    [
        (BALANCE.guided(), [3, 2, 4], [9, 9, 9], (5 / 2) / 4),
        (BALANCE.guided(), [4, 2], [9, 9], 2 / 4),
        (BALANCE.guided(), [5], [9], 0),
        (MOUFLON.guided(), [2, 0, 4], [9, 9, 9], 1 / 4),
        (EVENNESS, [2, 2, 0], [4, 4, 0], 1),
        (EVENNESS, [0, 2, 2], [0, 4, 4], 1),
        (NORMALIZED.guided(), [3, 1], [4, 4], 0.5),
    ],
)
def test_scores_of_one_cluster(notion, counts, population, score):
    assert notion.score(counts, population) == pytest.approx(score, abs=1e-15)


def test_empty_clusters_and_a_given_population():
    table = [[1, 3], [0, 0], [3, 1]]
    assert BALANCE.cluster_scores(table).tolist() == [1 / 3, 0, 1 / 3]
    assert BALANCE.value([[0, 0]]) == 0
    assert EVENNESS.cluster_scores([[2, 0]], np.array([1, 1])).tolist() == [0]
    assert EVENNESS.cluster_scores([[2, 0]]).tolist() == [1]
