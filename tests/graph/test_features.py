"""Several attributes of a graph: by name, by index, by order, from files."""

import numpy as np
import pytest
from scipy import sparse

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import Graph, read_graph
from equigraph.graph.features import with_features
from tests.optional import optional
from tests.reference.refusals import refused

nx = optional("networkx")
pd = optional("pandas")
pl = optional("polars")

FRIENDS = pd.DataFrame({"source": ["cem", "ann", "dora"], "target": ["bob", "bob", "ann"]})
PEOPLE = {
    "name": ["dora", "cem", "bob", "ann"],
    "gender": ["girl", "boy", "boy", "girl"],
    "needs": ["no", "no", "yes", "no"],
    "age": [9, 12, 7, 8],
}
IN_ORDER = {
    "gender": ["girl", "boy", "boy", "girl"],
    "needs": ["no", "yes", "no", "no"],
    "age": [8, 7, 12, 9],
}


def columns_of(graph):
    return {name: column.tolist() for name, column in graph.features.items()}


def test_columns_of_a_table_are_matched_by_name(tmp_path):
    wanted = {name: IN_ORDER[name] for name in ("needs", "gender")}
    paths = [tmp_path / "people.csv", tmp_path / "people.parquet"]
    pd.DataFrame(PEOPLE).to_csv(paths[0], index=False)
    pl.DataFrame(PEOPLE).write_parquet(paths[1])
    for people in (pd.DataFrame(PEOPLE), pl.DataFrame(PEOPLE), *paths):
        graph = read_graph(FRIENDS, people, ["needs", "gender"])
        assert columns_of(graph) == wanted
        assert graph.attribute == "needs, gender"
        assert repr(graph) == "Graph(4 nodes, 3 edges, 'needs': 2 groups, 'gender': 2 groups)"


def test_columns_by_number_and_a_node_column():
    people = pd.DataFrame(PEOPLE)[["gender", "name", "needs"]]
    graph = read_graph(FRIENDS, people, [0, 2], node_column="name")
    assert columns_of(graph) == {name: IN_ORDER[name] for name in ("gender", "needs")}


@pytest.mark.parametrize(
    "features",
    [
        pd.DataFrame(PEOPLE),
        pl.DataFrame(PEOPLE),
        pd.DataFrame(PEOPLE).set_index("name"),
        {name: dict(zip(PEOPLE["name"], PEOPLE[name], strict=True)) for name in IN_ORDER},
        {name: pd.Series(PEOPLE[name], index=PEOPLE["name"]) for name in IN_ORDER},
    ],
    ids=["first column", "polars", "index", "mappings", "series"],
)
def test_features_of_a_call_are_all_columns(features):
    assert columns_of(with_features(FRIENDS, features)) == IN_ORDER


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_features_in_node_order(make):
    path = nx.to_scipy_sparse_array(nx.path_graph(4))
    assert columns_of(with_features(path, make(IN_ORDER))) == IN_ORDER
    with pytest.raises(GroupsError, match="do not fit an edge list"):
        with_features(FRIENDS, make({name: IN_ORDER[name] for name in ("gender", "needs")}))


def test_codes_of_few_numbers_are_no_names_of_nodes():
    path = nx.to_scipy_sparse_array(nx.path_graph(6))
    frame = pd.DataFrame({"sex": [0, 1, 0, 1, 1, 0], "needs": [1, 0, 0, 0, 0, 1]})
    assert list(with_features(path, frame).features) == ["sex", "needs"]


def test_two_columns_of_names_and_groups_are_one_attribute_as_ever():
    frame = pd.DataFrame({"name": PEOPLE["name"], "gender": PEOPLE["gender"]})
    graph = with_features(FRIENDS, frame)
    assert graph.attribute == "gender"
    assert graph.sensitive_features.tolist() == IN_ORDER["gender"]
    strangers = pd.DataFrame({"name": ["w", "x", "y", "z"], "gender": PEOPLE["gender"]})
    with pytest.raises(GroupsError, match="name none of the nodes"):
        with_features(nx.path_graph(4), strangers)
    with pytest.raises(GroupsError, match="'name' has another value in every row"):
        with_features(nx.to_scipy_sparse_array(nx.path_graph(4)), strangers)


def test_a_mapping_is_one_of_nodes_or_one_of_columns():
    pair = [[0, 1], [1, 0]]
    assert with_features(pair, {0: ("girl", "yes"), 1: ("boy", "no")}).attribute is None
    assert with_features(pair, {"a": ("girl", "boy"), "b": ("yes", "no")}).attribute == "a, b"
    with pytest.raises(GroupsError, match="of columns and of single values, first 'b'"):
        with_features(pair, {"a": ["girl", "boy"], "b": "no"})


def test_missing_values_of_each_attribute():
    gender = {"ann": "girl", "bob": None, "cem": "boy", "dora": "girl"}
    people = {"gender": gender, "needs": {"ann": "no", "cem": "yes"}}
    refused(GroupsError, "'gender' is missing for 1 of 4 nodes, first 'bob'", FRIENDS, people)
    graph = read_graph(FRIENDS, people, missing="ignore")
    assert graph.attributes.codes.tolist() == [[1, 0], [-1, -1], [0, 1], [1, -1]]
    dropped = read_graph(FRIENDS, people, missing="drop")
    assert dropped.node_names.tolist() == ["ann", "cem"]
    assert dropped.dropped.tolist() == ["bob", "dora"]
    own = read_graph(FRIENDS, people, missing="own-group")
    assert own.features["needs"].tolist() == ["no", "missing", "yes", "missing"]


def test_unknown_nodes_of_every_attribute_are_added():
    people = {"a": {"ann": 1, "bob": 2, "zoe": 3}, "b": {"abe": "x", "cem": "y"}}
    graph = read_graph(FRIENDS, people, unknown="add", missing="ignore")
    assert graph.node_names.tolist() == ["abe", "ann", "bob", "cem", "dora", "zoe"]
    assert columns_of(graph) == {"a": [None, 1, 2, None, None, 3], "b": ["x", None, None, "y", None, None]}


def test_joint_groups_bins_and_weights():
    options = {"intersect": ["gender", "age"], "bins": {"age": 2}, "attribute_weights": {"gender, age": 3}}
    graph = read_graph(FRIENDS, pd.DataFrame(PEOPLE), "gender", **options)
    joint = ["girl, 7 to 8", "boy, 7 to 8", "boy, 9 to 12", "girl, 9 to 12"]
    assert columns_of(graph) == {"gender": IN_ORDER["gender"], "gender, age": joint}
    assert graph.attributes.weights.tolist() == [0.25, 0.75]
    alone = read_graph(FRIENDS, pd.DataFrame(PEOPLE), intersect=[("gender", "needs")])
    assert alone.attribute == "gender, needs"
    assert alone.sensitive_features.tolist() == ["girl, no", "boy, yes", "boy, no", "girl, no"]


def test_bins_of_one_attribute_keep_the_numbers():
    graph = read_graph(FRIENDS, pd.DataFrame(PEOPLE), "age", bins={"age": 2})
    assert graph.sensitive_features.tolist() == IN_ORDER["age"]
    assert graph.groups.names.tolist() == ["7 to 8", "9 to 12"]
    assert graph.groups.codes.tolist() == [0, 0, 1, 1]


def test_attributes_of_a_graph_are_chosen_and_weighed_again():
    graph = read_graph(FRIENDS, pd.DataFrame(PEOPLE), list(IN_ORDER), attribute_weights={"age": 2})
    assert graph.attributes.weights.tolist() == [0.25, 0.25, 0.5]
    chosen = read_graph(graph, attribute=["needs", "age"])
    assert columns_of(chosen) == {name: IN_ORDER[name] for name in ("needs", "age")}
    assert read_graph(graph, attribute="needs").attribute == "needs"
    assert read_graph(graph, attribute_weights={"needs": 2}).attributes.weights.tolist() == [0.25, 0.5, 0.25]
    assert with_features(graph, attribute_weights={"age": 0}).attributes.weights.tolist() == [0.5, 0.5, 0]
    refused(GroupsError, "no node attribute 'class'.*'gender', 'needs', 'age'", graph, attribute="class")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"attribute": ["gender", "gender"]}, GroupsError, "'gender' is given twice"),
        ({"attribute": ["gender", "sex"]}, GroupsError, "no column 'sex'"),
        ({"attribute": ["gender"], "bins": {"gendre": 2}}, GroupsError, "did you mean 'gender'"),
        ({"attribute": ["gender"], "bins": 4}, ParameterError, "bins must be a mapping"),
        ({"attribute": ["age"], "attribute_weights": {"needs": 2}}, ParameterError, "names 'needs'"),
        ({"intersect": "gender"}, ParameterError, "two different attributes or more"),
        ({"attribute": "gender", "intersect": ["gender", "gender"]}, ParameterError, "two different"),
    ],
)
def test_what_cannot_be_read_is_told(options, error, words):
    refused(error, words, FRIENDS, pd.DataFrame(PEOPLE), **options)


def test_fingerprints_tell_attributes_apart():
    path = sparse.csr_array(nx.to_scipy_sparse_array(nx.path_graph(4)))
    gender, needs = IN_ORDER["gender"], IN_ORDER["needs"]
    several = [{"a": gender, "b": needs}, {"b": gender, "a": needs}, {"a": needs, "b": gender}]
    assert len({Graph(path, sensitive_features=one).fingerprint() for one in (gender, *several)}) == 4
    same = Graph(path, sensitive_features=np.array(gender), attribute="any")
    assert same.fingerprint() == Graph(path, sensitive_features=gender).fingerprint()
