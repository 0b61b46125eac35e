"""Sensitive features of every kind become the same codes, and numbers become bins."""

import numpy as np
import pytest

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.groups.encode import bin_groups, encode_groups, mean_gap
from tests.optional import optional

pa = optional("pyarrow")
pd = optional("pandas")
pl = optional("polars")

NAN = float("nan")

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


def test_mixed_types_are_different_groups():
    groups = encode_groups([1, "1", 1, "x"])
    assert groups.n_groups == 3
    assert groups.codes[0] == groups.codes[2] != groups.codes[1]


MASKED = np.ma.masked_array(["a", "b", "a"], mask=[False, True, False])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        *((["a", gap, "b"], r"1 of 3 nodes is missing \(first at position 1") for gap in (None, NAN, pd.NA)),
        (MASKED, r"1 of 3 nodes is missing \(first at position 1"),
        ("gender", "not a single str"),
        (np.zeros((3, 2)), "shape"),
        ([1, 2], "2 values and the graph has 3 nodes"),
    ],
)
def test_what_are_no_groups_of_three_nodes(value, message):
    with pytest.raises(GroupsError, match=message):
        encode_groups(value, n_nodes=3)


@pytest.mark.parametrize("absent", [None, NAN, pd.NA])
def test_ignored_values_have_no_group(absent):
    groups = encode_groups(["b", absent, "a", "b", None], missing="ignore")
    assert groups.codes.tolist() == [1, -1, 0, 1, -1]
    assert groups.names.tolist() == ["a", "b"]
    assert groups.sizes.tolist() == [1, 2]
    assert groups.n_ungrouped == 2
    np.testing.assert_allclose(groups.shares, [1 / 3, 2 / 3])


def test_masked_values_are_missing():
    assert encode_groups(MASKED, missing="ignore").codes.tolist() == [0, -1, 0]
    bare = encode_groups(np.ma.masked_array([2, 1, 2]))
    assert (bare.codes.tolist(), bare.names.tolist(), bare.names.dtype.kind) == ([1, 0, 1], [1, 2], "i")


@pytest.mark.parametrize(
    ("values", "n_bins", "codes", "names"),
    [
        (["7", "9.5", 8], 3, [0, 2, 1], ["7", "8", "9.5"]),
        # Equal numbers share a bin, and the border is where the count below is nearest to a half.
        ([1, 1, 1, 2, 3], 2, [0, 0, 0, 1, 1], ["1", "2 to 3"]),
        ([1, 2], 9, [0, 1], ["1", "2"]),
        ([5, 5], 2, [0, 0], ["5"]),
        ([1234567.4, -1e-9], 2, [1, 0], ["-1e-09", "1.23457e+06"]),
    ],
)
def test_bins(values, n_bins, codes, names):
    groups = bin_groups(values, n_bins)
    assert groups.codes.tolist() == codes
    assert groups.names.tolist() == names
    assert groups.numbers.tolist() == [float(value) for value in values]


def test_missing_numbers():
    groups = bin_groups([3, None, 1, NAN], 2, missing="ignore")
    assert groups.codes.tolist() == [1, -1, 0, -1]
    np.testing.assert_array_equal(groups.numbers, [3, NAN, 1, NAN])
    with pytest.raises(GroupsError, match="1 of 2"):
        bin_groups([3, None], 2)
    with pytest.raises(GroupsError, match="missing"):
        bin_groups([None, None], 2)


@pytest.mark.parametrize("bins", [True, 1, 0, 2.0, "2", None])
def test_wrong_numbers_of_bins(bins):
    with pytest.raises(ParameterError, match=rf"^bins must be whole numbers of at least 2; got {bins!r}\.$"):
        bin_groups([1, 2], bins)
    assert bin_groups([1, 2], np.int8(2)).n_groups == 2


@pytest.mark.parametrize(
    ("values", "name", "message"),
    [
        ([1, "old"], "age", r"^The attribute 'age' has the value 'old', which is no number: bins are for numbers.$"),
        (["1", "y"], None, r"^The sensitive feature has the value 'y', which is no number"),
        ([1, float("inf")], None, r"^An infinite number belongs to no bin: expected finite numbers\.$"),
    ],
)  # fmt: skip
def test_wrong_numbers(values, name, message):
    with pytest.raises(GroupsError, match=message):
        bin_groups(np.array(values, dtype=object), 2, name=name)


@pytest.mark.parametrize(
    ("numbers", "labels", "n_clusters", "gap"),
    [
        ([1, 3, 5, 7], [0, 0, 1, 1], 2, 4),
        ([1, 3, NAN, 7], [0, 0, 1, 1], 4, 5),  # two clusters are empty, a number is missing
        ([NAN, 3, NAN, 7], [0, 1, 2, 1], 3, 0),
        ([NAN, NAN], [0, 1], 2, 0),
        ([4, 4], [0, 1], 2, 0),
    ],
)
def test_gap_of_means(numbers, labels, n_clusters, gap):
    numbers = np.array(numbers, dtype=float)
    known = numbers[np.isfinite(numbers)]
    found = mean_gap(numbers, np.array(labels), n_clusters)
    assert found == pytest.approx((gap, gap / known.std() if gap else 0.0))
    assert all(type(value) is float for value in found)


def naive_bins(numbers, n_bins):
    """Put numbers into bins one by one: every border goes where the number of smaller ones is nearest to its share."""
    values = sorted(set(numbers))
    n = len(numbers)
    borders = set()
    for k in range(1, n_bins):
        off = [abs(sum(one <= value for one in numbers) - n * k / n_bins) for value in values[:-1]]
        borders.add(values[off.index(min(off))])
    return [sum(border < value for border in borders) for value in numbers]


def test_quantile_bins_agree_with_a_loop():
    rng = np.random.default_rng(1)
    for _ in range(30):
        numbers = rng.integers(0, 12, size=int(rng.integers(5, 40))).astype(float)
        n_bins = int(rng.integers(2, 6))
        assert bin_groups(numbers, n_bins).codes.tolist() == naive_bins(numbers.tolist(), n_bins)
