"""read_graph: groups from every source, and the options for missing and unknown nodes."""

import re

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import GraphError, GroupsError, ParameterError
from equigraph.graph import Graph, as_graph, read_graph
from tests.optional import optional
from tests.reference.refusals import refused

igraph = optional("igraph")
nx = optional("networkx")
pd = optional("pandas")
pl = optional("polars")
pa = optional("pyarrow")
parquet = optional("pyarrow.parquet")

FRIENDS = pl.DataFrame({"source": ["cem", "ann", "dee"], "target": ["bob", "bob", "ann"]})
PEOPLE = {"dee": "girl", "ann": "girl", "bob": "boy", "cem": "boy"}
TABLE = pl.DataFrame({"who": list(PEOPLE), "gender": list(PEOPLE.values())})
WANTED = {"ann": "girl", "bob": "boy", "cem": "boy", "dee": "girl"}
MATRIX = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def found(graph):
    return dict(zip(graph.node_names.tolist(), graph.sensitive_features.tolist(), strict=True))


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "groups",
    [
        PEOPLE,
        TABLE,
        TABLE.to_pandas(),
        TABLE.to_arrow(),
        TABLE.lazy(),
        pd.Series(PEOPLE, name="gender"),
        pd.DataFrame({"gender": PEOPLE}),
    ],
    ids=lambda groups: type(groups).__module__ + "." + type(groups).__name__,
)
def test_keyed_groups(groups):
    graph = read_graph(FRIENDS, groups, "gender")
    assert found(graph) == WANTED
    assert graph.attribute == "gender"
    assert read_graph(FRIENDS, groups).attribute == (None if groups is PEOPLE else "gender")
    assert repr(graph) == "Graph(4 nodes, 3 edges, 'gender': 2 groups)"
    assert not graph.positional


def test_columns_are_chosen():
    wide = TABLE.select("gender", "who", age=pl.Series([9, 8, 8, 9]))
    assert found(read_graph(FRIENDS, wide, "gender", node_column="who")) == WANTED
    assert found(read_graph(FRIENDS, wide, 0, node_column=1)) == WANTED
    years = TABLE.rename({"gender": "2024"}).with_columns(pl.lit("x").alias("2023"))
    assert found(read_graph(FRIENDS, years, 2024)) == WANTED
    refused(GroupsError, "no column 'sex': there are 'gender', ", FRIENDS, wide, "sex", node_column="who")
    refused(GroupsError, "attribute: there are 'gender', 'who', 'age'", FRIENDS, wide, node_column="who")
    refused(GroupsError, "node_column='name' is not a column", FRIENDS, wide, "age", node_column="name")
    # The first column is not the names.
    refused(GroupsError, "'age' is missing for 4 of 4 nodes", FRIENDS, wide, "age", unknown="ignore")
    refused(ParameterError, "node_column is a column of groups", FRIENDS, node_column="who")


@pytest.mark.parametrize(
    "groups",
    [["x", "y", "x"], np.array(["x", "y", "x"]), pl.Series(["x", "y", "x"]), pa.array(["x", "y", "x"])],
)
def test_arrays_in_node_order(groups):
    graph = read_graph(MATRIX, groups, "team")
    assert found(graph) == {0: "x", 1: "y", 2: "x"}
    assert graph.attribute == "team"
    refused(GroupsError, "do not fit an edge list: its nodes are sorted by name", FRIENDS, groups)
    refused(GroupsError, "3 groups for 2 nodes", [[0, 1], [1, 0]], groups)


def test_a_series_is_matched_by_its_index():
    shuffled = pd.Series(["x", "y", "z"], index=[2, 1, 0])
    wanted = {0: "z", 1: "y", 2: "x"}
    named = nx.path_graph(3)
    for graph in (named, Graph(MATRIX, named=True), Graph(MATRIX, [1, 0, 2])):
        assert found(read_graph(graph, shuffled)) == wanted
    assert found(read_graph(named, shuffled.to_frame("team"))) == wanted
    assert found(read_graph(named, shuffled.rename(index=str))) == wanted
    by_name = pd.Series(list("xyz"), index=["b", "a", "c"])
    assert found(read_graph(nx.path_graph(["c", "a", "b"]), by_name)) == {"c": "z", "a": "y", "b": "x"}


def test_a_series_with_the_default_index_is_in_node_order():
    plain = pd.Series(list("xyz"))
    for groups in (plain, plain.to_frame("team")):
        assert found(read_graph(MATRIX, groups)) == {0: "x", 1: "y", 2: "z"}
        assert found(read_graph(nx.path_graph(["c", "a", "b"]), groups)) == {"c": "x", "a": "y", "b": "z"}
        for ends in (["a", "b", "c"], [1, 2, 3]):  # names, and ids from 1 beside rows from 0
            edges = pl.DataFrame({"source": ends[:2], "target": ends[1:]})
            refused(GroupsError, "do not fit an edge list", edges, groups)
        # Here the name and the position of every node are the same number.
        counted = read_graph(pl.DataFrame({"source": [1, 2], "target": [0, 1]}), groups)
        assert counted.sensitive_features.tolist() == ["x", "y", "z"]
    refused(GroupsError, "4 groups for 3 nodes", MATRIX, pd.Series(list("xyzz")))


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ([5, 6, 7], "name none of the nodes (they start with '5', the nodes with '0'): expected the"),
        ([0, 1, 5], "name 1 node that the graph lacks, first '5'"),
        ([0, 1, 1], "give node '1' two values"),
    ],
)
def test_a_series_with_another_index_is_refused(index, sentence):
    refused(GroupsError, re.escape(sentence), nx.path_graph(3), pd.Series(list("xyz"), index=index))
    with pytest.raises(GroupsError, match=re.escape(sentence)):
        eg.IFairNMTF(2).fit(nx.path_graph(3), sensitive_features=pd.Series(list("xyz"), index=index))


def test_the_order_of_a_graph_is_known_and_that_of_a_table_is_not():
    graph = read_graph(FRIENDS, PEOPLE, "gender")
    other = ["x", "y", "x", "y"]
    assert found(read_graph(graph, other)) == {"ann": "x", "bob": "y", "cem": "x", "dee": "y"}
    refused(GroupsError, "do not fit an edge list", FRIENDS, other)


def test_types_of_keys_may_differ():
    edges = pl.DataFrame({"source": [7, 8], "target": [8, 9]})
    wanted = {7: "a", 8: "b", 9: "a"}
    assert found(read_graph(edges, {"7": "a", "8": "b", "9": "a"})) == wanted
    assert found(read_graph(edges, pd.Series(["a", "b", "a"], index=[9.0, 8.0, 7.0]))) == wanted
    text = edges.cast(pl.String)
    assert found(read_graph(text, {7: 1, 8: 2, 9: 2})) == {"7": 1, "8": 2, "9": 2}
    refused(GroupsError, "first '007'", edges, {"007": "a", "8": "b", "9": "a"})


class TestFiles:
    @pytest.mark.parametrize(
        "text",
        [
            "who,gender\ndee,girl\nann,girl\nbob,boy\ncem,boy\n",
            "dee,girl\nann,girl\nbob,boy\ncem,boy\n",
            "\ufeffwho;gender\ndee;girl\nann;girl\nbob;boy\ncem;boy\n",
            "# people\ndee girl\nann girl\nbob boy\ncem boy\n",
        ],
    )
    @pytest.mark.parametrize("attribute", ["gender", None])
    def test_keyed(self, tmp_path, text, attribute):
        graph = read_graph(FRIENDS, write(tmp_path / "people.csv", text), attribute)
        assert found(graph) == WANTED

    def test_one_column(self, tmp_path):
        bare = write(tmp_path / "a.csv", "1\n2\n1\n")
        assert found(read_graph(MATRIX, bare)) == {0: 1, 1: 2, 2: 1}
        headed = read_graph(MATRIX, write(tmp_path / "b.csv", "team\nred\nblue\nred\n"))
        assert (found(headed), headed.attribute) == ({0: "red", 1: "blue", 2: "red"}, "team")
        blanks = read_graph(MATRIX, write(tmp_path / "c.csv", "Sri Lanka\nPeru\nSri Lanka\n"), "origin")
        assert blanks.sensitive_features.tolist() == ["Sri Lanka", "Peru", "Sri Lanka"]
        refused(GroupsError, "do not fit an edge list", FRIENDS, bare)
        refused(GroupsError, "3 groups for 4 nodes", np.zeros((4, 4)), bare)

    def test_faults(self, tmp_path):
        refused(GraphError, "does not exist", FRIENDS, tmp_path / "no.csv", "gender")
        path = write(tmp_path / "people.csv", "dee,girl\nann,girl\nbob,boy,9\n")
        refused(GroupsError, r"people.csv, line 3: expected 2 fields as before, got 3", FRIENDS, path)
        refused(GroupsError, "is not a table", FRIENDS, write(tmp_path / "people.gml", ""))
        path = write(tmp_path / "people.csv", "who,gender\n")
        refused(GroupsError, "holds a header and no groups", FRIENDS, path, "gender")
        three = write(tmp_path / "three.csv", "who,age,gender\nann,9,girl\n")
        refused(GroupsError, "no column 'sex': there are 'who', 'age', 'gender'", FRIENDS, three, "sex")


class TestNodeAttributes:
    def test_networkx_and_igraph(self):
        graph = nx.path_graph(["c", "a", "b"])
        nx.set_node_attributes(graph, {"a": "x", "b": "y", "c": "y"}, "team")
        assert found(read_graph(graph, attribute="team")) == {"c": "y", "a": "x", "b": "y"}
        other = igraph.Graph([(0, 1), (1, 2)])
        other.vs["team"] = [1, 2, 1]
        assert found(read_graph(other, attribute="team")) == {0: 1, 1: 2, 2: 1}

    def test_missing_ones(self):
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, {0: 5, 1: 6}, "team")
        refused(GroupsError, "'team' is missing for 1 of 3 nodes, first 2", graph, attribute="team")
        assert found(read_graph(graph, attribute="team", missing="drop")) == {0: 5, 1: 6}
        refused(GroupsError, "No node has an attribute 'age': the graph has team", graph, attribute="age")
        refused(GroupsError, "no node attribute 'team'.*the graph has none", MATRIX, attribute="team")

    def test_columns_of_a_data_set(self):
        room = eg.datasets.make_classroom()
        assert read_graph(room, attribute="house").sensitive_features.tolist() == room.house.tolist()

    def test_a_graph_keeps_its_own(self):
        graph = read_graph(FRIENDS, PEOPLE, "gender")
        assert read_graph(graph) is graph
        assert found(read_graph(graph, attribute="gender")) == WANTED
        refused(GroupsError, "no node attribute 'age'.*there are 'gender'", graph, attribute="age")
        assert read_graph(graph, dict.fromkeys(PEOPLE, 1), "one").attribute == "one"


class TestMissingAndUnknown:
    some = {"ann": "girl", "bob": None, "dee": ""}  # noqa: RUF012

    def test_own_group(self):
        graph = read_graph(FRIENDS, self.some, missing="own-group")
        assert found(graph) == {"ann": "girl", "bob": "missing", "cem": "missing", "dee": "missing"}
        numbers = read_graph(MATRIX, np.array([1.0, np.nan, 2.0]), missing="own-group")
        assert numbers.sensitive_features.tolist() == ["1", "missing", "2"]
        groups = {"ann": "missing", "bob": "boy"}
        refused(GroupsError, "has a value 'missing' already", FRIENDS, groups, missing="own-group")

    def test_ignored_nodes_keep_their_place_and_have_no_group(self):
        graph = read_graph(FRIENDS, self.some, missing="ignore")
        assert found(graph) == {"ann": "girl", "bob": None, "cem": None, "dee": None}
        assert graph.groups.codes.tolist() == [0, -1, -1, -1]
        assert graph.groups.n_ungrouped == 3
        assert repr(graph).endswith("1 group, 3 without one)")
        numbers = read_graph(MATRIX, np.array([1.0, np.nan, 2.0]), missing="ignore")
        assert numbers.sensitive_features.tolist() == [1, None, 2]
        assert numbers.groups.names.dtype.kind == "i"

    def test_missing_option_of_a_graph_is_kept(self):
        graph = read_graph(FRIENDS, self.some, missing="ignore")
        for options in ({}, {"weight": False}, {"attribute": "gender"}):
            assert read_graph(graph, **options).groups.n_ungrouped == 3
        refused(GroupsError, "missing='ignore'", graph, graph.sensitive_features)

    def test_missing_option_of_a_graph_built_from_arrays(self):
        silent = Graph(as_graph(MATRIX).adjacency, sensitive_features=["x", None, "y"])
        with pytest.raises(GroupsError, match=r"1 of 3 nodes is missing .* missing='ignore' or 'drop'"):
            silent.groups  # noqa: B018
        named = Graph(silent.adjacency, sensitive_features=["x", "None", "y"])
        told = Graph(silent.adjacency, sensitive_features=["x", None, "y"], missing="ignore")
        assert told.groups.sizes.tolist() == [1, 1]
        assert told.groups is told.groups
        assert told.fingerprint() != named.fingerprint()

    @pytest.mark.parametrize("missing", ["ignore", "drop"])
    def test_at_least_one_node_must_have_a_group(self, missing):
        refused(GroupsError, f"so missing='{missing}' leaves none", FRIENDS, {"ann": None}, missing=missing)

    @pytest.mark.parametrize("token", ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None"])
    def test_tokens_in_files(self, tmp_path, token):
        path = write(tmp_path / "people.csv", f"who,gender\nann,girl\nbob,{token}\ncem,boy\ndee,girl\n")
        refused(GroupsError, "'gender' is missing for 1 of 4 nodes, first 'bob'", FRIENDS, path, "gender")
        graph = read_graph(FRIENDS, path, "gender", missing="own-group")
        assert found(graph)["bob"] == "missing"
        numbers = write(tmp_path / "numbers.csv", f"who,age\nann,9\nbob,{token}\ncem,8\ndee,9\n")
        assert found(read_graph(FRIENDS, numbers, "age", missing="drop")) == {"ann": 9, "cem": 8, "dee": 9}

    def test_composed_letters(self, tmp_path):
        composed, decomposed = "Zo\u00eb", "Zoe\u0308"
        edges = write(tmp_path / "edges.csv", f"source,target\n{decomposed},ann\n")
        people = write(tmp_path / "people.csv", f"{composed},girl\nann,girl\n")
        assert found(read_graph(edges, people)) == {decomposed: "girl", "ann": "girl"}
        assert found(read_graph(edges, {composed: 1, "ann": 2})) == {decomposed: 1, "ann": 2}
        both = write(tmp_path / "both.csv", f"source,target\n{decomposed},{composed}\n")
        assert found(read_graph(both, {composed: 1, decomposed: 2})) == {composed: 1, decomposed: 2}

    def test_drop(self):
        graph = read_graph(FRIENDS, {"ann": 1, "dee": 2, "cem": 1}, missing="drop")
        assert found(graph) == {"ann": 1, "cem": 1, "dee": 2}
        assert graph.adjacency.toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
        assert graph.adjacency.indices.dtype == np.int32
        assert read_graph(FRIENDS).dropped is None
        assert graph.dropped.tolist() == read_graph(graph, weight=False).dropped.tolist() == ["bob"]

    def test_unknown_nodes(self):
        more = {**PEOPLE, "abe": "boy", "zoe": "girl"}
        refused(GroupsError, "name 2 nodes that the graph lacks, first 'abe'", FRIENDS, more)
        assert found(read_graph(FRIENDS, more, unknown="ignore")) == WANTED
        added = read_graph(FRIENDS, more, unknown="add")
        assert added.node_names.tolist() == ["abe", "ann", "bob", "cem", "dee", "zoe"]
        assert found(added) == more
        assert added.adjacency[1, 2] == added.adjacency[2, 1] == 1
        assert not added.adjacency[[0]].nnz
        assert Graph(added.adjacency, added.node_names).n_edges == 3  # it passes the full check

    def test_added_integers_and_words(self):
        edges = pl.DataFrame({"source": [10, 2], "target": [2, 30]})
        groups = {10: "a", 2: "b", 30: "a"}
        assert read_graph(edges, {**groups, "5": "b"}, unknown="add").node_names.tolist() == [2, 5, 10, 30]
        words = read_graph(edges, {**groups, "x": "b"}, unknown="add")
        assert words.node_names.tolist() == ["10", "2", "30", "x"]

    def test_added_to_a_matrix_come_last(self):
        graph = read_graph(MATRIX, {2: "a", 1: "a", 0: "b", -1: "b"}, unknown="add")
        assert graph.node_names.tolist() == [0, 1, 2, -1]
        assert graph.positional
        assert graph.adjacency.shape == (4, 4)

    def test_faults_in_keys(self):
        gap = pl.DataFrame({"who": ["ann", None], "g": ["a", "b"]})
        refused(GroupsError, r"Row 1 of the groups .* names no node", FRIENDS, gap)
        twice = pl.DataFrame({"who": ["ann", "ann"], "g": ["a", "b"]})
        refused(GroupsError, "give node 'ann' two values, 'a' and 'b'", FRIENDS, twice)

    @pytest.mark.parametrize(
        "wrong",
        ["missing guess", "unknown drop", "duplicates last", "symmetrize yes", "dtype nonsense", "dtype int"],
    )
    def test_unknown_options(self, wrong):
        name, value = wrong.split()
        for graph, groups in ((FRIENDS, PEOPLE), (MATRIX, [1, 2, 1])):
            refused(ParameterError, name, graph, groups, **{name: value})
