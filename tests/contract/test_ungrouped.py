"""Every method takes nodes without a group, needs none, or says in one sentence what to do."""

from functools import partial

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import GroupsError, SmallClusterWarning
from equigraph.factorization.penalties import Scatter
from equigraph.graph import Graph
from equigraph.methods import METHODS

TAKE = {"fair-partition", "fair-louvain"}
REFUSE = {"fair-nmtf", "ifair-nmtf", "dfnmf", "fair-sc", "scalable-fair-sc", "individual-fair-sc", "dmon"}
PLAIN = set(METHODS) - TAKE - REFUSE


@pytest.fixture(scope="module")
def room():
    """Return a classroom where three pupils have no group."""
    data = eg.datasets.make_classroom()
    gender = data.sensitive_features.astype(object)
    gender[[3, 11, 20]] = None
    return eg.read_graph(Graph(data.adjacency), groups=gender, attribute="gender", missing="ignore")


def made(name, **parameters):
    model = METHODS[name].load()
    known = model._get_param_names()
    given = {"n_clusters": 3, "random_state": 0, **parameters}
    return model(**{key: value for key, value in given.items() if key in known})


@pytest.mark.parametrize("name", sorted(TAKE))
def test_those_that_search_on_labels_take_them(room, name):
    model = made(name, fairness=0.5).fit(room)
    assert np.bincount(model.labels_).sum() == 30
    assert eg.metrics.evaluate(room, model.labels_)["NB"] == 1


@pytest.mark.parametrize("name", sorted(REFUSE))
def test_those_that_cannot_say_so(room, name):
    if METHODS[name].extra:
        pytest.importorskip("torch")
    with pytest.raises(GroupsError) as caught:
        made(name).fit(room)
    sentence = str(caught.value)
    assert "needs a group for every node, and 3 of 30 nodes have none" in sentence
    assert "use FairPartition" in sentence
    assert "missing='drop'" in sentence


@pytest.mark.parametrize("name", sorted(PLAIN | {"fair-nmtf", "ifair-nmtf", "dfnmf"}))
def test_those_without_fairness_ignore_groups(room, name):
    if METHODS[name].extra:
        pytest.importorskip({"leiden": "igraph", "louvain": "networkit"}[name])
    with_groups = made(name, fairness=0).fit(room).labels_
    without = made(name, fairness=0).fit(room.adjacency).labels_
    assert with_groups.tolist() == without.tolist()


def test_penalties_refuse_them_too(room):
    with pytest.raises(GroupsError, match="needs a group for every node"):
        Scatter(room.groups)


def test_an_array_with_gaps_was_not_said_to_be_meant(room):
    with pytest.raises(GroupsError, match=r"missing='ignore'"):
        eg.FairPartition(3).fit(room.adjacency, sensitive_features=room.sensitive_features)
    with pytest.raises(GroupsError, match=r"missing='ignore' or 'drop'"):
        eg.metrics.balance_score(np.arange(30) % 3, sensitive_features=room.sensitive_features)
    assert (
        eg.FairPartition(3, random_state=0).fit(room.adjacency, sensitive_features=room.groups).notion_ == 1
    )


def test_one_group_beside_nodes_without_is_constant(room):
    values = np.where(room.groups.codes == 0, None, room.sensitive_features)
    graph = eg.read_graph(room, groups=values, missing="ignore")
    with pytest.raises(GroupsError, match=r"is constant \('girl' for all 14 nodes that have one\)"):
        eg.FairPartition(3).fit(graph)


def test_results_and_curves_say_how_many_have_no_group(room):
    result = eg.cluster(room, n_clusters=3, random_state=0)
    assert result.summary()["n_ungrouped"] == 3
    assert result.groups.sizes.tolist() == room.groups.sizes.tolist()
    assert result.to_frame()["group"].isna().sum() == 3
    curve = eg.tradeoff_curve(room, n_clusters=3, fairness=[0, 0.5], random_state=0)
    assert curve.summary()["n_ungrouped"] == 3
    refined = eg.refine_labels(room, np.arange(30) % 3, random_state=0)
    assert eg.metrics.evaluate(room, refined)["NB"] == 1


def star_and_pairs():
    """Return two cliques of ten, and a node that hangs by a thread; the best three clusters leave it alone."""
    A = np.zeros((21, 21))
    A[:10, :10] = A[10:20, 10:20] = 1
    np.fill_diagonal(A, 0)
    A[20, 0] = A[0, 20] = 1e-3
    return A


@pytest.mark.parametrize("estimator", [partial(eg.FairPartition, size_bounds=None), eg.FairLouvain])
def test_a_cluster_of_one_is_named_and_bounds_are_proposed(estimator):
    A = star_and_pairs()
    with pytest.warns(SmallClusterWarning, match=r"cluster 2 has 1 node, .*size_bounds=\(3, None\)") as told:
        estimator(3, fairness=0, random_state=0).fit(A)
    assert len(told) == 1
    # Nobody asked for a number, or for more than three nodes each.
    estimator(None, fairness=0, random_state=0).fit(A)
    estimator(7, fairness=0, random_state=0).fit(A)


def test_bounds_end_the_warning():
    A = star_and_pairs()
    eg.FairPartition(3, fairness=0, size_bounds=(1, None), random_state=0).fit(A)
    larger = eg.FairPartition(3, fairness=0, size_bounds=(3, None), random_state=0).fit(A)
    assert np.bincount(larger.labels_).min() >= 3
    with pytest.warns(SmallClusterWarning):
        result = eg.cluster(A, n_clusters=3, fairness=0, size_bounds=None, random_state=0)
    assert result.summary()["small_clusters"] == [2]
