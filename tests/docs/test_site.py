"""The site names every public name once, and every page is in its tables of contents."""

import re
import types
from pathlib import Path

import equigraph as eg

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page.stem for page in DOCS.glob("*.md"))
MODULES = ("datasets", "exceptions", "metrics", "penalties")


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
    modules = [eg, *(getattr(eg, module) for module in MODULES)]
    public = {f"{module.__name__}.{name}" for module in modules for name in public_names(module)}
    listed = listed_names()
    assert sorted(public - set(listed)) == []
    assert len(listed) == len(set(listed))


def test_every_section_of_a_docstring_has_its_line():
    source = DOCS.parent / "src"
    folded = [
        str(path)
        for path in sorted(source.rglob("*.py"))
        if re.search(r"^ *\w+ -{3,}", path.read_text(), re.M)
    ]
    assert folded == []


def public_names(module):
    names = getattr(module, "__all__", None)
    if names is None:
        values = vars(module).items()
        return [name for name, one in values if isinstance(one, type) and one.__module__ == module.__name__]
    hidden = {name for name in names if isinstance(getattr(module, name), types.ModuleType)}
    return set(names) - hidden - {"__version__"}


def test_every_page_is_in_a_table_of_contents():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    contents = "\n".join(re.findall(r"```\{toctree\}\n(.*?)```", pages, re.DOTALL))
    entries = re.findall(r"^(?:[\w ]+<)?([\w\-]+)>?$", contents, re.MULTILINE)
    assert sorted(entries) == sorted(set(PAGES) - {"index"})


def test_the_version_to_cite_is_this_one():
    assert f"\nversion: {eg.__version__}\n" in (DOCS.parent / "CITATION.cff").read_text(encoding="utf-8")
