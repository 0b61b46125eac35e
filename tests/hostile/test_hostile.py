"""A slice of the hostile matrices on every method; ``python -m tests.hostile`` runs all of them."""

import numpy as np
import pytest

from equigraph.methods import METHODS
from tests.hostile.matrices import BASE, GROUPS, MATRICES, Hostile
from tests.hostile.run import faults, fitted

# Every method meets another ninth of the matrices, and all of them those that went wrong once.
WENT_WRONG = {"no edge", "self-loops alone", "all weights the largest double", "weights 1e-300 to 1e300"}
PARTS = 9
NAMES = list(METHODS)


def test_there_are_enough_and_no_two_of_a_name():
    assert len(MATRICES) >= 112
    assert len({case.name for case in MATRICES}) == len(MATRICES)


@pytest.mark.parametrize("method", NAMES)
def test_finite_or_one_sentence(method):
    chosen = {case.name: case for case in MATRICES[NAMES.index(method) % PARTS :: PARTS]}
    chosen |= {case.name: case for case in MATRICES if case.name in WENT_WRONG}
    found = {case.name: wrong for case in chosen.values() if (wrong := faults(method, case))}
    assert not found


@pytest.mark.parametrize("method", NAMES)
def test_labels_do_not_depend_on_the_unit(method):
    expected = fitted(method, Hostile("one", BASE, GROUPS)).labels_
    for unit in (1e-300, 3.0, 1e300):
        found = fitted(method, Hostile("other", BASE * unit, GROUPS)).labels_
        np.testing.assert_array_equal(found, expected, err_msg=f"unit {unit:g}")


def test_a_fault_is_found(monkeypatch):
    case = Hostile("plain", BASE, GROUPS)
    assert faults("nmtf", case) == []

    def spoilt(self, problem, clustering):
        np.random.random()  # noqa: NPY002
        clustering.membership[0, 0] = np.nan
        return original(self, problem, clustering)

    from equigraph.base import GraphClusterer

    original = GraphClusterer._finish
    monkeypatch.setattr(GraphClusterer, "_finish", spoilt)
    assert faults("nmtf", case) == ["membership_ is not finite", "a global random state was changed"]
    monkeypatch.setattr(GraphClusterer, "_finish", lambda *args: {}["planted"])
    assert faults("nmtf", case) == ["KeyError: 'planted'"]
