"""Every import of the package goes up the list in CONTRIBUTING.md, also those inside functions."""

import ast
import itertools
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "equigraph"
# The package itself: its lazy names lead everywhere, so only what stands last may use them.
PACKAGE = "__init__"
OUTSIDE = {"__init__", "__main__"}


def drawn_order():
    """Return folders and modules as CONTRIBUTING.md lists them."""
    block = (
        (ROOT / "CONTRIBUTING.md").read_text().partition("```\nsrc/equigraph/\n")[2].partition("\ntests/")[0]
    )
    order = []
    for line in filter(lambda line: line.startswith("  "), block.splitlines()):
        words = itertools.takewhile(re.compile(r"\w+(/|\.py)").fullmatch, line.split())
        order += [word.removesuffix("/").removesuffix(".py") for word in words]
    return order


@cache
def units():
    found = {path.stem for path in SOURCE.glob("*.py")}
    return found | {path.parent.name for path in SOURCE.glob("*/__init__.py")}


@cache
def imported(path):
    """Return the folder or module of this package that each import of a file names, with its line."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            assert node.module is not None
            whole = node.module == "equigraph"
            names = [f"{node.module}.{alias.name}" for alias in node.names] if whole else [node.module]
        for name in names:
            if name.partition(".")[0] == "equigraph":
                unit = (name.split(".")[1:] or [PACKAGE])[0]
                found.append((unit if unit in units() else PACKAGE, node.lineno))
    return found


def wrong_imports(order):
    place = {name: at for at, name in enumerate(order)}
    last_line = {"apps"}
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        own = path.relative_to(SOURCE).with_suffix("").parts[0]
        if own in OUTSIDE:
            continue
        for other, line in imported(path):
            if other == own:
                continue
            if other == PACKAGE and own in last_line:
                continue
            if other == PACKAGE or place[other] > place[own]:
                wrong.append(f"{path.relative_to(SOURCE)}, line {line}: {own} imports {other}")
    return wrong


def test_the_list_names_everything_once():
    order = drawn_order()
    assert len(order) == len(set(order))
    assert set(order) == units() - OUTSIDE


def test_imports_go_up_the_list():
    assert wrong_imports(drawn_order()) == []


@pytest.mark.parametrize("lower", ["graph", "metrics"])
def test_an_import_down_the_list_is_found(lower):
    order = drawn_order()
    order.remove(lower)
    assert any(f"imports {lower}" in line for line in wrong_imports([*order, lower]))


def test_a_name_is_one_class():
    names = [
        node.name.lstrip("_")
        for path in SOURCE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted(names) == sorted(set(names))


LATE = """
import sys
peers = {"igraph", "leidenalg", "networkit", "numba", "torch"}
heavy = peers | {"matplotlib", "narwhals", "networkx", "pandas", "polars", "pooch", "pyarrow", "rich", "sklearn"}
import equigraph.datasets
print(sorted(heavy & set(sys.modules)))
import equigraph.graph, equigraph.metrics
equigraph.graph.as_graph([[0, 1], [1, 0]])
print(sorted(heavy & set(sys.modules)))
import equigraph.community.neural
print(sorted(peers & set(sys.modules)))
"""


def test_heavy_packages_are_imported_where_they_are_used():
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]"] * 3
