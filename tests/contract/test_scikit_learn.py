"""Pipelines, searches, data sets and node attributes as scikit-learn's users expect them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import equigraph as eg
from equigraph.exceptions import GraphError, GroupsError, ParameterError
from equigraph.metrics import ClusteringScorer

pytestmark = pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")


@pytest.fixture(scope="module")
def points():
    X, target = make_blobs(60, centers=3, random_state=0, cluster_std=0.6)
    return X, target, np.arange(60) % 2


def knn_pipeline(**parameters):
    return make_pipeline(
        KNeighborsTransformer(n_neighbors=6, mode="connectivity"),
        FunctionTransformer(eg.as_graph, kw_args={"symmetrize": "max"}),
        eg.FairPartition(n_clusters=3, random_state=0, **parameters),
    )


def test_a_pipeline_of_nearest_neighbours(points):
    X, target, groups = points
    labels = knn_pipeline(fairness=0.2).fit_predict(X, fairpartition__sensitive_features=groups)
    assert eg.metrics.clustering_accuracy(target, labels) > 0.9
    directed = KNeighborsTransformer(n_neighbors=6, mode="connectivity").fit_transform(X)
    with pytest.raises(GraphError, match="symmetrize"):
        eg.FairPartition(3).fit(directed)


def test_a_search_over_the_dial(points):
    room = eg.datasets.make_classroom()
    every = np.arange(30)
    scorer = ClusteringScorer(room.sensitive_features, fairness=0.5)
    search = GridSearchCV(
        eg.FairPartition(3, random_state=0), {"fairness": [0.0, 0.5]}, scoring=scorer, cv=[(every, every)]
    )
    search.fit(room.adjacency, sensitive_features=room.sensitive_features)
    best = search.best_estimator_
    scores = eg.metrics.evaluate(room.adjacency, best.labels_, sensitive_features=room.sensitive_features)
    assert search.best_score_ == pytest.approx((scores["Q"] + scores["NB"]) / 2)
    assert search.best_params_ == {"fairness": 0.5}
    plain = eg.FairPartition(3, fairness=0.0, random_state=0).fit(room.adjacency)
    assert scorer(plain, room.adjacency) == pytest.approx(search.cv_results_["mean_test_score"][0])


def test_a_data_set_is_a_graph():
    room = eg.datasets.make_classroom()
    graph = eg.as_graph(room)
    assert graph.attribute == "gender"
    assert graph.node_names.tolist() == room.node_names.tolist()
    expected = eg.cluster(graph, n_clusters=3, random_state=0)
    assert (eg.cluster(room, n_clusters=3, random_state=0).labels == expected.labels).all()
    assert (eg.FairPartition(3, random_state=0).fit(room).labels_ == expected.labels).all()
    assert eg.metrics.evaluate(room, expected.labels) == expected.scores
    by_house = eg.cluster(room, sensitive_features="house", n_clusters=3, random_state=0)
    assert by_house.sensitive_features.tolist() == room.house.tolist()
    assert by_house.attribute == "house"
    with pytest.raises(GroupsError, match=r"no node attribute 'hous' \(did you mean 'house'\?\)"):
        eg.cluster(room, sensitive_features="hous", n_clusters=3)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_memberships_as_a_frame(kind):
    room = eg.datasets.make_classroom()
    model = eg.NMTF(n_clusters=3, random_state=0)
    plain = model.fit_transform(room.adjacency)
    assert (plain == model.membership_).all()
    frame = clone(model).set_output(transform=kind).fit_transform(room.adjacency)
    assert list(frame.columns) == ["nmtf0", "nmtf1", "nmtf2"]
    assert np.allclose(frame.to_numpy(), plain)
    with pytest.raises(ParameterError, match="expected 'default', 'pandas' or 'polars'"):
        model.set_output(transform="excel")


def test_a_number_of_clusters_is_asked_for_where_it_is_needed():
    room = eg.datasets.make_classroom()
    with pytest.raises(ParameterError, match="n_clusters is not given"):
        eg.cluster(room)
    assert eg.cluster(room, method="fair-louvain", random_state=0).n_clusters > 1
