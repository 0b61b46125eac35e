from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from equigraph.apps.cli import demo
from equigraph.apps.cli.app import app
from equigraph.results.contents import RESULT_FILES
from equigraph.results.result import ClusteringResult


def table_rows(text):
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: words for words in reversed(lines) if words}


@dataclass
class Demo:
    out: Path
    answer: Result
    positions: list[np.ndarray]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Run the demo once, and note where it put the nodes in each picture of the graph."""
    pytest.importorskip("matplotlib")
    from equigraph.plotting import GraphDisplay

    positions = []
    real = GraphDisplay.plot

    def watch(self, *args, **kwargs):
        positions.append(self.positions)
        return real(self, *args, **kwargs)

    out = tmp_path_factory.mktemp("shown") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GraphDisplay, "plot", watch)
        answer = CliRunner().invoke(app, ["demo", "-o", str(out)])
    assert answer.exit_code == 0, answer.output
    return Demo(out, answer, positions)


def test_demo_prints_all_methods_and_writes_results_and_pictures(shown):
    imread = pytest.importorskip("matplotlib.image").imread
    out, answer = shown.out, shown.answer
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
        assert np.unique(image[::5, ::5].reshape(-1, 3), axis=0).shape[0] > 50
        assert picture.name in answer.stdout
    kept = ClusteringResult.load(out).scores
    best = max(float(rows[name][1]) + float(rows[name][3]) for name in demo.METHODS)
    assert kept["Q"] + kept["NB"] == pytest.approx(best, abs=0.002)
