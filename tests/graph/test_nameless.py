"""Groups and labels of a graph without names are in node order, whatever their index."""

import numpy as np
import pytest
from scipy import sparse

from equigraph.exceptions import GroupsError
from equigraph.graph import Graph, read_graph
from tests.optional import optional
from tests.reference.refusals import refused

igraph = optional("igraph")
nx = optional("networkx")
pd = optional("pandas")

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
BACKWARDS = pd.Series(["x", "y", "z"], index=[2, 1, 0], name="team")


@pytest.mark.parametrize(
    "graph",
    [
        PATH,
        sparse.csr_array(PATH),
        Graph(PATH),
        Graph(PATH, np.arange(3)),
        {"adjacency": PATH},
        igraph.Graph([(0, 1), (1, 2)]),
        pd.DataFrame(PATH).iloc[::-1, :].iloc[::-1],
    ],
    ids=["array", "sparse", "Graph", "counted names", "data set", "igraph", "square frame"],
)
@pytest.mark.parametrize("index", [[2, 1, 0], [7, 7, 7], ["ann", "bob", "cem"]])
def test_the_index_does_not_matter_without_names(graph, index):
    series = BACKWARDS.set_axis(index)
    for groups in (series, series.to_frame(), pd.DataFrame({"team": series, "left": [1, 1, 0]})):
        found = read_graph(graph, groups, "team")
        assert not found.named
        assert found.sensitive_features.tolist() == ["x", "y", "z"]
    assert Graph(PATH, sensitive_features=series).sensitive_features.tolist() == ["x", "y", "z"]


def test_names_of_nodes_in_a_mapping_are_their_positions():
    assert read_graph(PATH, {2: "x", 1: "y", 0: "z"}).sensitive_features.tolist() == ["z", "y", "x"]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (BACKWARDS.iloc[:2], "2 groups for 3 nodes"),
        ({5: "x", 1: "y", 0: "z"}, "positions, 0 to 2"),
        (pd.DataFrame({"id": [1, 3, 2], "team": list("xyz")}), "numbered in another order by 'id'"),
        (pd.DataFrame({"id": [1, 0], "team": list("xy")}), "2 rows for 3 nodes"),
    ],
)
def test_rows_that_may_be_in_another_order_raise(groups, message):
    attribute = "team" if isinstance(groups, pd.DataFrame) else None
    refused(GroupsError, message, PATH, groups, attribute, missing="ignore")


def test_positions_in_node_column_are_matched(tmp_path):
    table = pd.DataFrame({"id": [2, 1, 0], "team": list("xyz")})
    path = tmp_path / "teams.csv"
    table.to_csv(path, index=False)
    for groups in (table, path):
        refused(GroupsError, "node_column='id'", PATH, groups, "team")
        matched = read_graph(PATH, groups, "team", node_column="id")
        assert matched.sensitive_features.tolist() == ["z", "y", "x"]
    counted = read_graph(PATH, table.assign(id=[0, 1, 2]))
    assert counted.features.keys() == {"team"}
