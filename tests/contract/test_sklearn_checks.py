"""scikit-learn's own checks, over every estimator."""

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from equigraph.methods import METHODS

# check_clustering feeds 50 x 2 blobs with negative entries to anything that calls itself a clusterer, whatever its
# tags say: that is no graph.
EXPECTED = {
    "check_clustering": "feeds signed points in the plane, not an adjacency",
    # These set n_clusters=1, which equigraph refuses: one cluster is no clustering.
    "check_dont_overwrite_parameters": "sets n_clusters=1",
    "check_methods_subset_invariance": "sets n_clusters=1",
    "check_fit2d_1sample": "sets n_clusters=1",
    "check_fit2d_1feature": "sets n_clusters=1",
    "check_fit2d_predict1d": "sets n_clusters=1",
}
# Few steps: the checks look at the interface, not at the clusters.
QUICK = {
    "FairPartition": {"effort": 0.1},
    "DMoN": {"epochs": 5, "features": "structural"},
    "DFNMF": {"max_iter": 20, "pretrain_iter": 5},
    **{name: {"max_iter": 20} for name in ("NMTF", "IFairNMTF", "SymNMF", "FairNMTF")},
}


def estimators():
    return [method.load()(**QUICK.get(method.estimator, {})) for method in METHODS.values()]


@parametrize_with_checks(estimators(), expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # The checks fit on matrices that are no graphs and to no end: clusters may be empty, solvers unfinished.
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
def test_parameters_are_declared(method):
    """Every constructor parameter has a constraint with a sentence of help, and no constraint is orphaned."""
    estimator = method.load()
    declared = estimator._parameters
    assert set(declared) == set(estimator().get_params(deep=False))
    assert all(constraint.help for constraint in declared.values())
