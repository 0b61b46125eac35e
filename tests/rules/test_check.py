"""The oracle, on labels that can be checked by eye."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import Graph
from equigraph.rules import Facts, Rules, Words, violations
from tests.optional import optional

pd = optional("pandas")

NAMES = np.array(["Ada", "Ben", "Cem", "Dora", "Eli", "Finn"])
GENDER = np.array(["girl", "boy", "boy", "girl", "boy", "boy"])
NEEDS = np.array(["yes", "no", "no", "no", "no", "yes"])
LABELS = [0, 0, 0, 1, 1, 1]


def path_graph(**more):
    """Return Ada - Ben - Cem - Dora - Eli - Finn."""
    row = np.arange(5)
    half = sparse.coo_array((np.ones(5), (row, row + 1)), shape=(6, 6))
    return Graph((half + half.T).tocsr(), NAMES, **more)


UNEVEN = [0, 0, 0, 0, 0, 1]
GIVEN, ALONE = {"gender": GENDER}, Rules(not_alone={"gender": 2})


@pytest.mark.parametrize(
    ("rules", "labels", "ends"),
    [
        (Rules(together=[("Ada", "Ben", "Cem")]), LABELS, []),
        (Rules(together=[("Ada", "Ben", "Dora")]), LABELS, ["Ada is in cluster 0, Dora in cluster 1."]),
        (Rules(apart=[("Ada", "Dora")]), LABELS, []),
        (Rules(apart=[("Ada", "Dora", "Ben", "Eli")]), LABELS, ["are in cluster 0.", "are in cluster 1."]),
        (Rules(fixed={"Ada": 0, "Ben": 1}), LABELS, ["Ben is to be in cluster 1, and is in cluster 0."]),
        (Rules(allowed={"Ada": [0], "Ben": [0, 1]}), LABELS, []),
        (Rules(allowed={"Ada": [1, 2]}), LABELS, ["Ada is to be in cluster 1 or 2, and is in cluster 0."]),
        (Rules(at_most=[(["Ada", "Ben", "Cem"], 2)]), LABELS, ["3 of Ada, Ben and Cem: expected at most 2."]),
        (Rules(at_least=[(["Ada", "Ben"], 1)]), LABELS, ["1 has 0 of Ada and Ben: expected at least 1."]),
        (Rules(sizes=(3, 3)), [label == 1 for label in LABELS], []),
        (Rules(sizes=(2, 3)), UNEVEN, ["5 nodes: expected 2 to 3 nodes.", "1 node: expected 2 to 3 nodes."]),
        (Rules(sizes=[(3, None), (None, 3)]), LABELS, []),
        (Rules(sizes=[(4, None), (None, 2)]), LABELS, ["expected at least 4 nodes.", "at most 2 nodes."]),
        (Rules(sizes=[(1, 3)]), LABELS, ["Cluster 1 is none of the 1 clusters whose sizes are given."]),
        (Rules(friends=1), LABELS, []),
        (Rules(friends=2), LABELS, ["2 linked nodes in cluster 0: expected at least 2.", "at least 2."]),
        (Rules(at_least={"gender": {"girl": 1}}), LABELS, []),
        (Rules(at_least={"gender": {"girl": 2}}), UNEVEN, ["1 has 0 of gender 'girl': expected at least 2."]),
        (Rules(at_most={"gender": {"boy": 2}, "needs": {"yes": 1}}), UNEVEN, ["'boy': expected at most 2."]),
        (ALONE, [0, 0, 0, 0, 1, 1], []),
        (ALONE, LABELS, ["'girl': expected none or at least 2."] * 2),
        (Rules(shares={"gender": 0}), LABELS, []),
        (Rules(shares={"gender": 0.1}), [0, 1, 1, 0, 1, 1], ["among 2 nodes: expected 1 to 2.", "0 to 1."]),
    ],
)
def test_each_rule_by_eye(rules, labels, ends):
    found = rules.check(path_graph(), labels, {"gender": GENDER, "needs": NEEDS})
    assert len(found) == len(ends)
    assert all(one.endswith(end) for one, end in zip(found, ends, strict=True))


def test_an_empty_cluster_counts_where_it_is_asked_for():
    rules = Rules(sizes=(1, 4), at_least={"gender": {"boy": 1}})
    groups = {"gender": GENDER}
    assert rules.check(path_graph(), LABELS, groups) == []
    assert rules.check(path_graph(), LABELS, groups, n_clusters=3) == [
        "Cluster 2 has 0 nodes: expected 1 to 4 nodes.",
        "Cluster 2 has 0 of gender 'boy': expected at least 1.",
    ]


def test_violations_come_with_their_rule():
    rules = Rules(apart=[("Ada", "Ben"), ("Cem", "Dora"), ("Eli", "Finn")])
    found = violations(rules.items, path_graph(), LABELS)
    assert [one.rule for one in found] == [rules.items[0], rules.items[2]]
    assert [(one.clusters, one.nodes) for one in found] == [
        (("0",), ("Ada", "Ben")),
        (("1",), ("Eli", "Finn")),
    ]
    words = Words("person", "people", "class", "classes", ("5a", "5b"))
    assert found[1].describe(words) == "Eli and Finn are to be apart, and both are in 5b."


def test_nodes_by_position_and_names_from_files():
    triangle = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    rules = Rules(apart=[("0", 2)], fixed={1.0: 1})
    assert rules.check(triangle, [0, 0, 0]) == [
        "0 and 2 are to be apart, and both are in cluster 0.",
        "1.0 is to be in cluster 1, and is in cluster 0.",
    ]


def by_name(columns):
    return {name: dict(zip(NAMES.tolist(), values, strict=True)) for name, values in columns.items()}


FRAMES = {
    "dict": dict,
    "dict of dicts": by_name,
    "pandas by name": lambda columns: pd.DataFrame(columns, index=NAMES).iloc[[3, 1, 5, 0, 2, 4]],
    "names in a column": lambda columns: pd.DataFrame({"who": NAMES, **columns}).iloc[::-1],
}


@pytest.mark.parametrize("kind", FRAMES)
def test_several_attributes_from_anything(kind):
    rules = Rules(at_least={"gender": {"girl": 1}}, at_most={"needs": {"yes": 0}})
    columns = {"gender": GENDER.tolist(), "needs": NEEDS.tolist()}
    assert rules.check(path_graph(), LABELS, FRAMES[kind](columns)) == [
        "Cluster 0 has 1 of needs 'yes': expected at most 0.",
        "Cluster 1 has 1 of needs 'yes': expected at most 0.",
    ]


def test_the_attribute_of_the_graph_or_a_single_column():
    rules = ALONE
    expected = rules.check(path_graph(), LABELS, GIVEN)
    assert len(expected) == 2
    assert rules.check(path_graph(sensitive_features=GENDER, attribute="gender"), LABELS) == expected
    assert rules.check(path_graph(sensitive_features=GENDER), LABELS) == expected
    assert rules.check(path_graph(), LABELS, GENDER) == expected
    assert rules.check(path_graph(), LABELS, pd.Series(GENDER, name="gender")) == expected


def test_columns_in_node_order_do_not_fit_an_edge_table():
    edges = pd.DataFrame({"one": ["b", "c"], "other": ["a", "a"]})
    rules = Rules(at_most={"gender": {"girl": 0}})
    with pytest.raises(GroupsError, match="do not fit an edge list"):
        rules.check(edges, {"a": 0, "b": 0, "c": 1}, {"gender": ["girl", "boy", "boy"]})
    by_name = {"gender": {"b": "girl", "c": "boy", "a": "boy"}}
    assert len(rules.check(edges, {"a": 0, "b": 1, "c": 1}, by_name)) == 1


@pytest.mark.parametrize(
    ("rules", "groups", "error", "message"),
    [
        (Rules(apart=[("Ada", "ben")]), None, ParameterError, r"'ben', .*did you mean 'Ben'"),
        (Rules(fixed={"Zoe": 0}), None, ParameterError, "'Zoe', which is not a node of the graph"),
        (Rules(not_alone={"gneder": 2}), GIVEN, ParameterError, r"'gneder' \(did you mean 'gender'\?\)"),
        (ALONE, None, ParameterError, "attribute 'gender', and no attribute has a name"),
        (Rules(at_least={"gender": {"Girl": 1}}), GIVEN, ParameterError, "no node has .*mean 'girl'"),
        (Rules(not_alone={"gender": 2, "needs": 2}), GENDER, ParameterError, "attribute 'needs', and no"),
        (ALONE, {"gender": ["girl", "boy"]}, GroupsError, "2 groups for 6 nodes"),
        (ALONE, {"gender": ["girl", None, *GENDER[2:]]}, GroupsError, "for 1 of 6 nodes, first 'Ben'"),
        (ALONE, {"Ada": "girl"}, GroupsError, "must be a dict of columns"),
    ],
)
def test_what_does_not_fit_is_named(rules, groups, error, message):
    with pytest.raises(error, match=message):
        rules.check(path_graph(), LABELS, groups)


@pytest.mark.parametrize(
    ("labels", "message"), [([0, 1], "2 labels for 6"), ([0, None, 1, 1, 1, 1], "missing")]
)
def test_labels_that_do_not_fit_are_refused(labels, message):
    with pytest.raises(ParameterError, match=message):
        ALONE.check(path_graph(), labels, GIVEN)


def test_nodes_without_a_value_count_for_no_group():
    graph, gender = path_graph(), np.array(["girl", None, "boy", "boy", None, "girl"], dtype=object)
    ignoring = Graph(graph.adjacency, graph.node_names, {"gender": gender}, missing="ignore")
    for facts in (Facts(graph, {"gender": gender}, missing="ignore"), Facts(ignoring)):
        assert facts.codes("gender")[0] == ["boy", "girl"]
        assert facts.codes("gender")[1].tolist() == [1, -1, 0, 0, -1, 1]
        for labels in product(range(2), repeat=6):
            alone = {
                (str(cluster), one)
                for cluster in (0, 1)
                for one in ("boy", "girl")
                if sum(c == cluster and g == one for c, g in zip(labels, gender, strict=True)) == 1
            }
            found = violations(ALONE, facts, labels, None, 2)
            assert {(one.clusters[0], one.group) for one in found} == alone


def test_shares_are_exact_where_floats_are_not():
    # In floats .2 + .1 is above .3, so that 4 of 10 nodes would pass; in tenths 3 are the most.
    assert np.ceil((0.2 + 0.1) * 10) == 4
    groups = np.array(["a", "b", "b", "b", "b"] * 4)
    labels = np.repeat([0, 1], 10)
    graph = np.zeros((20, 20))
    graph[0, 1] = graph[1, 0] = 1
    rules = Rules(shares={"group": 0.1})
    assert rules.items[0].tolerance == Fraction(1, 10)
    assert rules.check(graph, labels, {"group": groups}) == []
    swapped = groups.copy()
    swapped[[1, 2, 10, 15]] = ["a", "a", "b", "b"]
    assert rules.check(graph, labels, {"group": swapped}) == [
        "Cluster 0 has 4 of group 'a' among 10 nodes: expected 1 to 3.",
        "Cluster 0 has 6 of group 'b' among 10 nodes: expected 7 to 9.",
        "Cluster 1 has 0 of group 'a' among 10 nodes: expected 1 to 3.",
        "Cluster 1 has 10 of group 'b' among 10 nodes: expected 7 to 9.",
    ]


def test_clusters_are_told_in_the_order_of_their_numbers():
    labels = ["10", "10", "9", "9", "x", "-1"]
    found = Rules(sizes=(3, None)).check(path_graph(), labels)
    assert [line.split()[1] for line in found] == ["-1", "x", "9", "10"]
    found = Rules(sizes=(1, None)).check(path_graph(), [0, 0, 0, 0, 0, 2], n_clusters=4)
    assert [line.split()[1] for line in found] == ["1", "3"]
