"""Balance-type scores against loops over nodes and groups."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equigraph import metrics as m
from tests.optional import optional
from tests.reference.labels_objective import cluster_score, naive_notion

pd = optional("pandas")

FAST = settings(max_examples=40, deadline=None)
PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40)


def rows_of(labels, groups):
    """Return the counts of every cluster, over the groups of the whole population, and those of the population."""
    names = sorted(set(groups))
    rows = [
        [list(zip(labels, groups, strict=True)).count((one, s)) for s in names] for one in sorted(set(labels))
    ]
    return rows, [groups.count(s) for s in names]


def naive_expected(labels, groups):
    """Return MOUFLON's F_prop."""
    rows, population = rows_of(labels, groups)
    n, h, score = len(groups), len(population), 0.0
    for row in rows:
        size = sum(row)
        left = size - sum(math.floor(n_s * size / n) for n_s in population)
        # The smallest group in proportion to what the floors used, plus its part of the rest.
        count = min(population) / n * (size - left) + left / h
        if size >= h > 1:
            lacking = (h - 1) * count / (size - count) - cluster_score(row, population, "mouflon")
            score += size / n * min(1.0, 1.0 - lacking)
    return score if h > 1 else 1.0


SCORES = {
    "balance": m.balance_score,
    "normalized": m.normalized_balance_score,
    "ratio": m.proportional_balance_score,
}


@FAST
@given(PAIRS, st.sampled_from(list(SCORES)))
def test_averages_of_scores_are_the_definitions(pairs, name):
    labels, groups = [p[0] for p in pairs], [p[1] for p in pairs]
    rows, population = rows_of(labels, groups)
    each = [cluster_score(row, population, name) for row in rows]
    expected = {
        "mean": np.mean(each),
        "min": min(each),
        "weighted": np.average(each, weights=list(map(sum, rows))),
    }
    for average, value in expected.items():
        found = SCORES[name](labels, sensitive_features=groups, average=average)
        assert found == pytest.approx(value, abs=1e-12)
        assert 0.0 <= found <= 1.0


@FAST
@given(PAIRS)
def test_mouflon_is_the_definition(pairs):
    labels, groups = [p[0] for p in pairs], [p[1] for p in pairs]
    found = m.mouflon_balance_score(labels, sensitive_features=groups)
    assert found == pytest.approx(naive_notion(labels, groups, "mouflon"), abs=1e-12)
    found = m.mouflon_balance_score(labels, sensitive_features=groups, expected=True)
    assert found == pytest.approx(naive_expected(labels, groups), abs=1e-12)
    assert -1e-12 <= found <= 1.0 + 1e-12


@pytest.mark.parametrize(
    "convert",
    [
        list,
        np.array,
        lambda x: np.array(x, dtype=np.int8),
        lambda x: np.array(x, dtype=np.uint64),
        lambda x: np.array(x) * 10**12 - 5,
        lambda x: np.array(x, dtype=float),
        lambda x: np.array(x, dtype=bool),
        lambda x: np.array(x).astype(str),
        lambda x: np.array(x).astype(str).astype(object),
        lambda x: ["one" if v else 0 for v in x],
        lambda x: pd.Series(x, index=np.arange(len(x))[::-1]),
        lambda x: pd.Series(pd.Categorical(x)),
        lambda x: np.array(x)[:, None],
    ],
)
def test_any_type_of_labels_and_groups(convert):
    labels, groups = [0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 0, 1, 1, 1]
    assert m.balance_score(convert(labels), sensitive_features=convert(groups)) == pytest.approx(
        (1 / 2 + 1 / 3) / 2
    )


def test_exact_values():
    groups = ["x"] * 6 + ["y"] * 3
    mirrored = [0, 0, 1, 1, 2, 2, 0, 1, 2]
    assert m.normalized_balance_score(mirrored, sensitive_features=groups) == pytest.approx(1.0)
    assert m.balance_score(mirrored, sensitive_features=groups) == m.population_balance(groups) == 0.5
    segregated = ["a"] * 6 + ["b"] * 3
    for score in (m.balance_score, m.normalized_balance_score, m.mouflon_balance_score):
        assert score(segregated, sensitive_features=groups) == 0.0
    # Small balanced clusters beside a large unbalanced one: B rises above the population, NB does not.
    gamed = [0, 1, 2, 2, 2, 2, 0, 1, 2]
    assert m.balance_score(gamed, sensitive_features=groups) == pytest.approx(0.75)
    assert m.normalized_balance_score(np.repeat(gamed, 10), sensitive_features=np.repeat(groups, 10)) < 0.7
    # On so few nodes that is as near to two thirds as whole nodes come.
    assert m.normalized_balance_score(gamed, sensitive_features=groups) == 1.0


def test_empty_clusters():
    labels, groups = [0, 0, 3, 3], [0, 1, 0, 1]
    assert m.balance_score(labels, sensitive_features=groups, n_clusters=4) == 1.0
    zero = {"n_clusters": 4, "empty": "zero"}
    assert m.balance_score(labels, sensitive_features=groups, **zero) == 0.5
    assert m.balance_score(labels, sensitive_features=groups, average="min", **zero) == 0.0
    assert m.balance_score(labels, sensitive_features=groups, average="weighted", **zero) == 1.0
    assert m.balance_score(labels, sensitive_features=groups, n_clusters=2, empty="zero") == 1.0
