"""Numbers as groups, and how far the means of clusters lie apart."""

import numpy as np
import pytest

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.groups.encode import as_numbers, bin_groups, mean_gap

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "n_bins", "codes", "names"),
    [
        ([7, 9, 8, 12, 11, 10], 3, [0, 1, 0, 2, 2, 1], ["7 to 8", "9 to 10", "11 to 12"]),
        (["7", "9.5", 8], 3, [0, 2, 1], ["7", "8", "9.5"]),
        # Equal numbers share a bin, and the border is where the count below is nearest to a half.
        ([1, 1, 1, 2, 3], 2, [0, 0, 0, 1, 1], ["1", "2 to 3"]),
        ([1, 2, 3, 3, 3], 2, [0, 0, 1, 1, 1], ["1 to 2", "3"]),
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


def test_numbers_with_gaps():
    np.testing.assert_array_equal(as_numbers(np.array(["1.5", None], dtype=object)), [1.5, NAN])


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
