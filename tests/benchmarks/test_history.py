"""The history of times: which commits, what is kept, and scores that are those of the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import equigraph as eg
from benchmarks import _history_cases, history


def test_commits_are_spread_from_the_first_to_the_last() -> None:
    commits = [str(place) for place in range(101)]
    assert history.spread(commits, 5) == ["0", "25", "50", "75", "100"]
    assert history.spread(commits[:3], 5) == ["0", "1", "2"]


def test_rows_are_kept_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KEPT", tmp_path / "history.json")
    assert history.kept() == []
    rows = [{"commit": "b", "number": 2, "cases": {}}, {"commit": "a", "number": 1, "cases": {}}]
    history.keep(rows)
    assert [row["commit"] for row in history.kept()] == ["a", "b"]


def test_what_is_kept_was_measured_on_several_commits() -> None:
    rows = history.kept()
    assert len({row["commit"] for row in rows}) == len(rows) >= 4
    assert all(case["seconds"] > 0 for row in rows for case in row["cases"].values())
    assert all("yardstick" in row["cases"] for row in rows)


def test_scores_are_those_of_the_package() -> None:
    graph = _history_cases.Graph(200, 4, 8, 0.3)
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    mirror = np.zeros(200, dtype=int)
    for group in (0, 1):
        members = np.flatnonzero(graph.groups == group)
        mirror[members[: members.size // 2]] = 1
    for labels in (graph.blocks, mirror):
        cohesion = eg.metrics.modularity_score(graph.adjacency, labels)
        found = 2 * _history_cases.score(graph, labels) - cohesion
        exact = eg.metrics.normalized_balance_score(labels, sensitive_features=graph.groups)
        assert found == pytest.approx(exact, abs=0.06)  # NB forgives what whole nodes cannot avoid
        assert found <= exact + 1e-12
