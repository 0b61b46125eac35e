import numpy as np
import pytest

from equigraph.apps.cli import demo
from equigraph.results.contents import RESULT_FILES
from equigraph.results.result import ClusteringResult


def table_rows(text):
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: words for words in reversed(lines) if words}


def test_demo_prints_all_methods_and_writes_results_and_pictures(run, tmp_path):
    imread = pytest.importorskip("matplotlib.image").imread
    out = tmp_path / "demo"
    answer = run("demo", "-o", out)
    rows = table_rows(answer.stdout)
    for name in demo.METHODS:
        scores = [float(value) for value in rows[name][1:4]]
        assert -0.5 <= scores[0] <= 1
        assert all(0 <= value <= 1 for value in scores[1:])
    pictures = {f"{name}.png" for name in ("graph", "composition", "interaction", "methods", "tradeoff")}
    assert {file.name for file in out.iterdir()} == {*RESULT_FILES, *pictures, "report.html"}
    assert (out / "report.html").resolve().as_uri() in answer.stdout
    assert answer.stdout.splitlines()[-1].endswith("/report.html")
    assert str(out) in answer.stdout
    for picture in out.glob("*.png"):
        image = imread(picture)[..., :3]
        assert np.unique(image[::5, ::5].reshape(-1, 3), axis=0).shape[0] > 50
        assert picture.name in answer.stdout
    kept = ClusteringResult.load(out).scores
    best = max(float(rows[name][1]) + float(rows[name][3]) for name in demo.METHODS)
    assert kept["Q"] + kept["NB"] == pytest.approx(best, abs=0.002)
