"""The page that was saved, and the one in a notebook: the same module, without a server."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

import equigraph as eg
from equigraph.apps.cli.app import app
from equigraph.apps.explore.offline import content_of, write_interactive
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.scoring import kept
from equigraph.apps.report.findings import findings_of
from equigraph.graph import Graph
from equigraph.metrics import normalized_balance_score
from tests.apps.report.conftest import as_result


@pytest.fixture(scope="module")
def graph():
    room = eg.datasets.make_classroom()
    names = room.node_names.astype(object)
    names[0] = "</script><script>document.title='run'</script>"
    return Graph(room.adjacency, names.astype(str), room.sensitive_features, "gender")


@pytest.fixture(scope="module")
def curve(graph):
    return eg.tradeoff_curve(
        graph, estimator=eg.FairLouvain(n_clusters=3), fairness=[0, 0.1, 0.5, 1], random_state=0
    )


def _labels(content):
    """Read the labels of all points back, as the page does."""
    every = [list(content["first"])]
    for steps in content["changes"]:
        labels, place = list(every[-1]), 0
        for step, label in zip(steps[::2], steps[1::2], strict=True):
            place += step
            labels[place] = label
        every.append(labels)
    return every


def test_every_point_of_the_front_is_in_the_page(graph, curve):
    content = content_of(findings_of(curve, graph))
    stored = _labels(content)
    assert stored == [point.labels.tolist() for point in curve.front]
    assert len(content["scores"]) == len(stored)
    for labels, scores in zip(stored, content["scores"], strict=True):
        expected = normalized_balance_score(labels, sensitive_features=graph.sensitive_features)
        assert scores["even"] == pytest.approx(expected)
    json.dumps(content)


def test_the_page_has_a_dial_and_needs_no_network(browser, graph, curve, tmp_path):
    path = tmp_path / "page.html"
    assert write_interactive(curve, path, graph=graph) == []
    said, asked = [], []
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector(".dial input")
    for number in (0, len(curve.front) - 1):
        page.locator(f".dot[data-point='{number}']").click(force=True)
        page.wait_for_selector(f".dot.here[data-point='{number}']")
        labels = curve.front[number].labels
        shown = page.eval_on_selector_all(
            ".card", "all => all.map(c => [+c.dataset.who, +c.closest('.column').dataset.cluster])"
        )
        assert dict(map(tuple, shown)) == dict(enumerate(labels.tolist()))
        # A card that has not been drawn yet has no inner text.
        friends = page.text_content("[data-who='3'] .friends").split()[0]
        people = BoardPeople.of_graph(graph, "room")
        assert friends == f"{kept(people, labels)[3]}/{people.wished[3]}"
    assert page.locator(".card-menu, .tools button[data-do=undo]").count() == 0
    page.click("[data-view=graph]:visible")
    page.wait_for_selector(".canvas canvas")
    assert page.title() != "run"
    page.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_large_classes_and_small_groups_are_shown_as_a_whole(browser, tmp_path):
    ring = sparse.csr_array(np.roll(np.eye(300), 1, axis=0) + np.roll(np.eye(300), -1, axis=0))
    graph = Graph(ring, None, np.where(np.arange(300) == 0, "rare", "usual"), "kind")
    write_interactive(as_result(graph, np.arange(300) // 25), tmp_path / "page.html", graph=graph)
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector(".card")
    assert page.locator(".column >> nth=0 >> .card").count() == 25
    parts = page.eval_on_selector_all(
        ".stack .part", "all => all.map(one => [+one.textContent, one.scrollWidth <= one.clientWidth])"
    )
    page.close()
    assert sorted(number for number, _ in parts) == [1, 1, 24, *[25] * 11, 299]
    assert all(fits for _, fits in parts)


def test_blank_cells_do_not_make_groups_uneven(browser, tmp_path):
    ring = sparse.csr_array(np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0))
    values = [*"aab", None, None, None, *"aaabb", None]
    graph = Graph(ring, None, np.array(values, dtype=object), "kind", missing="ignore")
    write_interactive(as_result(graph, np.arange(12) // 6), tmp_path / "page.html", graph=graph)
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    lights = page.locator(".column .light").evaluate_all("all => all.map(one => one.className)")
    page.close()
    assert lights == ["light good"] * 2


def test_the_command_writes_it_and_the_plain_page_stays_the_default(tmp_path):
    run = CliRunner().invoke
    out = str(tmp_path / "out")
    made = run(app, ["cluster", "dataset:classroom", "-k", "3", "--method", "fair-louvain", "-o", out, "-q"])
    assert made.exit_code == 0, made.output
    assert run(app, ["report", out, "-q"]).exit_code == 0
    assert "<script" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    found = run(app, ["report", out, "--interactive", "-o", str(tmp_path / "dial.html"), "-q"])
    assert found.exit_code == 0, found.output
    text = (tmp_path / "dial.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert "script-src" in policy
    assert "unsafe-eval" not in policy
    assert text.count("<script") == 2


def test_a_notebook_gets_the_same_module(graph, curve):
    pytest.importorskip("anywidget")
    widget = curve.explore(graph)
    assert json.loads(widget.content)["state"]["labels"]
    assert "render" in widget._esm
    assert len(widget._esm) > 100_000
