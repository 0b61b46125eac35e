"""Few letters apart, against the plain definition; and who is proposed."""

from functools import cache

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


MEANT = {
    "Lena Müller": "Muller, Lena|Lena M.|L. Müller|Mueller L",
    "Lena Vogt": "Lena V|Vogt",
    "Jonas Groß": "Jonas Gros|Jnoas Groß|Jonsa",
    "Anna-Sophie Maaß": "anna sophie maass|Anna",
    "José van den Berg": "Jose Berg",
    "Li Wei": "Li Wie",
}


def test_who_may_be_meant():
    names = list(MEANT)
    for number, texts in enumerate(MEANT.values()):
        assert [nearest(text, names) for text in texts.split("|")] == [[number]] * len(texts.split("|"))
    assert nearest("Lena", names) == [0, 1]
    assert [nearest(text, names) for text in ("Lo", "L", "?", "Maximilian")] == [[]] * 4
