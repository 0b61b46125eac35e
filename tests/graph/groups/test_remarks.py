"""Warnings about unsuitable groups, at most one for each fit."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import NumericGroupsWarning, OwnGroupsWarning, SmallGroupWarning

ROOM = eg.datasets.make_classroom()


def fit(groups, **parameters):
    graph = eg.read_graph(ROOM.adjacency, groups=groups, attribute="age")
    return eg.FairLouvain(3, **parameters, random_state=0).fit(graph)


def changed(*values):
    groups = ROOM.sensitive_features.astype(object)
    groups[: len(values)] = values
    return groups


NUMBERS = [20 + i // 2 for i in range(30)]


@pytest.mark.parametrize(
    ("groups", "category", "words"),
    [
        (changed("new", "new"), SmallGroupWarning, "group 'new' has 2 members for 3 clusters, so"),
        (changed("x", "y"), SmallGroupWarning, r"2 groups have fewer .*\(the group 'x' has 1 member\)"),
        (changed(*"wxyz"), OwnGroupsWarning, "4 of 30 nodes are groups of their own by the"),
        *((np.array(NUMBERS, dtype=kind), NumericGroupsWarning, "'age' has 15 different numbers.*with bins where")
          for kind in (int, float, str)),
    ],
)  # fmt: skip
def test_unsuitable_groups_warn_once(groups, category, words):
    with pytest.warns(category, match=words) as told:
        fit(groups)
    assert len(told) == 1


def test_other_groups_do_not_warn():
    fit(np.arange(30) % 10)
    fit(np.array([f"class {i % 10}" for i in range(30)]))
    # Not finite: neither the name of a cat nor a number to put into a bin.
    fit(np.array(["nan"] * 3 + [f"cat {i // 3}" for i in range(3, 30)], dtype=object))


def test_no_warning_without_fairness():
    fit(changed("unknown"), fairness=0)
    eg.NMTF(3, random_state=0).fit(ROOM.adjacency, sensitive_features=changed("unknown"))
