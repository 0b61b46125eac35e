"""Few letters apart, against the plain definition; and who is proposed."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equigraph.apps.classes.roster.people import edit_distances, nearest

words = st.text(alphabet="abü ", max_size=8)


def naive(one, two):
    """Return the number of letters changed, added, left out or swapped, by its recursive definition."""

    @cache
    def steps(i, j):
        if min(i, j) == 0:
            return max(i, j)
        best = min(steps(i - 1, j) + 1, steps(i, j - 1) + 1, steps(i - 1, j - 1) + (one[i - 1] != two[j - 1]))
        if i > 1 and j > 1 and one[i - 1] == two[j - 2] and one[i - 2] == two[j - 1]:
            best = min(best, steps(i - 2, j - 2) + 1)
        return best

    return steps(len(one), len(two))


@given(words, st.lists(words, max_size=8), st.integers(0, 4))
def test_distances_are_their_definition(one, others, most):
    assert edit_distances(one, others, most).tolist() == [min(naive(one, two), most + 1) for two in others]


@given(st.lists(words, max_size=6), words)
def test_a_name_that_is_there_is_the_nearest(names, name):
    found = nearest(name, [*names, name])
    assert len(names) in found if name.strip() else found == []


NAMES = ["Lena Müller", "Lena Vogt", "Jonas Groß", "Anna-Sophie Maaß", "José van den Berg", "Li Wei"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Muller, Lena", [0]),
        ("Lena M.", [0]),
        ("Lena V", [1]),
        ("Vogt", [1]),
        ("Jonas Gros", [2]),
        ("Jnoas Groß", [2]),
        ("anna sophie maass", [3]),
        ("Anna", [3]),
        ("Jose Berg", [4]),
        ("Jonsa", [2]),
        ("Lena", [0, 1]),
        ("Li Wie", [5]),
        ("Lo", []),
        ("L", []),
        ("?", []),
        ("Maximilian", []),
    ],
)
def test_who_may_be_meant(text, expected):
    assert nearest(text, NAMES) == expected
