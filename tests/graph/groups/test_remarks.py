"""Warnings about unsuitable groups, at most one for each fit."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import NumericGroupsWarning, OwnGroupsWarning, SmallGroupWarning
from equigraph.graph.groups.encode import ungrouped_sentence


@pytest.fixture(scope="module")
def room():
    return eg.datasets.make_classroom()


def fit(room, groups, **parameters):
    graph = eg.read_graph(room.adjacency, groups=groups, attribute="age")
    return eg.FairLouvain(3, **parameters, random_state=0).fit(graph)


def changed(room, values):
    groups = room.sensitive_features.astype(object)
    groups[: len(values)] = values
    return groups


def test_one_group_with_too_few_members(room):
    with pytest.warns(SmallGroupWarning, match=r"group 'unknown' has 2 members for 3 clusters, so") as told:
        fit(room, changed(room, ["unknown"] * 2))
    assert len(told) == 1


def test_several_groups_with_too_few_members(room):
    with pytest.warns(
        SmallGroupWarning, match=r"2 groups have fewer .* \('x' has 1 member\)|\(the group 'x'"
    ):
        fit(room, changed(room, ["x", "y"]))


def test_many_groups_of_one(room):
    with pytest.warns(OwnGroupsWarning, match="4 of 30 nodes are groups of their own by the") as told:
        fit(room, changed(room, list("wxyz")))
    assert len(told) == 1


@pytest.mark.parametrize("kind", [int, float, str])
def test_numbers(room, kind):
    with pytest.warns(NumericGroupsWarning, match="'age' has 15 different numbers.*into a few bins") as told:
        fit(room, np.array([kind(20 + i // 2) for i in range(30)]))
    assert len(told) == 1


@pytest.mark.parametrize("groups", [np.arange(30) % 10, np.array([f"class {i % 10}" for i in range(30)])])
def test_few_distinct_codes_do_not_warn(room, groups):
    fit(room, groups)


def test_many_distinct_words_do_not_warn_about_numbers(room):
    # Not finite: neither the name of a cat nor a number to put into a bin.
    groups = np.array([f"cat {i // 3}" for i in range(30)], dtype=object)
    groups[:3] = "nan"
    fit(room, groups)


def test_no_warning_without_fairness(room):
    fit(room, changed(room, ["unknown"]), fairness=0)
    eg.NMTF(3, random_state=0).fit(room.adjacency, sensitive_features=changed(room, ["unknown"]))


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "1 node without a group: it counts"), (2000, "2,000 nodes without a group: they count")],
)
def test_nodes_without_a_group(number, words):
    assert ungrouped_sentence(number) == f"{words} for cohesion and sizes, for no group's share."
