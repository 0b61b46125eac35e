"""Communities of networkx, igraph, networkit and cdlib are accepted as labels."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import ParameterError
from equigraph.graph.adapters import labels_of_communities
from equigraph.graph.labels import labels_in_order
from tests.optional import optional

igraph = optional("igraph")
networkit = optional("networkit")
nx = optional("networkx")

CLUB = nx.karate_club_graph()
LABELS = np.array([0 if CLUB.nodes[i]["club"] == "Mr. Hi" else 1 for i in CLUB])
SETS = [set(np.flatnonzero(part == LABELS).tolist()) for part in (0, 1)]


def of_igraph(names=None):
    graph = igraph.Graph.from_networkx(CLUB)
    if names is not None:
        graph.vs["name"] = names
    return igraph.VertexClustering(graph, LABELS.tolist())


def of_networkit():
    partition = networkit.Partition(34)
    partition.setUpperBound(2)
    for node, label in enumerate(LABELS.tolist()):
        partition.addToSubset(label, node)
    return partition


GIVEN = {
    "sets": lambda: SETS,
    "frozensets": lambda: tuple(map(frozenset, SETS)),
    "iterator": lambda: iter(SETS),
    "igraph": of_igraph,
    "networkit": of_networkit,
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_communities_are_labels(given):
    metrics = eg.metrics
    assert metrics.modularity_score(CLUB, given()) == metrics.modularity_score(CLUB, LABELS)
    matrix = nx.to_scipy_sparse_array(CLUB)
    expected = metrics.evaluate(matrix, LABELS, target=LABELS)
    assert metrics.evaluate(matrix, given(), target=given()) == expected
    assert metrics.adjusted_rand_score(given(), given()) == 1
    names = {i: CLUB.nodes[i]["club"] for i in CLUB}
    groups = names if isinstance(labels_of_communities(given()), dict) else list(names.values())
    assert metrics.balance_score(given(), sensitive_features=groups) == 0
    refined = eg.refine_labels(CLUB, given(), sensitive_features="club", random_state=0)
    assert (refined == eg.refine_labels(CLUB, LABELS, sensitive_features="club", random_state=0)).all()
    groups = eg.read_graph(matrix, of_networkit(), "part").sensitive_features
    assert groups.tolist() == LABELS.tolist()


def test_names_of_igraph_and_holes_of_networkit():
    names = [f"n{i}" for i in np.random.default_rng(0).permutation(34)]
    path = nx.relabel_nodes(CLUB, dict(enumerate(names)))
    graph = eg.as_graph(path.subgraph(sorted(path)).copy())
    found = labels_in_order(of_igraph(names), graph)
    order = [names.index(name) for name in graph.node_names.tolist()]
    assert found.tolist() == LABELS[order].tolist()
    holed = networkit.nxadapter.nx2nk(CLUB)
    holed.removeNode(5)
    algorithm = networkit.community.PLM(holed)
    partition = networkit.community.detectCommunities(holed, algo=algorithm, inspect=False)
    labels = labels_in_order(partition, eg.as_graph(holed))
    assert labels.tolist() == [partition[i] for i in range(34) if i != 5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: [{0, 1}, {1, 2}], "node 1 is in the communities 0 and 1"),
        (lambda: [SETS[0]], "labels are missing"),
        (lambda: networkit.Cover(34), "no partition"),
        (lambda: networkit.Graph(34), "no partition"),
        (lambda: igraph.Graph(34), "no clustering"),
    ],
    ids=["overlap", "not all", "cover", "networkit graph", "igraph graph"],
)
def test_invalid_partitions_raise(given, message):
    with pytest.raises(ParameterError, match=message):
        eg.metrics.modularity_score(CLUB, given())


def test_communities_of_cdlib():
    algorithms = pytest.importorskip("cdlib.algorithms")
    found = algorithms.louvain(CLUB)
    wanted = {node: number for number, nodes in enumerate(found.communities) for node in nodes}
    assert eg.metrics.modularity_score(CLUB, found) == eg.metrics.modularity_score(CLUB, wanted)
