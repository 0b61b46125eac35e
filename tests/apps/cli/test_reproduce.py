import importlib

import pytest

from equigraph.apps.reproduction.cells import Cell
from equigraph.apps.reproduction.run import EXPERIMENTS
from tests.apps.reproduction.conftest import TINY

pytest.importorskip("matplotlib")


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.syspath_prepend(str(TINY))
    experiment = importlib.import_module("tiny_experiment")
    monkeypatch.setitem(EXPERIMENTS, "tiny", experiment)
    return experiment


def test_run_and_run_again(run, tiny, tmp_path):
    folder = tmp_path / "out"
    first = run("reproduce", "tiny", "-o", folder, "--jobs", 2)
    assert f"Wrote {folder / 'tiny' / 'tiny.md'}" in first.stdout
    assert "3 cells; 0 cells had been stored before" in first.stdout
    assert "most time went to" in first.stdout
    assert f"Everything on one page: {folder / 'index.html'}" in first.stdout
    before = (folder / "tiny" / "tiny.md").read_bytes()
    again = run("reproduce", "tiny", "-o", folder, "--jobs", 1)
    assert "0 cells; 3 cells had been stored before" in again.stdout
    assert (folder / "tiny" / "tiny.md").read_bytes() == before


def test_a_quick_run_has_fewer_cells_the_seed_and_a_folder_of_its_own(run, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("reproduce", "tiny", "--quick", "--seed", 4, "-q")
    cells = sorted((tmp_path / "reproduction-quick" / "cells").iterdir())
    assert [cell.name for cell in cells] == ["tiny.0.json", "tiny.1.json"]
    assert '"seed": 4' in cells[0].read_text(encoding="utf-8")


def test_failing_cell_is_exit_code_1(run, tiny, tmp_path, monkeypatch):
    good = tiny.cells
    bad = Cell("tiny.bad", "tiny_experiment:fail", {"text": "out of luck"})
    monkeypatch.setattr(tiny, "cells", lambda settings: [*good(settings), bad])
    answer = run("reproduce", "tiny", "-o", tmp_path / "out", code=1)
    assert "tiny.bad failed: ValueError: out of luck" in answer.stdout
    assert not (tmp_path / "out" / "tiny").exists()
    assert "tiny failed: 1 of 4 cells failed." in answer.stdout
    assert "out of luck" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_no_data_is_told_before_anything_is_computed(run, tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIGRAPH_DATA", str(tmp_path / "nowhere"))
    answer = run("reproduce", "all", "-o", tmp_path / "out", code=1)
    assert "table1 needs the network 'diaries', and nothing was computed" in answer.stderr
    assert not (tmp_path / "out").exists()


def test_ctrl_c_says_how_to_go_on(run, tiny, tmp_path, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(tiny, "output", interrupted)
    answer = run("reproduce", "tiny", "-o", tmp_path / "out", "--jobs", 1, code=1)
    assert "the same command goes on from there" in answer.stderr
    assert answer.stderr.splitlines()[-1] == "Stopped."
