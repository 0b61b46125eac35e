"""Sums and counts over groups against loops; groups without a member and clusters without a node keep their place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equigraph.graph.groups.encode import contingency_table, group_means, group_sums, indicator


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_indicator(dtype):
    found = indicator(np.array([0, 2, 0]), 4, dtype)
    assert found.dtype == dtype
    assert found.toarray().tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]


def test_contingency_table_of_more_cells_than_a_small_integer_counts():
    labels, codes = np.array([15], dtype=np.int8), np.array([19], dtype=np.int8)
    found = contingency_table(labels, codes, 16, 20)
    assert found[15, 19] == found.sum() == 1
    assert found.dtype == np.int64


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2), st.floats(-5, 5))))
def test_tables_against_loops(rows):
    labels, codes = (np.array([row[k] for row in rows], dtype=np.intp) for k in (0, 1))
    table = contingency_table(labels, codes, 4, 3)
    assert table.tolist() == [[sum(row[:2] == (a, b) for row in rows) for b in range(3)] for a in range(4)]
    known = [row for row in rows if row[1] >= 0]
    values, codes = np.array([[row[2]] for row in known], dtype="f4").reshape(-1, 1), codes[codes >= 0]
    sums = group_sums(values, codes, 3)
    assert sums.dtype == np.float64 or not known
    members = [values[codes == group, 0].astype(float) for group in range(3)]
    assert sums[:, 0] == pytest.approx([one.sum() for one in members], abs=1e-12)
    present = np.unique(codes)
    means = group_means(values, np.searchsorted(present, codes), present.size)
    assert means[:, 0] == pytest.approx([members[group].mean() for group in present], abs=1e-12)
