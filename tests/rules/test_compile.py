"""Rules as arrays: what they refuse, and that shares in small fractions are the shares that were asked for."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.rules import Rules, compile_rules
from equigraph.rules.compile import above, below

RING = [[0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1], [1, 0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("rules", "contradiction"),
    [
        (Rules(together=[(0, 1)], apart=[(0, 1)]), True),
        (Rules(together=[(0, 1)], fixed={0: 0, 1: 1}), True),
        (Rules(together=[(0, 1)], fixed={0: 1, 1: 1}, apart=[(0, 2)]), False),
    ],
)
def test_contradictions_of_single_units_are_told(rules, contradiction):
    assert compile_rules(rules, RING, None, 2).contradiction is contradiction


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Rules(fixed={0: 2}), r"fixed\[0\] is cluster 2, and there are 2 clusters: expected 0 to 1"),
        (Rules(allowed={0: [0, 2]}), r"allowed\[0\] is cluster 2, and there are 2 clusters"),
        (Rules(sizes=[(1, 2)]), "sizes lists 1 pair, and there are 2 clusters"),
        (Rules(apart=[(0, 9)]), "name 9, which is not a node"),
    ],
)
def test_what_does_not_fit_is_refused(rules, message):
    with pytest.raises(ParameterError, match=message):
        compile_rules(rules, RING, None, 2)


def test_more_clusters_than_nodes():
    with pytest.raises(InfeasibleError, match="6 non-empty clusters cannot be made of 5 nodes"):
        compile_rules(Rules(), RING, None, 6)


@given(st.fractions(-2, 2), st.integers(1, 60))
def test_small_fractions_round_alike(x, limit):
    low, high = below(x, limit), above(x, limit)
    assert low <= x <= high
    assert max(low.denominator, high.denominator) <= limit
    for size in range(1, limit + 1):
        assert math.floor(low * size) == math.floor(x * size)
        assert math.ceil(high * size) == math.ceil(x * size)
