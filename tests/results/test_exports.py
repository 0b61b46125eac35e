"""Results as objects of networkx, igraph, networkit and cdlib."""

import networkx as nx
import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import GraphError, ParameterError
from tests.optional import optional

igraph, networkit = optional("igraph"), optional("networkit")


@pytest.fixture(scope="module")
def club():
    return nx.relabel_nodes(nx.karate_club_graph(), str)


@pytest.fixture(scope="module")
def result(club):
    return eg.cluster(club, sensitive_features="club", n_clusters=3, random_state=0)


def test_communities_are_the_nodes_of_the_graph(club, result):
    parts = result.communities
    assert nx.community.is_partition(club, parts)
    assert [len(part) for part in parts] == sorted(result.sizes.tolist(), reverse=True)
    found = eg.fair_communities(club, "club", 3, attribute="part", random_state=0)
    assert found == parts
    assert all(node in parts[number] for node, number in club.nodes(data="part"))


def test_to_igraph(club, result):
    pytest.importorskip("igraph")
    own = igraph.Graph.from_networkx(club)
    own.vs["name"] = own.vs["_nx_name"]
    for clustering in (result.to_igraph(), result.to_igraph(own)):
        assert isinstance(clustering, igraph.VertexClustering)
        names = clustering.graph.vs["name"]
        found = {frozenset(names[i] for i in part) for part in clustering}
        assert found == set(map(frozenset, result.communities))
    parts = eg.fair_communities(own, "club", 3, attribute="part", random_state=0)
    assert all(vertex["name"] in parts[vertex["part"]] for vertex in own.vs)


def test_communities_of_networkit_graphs_are_integers():
    pytest.importorskip("networkit")
    graph = networkit.nxadapter.nx2nk(nx.karate_club_graph())
    parts = eg.fair_communities(graph, np.arange(34) % 2, 2, random_state=0)
    assert set().union(*parts) == set(range(34))
    with pytest.raises(ParameterError, match="networkx and igraph"):
        eg.fair_communities(graph, np.arange(34) % 2, 2, attribute="part")


@pytest.mark.filterwarnings("ignore")
def test_to_cdlib(club, result):
    cdlib = pytest.importorskip("cdlib")
    clustering = result.to_cdlib(club)
    assert isinstance(clustering, cdlib.NodeClustering)
    assert clustering.graph is club
    assert set(map(frozenset, clustering.communities)) == set(map(frozenset, result.communities))
    assert clustering.newman_girvan_modularity().score == pytest.approx(
        eg.metrics.modularity_score(club, result.communities)
    )


def test_another_graph_is_refused(result):
    for export in (result.to_networkx, result.to_cdlib):
        with pytest.raises(GraphError, match="other nodes"):
            export(nx.path_graph(35))
