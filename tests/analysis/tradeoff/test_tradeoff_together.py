"""A curve whose fits share their passes over the graph."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.analysis.tradeoff.runs import Sweep, _solve_together
from equigraph.factorization.penalties import GraphPenalty
from equigraph.graph import Graph
from equigraph.stores.products import StoreProduct, product_of

VALUES = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]


@pytest.fixture
def graph(monkeypatch):
    monkeypatch.setattr("equigraph.stores.products.COMPILE_FROM", 100)
    data = eg.datasets.make_fair_sbm(150, 3, 2, probabilities=(0.4, 0.3, 0.2, 0.1), random_state=0)
    return Graph(data.adjacency, sensitive_features=data.sensitive_features)


def model(**parameters):
    return eg.IFairNMTF(3, max_iter=60, tol=1e-3, **parameters)


def is_together(graph, estimator, values=VALUES):
    sweep = Sweep(estimator, graph, "normalized", tuple(values), False, (0,), None, "")
    return _solve_together(sweep) is not None


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("init", ["svd", "random"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_points_are_the_single_fits(graph, monkeypatch, init, dtype):
    estimator = model(init=init, dtype=dtype)
    assert is_together(graph, estimator)
    together = eg.tradeoff_curve(graph, estimator=estimator, fairness=VALUES, n_restarts=2, random_state=5)
    monkeypatch.setattr("equigraph.analysis.tradeoff.runs._solve_together", lambda sweep: None)
    one_by_one = eg.tradeoff_curve(graph, estimator=estimator, fairness=VALUES, n_restarts=2, random_state=5)
    assert [point.fairness for point in together.points] == VALUES
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

    curve = eg.tradeoff_curve(graph, estimator=model(), fairness=VALUES, random_state=0, callbacks=stop)
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
