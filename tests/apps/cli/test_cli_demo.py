import pytest

from equigraph.apps.cli import demo
from equigraph.results.contents import RESULT_FILES
from equigraph.results.result import ClusteringResult


def test_demo_prints_all_methods_and_writes_results_and_pictures(run, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "demo"
    answer = run("demo", "-o", out)
    lines = reversed(answer.stdout.splitlines())
    rows = {line.split()[0]: line.split() for line in lines if line.strip()}
    for name in demo.METHODS:
        scores = [float(value) for value in rows[name][1:4]]
        assert -0.5 <= scores[0] <= 1
        assert all(0 <= value <= 1 for value in scores[1:])
    pictures = {f"{name}.png" for name in ("graph", "composition", "interaction", "methods", "tradeoff")}
    assert {file.name for file in out.iterdir()} == {*RESULT_FILES, *pictures, "report.html"}
    assert answer.stdout.splitlines()[-1].endswith((out / "report.html").resolve().as_uri())
    assert all(name in answer.stdout for name in (str(out), *pictures))
    kept = ClusteringResult.load(out).scores
    best = max(float(rows[name][1]) + float(rows[name][3]) for name in demo.METHODS)
    assert kept["Q"] + kept["NB"] == pytest.approx(best, abs=0.002)
