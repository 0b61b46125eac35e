import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import equigraph as eg
from equigraph._utils.sizes import number_by_size
from equigraph.analysis.tradeoff import align_labels
from equigraph.analysis.tradeoff.points import Sweep
from equigraph.analysis.tradeoff.sweep import _solve_together
from equigraph.base import DialLabels
from equigraph.community.louvain import fair_louvain
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.factorization.penalties import GraphPenalty
from equigraph.graph import Graph
from equigraph.metrics import evaluate
from equigraph.stores.products import StoreProduct, product_of

VALUES = [0, 0.1, 0.3, 1]

# Louvain leaves single nodes on the graph of these tests, and warns.
small_clusters = pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")


class TogetherLouvain(eg.FairLouvain):
    """Computes all values of the dial together."""

    _searches_dial = True

    def _fit_dial(self, problem, values, notify):
        found = []
        for step, value in enumerate(values, start=1):
            options = {"n_clusters": self.n_clusters, "notion": self.notion, "seed": problem.seed}
            one = fair_louvain(problem.adjacency, problem.groups.codes, fairness=value, **options)
            found.append(one.labels)
            if notify("together", step, len(values)):
                break
        return DialLabels(found, found)


def labels_of(curve):
    return [point.labels.tolist() for point in curve.points]


def same_clusters(one, two):
    return adjusted_rand_score(one, two) == 1


def test_points_are_the_fits(room):
    model = eg.FairLouvain(n_clusters=3)
    curve = eg.tradeoff_curve(room, estimator=model, fairness=VALUES, random_state=3)
    assert [point.fairness for point in curve.points] == VALUES
    assert curve.seeds == (3,)
    for point in curve.points:
        fitted = eg.FairLouvain(n_clusters=3, fairness=point.fairness, random_state=3).fit(room)
        assert same_clusters(point.labels, fitted.labels_)
        assert point.scores == pytest.approx(evaluate(room, fitted.labels_))
        assert point.means == pytest.approx(point.scores)
        assert point.sizes.tolist() == np.bincount(point.labels, minlength=3).tolist()
        assert np.isnan(list(point.spreads.values())).all()
        assert np.isnan(point.stability)
    assert model.get_params()["fairness"] == 0.5  # the estimator is not changed
    assert not hasattr(model, "labels_")


def test_spreads_and_stability_over_restarts(room):
    model = eg.IFairNMTF(n_clusters=4, max_iter=60)
    with pytest.warns(ConvergenceWarning):
        curve = eg.tradeoff_curve(room, estimator=model, fairness=[5, 40], n_restarts=3, random_state=7)
    assert curve.seeds == (7, 8, 9)
    for point in curve.points:
        models = [eg.IFairNMTF(4, point.fairness, max_iter=60, random_state=i) for i in curve.seeds]
        with pytest.warns(ConvergenceWarning):
            fits = [model.fit_predict(room) for model in models]
        scores = [evaluate(room, one) for one in fits]
        for name in ("Q", "B", "NB", "min_balance", "rho", "n_nonempty"):
            values = [one[name] for one in scores]
            assert point.means[name] == pytest.approx(np.mean(values))
            assert point.spreads[name] == pytest.approx(np.std(values, ddof=1))
        pairs = [adjusted_rand_score(one, two) for one, two in itertools.combinations(fits, 2)]
        assert point.stability == pytest.approx(np.mean(pairs))
        assert point.n_restarts == 3
        # A dial without an upper end: the restart closest to the means.
        distances = [np.hypot(one["Q"] - point.means["Q"], one["NB"] - point.means["NB"]) for one in scores]
        chosen = int(np.argmin(distances))
        assert point.seed == curve.seeds[chosen]
        assert same_clusters(point.labels, fits[chosen])
    assert curve.points[0].stability < 1


def test_all_values_are_searched_once_per_restart(room, monkeypatch):
    calls = []
    together = TogetherLouvain._fit_dial

    def counted(self, problem, values, notify):
        calls.append((problem.seed, tuple(values)))
        return together(self, problem, values, notify)

    monkeypatch.setattr(TogetherLouvain, "_fit_dial", counted)
    one = {"fairness": VALUES, "n_restarts": 2, "random_state": 5, "n_clusters": 3}
    fast = eg.tradeoff_curve(room, estimator=TogetherLouvain(), **one)
    assert calls == [(5, tuple(VALUES)), (6, tuple(VALUES))]
    slow = eg.tradeoff_curve(room, estimator=eg.FairLouvain(), **one)
    assert labels_of(fast) == labels_of(slow)
    for one_fast, one_slow in zip(fast.points, slow.points, strict=True):
        assert one_fast.scores == pytest.approx(one_slow.scores)
        assert one_fast.stability == pytest.approx(one_slow.stability)
        assert one_fast.means == pytest.approx(one_slow.means)


def test_default_values_of_a_bounded_dial(room):
    curve = eg.tradeoff_curve(room, estimator=eg.FairLouvain(3, random_state=4))
    assert curve.fairness.tolist() == [round(i / 20, 12) for i in range(21)]
    assert curve.seeds == (4,)  # by default the estimator's own


@small_clusters
def test_same_seed_same_curve_whatever_the_number_of_processes(room):
    one = {"estimator": eg.FairLouvain(5), "fairness": VALUES, "n_restarts": 2, "random_state": 1}
    first, second = eg.tradeoff_curve(room, **one), eg.tradeoff_curve(room, **one, n_jobs=2)
    assert labels_of(first) == labels_of(second)
    assert [point.means for point in first.points] == [point.means for point in second.points]


def test_warnings_of_other_processes_are_issued(room):
    model = eg.IFairNMTF(n_clusters=3, max_iter=3)
    with pytest.warns(ConvergenceWarning, match=r"\(3 times in the sweep\)") as told:
        eg.tradeoff_curve(room, estimator=model, fairness=[0, 1, 2], random_state=0, n_jobs=2)
    assert len(told) == 1


@small_clusters
def test_several_numbers_of_clusters(room):
    model = eg.FairLouvain()
    curves = eg.tradeoff_curve(room, estimator=model, n_clusters=range(2, 5), fairness=VALUES, random_state=0)
    assert list(curves) == [2, 3, 4]
    alone = eg.tradeoff_curve(room, estimator=model, n_clusters=3, fairness=VALUES, random_state=0)
    assert labels_of(curves[3]) == labels_of(alone)
    assert curves[4].n_clusters == 4
    table = curves.table()
    assert table["n_clusters"].tolist() == [k for k in (2, 3, 4) for _ in VALUES]
    assert table["Q"][4:8].tolist() == alone.table()["Q"].tolist()
    assert repr(curves) == "TradeoffCurves({2: 4 points, 3: 4 points, 4: 4 points})"
    assert curves.summary() == {"curves": [curves[k].summary() for k in (2, 3, 4)]}


def test_notions(room):
    for notion, measure in (("balance", "B"), ("mouflon", "mouflon")):
        model = eg.FairLouvain(3, random_state=0)
        curve = eg.tradeoff_curve(room, estimator=model, fairness=[0, 1], notion=notion)
        fitted = eg.FairLouvain(3, fairness=1, notion=notion, random_state=0).fit(room)
        assert curve.measure == measure
        assert curve.parameters["notion"] == notion
        assert curve.points[-1].scores[measure] == pytest.approx(fitted.objective_)
    own = eg.tradeoff_curve(room, estimator=eg.FairLouvain(3, notion="balance"), fairness=[0], random_state=0)
    assert own.notion == "balance"


def test_a_method_that_chooses_the_number_of_clusters(room):
    curve = eg.tradeoff_curve(room, estimator=eg.FairLouvain(), fairness=VALUES, random_state=0)
    assert curve.n_clusters is None
    most = max(int(point.scores["n_nonempty"]) for point in curve.points)
    assert all(point.sizes.size == most for point in curve.points)
    assert all(point.sizes.sum() == 30 for point in curve.points)


def test_callbacks_are_called_after_every_fit(room):
    told = []
    one = {"fairness": VALUES, "n_restarts": 2, "random_state": 0, "callbacks": told.append}
    eg.tradeoff_curve(room, estimator=eg.FairLouvain(3), **one)
    assert [(p.stage, p.step, p.total) for p in told] == [("trade-off", step, 8) for step in range(9)]
    told.clear()
    eg.tradeoff_curve(room, estimator=TogetherLouvain(), n_clusters=[3, 4], **one)
    assert [p.step for p in told if p.stage == "trade-off, 4 clusters"] == [0, 1, 2]
    assert sum(p.stage == "together" for p in told) == 2 * 2 * len(VALUES)


def test_stopped_sweep_keeps_its_points(room):
    one = {"fairness": VALUES, "n_restarts": 2, "random_state": 0}
    curve = eg.tradeoff_curve(room, estimator=eg.FairLouvain(3), **one, callbacks=lambda p: p.step == 5)
    assert curve.stopped
    assert [point.n_restarts for point in curve.points] == [2, 1, 1, 1]
    assert "stopped early" in repr(curve)
    curve = eg.tradeoff_curve(room, estimator=eg.FairLouvain(3), **one, callbacks=lambda p: True)
    assert [point.fairness for point in curve.points] == [0]
    whole = eg.tradeoff_curve(room, estimator=eg.FairLouvain(3), **one, callbacks=lambda p: p.step == 8)
    assert not whole.stopped


def test_callbacks_stop_inside_a_method_and_between_numbers_of_clusters(room):
    one = {"estimator": TogetherLouvain(), "fairness": VALUES, "n_restarts": 2, "random_state": 0}

    def at_step_2(stage):
        return lambda progress: progress.stage.startswith(stage) and progress.step == 2

    inside = eg.tradeoff_curve(room, **one, n_clusters=3, callbacks=at_step_2("together"))
    assert inside.stopped
    assert [point.fairness for point in inside.points] == [0, 0.1]
    between = eg.tradeoff_curve(room, **one, n_clusters=[2, 3], callbacks=at_step_2("trade"))
    assert list(between) == [2]
    assert not between[2].stopped


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"estimator": eg.IFairNMTF()}, "dial of IFairNMTF has no upper end"),
        ({"estimator": eg.FairLouvain}, "FairLouvain has no fairness dial: expected an instance"),
        (
            {"estimator": eg.FairPartition(3, at_least=0.9)},
            "at_least=0.9, and a curve has labels for every bound",
        ),
        ({"fairness": []}, "fairness is empty"),
        ({"fairness": [0, 2]}, r"fairness must be a finite number in \[0, 1\]; got 2"),
        ({"fairness": [0, "much"]}, "got 'much'"),
        ({"fairness": [0.5, 0.5]}, r"must ascend; 0\.5 comes after 0\.5"),
        ({"notion": "equity"}, "notion='equity' is unknown: expected one of 'normalized', 'balance'"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"effort": 3}, "FairLouvain has no parameter 'effort'"),
        ({"size_bounds": None}, "size_bounds"),
        ({"n_clusters": 1}, "n_clusters must be a whole number of at least 2"),
        ({"n_clusters": [3, 3]}, "n_clusters must be different numbers"),
        ({"n_clusters": []}, "at least one"),
        ({"n_clusters": [2.5]}, "n_clusters must be a whole number"),
    ],
)
def test_invalid_arguments_raise(room, arguments, part):
    with pytest.raises(ParameterError, match=part):
        eg.tradeoff_curve(room, **{"estimator": eg.FairLouvain(3), **arguments})


def test_groups_are_needed(room):
    model = eg.FairLouvain(3)
    with pytest.raises(GroupsError, match="needs groups"):
        eg.tradeoff_curve(room.adjacency, estimator=model)
    with pytest.raises(GroupsError, match="constant"):
        eg.tradeoff_curve(room.adjacency, sensitive_features=["a"] * 30, estimator=model)


def test_size_bounds_are_set_in_the_estimator(room):
    smallest = []
    for bounds in ("auto", None):
        curve = eg.tradeoff_curve(room, n_clusters=8, effort=0.05, size_bounds=bounds, random_state=0)
        smallest.append(min(point.sizes.min() for point in curve.points))
    assert smallest[0] >= 2 > smallest[1]  # a third of 30 / 8, rounded up


# Fits that share their passes over the graph.

WEIGHTS = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]


@pytest.fixture
def graph(monkeypatch):
    monkeypatch.setattr("equigraph.stores.products.COMPILE_FROM", 100)
    data = eg.datasets.make_fair_sbm(150, 3, 2, probabilities=(0.4, 0.3, 0.2, 0.1), random_state=0)
    return Graph(data.adjacency, sensitive_features=data.sensitive_features)


def model(**parameters):
    return eg.IFairNMTF(3, max_iter=60, tol=1e-3, **parameters)


def is_together(graph, estimator, values=WEIGHTS):
    sweep = Sweep(estimator, graph, "normalized", tuple(values), False, (0,), None, "")
    return _solve_together(sweep) is not None


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("init", ["svd", "random"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_points_are_the_single_fits(graph, monkeypatch, init, dtype):
    estimator = model(init=init, dtype=dtype)
    assert is_together(graph, estimator)
    together = eg.tradeoff_curve(graph, estimator=estimator, fairness=WEIGHTS, n_restarts=2, random_state=5)
    monkeypatch.setattr("equigraph.analysis.tradeoff.sweep._solve_together", lambda sweep: None)
    one_by_one = eg.tradeoff_curve(graph, estimator=estimator, fairness=WEIGHTS, n_restarts=2, random_state=5)
    assert [point.fairness for point in together.points] == WEIGHTS
    for one, other in zip(together.points, one_by_one.points, strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.seed == other.seed
        assert one.means == other.means
        assert one.n_restarts == 2


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_stopped_sweep_keeps_finished_fits(graph):
    seen = []

    def stop(progress):
        seen.append((progress.step, progress.total))
        return progress.step == 3

    curve = eg.tradeoff_curve(graph, estimator=model(), fairness=WEIGHTS, random_state=0, callbacks=stop)
    assert seen == [(0, 9), (1, 9), (2, 9), (3, 9)]
    assert curve.stopped
    assert len(curve.points) == 3
    done = [point.fairness for point in curve.points]
    assert done == sorted(done)


def test_fits_that_cannot_run_together(graph, monkeypatch):
    assert is_together(graph, model())
    assert not is_together(graph, model(), [1.0])
    assert not is_together(graph, model(callbacks=lambda progress: None))
    assert not is_together(graph, model(penalty=0.1 * GraphPenalty(graph.adjacency)))
    monkeypatch.setattr("equigraph.factorization.nmtf.MOST_ENTRIES", 10)
    assert not is_together(graph, model())


def test_small_graphs_do_not_load_the_compiler():
    room = eg.datasets.make_classroom()
    graph = Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
    assert not is_together(graph, eg.IFairNMTF(3))
    assert not isinstance(product_of(graph.adjacency), StoreProduct)


# Numbers of clusters.

LABELS = st.lists(st.integers(0, 3), min_size=12, max_size=12).map(np.array)


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
    clusters = labels.tolist()
    order = sorted(set(clusters), key=lambda one: (-clusters.count(one), clusters.index(one)))
    assert number_by_size(labels, 4).tolist() == [order.index(one) for one in clusters]
