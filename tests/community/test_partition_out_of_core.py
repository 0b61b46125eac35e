"""FairPartition in blocks on disk: the labels of the graph in memory, with all that it takes."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import equigraph as eg
from equigraph.base import interaction_of
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.search import plans
from equigraph.stores.blocks import write_blocks
from tests.reference.marks import TINY_GRAPHS
from tests.reference.stored import halves, random_graph

pytestmark = TINY_GRAPHS


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(plans, "_LARGE_NODES", 1)
    monkeypatch.setattr(plans, "_LEAST_PARTS", 200)


@pytest.fixture(scope="module")
def graph():
    mix = np.array([np.roll([0.6, 0.2, 0.2], cluster % 3) for cluster in range(5)])
    data = eg.datasets.make_planted_graph(500, 5, mean_degree=20, group_mix=mix, random_state=0)
    return eg.Graph(data.adjacency, None, data.sensitive_features, "group")


@pytest.fixture(scope="module")
def stored(graph, tmp_path_factory):
    return write_blocks(graph, tmp_path_factory.mktemp("partition") / "blocks", rows_per_block=90)


OPTIONS = {
    "dial": {"fairness": 0.5},
    "at_least": {"at_least": 0.9},
    "bounds": {"fairness": 0.3, "size_bounds": (95, 105)},
    "own notion": {"fairness": 0.5, "notion": eg.metrics.notions.Notion("halves", "H", halves)},
    "free": {"n_clusters": None, "fairness": 0.2},
    "many": {"n_clusters": 140, "fairness": 0.5},
}


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_the_labels_are_those_in_memory(graph, stored, options):
    model = eg.FairPartition(**{"n_clusters": 5, "effort": 0.1, "random_state": 0, **options})
    here, there = clone(model).fit(graph), clone(model).fit(stored)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.objective_ == here.objective_
    assert there.n_nonempty_clusters_ == there.n_clusters_
    dense = [
        one.interaction_.toarray() if sparse.issparse(one.interaction_) else one.interaction_
        for one in (here, there)
    ]
    np.testing.assert_array_equal(*dense)
    np.testing.assert_allclose(
        dense[0], interaction_of(graph, here.labels_, here.n_clusters_).toarray(), rtol=1e-10
    )
    if "size_bounds" in options:
        sizes = np.bincount(there.labels_)
        assert options["size_bounds"][0] <= sizes.min() <= sizes.max() <= options["size_bounds"][1]


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("fairness", [0.0, 0.5])
def test_the_plan_for_large_graphs_is_as_good_as_that_for_small_ones(stored, graph, fairness, monkeypatch):
    streamed = eg.FairPartition(5, fairness, effort=0.5, random_state=0).fit(stored)
    scores = eg.metrics.evaluate(graph, streamed.labels_)
    assert streamed.modularity_ == pytest.approx(scores["Q"])
    assert streamed.notion_ == pytest.approx(scores["NB"])
    assert streamed.objective_ == pytest.approx((1 - fairness) * scores["Q"] + fairness * scores["NB"])
    monkeypatch.undo()
    here = eg.FairPartition(5, fairness, effort=0.5, random_state=0).fit(graph)
    assert streamed.objective_ > here.objective_ - 0.005


@pytest.mark.usefixtures("everything_is_large")
def test_weights_of_any_unit(graph, tmp_path):
    weighted = graph.adjacency.copy()
    rows, columns = weighted.nonzero()
    weighted.data = 1.0 + (rows * columns % 7)
    model = eg.FairPartition(4, 0.4, effort=0.1, random_state=0)
    here = clone(model).fit(weighted, sensitive_features=graph.sensitive_features)
    for number, unit in enumerate((1.0, 1e-3)):
        blocks = write_blocks(weighted * unit, tmp_path / str(number), rows_per_block=300)
        there = clone(model).fit(blocks, sensitive_features=graph.sensitive_features)
        np.testing.assert_array_equal(there.labels_, here.labels_)
        np.testing.assert_allclose(there.interaction_, unit * here.interaction_, rtol=1e-9)


@pytest.mark.usefixtures("everything_is_large")
def test_several_attributes_and_nodes_without_a_group(graph, stored):
    several = {"team": graph.sensitive_features, "shift": np.arange(500) % 3}
    model = eg.FairPartition(5, 0.5, attribute_weights={"shift": 2}, effort=0.1, random_state=0)
    here, there = (clone(model).fit(one, sensitive_features=several).labels_ for one in (graph, stored))
    np.testing.assert_array_equal(there, here)
    groups = np.array(graph.sensitive_features, dtype=object)
    groups[::7] = None
    model = eg.FairPartition(5, 0.5, effort=0.1, random_state=0)
    here = clone(model).fit(eg.read_graph(graph.adjacency, groups=groups, missing="ignore"))
    there = clone(model).fit(stored.with_groups(groups, missing="ignore"))
    np.testing.assert_array_equal(there.labels_, here.labels_)
    with pytest.raises(GroupsError):
        clone(model).fit(stored.with_groups(groups))


@pytest.mark.usefixtures("everything_is_large")
def test_a_curve(graph, stored):
    settings = {"n_clusters": 3, "fairness": [0.0, 0.5], "effort": 0.1, "random_state": 0}
    here, there = (eg.tradeoff_curve(one, **settings) for one in (graph, stored))
    assert there.input_hash == here.input_hash
    assert len(there.points) == len(here.points)
    for point, other in zip(there.points, here.points, strict=True):
        np.testing.assert_array_equal(point.labels, other.labels)
        assert point.scores == pytest.approx(other.scores)


def test_small_graphs_are_searched_in_memory(graph, stored):
    model = eg.FairPartition(5, 0.5, effort=0.1, random_state=0, rules={"sizes": (60, None)})
    here, there = clone(model).fit(graph), clone(model).fit(stored)
    np.testing.assert_array_equal(there.labels_, here.labels_)


@pytest.mark.usefixtures("everything_is_large")
def test_rules_are_refused_in_one_sentence(stored):
    with pytest.raises(ParameterError, match="rules need the graph in memory where it is large"):
        eg.FairPartition(5, rules={"sizes": (60, None)}).fit(stored)


@pytest.mark.usefixtures("everything_is_large")
def test_graphs_without_edges_and_nodes_without_one(tmp_path):
    stored = write_blocks(random_graph(), tmp_path / "x", rows_per_block=40).with_groups(np.arange(90) % 2)
    model = eg.FairPartition(4, 0.5, random_state=0, n_init=2, effort=0.1)
    assert model.fit(stored).n_nonempty_clusters_ == 4
    empty = write_blocks(sparse.csr_array((9, 9)), tmp_path / "y").with_groups(np.arange(9) % 2)
    assert eg.FairPartition(3, random_state=0, effort=0.1).fit(empty).n_nonempty_clusters_ == 3
