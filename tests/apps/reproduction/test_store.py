import pytest

from equigraph.apps.reproduction import cells as store
from equigraph.apps.reproduction.cells import Cell, Finished, path_of, read_cell, write_cell

CELL = Cell("a.b-c", "package.module:function", {"seed": 3, "weights": [0.0, 0.5]})
DONE = Finished({"runs": [{"Q": 0.25}]}, seconds=1.5, cpu_seconds=1.25)


def test_what_is_written_is_read(tmp_path):
    assert read_cell(tmp_path, CELL) is None
    write_cell(tmp_path, CELL, DONE)
    assert read_cell(tmp_path, CELL) == DONE
    assert [path.name for path in (tmp_path / "cells").iterdir()] == ["a.b-c.json"]
    turned = Cell(CELL.key, CELL.function, dict(reversed(CELL.arguments.items())))
    assert read_cell(tmp_path, turned) == DONE


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-3],
        lambda text: "",
        lambda text: "[]",
        lambda text: "[" * 100_000,
        lambda text: text.replace("0.25", "0.26"),
        lambda text: text.replace("0.25", "NaN"),
    ],
)
def test_a_damaged_file_is_not_trusted(tmp_path, damage):
    write_cell(tmp_path, CELL, DONE)
    path = path_of(tmp_path, CELL)
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert read_cell(tmp_path, CELL) is None


def test_another_computation_is_not_trusted(tmp_path, monkeypatch):
    for other in (
        Cell(CELL.key, CELL.function, {"seed": 4, "weights": [0.0, 0.5]}),
        Cell(CELL.key, "package.module:another", CELL.arguments),
    ):
        write_cell(tmp_path, other, DONE)
        assert read_cell(tmp_path, CELL) is None
    write_cell(tmp_path, CELL, DONE)
    monkeypatch.setattr(store, "__version__", "0.0.0.other")
    assert read_cell(tmp_path, CELL) is None
