"""Prose has no typing errors and is British: pages, docstrings and comments, without code and titles of papers."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

pytest.importorskip("codespell_lib")

ROOT = Path(__file__).parents[2]
AMERICAN = Path(__file__).with_name("american.txt")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.rst"]
CODE = [*ROOT.glob("src/**/*.py"), *ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("examples/*.py")]
# Names of other people's functions, and the paper's title.
NOT_PROSE = [
    re.compile(r"^ *(```+|~~~+).*?^ *\1", re.DOTALL | re.MULTILINE),
    re.compile(r"``.*?``|`.*?`|\"[\w\-]+\"|'[\w\-]+'", re.DOTALL),
    re.compile(r"^ *(>>>|\.\.\.|:|\.\. ).*$", re.MULTILINE),
    re.compile(r"Towards Cohesion-Fairness Harmony:.*?Graph\s+Clustering", re.DOTALL),
    re.compile(r"^References\n-+\n.*?(?=^Examples$|\Z)", re.DOTALL | re.MULTILINE),
    re.compile(r"^\w+ : .*$|^ +[\w, ]+ : .*$|^\w+(, \w+)+$", re.MULTILINE),  # a parameter and its type
    re.compile(r"[\w./]+/[\w./]*|https?:\S+|\w+\.(py|md)"),
]


def prose(text):
    """Return a text with everything blanked that is not prose; lines stay where they are."""
    for pattern in NOT_PROSE:
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return text


def spoken(path):
    """Return the docstrings and comments of a module, each on its line."""
    source = path.read_text(encoding="utf-8")
    lines = [""] * (source.count("\n") + 2)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            said = prose(ast.get_docstring(node) or "").splitlines()
            first = node.body[0].lineno - 1
            lines[first : first + len(said)] = said
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"# (noqa|type:|fmt:)", token.string):
            lines[token.start[0] - 1] += " " + prose(token.string)
    return "\n".join(lines)


def misspelt(folder):
    command = [sys.executable, "-m", "codespell_lib", "-D", "-", "-D", str(AMERICAN)]
    command += ["--toml", str(ROOT / "pyproject.toml"), "."]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode in (0, 65), run.stderr
    return run.stdout


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_prose_is_spelt_well(tmp_path):
    for page in PAGES:
        if not {"gallery", "generated", "_build"} & set(page.relative_to(ROOT).parts):
            write(tmp_path, str(page.relative_to(ROOT)), prose(page.read_text(encoding="utf-8")))
    for module in CODE:
        write(tmp_path, f"{module.relative_to(ROOT)}.txt", spoken(module))
    assert misspelt(tmp_path) == ""


def test_wrong_and_american_words_are_noticed(tmp_path):
    write(tmp_path, "page.md", prose("A nieghbour of another color; `color` is matplotlib's.\n"))
    found = misspelt(tmp_path)
    assert found.count("==>") == 2
    assert "nieghbour ==> neighbour" in found
    assert "color ==> colour" in found
