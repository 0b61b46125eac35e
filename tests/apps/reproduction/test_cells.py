import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from equigraph.apps.reproduction import cells as reproduction_cells
from equigraph.apps.reproduction.cells import KIND, Cell, path_of, read_cell, run_cells
from equigraph.results.persistence import write_record
from tests.apps.reproduction.conftest import ENVIRONMENT

RUN = """
import sys
from pathlib import Path
from equigraph.apps.reproduction.cells import Cell, run_cells
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    cells = [
        Cell(f"slow.{i}", "tiny_experiment:slow", {"place": str(folder / "marks"), "number": i, "seconds": seconds})
        for i, seconds in enumerate([0.4] * 4 + [1.5] * 4)  # after three there is time to kill it
    ]
    run_cells(cells, folder, n_workers=2)
"""


CELL = Cell("a.b-c", "package.module:function", {"seed": 3, "weights": [0.0, 0.5]})
DONE = {"result": {"runs": [{"Q": 0.25}]}, "seconds": 1.5, "cpu_seconds": 1.25, "code": "0"}


def store(folder, cell):
    write_record(path_of(folder, cell), KIND, {**cell.call, **DONE})


def draws(tiny, n):
    return [Cell(f"draw.{i}", f"{tiny}:draw", {"seed": i}) for i in range(n)]


def results(folder, cells, n_workers=1):
    outcome = run_cells(cells, folder, n_workers=n_workers)
    assert not outcome.failures
    return {key: finished["result"] for key, finished in outcome.finished.items()}


def test_same_results_with_any_number_of_processes(tiny, tmp_path):
    cells = draws(tiny, 5)
    one = results(tmp_path / "one", cells, 1)
    three = results(tmp_path / "three", cells, 3)
    assert one == three
    assert set(one) == {cell.key for cell in cells}
    assert one["draw.1"] != one["draw.2"]
    assert one["draw.0"]["pair"] == [1, 2]  # as JSON has it, from the first run on
    again = run_cells(cells, tmp_path / "one", n_workers=1)
    assert {key: finished["result"] for key, finished in again.finished.items()} == one
    assert again.reused == set(one)


def test_failing_cells_leave_the_others_alone(tiny, tmp_path):
    cells = [
        *draws(tiny, 3),
        Cell("bad.error", f"{tiny}:fail", {"text": "no such luck"}),
        Cell("bad.death", f"{tiny}:die"),
        Cell("bad.name", f"{tiny}:missing"),
        Cell("bad.value", f"{tiny}:not_a_number"),
    ]
    outcome = run_cells(cells, tmp_path, n_workers=2)
    assert set(outcome.finished) == {"draw.0", "draw.1", "draw.2"}
    assert set(outcome.failures) == {"bad.error", "bad.death", "bad.name", "bad.value"}
    assert outcome.failures["bad.error"] == "ValueError: no such luck"
    assert "process ended" in outcome.failures["bad.death"]
    assert "no such luck" in (tmp_path / "cells" / "bad.error.failed.txt").read_text(encoding="utf-8")
    again = run_cells(cells[:4], tmp_path, n_workers=1)
    assert again.reused == set(outcome.finished)
    assert list(again.failures) == ["bad.error"]  # a failure is tried again, not remembered
    run_cells([Cell("bad.error", f"{tiny}:draw", {"seed": 0})], tmp_path, n_workers=1)
    assert not (tmp_path / "cells" / "bad.error.failed.txt").exists()


def test_workers_have_one_thread_each(tiny, tmp_path):
    before = dict(os.environ)
    found = results(tmp_path, [Cell("threads", f"{tiny}:threads")])["threads"]
    assert found["numba"] == "1"
    assert set(found["pools"]) == {1}
    assert dict(os.environ) == before


def test_shared_cells_are_computed_once(tiny, tmp_path):
    (tmp_path / "marks").mkdir()
    cell = Cell("slow", f"{tiny}:slow", {"place": str(tmp_path / "marks"), "number": 0, "seconds": 0.0})
    results(tmp_path, [cell, cell])
    assert len(list((tmp_path / "marks").iterdir())) == 1


def test_progress_is_reported(tiny, tmp_path):
    seen = []
    run_cells(draws(tiny, 3), tmp_path, n_workers=1, watch=seen.append)
    assert [(progress.step, progress.total) for progress in seen] == [(1, 3), (2, 3), (3, 3)]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process that has ended and that nobody has waited for is not alive.
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
def test_interrupted_run_goes_on_where_it_was(tmp_path):
    marks, script = tmp_path / "marks", tmp_path / "run.py"
    marks.mkdir()
    script.write_text(RUN, encoding="utf-8")
    command = [sys.executable, str(script), str(tmp_path)]
    first = subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    stored = tmp_path / "cells"
    wait_for(lambda: len(list(stored.glob("*.json"))) >= 3)
    first.kill()
    assert first.wait(timeout=60) != 0
    workers = {int(mark.read_text(encoding="utf-8") or 0) for mark in marks.iterdir()} - {0}
    wait_for(lambda: not any(map(alive, workers)))
    done = {path.stem for path in stored.glob("*.json")}
    assert 3 <= len(done) < 8
    assert subprocess.run(command, env=ENVIRONMENT, timeout=120).returncode == 0
    assert len(list(stored.glob("*.json"))) == 8
    starts = Counter(mark.name.split(".")[0] for mark in marks.iterdir())
    assert set(starts) == {str(i) for i in range(8)}
    again = [number for number, n_starts in starts.items() if n_starts > 1]
    assert len(again) <= 2  # the cells that were running
    assert all(starts[str(int(key.split(".")[1]))] == 1 for key in done)


def test_what_is_written_is_read(tmp_path):
    assert read_cell(tmp_path, CELL) is None
    store(tmp_path, CELL)
    assert read_cell(tmp_path, CELL) == {**CELL.call, **DONE}
    assert [path.name for path in (tmp_path / "cells").iterdir()] == ["a.b-c.json"]
    turned = Cell(CELL.key, CELL.function, dict(reversed(CELL.arguments.items())))
    assert read_cell(tmp_path, turned) is not None


@pytest.mark.parametrize("damage", [("0.25", "0.26"), ("0.25", "NaN"), ("}", "")])
def test_a_damaged_file_is_not_trusted(tmp_path, damage):
    store(tmp_path, CELL)
    path = path_of(tmp_path, CELL)
    path.write_text(path.read_text(encoding="utf-8").replace(*damage), encoding="utf-8")
    assert read_cell(tmp_path, CELL) is None


def test_another_computation_is_not_trusted(tmp_path, monkeypatch):
    for other in (
        Cell(CELL.key, CELL.function, {"seed": 4, "weights": [0.0, 0.5]}),
        Cell(CELL.key, "package.module:another", CELL.arguments),
    ):
        store(tmp_path, other)
        assert read_cell(tmp_path, CELL) is None
    store(tmp_path, CELL)
    monkeypatch.setattr(reproduction_cells, "__version__", "0.0.0.other")
    assert read_cell(tmp_path, CELL) is None
