"""One behavioural suite over every method and every tiny graph."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph.exceptions import EmptyClusterWarning, InfeasibleError, SmallClusterWarning, SmallGroupWarning
from equigraph.methods import METHODS
from tests.contract.menagerie import CASES

QUICK = {
    "fair-partition": {"effort": 0.1},
    "dmon": {"epochs": 30},
    "dfnmf": {"max_iter": 60, "pretrain_iter": 10},
}
# Methods that promise exactly n_clusters non-empty clusters.
EXACT = {"fair-partition", "random", "fair-louvain", "leiden", "louvain"}

methods = pytest.mark.parametrize("name", METHODS)
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def make(name, case, **parameters):
    return METHODS[name].load()(
        n_clusters=case.n_clusters, random_state=0, **QUICK.get(name, {}), **parameters
    )


def fit(name, case, adjacency=None, groups=None, **parameters):
    """Fit a method; none refuses any case."""
    model = make(name, case, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Tiny graphs have tiny groups and clusters, and whoever says so is right.
        for category in (EmptyClusterWarning, SmallClusterWarning, SmallGroupWarning):
            warnings.simplefilter("ignore", category)
        return model.fit(
            case.adjacency if adjacency is None else adjacency,
            sensitive_features=case.groups if groups is None else groups,
        )


@methods
@cases
def test_fitted_attributes_keep_the_contract(name, case):
    model = fit(name, case)
    n, k = case.adjacency.shape[0], case.n_clusters
    assert model.labels_.shape == (n,)
    assert model.labels_.dtype.kind == "i"
    assert model.membership_.shape == (n, k)
    assert model.interaction_.shape == (k, k)
    assert np.isfinite(model.membership_).all()
    assert np.isfinite(model.interaction_).all()
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    sizes = np.bincount(model.labels_, minlength=k)
    assert (np.diff(sizes) <= 0).all()
    assert model.n_nonempty_clusters_ == np.count_nonzero(sizes)
    if name in EXACT:
        assert model.n_nonempty_clusters_ == k
    # The same seed gives the same labels, whatever holds the graph.
    again = fit(name, case, adjacency=sparse.coo_matrix(case.adjacency))
    np.testing.assert_array_equal(again.labels_, model.labels_)


@methods
def test_input_is_not_changed(name):
    case = CASES[1]
    adjacency = sparse.csr_array(case.adjacency)
    before = [array.copy() for array in (adjacency.data, adjacency.indices, adjacency.indptr)]
    groups = case.groups.copy()
    fit(name, case, adjacency=adjacency)
    for array, copy in zip((adjacency.data, adjacency.indices, adjacency.indptr), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(case.groups, groups)


@methods
def test_names_of_groups_do_not_matter(name):
    case = CASES[0]
    renamed = np.where(case.groups == 0, "blue", "red")
    np.testing.assert_array_equal(fit(name, case, groups=renamed).labels_, fit(name, case).labels_)


@methods
def test_clone_and_pickle(name):
    model = fit(name, CASES[0])
    assert clone(model).get_params().keys() == model.get_params().keys()
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.labels_, model.labels_)


@methods
def test_bad_input_is_one_of_our_errors(name):
    case = CASES[0]
    bad = case.adjacency.copy()
    bad[0, 1] = bad[1, 0] = -1
    with pytest.raises(eg.exceptions.GraphError, match="negative"):
        make(name, case).fit(bad, sensitive_features=case.groups)
    with pytest.raises(eg.exceptions.GraphError, match="symmetric"):
        make(name, case).fit(np.triu(case.adjacency), sensitive_features=case.groups)
    with pytest.raises(eg.exceptions.GroupsError):
        make(name, case).fit(case.adjacency, sensitive_features=case.groups[:-1])
    with pytest.raises(eg.exceptions.GraphError, match="at least as many nodes"):
        make(name, case).set_params(n_clusters=99).fit(case.adjacency, sensitive_features=case.groups)


@methods
def test_result_object(name, tmp_path):
    case = CASES[0]
    model = fit(name, case)
    result = eg.ClusteringResult.from_estimator(model, case.adjacency, sensitive_features=case.groups)
    result.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["labels.csv", "manifest.json", "membership.npz", "interaction.csv", "result.json"]
    )
    assert 0 <= result.scores["NB"] <= 1


@pytest.mark.parametrize(
    "name", ["nmtf", "ifair-nmtf", "sym-nmf", "dfnmf", "fair-nmtf", "sc", "fair-sc", "individual-fair-sc"]
)
def test_a_cost_that_grows_with_the_square_of_k_is_refused_before_the_wait(name):
    n, k = 5000, 1000
    ring = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]).tocsr()
    model = METHODS[name].load()(n_clusters=k, random_state=0)
    with pytest.raises(InfeasibleError, match="expected at most 500 clusters of so many nodes"):
        model.fit(ring, sensitive_features=np.arange(n) % 2)
    model.set_params(n_clusters=500)._check_growth(n, 500)
    model._check_growth(200, 100)
