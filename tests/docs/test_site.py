"""The site names every public name once, and every page is in its tables of contents."""

import re
import types
from pathlib import Path

import equigraph as eg

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page.stem for page in DOCS.glob("*.md"))
MODULES = (
    "datasets",
    "exceptions",
    "metrics",
    "penalties",
)


def listed_names():
    """Return what the pages of the reference list, with the module."""
    names = []
    for page in sorted((DOCS / "reference").glob("*.md")):
        for block in re.findall(r"```\{eval-rst\}\n(.*?)```", page.read_text(), re.DOTALL):
            module = re.search(r"currentmodule:: (\S+)", block)
            if module:
                names += [f"{module[1]}.{name}" for name in re.findall(r"^   (\w+)$", block, re.MULTILINE)]
    return names


def test_every_public_name_is_in_the_reference():
    own = [
        f"equigraph.{name}"
        for name in eg.__all__
        if name != "__version__" and not isinstance(getattr(eg, name), types.ModuleType)
    ]
    modules = [getattr(eg, module) for module in MODULES]
    further = [f"{module.__name__}.{name}" for module in modules for name in public(module)]
    listed = listed_names()
    assert sorted({*own, *further} - set(listed)) == []
    assert len(listed) == len(set(listed))


def public(module):
    names = getattr(module, "__all__", None)
    if names is not None:
        return list(names)
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]


def test_every_page_is_in_a_table_of_contents():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    contents = "\n".join(re.findall(r"```\{toctree\}\n(.*?)```", pages, re.DOTALL))
    entries = re.findall(r"^(?:[\w ]+<)?([\w\-]+)>?$", contents, re.MULTILINE)
    assert sorted(entries) == sorted(set(PAGES) - {"index"})


def test_the_version_to_cite_is_this_one():
    assert f"\nversion: {eg.__version__}\n" in (DOCS.parent / "CITATION.cff").read_text(encoding="utf-8")
