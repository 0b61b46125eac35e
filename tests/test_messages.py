from __future__ import annotations

import ast
import copy
import pickle
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from equigraph.cli.sources import READING_NAMES
from equigraph.exceptions import (
    ConflictError,
    DatasetError,
    GraphError,
    InputError,
    MissingDependencyError,
    OutputError,
    OwnGroupsWarning,
    warn,
)
from equigraph.messages import Sentence, as_calls, either, for_command, one_line, option, reading, template

SOURCE = Path(__file__).parents[1] / "src" / "equigraph"


@pytest.mark.parametrize(
    ("name", "values", "python", "command"),
    [
        ("n_clusters", (9,), "n_clusters=9", "-k 9"),
        ("n_clusters", (), "n_clusters=", "-k"),
        ("random_state", (3,), "random_state=3", "--seed 3"),
        ("node_column", ("who",), "node_column='who'", "--node-column who"),
        ("weight", ("how old",), "weight='how old'", "--weight 'how old'"),
        ("weight", (False,), "weight=False", "--weight none"),
        ("weight", (0,), "weight=0", "--weight 0"),
        ("header", (True,), "header=True", "--header"),
        ("header", (False,), "header=False", "--no-header"),
        ("header", (), "header=", "--header"),
        ("force", (True,), "force=True", "--force"),
        ("missing", ("ignore", "drop"), "missing='ignore' or 'drop'", "--missing ignore or drop"),
        (
            "duplicates",
            ("sum", "max", "min"),
            "duplicates='sum', 'max' or 'min'",
            "--duplicates sum, max or min",
        ),
        ("size_bounds", ((2, None),), "size_bounds=(2, None)", "--size-bounds 2,none"),
        ("delimiter", ("\t\t",), "delimiter='\\t\\t'", "--delimiter '\\t\\t'"),
    ],
)
def test_an_option_is_a_keyword_and_a_flag(
    name: str, values: tuple[Any, ...], python: str, command: str
) -> None:
    sentence = Sentence(f"Say {option(name, *values)}.")
    assert str(sentence) == f"Say {python}."
    assert for_command(sentence) == f"Say {command}."


@pytest.mark.parametrize(
    "kind", [InputError, ConflictError, DatasetError, MissingDependencyError, OutputError]
)
def test_errors_are_said_in_both_ways_wherever_they_go(kind: Any) -> None:
    made = kind(f"Give {option('groups')}.")
    for error in (made, copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert str(error) == f"{error}" == error.args[0] == "Give groups=."
        assert "groups=." in repr(error)
        assert for_command(error) == for_command(str(error)) == "Give --groups."


def test_a_sentence_within_another_keeps_its_options() -> None:
    inner = GraphError(f"no\n {option('weight')}")
    outer = GraphError(f"friends.csv: {template(inner)}")
    assert (str(outer), for_command(outer)) == ("friends.csv: no\n weight=", "friends.csv: no\n --weight")
    assert (one_line(outer), for_command(one_line(outer))) == (
        "friends.csv: no weight=",
        "friends.csv: no --weight",
    )
    assert one_line(KeyError()) == "KeyError"


def test_warnings_are_plain_for_filters_and_keep_their_options() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="Leave bins= out")
        warn(f"Leave {option('bins')} out.", OwnGroupsWarning)
        warn(f"Leave {option('weight')} out.", OwnGroupsWarning)
    assert [str(one.message) for one in caught] == ["Leave weight= out."]
    assert for_command(caught[0].message) == "Leave --weight out."


def test_who_did_not_call_read_graph_is_told_of_the_call() -> None:
    error = as_calls(GraphError(f"Say {option('missing', 'drop')} or {option('n_clusters', 2)}."))
    assert isinstance(error, GraphError)
    assert str(error) == "Say read_graph(..., missing='drop') or n_clusters=2."
    assert for_command(error) == "Say --missing drop or -k 2."
    assert str(Sentence(reading("missing", "drop"))) == "read_graph(..., missing='drop')"


def test_other_words_stay_as_they_are() -> None:
    text = "Leiden(backend='igraph') with tol=1, weight=False and \ufdd0 at IFairNMTF(n_clusters=3)."
    assert for_command(text) == for_command(GraphError(text)) == str(GraphError(text)) == text
    assert for_command(GraphError(either("call", "type"))) == "type"


def _said(node: ast.AST) -> Iterator[str]:
    """Yield the literal texts of a sentence, but not those that `either` and its kin are given."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("either", "option")
    ):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from _said(child)


def test_no_sentence_has_a_keyword_that_the_command_line_would_show() -> None:
    names = (*READING_NAMES, "n_clusters", "sensitive_features", "size_bounds", "max_moves", "force", "init")
    keyword = re.compile(rf"(?<![\w.(])({'|'.join(names)})=")
    found = [
        f"{path.name}:{node.lineno}: {text}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "warn")
        for text in _said(node)
        if keyword.search(text)
    ]
    assert found == []
