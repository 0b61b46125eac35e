"""The walk through the code names files and functions that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "equigraph"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py): (\w+)`", PAGE)))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_what_is_named_is_there(file, name):
    assert re.search(rf"^\s*(def |class )?{name}\b", (SOURCE / file).read_text(), flags=re.MULTILINE)


def test_all_folders_are_in_the_table():
    listed = set(re.findall(r"^\| `(\w+)/` \|", PAGE, flags=re.MULTILINE))
    assert listed == {path.parent.name for path in SOURCE.glob("*/__init__.py")}


def test_the_picture_is_the_one_that_is_drawn():
    drawn = {}
    exec((ROOT / "docs" / "images" / "draw_architecture.py").read_text(), drawn)
    assert drawn["draw"]() == (ROOT / "docs" / "images" / "architecture.svg").read_text()
