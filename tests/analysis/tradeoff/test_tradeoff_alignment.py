import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from equigraph._utils.sizes import number_by_size
from equigraph.analysis.tradeoff import align_labels
from equigraph.analysis.tradeoff.runs import best_restart, typical_restart

LABELS = st.lists(st.integers(0, 3), min_size=12, max_size=12).map(np.array)


def same_clusters(one, two):
    return len(set(zip(one, two, strict=True))) == len(set(one)) == len(set(two))


@given(LABELS, LABELS)
def test_no_other_numbering_keeps_more_nodes(labels, reference):
    aligned = align_labels(labels, reference, 4)
    assert same_clusters(labels, aligned)
    most = max(
        np.count_nonzero(np.array(numbers)[labels] == reference)
        for numbers in itertools.permutations(range(4))
    )
    assert np.count_nonzero(aligned == reference) == most


@given(LABELS)
def test_numbers_by_size(labels):
    numbered = number_by_size(labels, 4)
    assert same_clusters(labels, numbered)
    sizes = np.bincount(numbered, minlength=4)
    assert (np.diff(sizes) <= 0).all()
    first = [int(np.argmax(numbered == cluster)) for cluster in range(4) if sizes[cluster]]
    for i in range(len(first) - 1):
        assert sizes[i] > sizes[i + 1] or first[i] < first[i + 1]


def test_choice_of_the_restart_of_a_point():
    scores = [{"Q": 0.5, "NB": 0.2}, {"Q": 0.3, "NB": 0.9}, {"Q": 0.4, "NB": 0.9}, {"Q": 0.5, "NB": 0.2}]
    assert best_restart(scores, 0.0, "NB") == 0
    assert best_restart(scores, 0.1, "NB") == 0  # 0.47 against 0.45
    assert best_restart(scores, 0.2, "NB") == 2
    assert best_restart(scores, 1.0, "NB") == 2  # equally fair: the more cohesive
    assert best_restart([{"Q": 0.5, "NB": 0.2}, {"Q": 0.3, "NB": 0.5}], 0.5, "NB") == 1  # 0.35 against 0.40
    scores = [{"Q": 0.1, "NB": 1.0}, {"Q": 0.3, "NB": 0.991}, {"Q": 0.5, "NB": 0.98}]
    assert [best_restart(scores, f, "NB") for f in (0.0, 0.99, 1.0)] == [
        2,
        0,
        1,
    ]  # at 1 the notion counts up to .01
    assert typical_restart([{"Q": 0.0, "B": 0.0}, {"Q": 0.4, "B": 0.5}, {"Q": 1.0, "B": 1.0}], "B") == 1
