"""ClusteringResult: its table, every export, its provenance, and the same answer in every process."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.exceptions import GraphError, ParameterError
from equigraph.graph import Graph, read_graph
from equigraph.results.result import ClusteringResult
from tests.optional import optional
from tests.tables import rows_of

nx = optional("networkx")
pd = optional("pandas")
pa = optional("pyarrow")
parquet = optional("pyarrow.parquet")
igraph, networkit = optional("igraph"), optional("networkit")


@pytest.fixture(scope="module")
def many():
    """Return a graph whose number of clusters is found, so that membership and interaction are sparse."""
    pairs = nx.disjoint_union_all([nx.path_graph(2) for _ in range(40)])
    graph = read_graph(pairs, groups=np.arange(80) % 2)
    return graph, eg.cluster(graph, method="louvain", random_state=0)


def edge_table(graph):
    upper = sparse.triu(graph.adjacency, format="coo")
    names = graph.node_names
    return pd.DataFrame({"source": names[upper.row], "target": names[upper.col]})


def people(graph):
    return dict(zip(graph.node_names.tolist(), graph.sensitive_features.tolist(), strict=True))


def test_table(room, result):
    table = result.table()
    assert list(table) == ["node", "cluster", "group", "strength"]
    assert table["node"].tolist() == room.node_names.tolist()
    np.testing.assert_array_equal(table["cluster"], result.labels)
    share = result.membership.max(axis=1) / result.membership.sum(axis=1)
    np.testing.assert_allclose(table["strength"], share)
    membership = result.membership.copy()
    membership[0] = 0
    assert np.isnan(replace(result, membership=membership).table()["strength"][0])
    assert "group" not in replace(result, sensitive_features=None).table()


def test_frames_and_files_have_the_table(result, tmp_path):
    expected = {name: column.tolist() for name, column in result.table().items()}
    result.to_csv(tmp_path / "t.csv")
    assert [int(row["cluster"]) for row in rows_of(tmp_path / "t.csv")] == expected["cluster"]
    result.to_parquet(tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").to_pydict() == expected
    for backend in ("pandas", "polars", "pyarrow"):
        frame = result.to_frame(backend)
        assert type(frame).__module__.split(".")[0] == backend
        table = frame if backend == "pandas" else pa.table(frame).to_pandas()
        assert {name: table[name].tolist() for name in table.columns} == expected


def test_values_of_mixed_types_are_texts_in_tables_of_one_type(tmp_path):
    values, given = np.empty(4, dtype=object), np.array([1, "x", 1, "x"], dtype=object)
    values[:] = [7, "b", 2.5, ("c", 1)]
    graph = Graph(nx.to_scipy_sparse_array(nx.path_graph(4)), values, given)
    result = eg.cluster(graph, method="random", n_clusters=2, random_state=0)
    names, groups = ["7", "b", "2.5", "('c', 1)"], ["1", "x", "1", "x"]
    result.to_parquet(tmp_path / "t.parquet")
    for read in (
        parquet.read_table(tmp_path / "t.parquet").to_pydict(),
        result.to_frame("pyarrow").to_pydict(),
        result.to_frame("polars").to_dict(as_series=False),
    ):
        assert read["node"] == names
        assert read["group"] == groups
    assert result.to_frame("pandas")["node"].tolist() == [7, "b", 2.5, ("c", 1)]


def test_floats_of_networkx_are_loaded_as_floats(tmp_path):
    graph = nx.relabel_nodes(nx.path_graph(4), lambda node: node + 0.5)
    eg.cluster(graph, method="random", n_clusters=2, random_state=0).save(tmp_path)
    assert eg.ClusteringResult.load(tmp_path).node_names.tolist() == [0.5, 1.5, 2.5, 3.5]


def test_to_networkx_matches_by_name(room):
    edges = edge_table(room)
    graph = read_graph(edges, groups=people(room))
    result = eg.cluster(graph, method="nmtf", n_clusters=3, random_state=0)
    wanted = dict(zip(result.node_names.tolist(), result.labels.tolist(), strict=True))
    for source in (graph, edges, edges.sample(frac=1, random_state=0), room, room.to_networkx()):
        network = result.to_networkx(source)
        assert nx.get_node_attributes(network, "cluster") == wanted
        assert nx.get_node_attributes(network, "group") == people(room)
        assert network.number_of_edges() == room.n_edges
    for export in (result.to_networkx, result.to_cdlib):
        with pytest.raises(GraphError, match="other nodes"):
            export(nx.path_graph(30))
    bare = eg.cluster(room.adjacency, method="nmtf", n_clusters=3, random_state=0)
    assert not nx.get_node_attributes(bare.to_networkx(room.adjacency), "group")


def test_to_json_and_summary(room, result, tmp_path):
    result.to_json(tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert told.pop("labels") == dict(zip(room.node_names.tolist(), result.labels.tolist(), strict=True))
    assert told == json.loads(json.dumps(result.summary()))
    assert told["parameters"]["n_clusters"] == 3


def test_save_sparse(many, tmp_path):
    graph, result = many
    assert result.n_clusters == 40
    assert sparse.issparse(result.membership)
    assert result.membership.nnz == graph.n_nodes
    assert result.table()["strength"].tolist() == [1.0] * 80
    result.save(tmp_path)
    stored = sparse.load_npz(tmp_path / "membership.npz")
    np.testing.assert_array_equal(np.asarray(stored.argmax(axis=1)).ravel(), result.labels)
    entries = pd.read_csv(tmp_path / "interaction.csv")
    assert list(entries.columns) == ["cluster", "other", "interaction"]
    dense = np.zeros((40, 40))
    dense[entries["cluster"], entries["other"]] = entries["interaction"]
    np.testing.assert_array_equal(dense, result.interaction.toarray())
    np.testing.assert_array_equal(np.diag(dense), 0.5)  # one edge between two nodes: 2 of 4 ordered pairs


def test_model_of_another_graph_raises(room):
    model = eg.RandomClustering(2, random_state=0).fit(room)
    with pytest.raises(GraphError, match="fitted to 30 nodes and this graph has 3"):
        ClusteringResult.from_estimator(model, nx.path_graph(3))


SCRIPT = """
import equigraph as eg
edges = [(f"n{i % 17}", f"n{(i * 7 + 3) % 23}") for i in range(90)]
import pandas as pd
table = pd.DataFrame(sorted(set(e for e in edges if e[0] != e[1])), columns=["source", "target"])
names = set(table["source"]) | set(table["target"])  # its order depends on the hash seed
groups = {name: "xy"[int(name[1:]) % 2] for name in names}
for method in ("ifair-nmtf", "fair-louvain", "scalable-fair-sc"):
    result = eg.cluster(table, sensitive_features=groups, method=method, n_clusters=3, random_state=0)
    print(method, result.labels.tolist(), result.input_hash)
"""


@pytest.mark.filterwarnings("ignore")
def test_labels_do_not_depend_on_the_hash_seed(capsys):
    pytest.importorskip("pandas")
    exec(SCRIPT, {})
    here = capsys.readouterr().out
    command, other = [sys.executable, "-W", "ignore", "-c", SCRIPT], {**os.environ, "PYTHONHASHSEED": "4242"}
    assert here.count("\n") == 3
    assert here == subprocess.check_output(command, env=other, text=True)


@pytest.fixture(scope="module")
def club():
    return nx.relabel_nodes(nx.karate_club_graph(), str)


@pytest.fixture(scope="module")
def clustered(club):
    return eg.cluster(club, sensitive_features="club", n_clusters=3, random_state=0)


def test_communities_are_the_nodes_of_the_graph(club, clustered):
    parts = clustered.communities
    assert nx.community.is_partition(club, parts)
    assert [len(part) for part in parts] == sorted(clustered.sizes.tolist(), reverse=True)
    found = eg.fair_communities(club, "club", 3, attribute="part", random_state=0)
    assert found == parts
    assert all(node in parts[number] for node, number in club.nodes(data="part"))


def test_to_igraph(club, clustered):
    pytest.importorskip("igraph")
    own = igraph.Graph.from_networkx(club)
    own.vs["name"] = own.vs["_nx_name"]
    for clustering in (clustered.to_igraph(), clustered.to_igraph(own)):
        assert isinstance(clustering, igraph.VertexClustering)
        names = clustering.graph.vs["name"]
        found = {frozenset(names[i] for i in part) for part in clustering}
        assert found == set(map(frozenset, clustered.communities))
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
def test_to_cdlib(club, clustered):
    cdlib = pytest.importorskip("cdlib")
    clustering = clustered.to_cdlib(club)
    assert isinstance(clustering, cdlib.NodeClustering)
    assert clustering.graph is club
    assert set(map(frozenset, clustering.communities)) == set(map(frozenset, clustered.communities))
    assert clustering.newman_girvan_modularity().score == pytest.approx(
        eg.metrics.modularity_score(club, clustered.communities)
    )
