from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from equigraph.cli import demo
from equigraph.loading import RESULT_FILES

Run = Callable[..., Result]


def table_rows(text: str) -> dict[str, list[str]]:
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: words for words in reversed(lines) if words}


def test_demo_prints_all_methods_and_writes_results_and_pictures(run: Run, tmp_path: Path) -> None:
    imread = pytest.importorskip("matplotlib.image").imread
    out = tmp_path / "demo"
    answer = run("demo", "-o", out)
    assert answer.exit_code == 0, answer.output
    rows = table_rows(answer.stdout)
    for name in demo.METHODS:
        scores = [float(value) for value in rows[name][1:4]]
        assert -0.5 <= scores[0] <= 1
        assert all(0 <= value <= 1 for value in scores[1:])
    assert {file.name for file in out.iterdir()} == {
        *RESULT_FILES,
        "graph.png",
        "composition.png",
        "interaction.png",
        "methods.png",
        "tradeoff.png",
        "report.html",
    }
    assert (out / "report.html").resolve().as_uri() in answer.stdout
    assert answer.stdout.splitlines()[-1].endswith("/report.html")
    assert str(out) in answer.stdout
    for picture in out.glob("*.png"):
        image = imread(picture)[..., :3]
        assert np.unique(image.reshape(-1, 3), axis=0).shape[0] > 50
        assert picture.name in answer.stdout
    kept = json.loads((out / "result.json").read_text())["scores"]
    best = max(float(rows[name][1]) + float(rows[name][3]) for name in demo.METHODS)
    assert kept["Q"] + kept["NB"] == pytest.approx(best, abs=0.002)


def test_a_fair_method_beats_the_plain_one_on_fairness(run: Run, tmp_path: Path) -> None:
    answer = run("demo", "-o", tmp_path / "demo")
    rows = table_rows(answer.stdout)
    assert float(rows["fair-partition"][3]) > float(rows["nmtf"][3])
    assert float(rows["random"][1]) < float(rows["nmtf"][1])


def test_demo_without_matplotlib_says_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    real = importlib.import_module

    def without(name: str, package: str | None = None) -> object:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    answer = run("demo", "-o", tmp_path / "demo")
    assert answer.exit_code == 0, answer.output
    assert "equigraph[plot]" in answer.stderr
    assert "graph.png" not in answer.stdout
    assert {file.name for file in (tmp_path / "demo").iterdir()} == {*RESULT_FILES, "report.html"}
    assert "equigraph[plot]" in (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")


def test_all_pictures_of_the_graph_share_one_layout(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    from equigraph.plotting import GraphDisplay

    seen: list[np.ndarray] = []
    real = GraphDisplay.plot

    def watch(self: GraphDisplay, *args: object, **kwargs: object) -> GraphDisplay:
        seen.append(self.positions)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(GraphDisplay, "plot", watch)
    assert run("demo", "-o", tmp_path / "demo").exit_code == 0
    assert len(seen) == 2 + len(demo.METHODS)  # the picture, the page and the methods side by side
    # The page comes last; it has no other pictures beside its own, and pulls the clusters together.
    assert all(np.array_equal(positions, seen[0]) for positions in seen[:-1])
