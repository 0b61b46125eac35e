"""Errors of damaged files are short and without control characters, and no number is misread."""

import pickle
import re

import pytest

from equigraph.exceptions import (
    EquigraphError,
    GraphError,
    GroupsError,
    MissingDependencyError,
    OutputError,
    SelfLoopWarning,
    as_message,
    warn,
)
from equigraph.graph import read_graph
from tests.optional import optional
from tests.reference.refusals import refused

pd = optional("pandas")

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.mark.parametrize("error", [GraphError, OutputError, MissingDependencyError, EquigraphError])
def test_messages_are_visible_and_cut(error):
    said = str(error("a\x1b[2Jb\u202e" + "x" * 50_000 + ": expected something else."))
    assert not CONTROL.search(said)
    assert said.startswith("a\\x1b[2Jb\\u202e")
    assert said.endswith("expected something else.")
    assert len(said) < 1_600
    assert str(pickle.loads(pickle.dumps(error(said)))) == said == as_message(said)
    with pytest.warns(SelfLoopWarning, match=r"^\\x07$"):
        warn("\x07", SelfLoopWarning)


def test_names_of_a_file_are_visible_in_messages(tmp_path):
    name = "\x1b]0;owned\x07" + "y" * 20_000
    table = pd.DataFrame({"source": [name, name], "target": ["b", "b"], "weight": [1.0, 2.0]})
    table.to_parquet(tmp_path / "e.parquet")
    (tmp_path / "e.tsv").write_text(f"source\ttarget\tweight\n{name}\tb\t1\n{name}\tb\tx{name}\n")
    (tmp_path / "e.gml").write_text(f'graph [ node [ id 0 label "{name}" ] node [ id 0 label "{name}" ] ]')
    for file in ("e.parquet", "e.tsv", "e.gml"):
        with pytest.raises(EquigraphError) as caught:
            read_graph(tmp_path / file)
        assert not CONTROL.search(str(caught.value))
        assert len(str(caught.value)) < 1_600


@pytest.mark.parametrize("cell", [["a"], {"x": 1}, b"a"], ids=["list", "dict", "bytes"])
def test_cells_of_parquet_that_hold_others_are_no_names(tmp_path, cell):
    pd.DataFrame({"source": [cell, cell], "target": ["b", "c"]}).to_parquet(tmp_path / "e.parquet")
    refused(GraphError, r"row 0.*the source is a", tmp_path / "e.parquet")
    if not isinstance(cell, bytes):
        pd.DataFrame({"name": ["a", "b"], "team": [cell, cell]}).to_parquet(tmp_path / "g.parquet")
        edges = pd.DataFrame({"source": ["a"], "target": ["b"]})
        refused(GroupsError, "'team' of node 'a' is a", edges, tmp_path / "g.parquet")


@pytest.mark.parametrize("text", ["1d5", "1_0", "١٢", "0x10", "1,5", "½", "x", "3x", "e", "1-1"])
def test_texts_that_are_no_numbers(tmp_path, text):
    path = tmp_path / "e.csv"
    path.write_text(f'source,target,weight\na,b,"{text}"\nb,c,1\n', encoding="utf-8")
    refused(GraphError, "line 2: the weight is", path)
    path.write_text(f"0;1;1;1\n1;0;1;1\n1;1;0;1\n1;1;{text};0\n", encoding="utf-8")
    refused(GraphError, "line 4: field 3 is", path)
    path = tmp_path / "e.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 {text}\n", encoding="utf-8")
    refused(GraphError, "line 3: expected 3 numbers", path)


@pytest.mark.parametrize(("text", "value"), [("+1", 1.0), ("5e-324", 5e-324), (".5", 0.5), ("1e+05", 1e5)])
def test_texts_that_are_numbers(tmp_path, text, value):
    path = tmp_path / "e.csv"
    path.write_text(f"source,target,weight\na,b,{text}\nb,c,1\n")
    assert read_graph(path).adjacency[0, 1] == value
