"""DMoN as an estimator: what it learns, repeatability, errors, callbacks, memory."""

import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from equigraph import datasets
from equigraph.community.neural import DMoN
from equigraph.community.neural.dmon import structural_columns
from equigraph.exceptions import (
    EmptyClusterWarning,
    GroupsError,
    InfeasibleError,
    MissingDependencyError,
    ParameterError,
)
from equigraph.metrics import clustering_accuracy, modularity_score
from tests.reference.stored import random_graph

torch = pytest.importorskip("torch", reason="needs the extra 'neural'")


def planted(n=120, inside=0.3, across=0.02, seed=0, weights=False):
    """Return a graph of two equal blocks and the block of each node."""
    rng = np.random.default_rng(seed)
    target = rng.permutation(n) % 2
    chance = np.where(target[:, None] == target, inside, across)
    upper = np.triu(rng.random((n, n)) < chance, 1).astype(float)
    if weights:
        upper *= 0.5 + rng.random((n, n))
    return sparse.csr_array(upper + upper.T), target


def quick(**parameters):
    return DMoN(**{"features": "structural", "epochs": 60, "random_state": 0, "device": "cpu", **parameters})


@pytest.mark.parametrize(("null_model", "weights"), [("paper", False), ("google", True)])
def test_learns_planted_clusters_from_structure(null_model, weights):
    A, target = planted(weights=weights)
    model = quick(epochs=300, null_model=null_model).fit(A)
    assert clustering_accuracy(model.labels_, target) > 0.9
    assert model.objective_history_[-1] < model.objective_history_[0]


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.EmptyClusterWarning")
def test_ordinal_features_tell_only_groups_and_degrees():
    """With one column, nodes of one group with equal neighbourhoods get equal rows of C."""
    A, target = planted(n=40)
    twin = np.r_[np.arange(40), 7]  # node 40 copies node 7: the same neighbours, the same group
    A = sparse.csr_array(A.toarray()[np.ix_(twin, twin)])
    groups = np.array(["b", "a"])[target[twin]]
    model = quick(features="ordinal").fit(A, sensitive_features=groups)
    np.testing.assert_allclose(model.membership_[40], model.membership_[7], atol=1e-6)
    one_hot = quick(features="sensitive").fit(A, sensitive_features=groups)
    assert not np.allclose(model.membership_, one_hot.membership_)


@pytest.mark.parametrize("hidden", [16, (16,), [16, 8]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fitted_attributes(hidden, dtype):
    A, target = planted()
    model = quick(features="sensitive+structural", hidden=hidden, dtype=dtype, dropout=0.3)
    model.fit(A, sensitive_features=target)
    assert model.membership_.shape == (120, 2)
    assert model.membership_.dtype == dtype
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert model.n_iter_ == model.objective_history_.size == 60
    assert model.status_ == "max_iter"


def test_thread_count_changes_nothing():
    A, _ = planted(n=1500, inside=0.012, across=0.004)
    before = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            results.append(quick(n_clusters=3, hidden=(64, 32), epochs=6).fit(A).membership_)
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(results[0], results[1])


def test_global_state_is_left_alone():
    A, _ = planted()
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002
    with torch.no_grad():  # a caller's setting, which must neither hinder training nor be changed
        quick(dropout=0.5).fit(A)
        assert not torch.is_grad_enabled()
    assert torch.equal(torch_state, torch.get_rng_state())
    after = np.random.get_state()  # noqa: NPY002
    assert np.array_equal(numpy_state[1], after[1])
    assert numpy_state[2:] == after[2:]


def test_callback_stops_and_sees_every_epoch():
    A, _ = planted()
    seen = []

    def until_seven(progress):
        seen.append(progress)
        return progress.step == 7

    model = quick(callbacks=until_seven).fit(A)
    assert (model.n_iter_, model.status_) == (7, "stopped")
    assert [(one.step, one.total) for one in seen] == [(step, 60) for step in range(1, 8)]
    assert [one.objective for one in seen] == model.objective_history_.tolist()


def test_divergence_keeps_the_last_finite_state():
    A, _ = planted()
    model = quick(learning_rate=1e20, hidden=(16, 16))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyClusterWarning)
        with pytest.warns(ConvergenceWarning, match="diverged") as told:
            model.fit_predict(A)
    assert told[0].filename == __file__
    assert model.status_ == "diverged"
    assert np.isfinite(model.membership_).all()
    assert np.isfinite(model.objective_history_).all()
    assert model.n_iter_ == model.objective_history_.size < 60


@pytest.mark.parametrize("features", ["sensitive", "ordinal", "sensitive+structural"])
def test_sensitive_features_need_groups(features):
    A, _ = planted()
    with pytest.raises(GroupsError, match="features='structural'"):
        quick(features=features).fit(A)
    with pytest.raises(GroupsError, match="constant"):
        quick(features=features).fit(A, sensitive_features=np.zeros(120))


def test_no_edges_is_infeasible_and_isolated_nodes_are_fine():
    with pytest.raises(InfeasibleError, match="without edges"):
        quick().fit(sparse.csr_array((5, 5)))
    A, target = planted()
    A = sparse.csr_array(sparse.block_diag([A, sparse.csr_array((4, 4))]))
    model = quick(epochs=300).fit(A)
    assert np.isfinite(model.membership_).all()
    assert clustering_accuracy(model.labels_[:120], target) > 0.9


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_missing_gpu_is_said():
    with pytest.raises(ParameterError, match="no GPU"):
        quick(device="cuda").fit(planted()[0])


def test_missing_torch_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"equigraph\[neural\]"):
        quick().fit(planted()[0])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_stays_linear_in_the_edges():
    """A dense n x n array of 12,000 nodes would take 576 MB in float32; the whole fit may add 300 MB."""
    code = """
        import re, sys, warnings
        import numpy as np, torch
        from scipy import sparse
        from equigraph.community.neural import DMoN
        n = 12_000
        rows, steps = np.random.default_rng(0).integers(n - 1, size=(2, 48_000))
        columns = (rows + 1 + steps) % n
        A = sparse.csr_array((np.ones(48_000), (rows, columns)), shape=(n, n))
        A = A.maximum(A.T)
        warnings.simplefilter("ignore")
        # Unlike getrusage, this peak does not include that of the parent process.
        peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
        before = peak()
        DMoN(3, features="structural", hidden=(32, 32), epochs=3, device="cpu", random_state=0).fit(A)
        sys.exit(peak() - before > 300e6)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("n", [20, 150])
def test_structural_columns_span_the_leading_eigenspace(n):
    A = random_graph(n, weighted=True)
    X = structural_columns(A, 4, np.random.default_rng(0))
    scale = 1 / np.sqrt(np.maximum(A.toarray().sum(axis=1), 1e-300))
    scale[A.toarray().sum(axis=1) == 0] = 0
    vectors = np.linalg.eigh(scale[:, None] * A.toarray() * scale)[1][:, :-5:-1]
    angles = np.linalg.svd(vectors.T @ X[:, :4] / np.sqrt(n), compute_uv=False)
    np.testing.assert_allclose(angles, 1, atol=1e-5)
    np.testing.assert_allclose((X**2).mean(axis=0), 1, atol=1e-9)
    assert abs(X[:, 4].mean()) < 1e-12


def test_structural_columns_repeat_and_take_isolated_nodes_and_equal_degrees():
    A = random_graph(90, weighted=True)
    first, second = (structural_columns(A, 3, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.isfinite(first).all()
    ring = sparse.csr_array(np.roll(np.eye(10), 1, axis=0) + np.roll(np.eye(10), -1, axis=0))
    assert not structural_columns(ring, 2, np.random.default_rng(0))[:, 2].any()


def test_more_eigenvectors_than_nodes():
    with pytest.raises(InfeasibleError, match="n_structural=21"):
        structural_columns(random_graph(20), 21, np.random.default_rng(0))


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.EmptyClusterWarning")
def test_published_modularity(data_dir):
    data = datasets.load("friendship", data_home=data_dir, download_if_missing=False)
    numbers = (data.sensitive_features == "M") + 1
    found = []
    for seed in range(2):
        model = DMoN(5, features="ordinal", device="cpu", random_state=seed)
        labels = model.fit_predict(data.adjacency, sensitive_features=numbers)
        found.append(modularity_score(data.adjacency, labels))
    assert np.mean(found) == pytest.approx(0.140, abs=0.03)
