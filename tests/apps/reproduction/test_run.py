import importlib
import re
from pathlib import Path

import pytest

from equigraph.apps.reproduction.cells import Settings, code_fingerprint, read_cell
from equigraph.apps.reproduction.experiment import Output, write_output
from equigraph.apps.reproduction.run import EXPERIMENTS, reproduce

STORED = Path(__file__).parents[3] / "docs" / "reproduction"
KEY_CHARACTERS = set("abcdefghijklmnopqrstuvwxyz0123456789-_.")


def images(page):
    return re.findall(r'<img src="([^"]+)"', page)


@pytest.fixture
def experiment(tiny, monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "tiny", importlib.import_module(tiny))
    return "tiny"


def test_everything_is_written_and_shown(experiment, tmp_path):
    target = tmp_path / "page.md"
    report = reproduce([experiment], tmp_path / "out", Settings(seed=5), n_workers=1, page=target)
    assert report.files == {"tiny": [tmp_path / "out" / "tiny" / name for name in ("dot.png", "tiny.md")]}
    assert not report.failures
    assert report.page == tmp_path / "out" / "index.html"
    page = report.page.read_text(encoding="utf-8")
    assert images(page) == ["tiny/dot.png"]
    assert page.count("<td") == 6
    assert "Sums of &lt;three&gt; numbers." in page
    assert "seed 5" in page
    text = target.read_text(encoding="utf-8")
    assert "![A tiny one](out/tiny/dot.png)" in text
    assert f"code `{code_fingerprint()}` in 3 cells" in text
    assert (tmp_path / "out" / "tiny" / "tiny.md").read_text(encoding="utf-8").splitlines()[-1] in text


def test_page_keeps_what_earlier_runs_left(experiment, tmp_path, monkeypatch):
    reproduce([experiment], tmp_path, Settings(), n_workers=1)
    monkeypatch.setitem(EXPERIMENTS, "other", EXPERIMENTS["tiny"])
    report = reproduce(["other"], tmp_path, Settings(), n_workers=1)
    assert len(report.outcome.reused) == 3
    page = report.page.read_text(encoding="utf-8")
    assert images(page) == ["tiny/dot.png", "other/dot.png"]
    assert page.count("earlier run") == 1


@pytest.mark.parametrize("name", ["table1", "table-dfnmf", "fig-k", "fig-lambda"])
def test_quick_runs_finish(name, data_dir, tmp_path):
    experiment, quick = EXPERIMENTS[name], Settings(quick=True)
    cells = {cell.key: cell for cell in experiment.cells(Settings())}
    done = [(cell, read_cell(STORED, cells[cell.key])["result"]) for cell in experiment.cells(quick)]
    written = write_output(tmp_path, name, experiment.output(done))
    assert all(path.stat().st_size > 100 for path in written)


@pytest.mark.parametrize("settings", [Settings(), Settings(quick=True, seed=3)])
def test_keys_are_file_names_and_shared_cells_are_equal(settings):
    cells = {}
    for experiment in EXPERIMENTS.values():
        own = experiment.cells(settings)
        assert len({cell.key for cell in own}) == len(own)
        for cell in own:
            assert set(cell.key) <= KEY_CHARACTERS
            assert cells.setdefault(cell.key, cell) == cell


def test_markdown_becomes_html(experiment, tmp_path, monkeypatch):
    import tiny_experiment

    text = "# One & **two**\n\n| a | b |\n|:--|--:|\n| x | 1 |\n| " + "word " * 9 + "| 2 |"

    monkeypatch.setattr(tiny_experiment, "output", lambda done: Output(text))
    found = reproduce([experiment], tmp_path, Settings(), n_workers=1).page.read_text(encoding="utf-8")
    assert "<h3>One &amp; <b>two</b></h3>" in found
    assert "<tr><th>a</th><th>b</th></tr>\n<tr><td>x</td><td>1</td></tr>" in found
    assert '<td class="words">word' in found
