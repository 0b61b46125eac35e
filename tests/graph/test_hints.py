"""A name that does not match gets a hint at what was meant, node names and types of ids included."""

import re

import pytest

import equigraph as eg
from equigraph.exceptions import GraphError, GroupsError
from tests.optional import optional
from tests.reference.refusals import refused

pa = optional("pyarrow")
pd = optional("pandas")
pl = optional("polars")


def numbered(names):
    return pd.DataFrame({"source": names[:-1], "target": names[1:]})


@pytest.mark.parametrize("nodes", [["0", "1", "2"], ["007", "008", "009"], ["ann", "bob", "cem"]])
@pytest.mark.parametrize("change", ["{}.0", "0{}", "{} ", "\u200b{}"])
def test_names_that_differ_in_form_are_shown(nodes, change):
    keys = [change.format(name) for name in nodes]
    hint = rf" \(here '{re.escape(ascii(keys[0])[1:-1])}', in the graph '{nodes[0]}'\): "
    if nodes[0] == "ann" and change in ("{}.0", "0{}"):
        hint = r"start with '.*', the nodes with 'ann'\)"
    groups = pd.DataFrame({"name": keys, "group": ["x", "y", "x"]})
    refused(GroupsError, f"name none of the nodes.*{hint}", numbered(nodes), groups=groups)
    with pytest.raises(GroupsError, match=hint):
        eg.FairPartition(2).fit(numbered(nodes), sensitive_features=pd.Series(["x", "y", "x"], index=keys))


def test_a_misspelt_node():
    groups = {"Anna": "x", "Bela": "y", "Cem": "x", "Dorra": "y"}
    graph = numbered(["Anna", "Bela", "Cem", "Dora"])
    refused(GroupsError, r"first 'Dorra' \(did you mean 'Dora'\?\): say", graph, groups=groups)


@pytest.mark.parametrize("name", ["name", None])
def test_a_pandas_index_in_parquet_is_recognised(tmp_path, name):
    pytest.importorskip("pyarrow")
    people = pd.DataFrame({"age": [3, 1, 2]}, index=pd.Index(["cem", "ann", "bob"], name=name))
    people.to_parquet(tmp_path / "people.parquet")
    graph = eg.read_graph(numbered(["ann", "bob", "cem"]), tmp_path / "people.parquet", "age")
    assert graph.node_names.tolist() == ["ann", "bob", "cem"]
    assert graph.sensitive_features.tolist() == [1, 2, 3]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "csv", "parquet"])
def test_words_are_no_weights(tmp_path, library):
    words = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "kind": ["friend", None]})
    for frame, is_weight in ((words, False), (words.assign(kind=["friend", "3,5"]), True)):
        path = tmp_path / f"{is_weight}.{library}"
        if library in ("csv", "parquet"):
            (frame.to_csv if library == "csv" else frame.to_parquet)(path, index=False)
        made = {"pandas": lambda x: x, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pandas}
        table = made[library](frame) if library in made else path
        if is_weight:
            refused(GraphError, "'kind' may be a weight", table)
        else:
            assert eg.read_graph(table).adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_rules_name_nodes_in_composed_or_decomposed_letters():
    graph = numbered(["Jos\u00e9", "ann", "bob"])
    rules = eg.Rules(apart=[("Jose\u0301", "ann")])
    assert len(rules.check(graph, {"Jos\u00e9": 0, "ann": 0, "bob": 1})) == 1
