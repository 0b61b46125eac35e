import importlib
import os
import signal
import subprocess
import sys
import time

import pytest

from equigraph.apps.reproduction.run import EXPERIMENTS
from tests.apps.reproduction.conftest import ENVIRONMENT, TINY

pytest.importorskip("matplotlib")


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.syspath_prepend(str(TINY))
    monkeypatch.setitem(EXPERIMENTS, "tiny", importlib.import_module("tiny_experiment"))


def test_run_and_run_again(run, tiny, tmp_path):
    folder = tmp_path / "out"
    first = run("reproduce", "tiny", "-o", folder, "--jobs", 2)
    assert first.exit_code == 0
    assert f"Wrote {folder / 'tiny' / 'sums.md'}" in first.stdout
    assert "3 cells; 0 cells had been stored before" in first.stdout
    assert "most time went to" in first.stdout
    assert f"Everything on one page: {folder / 'index.html'}" in first.stdout
    before = (folder / "tiny" / "sums.md").read_bytes()
    again = run("reproduce", "tiny", "-o", folder, "--jobs", 1)
    assert "0 cells; 3 cells had been stored before" in again.stdout
    assert (folder / "tiny" / "sums.md").read_bytes() == before


def test_a_quick_run_has_fewer_cells_the_seed_and_a_folder_of_its_own(run, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("reproduce", "tiny", "--quick", "--seed", 4, "-q").exit_code == 0
    cells = sorted((tmp_path / "reproduction-quick" / "cells").iterdir())
    assert [cell.name for cell in cells] == ["tiny.0.json", "tiny.1.json"]
    assert '"seed": 4' in cells[0].read_text(encoding="utf-8")


def test_failing_cell_is_exit_code_1(run, tiny, tmp_path, monkeypatch):
    import tiny_experiment

    from equigraph.apps.reproduction.cells import Cell

    good = tiny_experiment.cells
    bad = Cell("tiny.bad", "tiny_experiment:fail", {"text": "out of luck"})
    monkeypatch.setattr(tiny_experiment, "cells", lambda settings: [*good(settings), bad])
    answer = run("reproduce", "tiny", "-o", tmp_path / "out")
    assert answer.exit_code == 1
    assert "tiny.bad failed: ValueError: out of luck" in answer.stdout
    assert not (tmp_path / "out" / "tiny").exists()
    assert "tiny failed: 1 of 4 cells failed." in answer.stdout
    assert "out of luck" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_no_data_is_told_before_anything_is_computed(run, tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIGRAPH_DATA", str(tmp_path / "nowhere"))
    answer = run("reproduce", "all", "-o", tmp_path / "out")
    assert answer.exit_code == 1
    assert "table1 needs the network 'diaries', and nothing was computed" in answer.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
def test_ctrl_c_says_how_to_go_on(tmp_path):
    code = (
        "import tiny_experiment\n"
        "from equigraph.apps.reproduction.cells import Cell\n"
        "from equigraph.apps.reproduction.run import EXPERIMENTS\n"
        "EXPERIMENTS['tiny'] = tiny_experiment\n"
        f"long = {{'place': {str(tmp_path)!r}, 'number': 0, 'seconds': 600}}\n"
        "tiny_experiment.cells = lambda settings: [Cell('long', 'tiny_experiment:slow', long)]\n"
        "from equigraph.apps.cli import main\n"
        f"import sys; sys.argv = ['equigraph', 'reproduce', 'tiny', '-o', {str(tmp_path / 'out')!r}]\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while not list(tmp_path.glob("0.*")):
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert "the same command goes on from there" in stderr
    assert stderr.splitlines()[-1] == "Stopped."
