from __future__ import annotations

from pathlib import Path

import pytest

from equigraph.apps.reproduction.cells import Cell, Finished, write_cell
from equigraph.apps.reproduction.engine import Forecast, expected_seconds


def test_earlier_run_knows_better_than_the_hints(tmp_path: Path) -> None:
    known = "score.lastfm.fair-partition.k10"
    cells = [
        Cell(known, "m:f", {"seed": 1}),
        Cell("score.lastfm.fair-partition.k5", "m:f"),
        Cell("new", "m:f"),
    ]
    hinted = expected_seconds(cells, tmp_path)
    assert hinted[known] == 2 * hinted["score.lastfm.fair-partition.k5"] > hinted["new"]
    write_cell(tmp_path, Cell(known, "m:f", {"seed": 0}), Finished({}, 12.5, 12.0))
    expected = expected_seconds(cells, tmp_path)
    assert expected[known] == 12.5
    assert expected["new"] > 0


def test_time_left_is_shared_by_the_workers() -> None:
    expected = {str(i): 10.0 for i in range(8)}
    left = [
        Forecast(expected, n_workers).seconds_left(waiting=list(expected), running={})
        for n_workers in (1, 2, 4)
    ]
    assert left == [80.0, 40.0, 20.0]


def test_last_cell_does_not_get_faster_by_idle_workers() -> None:
    forecast = Forecast({"a": 60.0}, n_workers=8)
    assert forecast.seconds_left(waiting=["a"], running={}) == 60.0
    assert forecast.seconds_left(waiting=[], running={"a": 45.0}) == pytest.approx(15.0)
    assert forecast.seconds_left(waiting=[], running={"a": 100.0}) == 0.0


def test_slow_machine_is_noticed() -> None:
    expected = {str(i): 100.0 for i in range(10)}
    forecast = Forecast(expected, 1)
    before = forecast.seconds_left(waiting=["9"], running={})
    for i in range(9):
        forecast.learn(str(i), 300.0)
    assert 2.8 * before < forecast.seconds_left(waiting=["9"], running={}) < 3 * before
