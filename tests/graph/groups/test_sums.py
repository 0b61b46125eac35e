"""Sums and counts over groups, by hand; groups without a member and clusters without a node keep their place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equigraph.graph.groups.encode import contingency_table, group_means, group_sums, indicator

CODES = np.array([0, 2, 0])
VALUES = np.array([[1, 10], [2, 20], [4, 40]], dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_indicator(dtype):
    found = indicator(CODES, 4, dtype)
    assert found.dtype == dtype
    assert found.toarray().tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]
    assert indicator(CODES, 3).dtype == np.float64


def test_sums_and_means():
    sums = group_sums(VALUES, CODES, 4)
    assert sums.dtype == np.float64
    assert sums.tolist() == [[5, 50], [0, 0], [2, 20], [0, 0]]
    assert group_means(VALUES, np.array([0, 1, 0]), 2).tolist() == [[2.5, 25], [2, 20]]
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(group_means(VALUES, CODES, 4)[[1, 3]]).all()


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([0, 1, 1], [[1, 1, 0], [0, 0, 0], [0, 1, 0]]),
        ([0, -1, 2], [[1, 0, 0], [0, 0, 0], [0, 0, 1]]),
        ([-1, -1, -1], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
    ],
)
def test_contingency_table(codes, expected):
    found = contingency_table(np.array([0, 0, 2], dtype=np.int32), np.array(codes), 3, 3)
    assert found.tolist() == expected
    assert found.dtype == np.int64


def test_contingency_table_of_nothing_and_of_more_cells_than_a_small_integer_counts():
    assert contingency_table(np.array([], int), np.array([], int), 2, 2).tolist() == [[0, 0], [0, 0]]
    labels, codes = np.array([15], dtype=np.int8), np.array([19], dtype=np.int8)
    assert contingency_table(labels, codes, 16, 20)[15, 19] == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(-5, 5)), min_size=1))
def test_tables_against_loops(rows):
    labels, codes, values = (np.array(column) for column in zip(*rows, strict=True))
    table = contingency_table(labels, codes, 4, 3)
    sums = group_sums(values[:, None], codes, 3)
    for cluster in range(4):
        for group in range(3):
            assert table[cluster, group] == sum((a, b) == (cluster, group) for a, b, _ in rows)
    for group in range(3):
        members = [value for _, b, value in rows if b == group]
        assert sums[group, 0] == pytest.approx(sum(members), abs=1e-12)
    present = np.unique(codes)
    compact = np.searchsorted(present, codes)
    means = group_means(values[:, None], compact, present.size)
    assert means[:, 0] == pytest.approx([values[codes == g].mean() for g in present], abs=1e-12)
