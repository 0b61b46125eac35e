"""Sensitive features of every kind become the same codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equigraph.exceptions import GroupsError
from equigraph.graph.groups import contingency_table, encode_groups, group_means, group_sums
from tests.optional import optional

pa = optional("pyarrow")
pd = optional("pandas")
pl = optional("polars")


COLUMNS = {
    "list": list,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "column vector": lambda values: np.array(values)[:, None],
    "pandas": lambda values: pd.Series(values),
    "pandas categorical": lambda values: pd.Series(values, dtype="category"),
    "pandas frame": lambda values: pd.DataFrame({"g": values}),
    "polars": lambda values: pl.Series(values),
    "pyarrow": lambda values: pa.array(values),
    "pyarrow chunks": lambda values: pa.chunked_array([values[:2], values[2:]]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_container(kind):
    groups = encode_groups(COLUMNS[kind](["b", "a", "c", "a"]))
    assert groups.codes.tolist() == [1, 0, 2, 0]
    assert groups.names.tolist() == ["a", "b", "c"]
    assert groups.sizes.tolist() == [2, 1, 1]
    assert groups.shares.sum() == 1


def test_mixed_types_stay_apart():
    groups = encode_groups([1, "1", 1, "x"])
    assert groups.n_groups == 3
    assert groups.codes[0] == groups.codes[2] != groups.codes[1]


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan])
def test_missing_values_are_told_with_their_place(missing):
    with pytest.raises(GroupsError, match=r"1 of 3 nodes is missing \(first at position 1"):
        encode_groups(["a", missing, "b"])


def test_pandas_missing_values():
    with pytest.raises(GroupsError, match="2 of 3"):
        encode_groups(pd.Series(["a", pd.NA, None], dtype="string"))


@pytest.mark.parametrize(("value", "message"), [("gender", "not a single str"), (np.zeros((3, 2)), "shape")])
def test_wrong_shapes(value, message):
    with pytest.raises(GroupsError, match=message):
        encode_groups(value)


def test_length_is_checked():
    with pytest.raises(GroupsError, match="2 values and the graph has 3 nodes"):
        encode_groups([1, 2], n_nodes=3)


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


@pytest.mark.parametrize("absent", [lambda: None, lambda: float("nan"), lambda: pd.NA])
def test_ignored_values_have_no_group(absent):
    groups = encode_groups(["b", absent(), "a", "b", None], missing="ignore")
    assert groups.codes.tolist() == [1, -1, 0, 1, -1]
    assert groups.names.tolist() == ["a", "b"]
    assert groups.sizes.tolist() == [1, 2]
    assert groups.n_ungrouped == 2
    np.testing.assert_allclose(groups.shares, [1 / 3, 2 / 3])


def test_masked_values_are_missing():
    masked = np.ma.masked_array(["a", "b", "a"], mask=[False, True, False])
    assert encode_groups(masked, missing="ignore").codes.tolist() == [0, -1, 0]
    with pytest.raises(GroupsError, match=r"1 of 3 nodes is missing \(first at position 1"):
        encode_groups(masked)
    bare = encode_groups(np.ma.masked_array([2, 1, 2]))
    assert (bare.codes.tolist(), bare.names.tolist(), bare.names.dtype.kind) == ([1, 0, 1], [1, 2], "i")
