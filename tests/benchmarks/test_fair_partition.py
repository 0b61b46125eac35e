from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import equigraph as eg
from benchmarks import fair_partition
from benchmarks.__main__ import names, summary

CURVE_OF = fair_partition.curve_of


@pytest.fixture
def told(monkeypatch):
    """Return the list that takes what falls short."""
    short: list[str] = []
    monkeypatch.setattr(fair_partition, "short", short)
    return short


@pytest.fixture
def room(monkeypatch):
    """Let the benchmark find the classroom in place of a network that has to be downloaded."""
    room = eg.datasets.make_classroom()
    monkeypatch.setattr(eg.datasets, "load", lambda name: room)
    monkeypatch.setattr(fair_partition, "curve_of", lambda data, notion, seed: curve_of_room(notion, seed))
    return room


@cache
def curve_of_room(notion, seed):
    """Return the curve that the benchmark asks for, computed once for all tests."""
    return CURVE_OF(eg.datasets.make_classroom(), notion, seed)


def test_listed():
    assert "fair_partition" in names()
    assert summary("fair_partition").startswith("Every claim about FairPartition")


@pytest.mark.parametrize("notion", ["normalized", "balance"])
def test_curves_are_measured(room, told, capsys, monkeypatch, notion):
    measure = "NB" if notion == "normalized" else "B"
    volume = fair_partition.curve_of(room, notion, 0).hypervolume()
    monkeypatch.setitem(fair_partition.SECONDS, "diaries", 600.0)
    monkeypatch.setitem(fair_partition.PAPER, "diaries", (0.0, 0.0))
    for wanted, met in ((volume - 0.001, True), (volume + 0.001, False)):
        monkeypatch.setitem(fair_partition.VOLUMES[notion], "diaries", wanted)
        fair_partition.curves("diaries", notion, 1)
        assert f"hypervolume (Q, {measure}) {volume:.4f}" in capsys.readouterr().out
        assert (told == []) is met


def test_a_point_must_pass_both(room):
    curve = fair_partition.curve_of(room, "balance", 0)
    Q, B = curve.points[0].scores["Q"], curve.points[0].scores["B"]
    assert fair_partition.passes(curve, Q - 0.001, B - 0.001)
    assert not fair_partition.passes(curve, Q, 0.0)


def test_value_weighs_the_scores(room):
    labels = np.arange(30) % 3
    scores = eg.metrics.evaluate(room.adjacency, labels, sensitive_features=room.sensitive_features)
    value, words = fair_partition.value_of(room, labels, 0.2)
    assert value == pytest.approx(0.8 * scores["Q"] + 0.2 * scores["NB"])
    assert f"NB {scores['NB']:.4f}" in words


def test_single_fits_are_compared(room, told, capsys, monkeypatch):
    monkeypatch.setattr(fair_partition, "POKEC_DIAL", (0.5,))
    fair_partition.pokec(1)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if " seed " in line]
    assert [line[2] for line in lines] == ["FairPartition", "FairLouvain"]
    assert float(lines[0][5]) >= float(lines[1][5])
    assert all(text.endswith(" s") for text in told)  # what may be short is the time


def test_growth_with_k_is_told(told, capsys, monkeypatch):
    monkeypatch.setattr(fair_partition, "MANY", ((60, 3), (60, 4), (60, 5), (120, 6)))
    monkeypatch.setattr(fair_partition, "MOST_SECONDS", 0.0)
    fair_partition.clusters()
    assert "k = 6 takes" in "".join(told)
    assert capsys.readouterr().out.count(" s  Q 0.") == 4


@pytest.mark.parametrize("arguments", [["--seeds", "0"], ["--only", "magic"], ["--networks", "atlantis"]])
def test_bad_options(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        fair_partition.parse(arguments)
    assert exit_.value.code == 2
    assert capsys.readouterr().err
