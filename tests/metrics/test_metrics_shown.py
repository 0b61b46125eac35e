"""What of a large table is shown, and its text to the letter."""

import numpy as np

from equigraph.metrics import composition
from equigraph.metrics.summary import capped

COUNTS = np.array([[1, 4, 0, 0, 2], [0, 1, 5, 0, 0], [1, 0, 0, 1, 0], [3, 3, 3, 0, 0]])
UNGROUPED = np.array([0, 2, 0, 1])


def shown(**most):
    return capped(["a", "b", "c", "d"], [1, 2, "x", "y", "z"], COUNTS, UNGROUPED, **most)


def test_all_of_a_small_table():
    found = shown(n_clusters=4, n_groups=5)
    assert found.clusters == ["a", "b", "c", "d"]
    assert found.groups == ["1", "2", "x", "y", "z"]
    assert found.counts.tolist() == COUNTS.tolist()
    assert found.totals.tolist() == [5, 8, 8, 1, 2]
    assert found.ungrouped.tolist() == [0, 2, 0, 1]
    assert (found.n_ungrouped, found.n_hidden, found.hidden_nodes) == (3, 0, 0)
    assert found.sizes.tolist() == [7, 8, 2, 10]


def test_the_largest_clusters_and_groups():
    found = shown(n_clusters=2, n_groups=3)
    assert found.clusters == ["b", "d"]
    assert found.groups == ["2", "x", "3 other groups"]
    assert found.counts.tolist() == [[1, 5, 0], [3, 3, 3]]
    assert found.totals.tolist() == [8, 8, 8]
    assert found.ungrouped.tolist() == [2, 1]
    assert (found.n_ungrouped, found.n_hidden, found.hidden_nodes) == (3, 2, 9)


def test_of_equal_ones_the_first_and_thousands_with_a_comma():
    equal = np.ones((3, 2000), dtype=int)
    found = capped(list("abc"), list(range(2000)), equal, np.zeros(3, int), n_clusters=2, n_groups=3)
    assert found.clusters == ["a", "b"]
    assert found.groups == ["0", "1", "1,998 other groups"]
    # A larger sort would not keep the order of equals without being told to.
    many = capped(list(range(99)), ["x"], np.ones((99, 1), int), np.zeros(99, int))
    assert many.clusters == list(range(50))
    assert capped(["a"], list(range(13)), equal[:1, :13], np.zeros(1, int)).groups[-1] == "2 other groups"
    assert capped(["a"], list(range(12)), equal[:1, :12], np.zeros(1, int)).groups[-1] == "11"


def test_the_text_of_a_composition_with_clusters_that_are_not_shown():
    text = str(composition([*range(52), 7], sensitive_features=["x"] * 53)).split("\n")
    assert text[0] == "cluster   size          x"
    assert text[-2:] == ["(2 more)     2           ", "all         53  53 (100%)"]
    assert text[8] == "7            2   2 (100%)"
    assert len(text) == 1 + 50 + 2
