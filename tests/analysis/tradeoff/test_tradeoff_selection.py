import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equigraph as eg
from equigraph.analysis.tradeoff.selection import hypervolume, intersection, min_max, pareto_front
from equigraph.exceptions import InfeasibleError, ParameterError

GRID = st.integers(0, 6).map(lambda i: i / 4)
POINTS = st.lists(st.tuples(GRID, GRID), min_size=1, max_size=12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_points_carry_their_status_and_no_rule_picks_one_that_diverged(tmp_path):
    rng = np.random.default_rng(0)
    half = np.triu(rng.random((40, 40)) < 0.3, 1).astype(float)
    graph = eg.Graph(half + half.T, sensitive_features=np.repeat(["many", "few"], [36, 4]))
    model = eg.IFairNMTF(3, self_pairs=False, max_iter=2000)
    curve = eg.tradeoff_curve(graph, estimator=model, fairness=[0, 1, 1e9], random_state=0)
    assert [point.status for point in curve.points] == ["converged", "converged", "diverged"]
    curve.save(tmp_path / "curve")
    assert [point.status for point in eg.TradeoffCurve.load(tmp_path / "curve").points][-1] == "diverged"
    for rule in ("intersection", "product", "knee"):
        assert curve.select(rule).status == "converged"
    assert curve.select(max_quality_loss=1.0).status == "converged"
    lost = replace(curve, points=curve.points[2:], front=curve.points[2:])
    with pytest.raises(InfeasibleError, match="diverged"):
        lost.select("intersection")


INTERSECTIONS = [
    ([0.5, 0.4, 0.3], [0.2, 0.3, 0.4], 1),  # exactly at a point, after scaling
    ([1.0, 0.75, 0.25, 0.0], [0.0, 0.25, 0.75, 1.0], 1),  # equal gaps on both sides: the lower value
    ([1.0, 0.6, 0.4, 0.6, 0.0], [0.0, 0.5, 0.6, 0.5, 1.0], 1),  # three crossings: the first
    ([0.3, 0.3, 0.3], [0.0, 0.5, 1.0], 2),  # Q costs nothing: the fairest
    ([1.0, 0.5, 0.0], [0.3, 0.3, 0.3], 0),  # fairness cannot be had: the most cohesive
    ([0.3, 0.3], [0.3, 0.3], 0),
    ([0.4], [0.5], 0),
    # Lines that only touch.
    ([0.0, 1.0, 0.5], [0.0, 0.8, 0.3], 1),  # both rise together: not where both are lowest
    ([1.0, 0.8, 0.5, 0.0], [0.9, 0.5, 0.3, 0.0], 0),  # both fall together
    ([0.2, 0.4, 0.4], [0.2, 0.4, 0.4], 1),
]
KNEES = [
    ([1.0, 0.9, 0.5, 0.0], [0.0, 0.8, 0.9, 1.0], 1),
    ([1.0, 0.9, 0.9, 0.0], [0.0, 0.8, 0.8, 1.0], 1),  # equal points: the lower value
    ([1.0, 0.1, 0.5, 0.0], [0.0, 0.7, 0.5, 1.0], 0),  # a front that sags: an end
    ([1.0, 0.9, 0.2, 0.0], [0.0, 0.2, 0.9, 1.0], 1),  # distances 0.1 and 0.1: the lower value
    ([1.0, 0.6, 0.95, 0.0], [0.0, 0.9, 0.1, 1.0], 1),  # not in the order of the dial
    ([0.5, 0.6, 0.5], [0.2, 0.9, 0.8], 1),  # one point dominates all
    ([0.3, 0.3, 0.3], [0.0, 0.5, 1.0], 2),
    ([1.0, 0.5, 0.0], [0.3, 0.3, 0.3], 0),
]


@pytest.mark.parametrize(
    ("rule", "quality", "fair", "expected"),
    [*(("intersection", *one) for one in INTERSECTIONS), *(("knee", *one) for one in KNEES)],
)
def test_intersection_and_knee(make_curve, rule, quality, fair, expected):
    curve = make_curve(quality, fair)
    assert curve.select(rule) is curve.points[expected]


@given(POINTS)
def test_intersection_is_beside_the_first_change_of_sign(points):
    x, y = (np.array(one) for one in zip(*points, strict=True))
    gap = min_max(x) - min_max(y)
    chosen = intersection(x, y)
    apart = [i for i in range(len(points)) if abs(gap[i]) > 1e-9]
    for i, j in itertools.pairwise(apart):
        if gap[i] * gap[j] < 0:
            assert i <= chosen <= j
            assert abs(gap[chosen]) <= np.abs(gap[i : j + 1]).min() + 1e-9
            break
    else:
        assert abs(gap[chosen]) <= np.abs(gap).min() + 1e-9


def test_product_counts_losses_in_proportion(make_curve):
    """On a front like a step, the knee stays at one end for a sliver; the product takes the fair end."""
    curve = make_curve([0.688, 0.684, 0.594, 0.590], [0.192, 0.263, 0.970, 0.984])
    assert curve.select("product") is curve.points[3]
    assert curve.select("knee") is curve.points[1]
    assert make_curve([-0.1, -0.2], [-0.5, -0.9]).select("product").fairness == 0


def test_min_fairness_takes_the_best_quality_that_reaches_it(make_curve):
    curve = make_curve([0.5, 0.4, 0.45, 0.45, 0.3], [0.6, 0.8, 0.9, 0.95, 1.0])
    assert curve.select(min_fairness=0.8) is curve.points[3]  # equal Q: the fairer
    assert curve.select(min_fairness=0.6) is curve.points[0]
    assert curve.select(min_fairness=1) is curve.points[4]
    tenths = make_curve([0.5, 0.4], [0.3, 0.1 + 0.2])
    assert tenths.select(min_fairness=0.1 + 0.2) is tenths.points[0]


def test_max_quality_loss_takes_the_fairest_within_it(make_curve):
    curve = make_curve([0.5, 0.48, 0.45, 0.40, 0.3], [0.6, 0.7, 0.9, 0.9, 1.0])
    assert curve.select(max_quality_loss=0) is curve.points[0]
    assert curve.select(max_quality_loss=0.05) is curve.points[1]
    assert curve.select(max_quality_loss=0.1) is curve.points[2]  # exactly 10 % below
    assert curve.select(max_quality_loss=0.2) is curve.points[2]  # equally fair: the more cohesive
    assert curve.select(max_quality_loss=1) is curve.points[4]
    negative = make_curve([-0.1, -0.2], [0.0, 1.0])
    assert negative.select(max_quality_loss=0.5) is negative.points[0]
    assert negative.select(max_quality_loss=1) is negative.points[1]


def test_other_measures_and_missing_scores(make_curve):
    curve = make_curve([0.5, 0.4, float("nan")], [0.6, 0.8, 1.0], notion="balance")
    assert curve.measure == "B"
    assert curve.select(min_fairness=0.7) is curve.points[1]  # the third has no Q
    assert curve.select(max_quality_loss=1, x="NB", y="Q") is curve.points[0]
    with pytest.raises(InfeasibleError, match="has both Q and NB"):
        make_curve([float("nan")], [1.0]).select("knee")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({}, "exactly one rule"),
        ({"min_fairness": 0.5, "max_quality_loss": 0.5}, "exactly one rule"),
        ({"rule": "elbow"}, "no rule 'elbow': expected one of 'product', 'intersection', 'knee'"),
        ({"min_fairness": 2}, r"min_fairness must be a finite number in \[0, 1\]"),
        ({"max_quality_loss": -0.1}, "max_quality_loss must be"),
        ({"rule": "knee", "x": "speed"}, "no score 'speed': expected one of Q, B, NB"),
    ],
)
def test_invalid_arguments_raise(make_curve, arguments, part):
    with pytest.raises(ParameterError, match=part):
        make_curve([0.5, 0.4], [0.6, 0.8]).select(**arguments)


def dominates(one, two):
    return one[0] >= two[0] and one[1] >= two[1] and one != two


@given(POINTS)
def test_pareto_front_against_loops(points):
    expected = [i for i, two in enumerate(points) if not any(dominates(one, two) for one in points)]
    assert pareto_front(*zip(*points, strict=True)).tolist() == expected


@given(POINTS, st.sampled_from([(0.0, 0.0), (0.25, 0.5), (-0.5, 1.0)]))
def test_hypervolume_counts_the_cells_of_a_grid(points, reference):
    centers = np.arange(-1, 3, 0.25) + 0.125  # all coordinates are multiples of a quarter
    naive = sum(
        0.25**2
        for u in centers
        for v in centers
        if u > reference[0] and v > reference[1] and any(u < x and v < y for x, y in points)
    )
    assert hypervolume(*zip(*points, strict=True), reference) == pytest.approx(naive, abs=1e-12)


def test_hypervolume_known_values(make_curve):
    means = ([0.4, 0.3, 0.1, 0.1], [0.4, 0.7, 0.8, 0.1])
    curve = make_curve([0.5, 0.4, 0.2, 0.2], [0.5, 0.8, 0.9, 0.1], means=means)
    assert curve.hypervolume() == pytest.approx(0.2 * 0.9 + 0.2 * 0.8 + 0.1 * 0.5)
    assert curve.hypervolume(of="means") == pytest.approx(0.1 * 0.8 + 0.2 * 0.7 + 0.1 * 0.4)
    assert curve.hypervolume(reference=(0.4, 0.4)) == pytest.approx(0.1 * 0.1)
    assert curve.hypervolume(reference=(1, 1)) == 0
    assert curve.pareto().tolist() == [0, 1, 2]
    with pytest.raises(ParameterError, match="expected 'labels' or 'means'"):
        curve.hypervolume(of="best")


def test_missing_scores_are_not_on_the_front():
    nan = float("nan")
    assert pareto_front([nan, 1, 2], [5, nan, 1]).tolist() == [2]
    assert hypervolume([nan, 2], [3, 1]) == 2
    assert pareto_front([nan], [nan]).tolist() == []
