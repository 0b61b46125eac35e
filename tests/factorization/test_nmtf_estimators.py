"""NMTF and IFairNMTF as estimators: starts, warnings, results, scikit-learn's machinery."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

import equigraph as eg
from equigraph.exceptions import EmptyClusterWarning, FairnessIgnoredWarning, ParameterError
from equigraph.factorization.penalties import GraphPenalty, Penalty
from equigraph.factorization.starts import largest_singular_values
from equigraph.stores.products import SerialProduct
from tests.factorization.penalties.test_penalties import KeepApart
from tests.reference.dense import contrastive_laplacian, ifair_nmtf


@pytest.fixture(scope="module")
def room():
    return eg.datasets.make_classroom()


def fitted(room, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return eg.IFairNMTF(**{"n_clusters": 3, "random_state": 0, **parameters}).fit(
            room.adjacency, sensitive_features=room.sensitive_features
        )


def test_estimator_is_the_papers_algorithm_up_to_the_numbering(room):
    n, k = room.adjacency.shape[0], 3
    rng = np.random.default_rng(0)
    H, W = rng.random((n, k)), np.diag(rng.random(k) + 1)
    model = eg.IFairNMTF(k, fairness=2.0, self_pairs=False, init="custom", max_iter=100, tol=0)
    model.fit(room.adjacency, sensitive_features=room.sensitive_features, H=H, W=W)
    L = contrastive_laplacian(room.sensitive_features, self_pairs=False)
    H_dense, W_dense, history = ifair_nmtf(room.adjacency.toarray(), H, W, 2.0, L, 100)
    raw = H_dense.argmax(axis=1)
    order = np.argsort(-np.bincount(raw, minlength=k), kind="stable")
    np.testing.assert_allclose(model.membership_, H_dense[:, order], atol=1e-10)
    np.testing.assert_allclose(model.interaction_, W_dense[np.ix_(order, order)], atol=1e-10)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-10)
    assert model.n_iter_ == 100


def test_svd_start_uses_the_largest_singular_values():
    sbm = eg.datasets.make_fair_sbm(300, 3, 2, random_state=1)
    exact = np.linalg.svd(sbm.adjacency.toarray(), compute_uv=False)
    np.testing.assert_allclose(largest_singular_values(SerialProduct(sbm.adjacency), 7), exact[:7], rtol=1e-8)
    small = sbm.adjacency[:12][:, :12]
    np.testing.assert_allclose(
        largest_singular_values(SerialProduct(small), 12),
        np.linalg.svd(small.toarray(), compute_uv=False),
        atol=1e-10,
    )


def test_a_few_passes_find_the_singular_values_of_a_large_graph(monkeypatch):
    planted = eg.datasets.make_planted_graph(800, 4, mean_degree=30, mixing=0.1, random_state=1).adjacency
    exact = np.linalg.svd(planted.toarray(), compute_uv=False)
    monkeypatch.setattr("equigraph.factorization.starts._FEW_PASSES_FROM", 100)
    found = largest_singular_values(SerialProduct(planted), 8)
    # Four values stand out, the others are in the bulk.
    np.testing.assert_allclose(found[:4], exact[:4], rtol=1e-3)
    np.testing.assert_allclose(found, exact[:8], rtol=0.1)
    assert (found <= exact[:8] * (1 + 1e-12)).all()
    np.testing.assert_array_equal(found, largest_singular_values(SerialProduct(planted), 8))
    # Fewer directions than columns: the rest is 0.
    star = sparse.csr_array(np.eye(100)[[0] * 99 + [1]].T * 1.0)
    star = star + star.T
    np.testing.assert_allclose(
        largest_singular_values(SerialProduct(star), 5),
        np.linalg.svd(star.toarray(), compute_uv=False)[:5],
        atol=1e-9,
    )


def test_custom_start_is_checked(room):
    model = eg.NMTF(3, init="custom")
    good_H, good_W = np.ones((30, 3)), np.eye(3)
    with pytest.raises(ParameterError, match="needs both factors"):
        model.fit(room.adjacency, H=good_H)
    with pytest.raises(ParameterError, match=r"H has shape \(30, 2\); expected \(30, 3\)"):
        model.fit(room.adjacency, H=good_H[:, :2], W=good_W)
    with pytest.raises(ParameterError, match="W must be finite and nonnegative"):
        model.fit(room.adjacency, H=good_H, W=-good_W)


def test_no_groups_means_no_fairness_and_one_warning(room):
    with pytest.warns(FairnessIgnoredWarning, match="no groups") as record:
        model = eg.IFairNMTF(3, random_state=0, tol=0).fit(room.adjacency)
    assert len(record) == 1
    assert record[0].filename == __file__
    np.testing.assert_array_equal(
        model.labels_, eg.NMTF(3, random_state=0, tol=0).fit_predict(room.adjacency)
    )


def test_divergence_is_told_and_never_nan():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((40, 40)) < 0.3, 1).astype(float)
    groups = np.repeat(["many", "few"], [36, 4])
    model = eg.IFairNMTF(3, fairness=1e6, self_pairs=False, max_iter=20000, tol=0, random_state=0)
    told = pytest.warns(ConvergenceWarning, match="too large for groups this unequal")
    with told, pytest.warns(EmptyClusterWarning, match="smaller fairness"):
        model.fit(A + A.T, sensitive_features=groups)
    assert model.status_ == "diverged"
    assert np.isfinite(model.membership_).all()
    assert np.isfinite(model.objective_history_).all()
    assert model.n_iter_ == model.objective_history_.size


def test_precision_follows_the_graph_or_the_parameter(room):
    assert fitted(room).membership_.dtype == np.float64
    assert fitted(room, dtype="float32").membership_.dtype == np.float32
    single = eg.NMTF(3, random_state=0, tol=0).fit(room.adjacency.astype(np.float32))
    assert single.membership_.dtype == np.float32


def test_own_penalty_combines_with_fairness(room):
    together = eg.NMTF(3, random_state=0, tol=0).fit(room.adjacency).labels_
    i, j = next((i, j) for i in range(30) for j in range(i) if together[i] == together[j])
    apart = fitted(room, penalty=50 * KeepApart([(i, j)]), tol=0).labels_
    assert apart[i] != apart[j]

    similar = sparse.coo_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(30, 30))
    assert isinstance(100 * GraphPenalty(similar), Penalty)
    drawn, free = (
        fitted(room, penalty=weight * GraphPenalty(similar), tol=0).membership_ for weight in (100, 0)
    )
    assert np.linalg.norm(drawn[0] - drawn[1]) < 0.5 * np.linalg.norm(free[0] - free[1])


def test_metadata_routing_through_a_pipeline(room):
    with sklearn.config_context(enable_metadata_routing=True):
        model = eg.IFairNMTF(3, random_state=0, tol=0).set_fit_request(sensitive_features=True)
        pipeline = Pipeline([("cluster", model)])
        pipeline.fit(room.adjacency, sensitive_features=room.sensitive_features)
        np.testing.assert_array_equal(pipeline[-1].labels_, fitted(room, tol=0).labels_)


@pytest.mark.parametrize("cls", [eg.NMTF, eg.IFairNMTF])
@pytest.mark.parametrize("given", ["H", "W"])
def test_a_start_that_would_be_ignored_is_refused(room, cls, given):
    start = {"H": np.ones((30, 3)), "W": np.ones((3, 3))}
    with pytest.raises(ParameterError, match=f"{cls.__name__}: init='svd' makes its own start"):
        cls(3).fit(room.adjacency, sensitive_features=room.sensitive_features, **{given: start[given]})


def test_coordinate_descent_needs_fewer_iterations(room):
    errors = []
    for solver, max_iter in (("mu", 300), ("cd", 30)):
        model = eg.NMTF(3, solver=solver, max_iter=max_iter, tol=0, random_state=0).fit(room.adjacency)
        fitted = model.membership_ @ model.interaction_ @ model.membership_.T
        errors.append(np.linalg.norm(room.adjacency.toarray() - fitted))
    assert errors[1] <= 1.005 * errors[0]
    with pytest.raises(ParameterError, match="solver='cd' works on the normalised objective"):
        eg.NMTF(3, solver="cd", penalty=KeepApart([(0, 1)])).fit(room.adjacency)
