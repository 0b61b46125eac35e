"""The front of a curve: all non-dominated labels found, selected by the fairness reached."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import equigraph as eg
from equigraph.analysis.tradeoff.selection import front_in_order, passing_weights
from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.graph import Graph

SHORT = eg.FairPartition(4, effort=0.1)
PAIRS = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def planted():
    data = eg.datasets.make_fair_sbm(60, 3, 3, probabilities=(0.5, 0.15, 0.2, 0.08), random_state=3)
    return Graph(data.adjacency, sensitive_features=data.sensitive_features)


@pytest.fixture(scope="module")
def curve(planted):
    return eg.tradeoff_curve(planted, estimator=SHORT, n_restarts=2, random_state=0)


@pytest.fixture(scope="module")
def swept(planted):
    options = {"fairness": [0, 0.1, 0.5, 1], "n_restarts": 2, "random_state": 0}
    return eg.tradeoff_curve(planted, estimator=SHORT, **options)


def pair(point):
    return point.scores["Q"], point.scores["NB"]


def test_no_labels_of_the_front_dominate_others(curve, swept):
    for one in (curve, swept):
        assert len(one.front) > 3
        fair, quality = one.front_values("NB"), one.front_values("Q")
        assert (np.diff(fair) > 0).all()
        assert (np.diff(quality) < 0).all()
        for point in one.points:
            q, n = pair(point)
            assert not ((quality > q + 1e-9) & (fair > n + 1e-9)).any()


def test_scores_of_the_front_are_those_of_its_labels(curve, planted):
    for point in curve.front:
        assert point.scores == pytest.approx(eg.metrics.evaluate(planted, point.labels))
        assert point.sizes.tolist() == np.bincount(point.labels, minlength=4).tolist()


def test_points_are_spaced_in_the_fairness_reached(curve, planted):
    assert curve.spacing == "reached"
    assert all(any(point is one for one in curve.front) for point in curve.points)
    levels = np.linspace(curve.front[0].scores["NB"], curve.front[-1].scores["NB"], 11)
    enough = [[one for one in curve.front if one.scores["NB"] >= level - 1e-12] for level in levels]
    assert set(curve.points) == {max(some, key=pair) for some in enough}
    dial = np.array([point.fairness for point in curve.front])
    assert dial[0] == 0
    assert (np.diff(dial) >= 0).all()
    assert dial[-1] < 1
    few = eg.tradeoff_curve(planted, estimator=SHORT, n_points=2, random_state=0)
    assert [pair(point) for point in few.points] == [pair(few.front[0]), pair(few.front[-1])]


def test_clusters_keep_their_numbers_along_the_front(curve):
    assert (np.diff(curve.front[0].sizes) <= 0).all()
    for before, after in itertools.pairwise(curve.front):
        kept = np.count_nonzero(before.labels == after.labels)
        for numbers in itertools.permutations(range(4)):
            assert np.count_nonzero(before.labels == np.array(numbers)[after.labels]) <= kept


def test_a_curve_is_at_least_as_good_as_single_fits(planted):
    values = [0, 0.1, 0.3, 0.8]
    model = eg.FairPartition(4, effort=0.2)
    curve = eg.tradeoff_curve(planted, estimator=model, fairness=values, random_state=5)
    for point in curve.points:
        f = point.fairness
        fitted = eg.FairPartition(4, f, effort=0.2, random_state=5).fit(planted)
        assert (1 - f) * point.scores["Q"] + f * point.scores["NB"] >= fitted.objective_ - 1e-9


def test_points_of_given_values_are_the_best_labels_found(swept):
    assert swept.spacing == "dial"
    assert swept.fairness.tolist() == [0, 0.1, 0.5, 1]
    for point in swept.points[:-1]:
        best = max((1 - point.fairness) * q + point.fairness * n for q, n in map(pair, swept.front))
        mine = (1 - point.fairness) * point.scores["Q"] + point.fairness * point.scores["NB"]
        assert mine == pytest.approx(best, abs=1e-12)
    # At 1 the notion counts up to .01, and then Q.
    enough = swept.front[-1].scores["NB"] - 0.01
    best = max(q for q, n in map(pair, swept.front) if n >= enough)
    assert swept.points[-1].scores["Q"] == pytest.approx(best)


def test_at_least_looks_beyond_the_points(make_curve):
    curve = make_curve([0.5, 0.3], [0.6, 1.0], more=[(0.45, 0.9), (0.4, 0.85)])
    assert pair(curve.at_least(0.8)) == (0.45, 0.9)
    assert pair(curve.select("product")) == (0.45, 0.9)
    assert pair(curve.select("knee")) == (0.45, 0.9)
    assert pair(curve.select(max_quality_loss=0.1)) == (0.45, 0.9)
    assert curve.select("intersection") in curve.points
    assert curve.hypervolume() == pytest.approx(0.3 * 1.0 + 0.15 * 0.9 + 0.05 * 0.6)
    assert len(curve.points_with(curve.at_least(0.8))) == 3
    low = make_curve([0.5, 0.4], [0.6, 0.8])
    with pytest.raises(InfeasibleError, match=r"reaches NB = 0\.9: the highest is 0\.8"):
        low.at_least(0.9)
    with pytest.raises(ParameterError, match=r"fairness must be a finite number in \[0, 1\]"):
        low.at_least(2)


def test_methods_without_a_front_have_the_best_of_their_restarts(planted):
    options = {"fairness": [0, 0.2, 0.6], "n_restarts": 3, "random_state": 0}
    curve = eg.tradeoff_curve(planted, estimator=eg.FairLouvain(4), **options)
    grid = itertools.product((0, 0.2, 0.6), (0, 1, 2))
    fits = [eg.FairLouvain(4, fairness=f, random_state=seed).fit_predict(planted) for f, seed in grid]
    scores = [eg.metrics.evaluate(planted, labels) for labels in fits]
    pairs = {(round(one["Q"], 10), round(one["NB"], 10)) for one in scores}
    best = {one for one in pairs if not any(q >= one[0] and n >= one[1] for q, n in pairs - {one})}
    assert {(round(q, 10), round(n, 10)) for q, n in map(pair, curve.front)} == best
    for point in curve.front:
        again = eg.FairLouvain(4, fairness=point.fairness, random_state=point.seed).fit_predict(planted)
        assert adjusted_rand_score(point.labels, again) == 1


def test_the_front_is_kept(curve, swept, tmp_path):
    for name, one in (("curve", curve), ("swept", swept)):
        one.save(tmp_path / name)
        back = eg.TradeoffCurve.load(tmp_path / name)
        assert back.summary() == one.summary()
        assert back.spacing == one.spacing
        for mine, other in zip(back.front, one.front, strict=True):
            assert mine.labels.tolist() == other.labels.tolist()
        # A point on the front is one object again.
        assert [any(point is a for a in back.front) for point in back.points] == [
            any(point is a for a in one.front) for point in one.points
        ]
    assert pair(eg.TradeoffCurve.load(tmp_path / "curve").at_least(0.9)) == pair(curve.at_least(0.9))


def test_stopped_sweep_keeps_its_front(planted):
    stop = {"callbacks": lambda progress: progress.stage == "search"}
    curve = eg.tradeoff_curve(planted, estimator=SHORT, random_state=0, **stop)
    assert curve.stopped
    assert curve.front


def test_values_or_a_number_of_points(planted):
    with pytest.raises(ParameterError, match="not both"):
        eg.tradeoff_curve(planted, estimator=SHORT, fairness=[0, 1], n_points=3)
    with pytest.raises(ParameterError, match="n_points must be a whole number of at least 2"):
        eg.tradeoff_curve(planted, estimator=SHORT, n_points=1)
    louvain = eg.tradeoff_curve(planted, estimator=eg.FairLouvain(4), n_points=3, random_state=0)
    assert louvain.fairness.tolist() == [0, 0.5, 1]


def front_of(pairs):
    x, y = (np.array(one, dtype=float) for one in zip(*pairs, strict=True))
    order = front_in_order(x, y)
    return x[order], y[order]


@given(PAIRS)
def test_passing_weights_are_where_the_best_point_changes(pairs):
    x, y = front_of(pairs)
    weights = passing_weights(x, y)
    assert weights[0] == 0
    assert (np.diff(weights) >= -1e-12).all()
    for f in np.linspace(0.003, 0.997, 41):
        value = (1 - f) * x + f * y
        # The last point that was passed is the best.
        if np.abs(weights - f).min() > 1e-9:
            assert value[np.flatnonzero(weights < f)[-1]] == pytest.approx(value.max())
