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
from tests.apps.report.conftest import as_result, quiet_page


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


def test_the_page_has_a_dial_and_needs_no_network(browser, graph, curve, tmp_path):
    path = tmp_path / "page.html"
    assert write_interactive(curve, path, graph=graph) == []
    people = BoardPeople.of_graph(graph, "room")
    points = content_of(findings_of(curve, graph))["points"]
    with quiet_page(browser, path, viewport={"width": 1280, "height": 800}) as page:
        page.wait_for_selector(".dial input")
        for number, (point, told) in enumerate(zip(curve.front, points, strict=True)):
            even = normalized_balance_score(point.labels, sensitive_features=graph.sensitive_features)
            assert told["even"] == pytest.approx(even)
            page.locator(f".dot[data-point='{number}']").click(force=True)
            page.wait_for_selector(f".dot.here[data-point='{number}']")
            shown = page.eval_on_selector_all(
                ".card", "all => all.map(c => [+c.dataset.who, +c.closest('.column').dataset.cluster])"
            )
            assert dict(map(tuple, shown)) == dict(enumerate(point.labels.tolist()))
            # A card that has not been drawn yet has no inner text.
            friends = page.text_content("[data-who='3'] .friends").split()[0]
            assert friends == f"{kept(people, point.labels)[3]}/{people.wished[3]}"
        assert page.locator(".card-menu, .tools button[data-do=undo]").count() == 0
        page.click("[data-view=graph]:visible")
        page.wait_for_selector(".canvas canvas")
        assert page.title() != "run"


def ring(values):
    """Return a ring of nodes with an attribute."""
    n = len(values)
    links = sparse.csr_array(np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0))
    return Graph(links, None, np.array(values, dtype=object), "kind", missing="ignore")


def test_large_classes_and_small_groups_are_shown_as_a_whole(browser, tmp_path):
    graph = ring(["rare", *["usual"] * 299])
    write_interactive(as_result(graph, np.arange(300) // 25), tmp_path / "page.html", graph=graph)
    with quiet_page(browser, tmp_path / "page.html", viewport={"width": 390, "height": 800}) as page:
        page.wait_for_selector(".card")
        assert page.locator(".column >> nth=0 >> .card").count() == 25
        parts = page.eval_on_selector_all(
            ".stack .part", "all => all.map(one => [+one.textContent, one.scrollWidth <= one.clientWidth])"
        )
    assert sorted(number for number, _ in parts) == [1, 1, 24, *[25] * 11, 299]
    assert all(fits for _, fits in parts)


def test_the_command_writes_it_and_the_plain_page_stays_the_default(tmp_path):
    out, dial = tmp_path / "out", tmp_path / "dial.html"
    for command in (
        f"cluster dataset:classroom -k 3 --method fair-louvain -o {out} -q",
        f"report {out} -q",
        f"report {out} --interactive -o {dial} -q",
    ):
        made = CliRunner().invoke(app, command.split())
        assert made.exit_code == 0, made.output
    assert "<script" not in (out / "report.html").read_text(encoding="utf-8")
    text = dial.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    assert "script-src" in policy
    assert "unsafe-eval" not in policy
    assert text.count("<script") == 2


def test_a_notebook_gets_the_same_module(graph, curve):
    pytest.importorskip("anywidget")
    widget = curve.explore(graph)
    assert json.loads(widget.content)["board"]["state"]["labels"]
    assert "render" in widget._esm
    assert len(widget._esm) > 100_000
