"""Factorisations of graphs on disk: the factors of the graph in memory."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph.exceptions import ParameterError
from equigraph.factorization.penalties import GraphPenalty
from equigraph.search import plans
from equigraph.stores.blocks import write_blocks
from tests.reference.marks import TINY_GRAPHS
from tests.reference.stored import random_graph, sbm, sbm_blocks

pytestmark = TINY_GRAPHS


@pytest.fixture
def blocks(tmp_path):
    return sbm_blocks(tmp_path / "sbm")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"init": "random"},
        {"init": "random", "dtype": "float32"},
        {"self_pairs": False},
        {"fairness": 0.0},
        {"penalty": 0.1 * GraphPenalty(sbm().adjacency)},
    ],
    ids=str,
)
def test_streamed_factors_are_those_in_memory(blocks, settings):
    data = sbm()
    parameters = {"n_clusters": 4, "fairness": 2.0, "max_iter": 40, "tol": 0, "random_state": 1, **settings}
    here = eg.IFairNMTF(**parameters).fit(data.adjacency, sensitive_features=data.sensitive_features)
    streamed = eg.IFairNMTF(**parameters).fit(blocks)
    tolerance = 1e-4 if settings.get("dtype") else 1e-8
    np.testing.assert_allclose(streamed.membership_, here.membership_, atol=tolerance)
    np.testing.assert_allclose(streamed.interaction_, here.interaction_, atol=tolerance)
    np.testing.assert_allclose(streamed.objective_history_, here.objective_history_, rtol=tolerance)
    np.testing.assert_array_equal(streamed.labels_, here.labels_)
    assert streamed.membership_.dtype == here.membership_.dtype


def test_weighted_graphs_custom_starts_and_coordinate_descent(tmp_path):
    A = random_graph(weighted=True)
    stored = write_blocks(A, tmp_path / "x", rows_per_block=25)
    rng = np.random.default_rng(0)
    start = {"H": rng.random((90, 3)), "W": np.eye(3)}
    here = eg.NMTF(3, init="custom", max_iter=30, tol=0).fit(A, **start)
    streamed = eg.NMTF(3, init="custom", max_iter=30, tol=0).fit(stored, **start)
    np.testing.assert_allclose(streamed.membership_, here.membership_, atol=1e-8)
    here = eg.NMTF(3, solver="cd", init="random", random_state=0).fit(A)
    streamed = eg.NMTF(3, solver="cd", init="random", random_state=0).fit(stored)
    np.testing.assert_allclose(streamed.membership_, here.membership_, atol=1e-6)


@pytest.mark.parametrize(("fairness", "init"), [(0.5, "fair-spectral"), (0.0, "random"), (0.5, "partition")])
def test_fair_nmtf_from_disk(blocks, fairness, init):
    model = eg.FairNMTF(3, fairness, init=init, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        streamed = model.fit(blocks)
    assert streamed.membership_.shape == (300, 3)
    np.testing.assert_array_equal(streamed.membership_.argmax(axis=1), streamed.labels_)
    history = streamed.objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()


def test_the_spectral_start_is_that_of_a_large_graph_in_memory(tmp_path, monkeypatch):
    data = eg.datasets.make_planted_graph(1200, 3, mean_degree=20, random_state=0)
    stored = write_blocks(data.adjacency, tmp_path / "x", rows_per_block=500).with_groups(np.arange(1200) % 2)
    monkeypatch.setattr(plans, "_LARGE_NODES", 1)
    model = eg.FairNMTF(3, 0.5, solver="mu", random_state=0, max_iter=10, tol=0)
    streamed, here = clone(model).fit(stored), clone(model).fit(stored.to_graph())
    np.testing.assert_allclose(streamed.membership_, here.membership_, atol=1e-8)


def test_what_cannot_be_done_out_of_core_is_said(tmp_path):
    A = random_graph()
    stored = write_blocks(A, tmp_path / "x", rows_per_block=40).with_groups(np.arange(90) % 2)
    with pytest.raises(ParameterError, match="links single nodes"):
        eg.FairNMTF(4, penalty=GraphPenalty(A)).fit(stored)
    empty = write_blocks(sparse.csr_array((9, 9)), tmp_path / "y").with_groups(np.arange(9) % 2)
    with pytest.raises(eg.exceptions.InfeasibleError, match="has no edge"):
        eg.FairNMTF(3).fit(empty)
