from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from equigraph.apps.reproduction import cells as store
from equigraph.apps.reproduction.cells import Cell, Finished, path_of, read_cell, stored_seconds, write_cell

CELL = Cell("a.b-c", "package.module:function", {"seed": 3, "weights": [0.0, 0.5]})
DONE = Finished({"runs": [{"Q": 0.25}]}, seconds=1.5, cpu_seconds=1.25)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_cell(tmp_path, CELL, DONE)
    assert read_cell(tmp_path, CELL) == DONE
    assert [path.name for path in (tmp_path / "cells").iterdir()] == ["a.b-c.json"]


def test_nothing_there_is_none(tmp_path: Path) -> None:
    assert read_cell(tmp_path, CELL) is None
    assert stored_seconds(tmp_path, CELL) is None


@pytest.mark.parametrize("length", [0, 1, 40, 200, -2, -3])
def test_truncated_file_is_not_trusted(tmp_path: Path, length: int) -> None:
    write_cell(tmp_path, CELL, DONE)
    path = path_of(tmp_path, CELL)
    path.write_bytes(path.read_bytes()[:length])
    assert read_cell(tmp_path, CELL) is None


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '{"checksum": "x"}', "\x00\x01", "[" * 100_000])
def test_foreign_file_is_not_trusted(tmp_path: Path, text: str) -> None:
    write_cell(tmp_path, CELL, DONE)
    path_of(tmp_path, CELL).write_text(text, encoding="utf-8")
    assert read_cell(tmp_path, CELL) is None


def test_changed_number_is_not_trusted(tmp_path: Path) -> None:
    write_cell(tmp_path, CELL, DONE)
    path = path_of(tmp_path, CELL)
    path.write_text(path.read_text(encoding="utf-8").replace("0.25", "0.26"), encoding="utf-8")
    assert read_cell(tmp_path, CELL) is None


def test_a_number_that_is_none_is_not_trusted(tmp_path: Path) -> None:
    """Neither with the old checksum nor with one that somebody made for it."""
    write_cell(tmp_path, CELL, DONE)
    path = path_of(tmp_path, CELL)
    content = {**json.loads(path.read_text(encoding="utf-8")), "result": {"Q": float("nan")}}
    for checksum in (content.pop("checksum"), hashlib.sha256(_sorted(content)).hexdigest()):
        path.write_text(json.dumps({**content, "checksum": checksum}), encoding="utf-8")
        assert read_cell(tmp_path, CELL) is None
        assert stored_seconds(tmp_path, CELL) is None


def _sorted(content: dict) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "other",
    [
        Cell(CELL.key, CELL.function, {"seed": 4, "weights": [0.0, 0.5]}),
        Cell(CELL.key, "package.module:another", CELL.arguments),
    ],
)
def test_another_computation_is_not_trusted(tmp_path: Path, other: Cell) -> None:
    write_cell(tmp_path, other, DONE)
    assert read_cell(tmp_path, CELL) is None
    assert stored_seconds(tmp_path, CELL) == 1.5  # its time is still a hint


def test_another_version_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_cell(tmp_path, CELL, DONE)
    monkeypatch.setattr(store, "__version__", "0.0.0.other")
    assert read_cell(tmp_path, CELL) is None


def test_order_of_arguments_does_not_matter(tmp_path: Path) -> None:
    write_cell(tmp_path, CELL, DONE)
    turned = Cell(CELL.key, CELL.function, dict(reversed(CELL.arguments.items())))
    assert read_cell(tmp_path, turned) == DONE


def test_file_tells_what_it_is(tmp_path: Path) -> None:
    write_cell(tmp_path, CELL, DONE)
    content = json.loads(path_of(tmp_path, CELL).read_text(encoding="utf-8"))
    assert content["function"] == CELL.function
    assert content["arguments"] == CELL.arguments
    assert len(content["fingerprint"]) == len(content["checksum"]) == 64
