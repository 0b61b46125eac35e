"""Edge lists with columns of other names, in folders of parquet files, of networkx and in spreadsheets."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import GraphError, GroupsError, ParameterError
from equigraph.graph import read_graph
from tests.apps.classes.roster.sheets import write_xlsx
from tests.optional import optional
from tests.reference.refusals import refused

nx = optional("networkx")
pa = optional("pyarrow")
pd = optional("pandas")
pl = optional("polars")

CALLS = pd.DataFrame(
    [(1, "ann", "bob", 2.0), (2, "bob", "cem", 1.0), (3, "cem", "ann", 4.0)],
    columns=["when", "caller", "callee", "hours"],
)
WANTED = [[0, 2, 4], [2, 0, 1], [4, 1, 0]]


@pytest.mark.parametrize(
    "ends",
    [{"source": "caller", "target": "callee"}, {"source": 2, "target": 1}, {"source": "callee", "target": 1}],
)
def test_ends_are_columns_by_name_or_number(tmp_path, ends):
    CALLS.to_csv(tmp_path / "calls.csv", index=False)
    CALLS.to_parquet(tmp_path / "calls.parquet", index=False)
    paths = [tmp_path / "calls.csv", tmp_path / "calls.parquet"]
    for calls in (CALLS, pl.DataFrame(CALLS), pa.Table.from_pandas(CALLS, preserve_index=False), *paths):
        assert read_graph(calls, weight="hours", **ends).adjacency.toarray().tolist() == WANTED


def test_invalid_ends_raise(tmp_path):
    wanted = r"source='call' is not a column.*did you mean 'calle[re]"
    refused(GraphError, wanted, CALLS, source="call", target="callee", weight=False)
    refused(GraphError, "both the column 'caller'", CALLS, source="caller", target=1, weight=False)
    refused(ParameterError, "expected both", CALLS, source="caller")
    nx.write_graphml(nx.path_graph(3), tmp_path / "path.graphml")
    for graph in (np.eye(3), nx.path_graph(3), tmp_path / "path.graphml"):
        refused(ParameterError, "source and target are columns of an edge", graph, source="a", target="b")


def test_several_node_attributes_by_their_names():
    room = eg.datasets.make_classroom()
    network = eg.as_graph(room).to_networkx()
    nx.set_node_attributes(network, dict(zip(network, room.house.tolist(), strict=True)), "house")
    labels = np.arange(30) % 3
    both = {"gender": room.sensitive_features, "house": room.house}
    wanted = eg.metrics.evaluate(room.adjacency, labels, sensitive_features=both)
    for source in (network, room, eg.Graph(room.adjacency, room.node_names, both)):
        assert eg.metrics.evaluate(source, labels, sensitive_features=["gender", "house"]) == wanted
    for source, named, error, words in (
        (network, ["gender", "age"], GroupsError, "'age'"),
        (room.adjacency, "club", GroupsError, "no node attribute 'club'.*has none"),
        (room.adjacency, ["club", "role"], GroupsError, "no node attribute 'club'.*has none"),
        (room.adjacency, "club.csv", GraphError, r"club\.csv does not exist"),
    ):
        with pytest.raises(error, match=words):
            eg.FairPartition(3).fit(source, sensitive_features=named)


def test_a_folder_of_parquet_files_is_one_edge_list(tmp_path):
    folder = tmp_path / "calls"
    (folder / "day=2").mkdir(parents=True)
    edges = CALLS[["caller", "callee", "hours"]].set_axis(["source", "target", "weight"], axis=1)
    edges[:1].to_parquet(folder / "a.parquet", index=False)
    edges[1:].to_parquet(folder / "day=2" / "b.parquet", index=False)
    assert read_graph(folder).adjacency.toarray().tolist() == WANTED
    edges[["source"]].to_parquet(folder / "c.parquet", index=False)
    refused(GraphError, "cannot be read as parquet", folder)


def test_folders_that_are_no_graph(tmp_path):
    refused(GraphError, "folder without parquet files", tmp_path)
    refused(GraphError, "is a folder: expected a file", [[0, 1], [1, 0]], tmp_path)
    eg.write_blocks([[0, 1], [1, 0]], tmp_path / "blocks")
    refused(GraphError, "open_blocks", tmp_path / "blocks")


@pytest.mark.parametrize("suffix", [".edgelist", ".txt", ".txt.gz"])
def test_edge_lists_written_by_networkx(tmp_path, suffix):
    path = tmp_path / f"club{suffix}"
    club = nx.karate_club_graph()
    nx.write_edgelist(club, path)
    found, wanted = read_graph(path), eg.as_graph(nx.Graph(sorted(club.edges(data=True))))
    assert found.node_names.tolist() == list(range(34))
    order = np.argsort(wanted.node_names)
    assert (found.adjacency.toarray() == wanted.adjacency.toarray()[np.ix_(order, order)]).all()
    assert not read_graph(path, weight=False).is_weighted
    refused(GraphError, "no edge has an attribute 'hours'", path, weight="hours")
    nx.write_edgelist(nx.path_graph(["ann", "bob", "cem"]), path)  # {} on every line
    assert read_graph(path).adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [("a b {}\nb c {'weight': x}\n", "line 2.*no dict"), ("a b {'weight': 1}\nb c 3\n", "line 2: expected two nodes"),
     ("a b {'weight': -1}\n", "line 1: the weight is -1")],
)  # fmt: skip
def test_lines_that_networkx_does_not_write_raise(tmp_path, text, message):
    path = tmp_path / "edges.edgelist"
    path.write_text(text)
    refused(GraphError, message, path)


def test_edges_in_a_spreadsheet(tmp_path):
    path = tmp_path / "calls.xlsx"
    rows = [CALLS.columns.tolist(), *CALLS.to_numpy().tolist()]
    write_xlsx(path, rows, more={"empty": []})
    graph = read_graph(path, source="caller", target="callee", weight="hours")
    assert graph.adjacency.toarray().tolist() == WANTED
    numbers = read_graph(write_xlsx(path, [["source", "target"], [7, 8], [8, 9]]))
    assert numbers.node_names.tolist() == [7, 8, 9]
    square = read_graph(write_xlsx(path, [["", *"abcd"], *([name, 1, 1, 1, 1] for name in "abcd")]))
    assert square.node_names.tolist() == list("abcd")
    gap = [["source", "target"], [7, 8], [8, None]]
    refused(GraphError, "row 3: the target is missing", write_xlsx(path, gap))
    refused(GraphError, "2 sheets with cells", write_xlsx(path, rows, more={"again": rows}))
    path.write_text("source,target\n1,2\n")
    refused(GraphError, "no spreadsheet", path)
