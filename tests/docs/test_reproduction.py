"""The page of the reproduction: its tables are those that the stored cells give."""

import re
from pathlib import Path

import pytest

from equigraph.apps.reproduction.cells import Settings, read_cell
from equigraph.apps.reproduction.experiment import write_output
from equigraph.apps.reproduction.run import EXPERIMENTS

DOCS = Path(__file__).parents[2] / "docs"
CELLS = [(name, cell) for name, experiment in EXPERIMENTS.items() for cell in experiment.cells(Settings())]


def test_page_names_the_code_of_every_cell():
    codes = {read_cell(DOCS / "reproduction", cell)["code"] for _, cell in CELLS}
    text = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert all(f"`{code}`" in text for code in codes)


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_tables_are_what_the_cells_give(data_dir, tmp_path, name):
    pytest.importorskip("matplotlib")
    done = [
        (cell, read_cell(DOCS / "reproduction", cell)["result"]) for owner, cell in CELLS if owner == name
    ]
    written = write_output(tmp_path, name, EXPERIMENTS[name].output(done))
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    for path in written:
        stored = DOCS / "reproduction" / name / path.name
        assert stored.is_file()
        if path.suffix in (".md", ".csv"):
            assert stored.read_bytes() == path.read_bytes()
    text = "\n".join(path.read_text(encoding="utf-8") for path in written if path.suffix == ".md")
    rows = re.findall(r"^\|.*", text, re.MULTILINE)
    assert rows
    assert all(row in page for row in rows)
    assert all(row.count("|") > 2 for row in rows)
