"""The page says what was computed, is valid, needs nothing from outside, and escapes what users wrote."""

import itertools
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import equigraph as eg
from equigraph.apps.report import write_report
from equigraph.apps.report.findings import findings_of
from equigraph.exceptions import GraphError, ParameterError
from equigraph.factorization.penalties import Scatter
from equigraph.graph import Graph
from equigraph.graph.groups import encode_groups
from tests.apps.report.conftest import NASTY, as_result, make_large

pytest.importorskip("matplotlib")


def words(node):
    return " ".join(node.to_text().replace("\N{NO-BREAK SPACE}", " ").split())


def cells(page, caption):
    """Return the rows of the table with a caption, the heads first."""
    (table,) = [one for one in page.query("table") if words(one.query("caption")[0]).startswith(caption)]
    return [[words(cell) for cell in row.query("th, td")] for row in table.query("tr")]


def facts(page):
    pairs = zip(page.query(".facts dt"), page.query(".facts dd"), strict=True)
    return {words(name): words(value) for name, value in pairs}


@pytest.fixture(scope="module")
def written(room, result, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    result.report(path, graph=room)
    return path


@pytest.fixture(scope="module")
def page(written, parse):
    return parse(written)


def share_within(graph, labels):
    dense = graph.adjacency.toarray()
    return float(dense[labels[:, None] == labels].sum() / dense.sum())


def test_headline_and_lead_are_the_scores_in_words(page, room, result):
    sizes = result.sizes
    assert words(page.query("h1")[0]) == f"3 clusters of {sizes.min()} to {sizes.max()}"
    lead = words(page.query(".lead")[0])
    assert result.scores["NB"] == 1
    assert "Every cluster is as close to the population by gender as whole nodes allow" in lead
    assert f"{100 * share_within(room, result.labels):.0f} % of the links stay inside a cluster" in lead
    assert "without fairness" in lead


def test_scores_are_those_of_the_result_and_of_dial_zero(page, room, result):
    heads, *rows = cells(page, "Scores of these clusters")
    assert heads == ["score", "value", "without fairness", "what it means"]
    told = {row[0]: row[1:3] for row in rows}
    assert all(len(row[3]) > 20 for row in rows)
    dials, model = [0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1], eg.FairPartition(3, effort=0.1)
    without = eg.tradeoff_curve(room, estimator=model, fairness=dials, random_state=0).points[0]
    for label, name in {"modularity Q": "Q", "balance B": "B", "normalised balance NB": "NB"}.items():
        assert told[label] == [f"{result.scores[name]:.3f}", f"{without.scores[name]:.3f}"]
    within = [share_within(room, labels) for labels in (result.labels, without.labels)]
    assert told["links inside clusters"] == [f"{value:.3f}" for value in within]


def test_composition_is_that_of_the_labels(page, result):
    heads, *rows = cells(page, "Nodes of each gender")
    assert heads == ["cluster", "nodes", "boy", "girl"]
    groups = np.asarray(result.sensitive_features)
    for cluster, row in enumerate(rows[:-1]):
        inside = groups[result.labels == cluster]
        shares = [f"{(inside == one).sum()} {100 * (inside == one).mean():.0f} %" for one in ("boy", "girl")]
        assert row == [f"Cluster {cluster}", str(inside.size), *shares]
    assert rows[-1] == ["All", "30", "15 50 %", "15 50 %"]
    bars = page.query(".bar")
    assert len(bars) == 4
    for bar in bars:
        styles = " ".join(part.attrs["style"] for part in bar.query(".part"))
        assert sum(map(float, re.findall(r"width: ([\d.]+)%", styles))) == pytest.approx(100, abs=0.01)


def test_every_node_is_listed_in_its_cluster_and_drawn(page, room, result):
    boxes = [[words(name) for name in box.query("bdi")] for box in page.query(".cluster")]
    assert boxes == [result.node_names[result.labels == cluster].tolist() for cluster in range(3)]
    (drawing,) = [one for one in page.query("svg") if one.attrs.get("aria-label", "").startswith("Each node")]
    texts = [words(text) for text in drawing.query("text")]
    assert sorted(texts) == sorted([*room.node_names.tolist(), *map(str, result.labels.tolist())])


def test_the_moved_are_those_whose_aligned_cluster_differs(room, result, parse, tmp_path):
    before = (result.labels + 1) % 3  # the same clusters under other numbers, but for two nodes
    before[[0, 5]] = (before[[0, 5]] + 1) % 3
    result.report(tmp_path / "r.html", graph=room, baseline=before)
    rows = cells(parse(tmp_path / "r.html"), "Moves between clusters")[1:]
    told = {name.strip(): row[0] for row in rows for name in row[2].split(",")}
    expected = {room.node_names[i]: f"{(result.labels[i] + 1) % 3} → {result.labels[i]}" for i in (0, 5)}
    assert told == expected
    assert "2 of 30 nodes are in another cluster than in the" in words(parse(tmp_path / "r.html").root)


def test_the_page_tells_how_to_make_it_again(page, result):
    told = facts(page)
    assert told["In Python"] == "eg.FairPartition(effort=0.1, n_clusters=3, random_state=0).fit(graph)"
    assert told["Seed"] == "0"
    assert told["Hash of the input"] == result.input_hash
    assert result.versions["numpy"] in told["Versions"]
    assert "fairness=0.5" in told["Parameters"]
    assert told["Fairness dial"].startswith("0.5, on a scale from 0")


def test_structure_headings_language_and_captions(page):
    assert page.query("html")[0].attrs["lang"] == "en"
    assert words(page.query("title")[0])
    levels = [int(node.name[1]) for node in page.query("h1, h2, h3, h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(one.query("figcaption") for one in page.query("figure"))
    assert all(one.attrs.get("aria-label") for one in page.query("svg") if "aria-hidden" not in one.attrs)
    assert all(one.query("caption") for one in page.query("table"))
    titles = [words(one) for one in page.query("h2")]
    assert titles == [
        "What was asked", "Who is in which cluster", "What fairness costs", "Whom fairness moved", "The graph",
        "How the clusters are linked", "Scores", "How this was made",
    ]  # fmt: skip


def test_ids_are_unique_and_all_references_lead_somewhere(written):
    raw = written.read_text(encoding="utf-8")
    ids = re.findall(r'\sid="([^"]+)"', raw)
    assert ids
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(|href=")#([^")]+)', raw)) == set(ids)


def test_nothing_comes_from_outside(page):
    for node in page.query("*"):
        assert node.name not in ("script", "link", "iframe", "object", "img")
        for key, value in node.attrs.items():
            assert not key.startswith("on")
            if key in ("src", "href"):
                assert value.startswith(("#", "data:image/png;base64,"))
            assert "http" not in (value or "")
    style = words(page.query("style")[0])
    assert "url(" not in style
    assert "@import" not in style


def test_same_input_same_bytes(room, result, written, tmp_path):
    result.report(tmp_path / "again.html", graph=room)
    assert (tmp_path / "again.html").read_bytes() == written.read_bytes()
    assert not list(tmp_path.glob(".partial*"))


@pytest.mark.parametrize(("n", "k", "n_groups"), [(150, 60, 14), (1200, 8, 12)])
def test_nasty_names_are_text_and_many_are_capped(n, k, n_groups, parse, tmp_path):
    graph, labels = make_large(n, k, n_groups)
    source = {"edges": f"{NASTY}.csv", "command": f"equigraph cluster '{NASTY}.csv'"}
    before = np.roll(labels, 7)
    as_result(graph, labels, source=source).report(tmp_path / "r.html", graph=graph, baseline=before)
    raw = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script" not in raw
    page = parse(tmp_path / "r.html")
    assert not page.query("script")
    assert f"{NASTY}.csv" in words(page.query(".kicker")[0])
    text = words(page.root)
    assert f"{NASTY} 0" in text
    assert f"attribute {NASTY}" in text
    assert len(page.query(".bar-row")) == 1 + min(k, 50)
    heads = cells(page, "Nodes of each")[0]
    assert len(heads) == 2 + min(n_groups, 12)
    assert len(page.query(".cluster")) == min(k, 50)
    if k > 50:
        assert "Shown are the 50 largest clusters; 10 others with" in text
        assert "and 10 smaller clusters" in text
        assert heads[-1] == "3 other groups"
    if n > 1000:
        assert "The graph has 1,200 nodes. More than 1,000 would cover each other" in text
        assert "more" not in words(page.query(".cluster")[0])


def test_names_that_are_no_markup_can_be_drawn(parse, tmp_path):
    drawn = ["$a", "b$\\frac$", "_c", "中文", "😀"]
    names = np.array([*drawn, "\x00\x1b", "two\nlines", "\ud800", "￿"], dtype=object)
    adjacency = np.ones((9, 9)) - np.eye(9)
    groups = np.array(["_x", "$y$", "\x07"] * 3)
    graph = Graph(adjacency, names, groups, "$z")
    as_result(graph, np.arange(9) // 3).report(tmp_path / "r.html", graph=graph)
    text = words(parse(tmp_path / "r.html").root)
    assert all(name in text for name in (*drawn, "two lines", "_x", "$y$", "\N{REPLACEMENT CHARACTER}"))


def test_without_the_graph_the_page_says_what_is_left_out(result, parse, tmp_path):
    write_report(result, tmp_path / "r.html")
    assert "The graph was not at hand" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    left_out = write_report(replace(result, graph=None), tmp_path / "r.html")
    page = parse(tmp_path / "r.html")
    titles = {words(one) for one in page.query("h2")}
    assert titles & {"The graph", "What fairness costs", "Scores"} == {"Scores"}
    assert any("The graph was not at hand" in sentence for sentence in left_out)
    listed = [words(one) for one in page.query("section:last-of-type li")]
    assert listed[-len(left_out) :] == left_out


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("asked", "fact", "told"),
    [
        ({"at_least": 0.9, "effort": 0.1}, "Fairness asked for", "at least 0.9, and as cohesive as"),
        (
            {"method": "ifair-nmtf", "fairness": 20.0},
            "Fairness dial",
            "20, a weight on the method's own scale",
        ),
    ],
)
def test_other_ways_to_ask_for_fairness_are_compared_with_none(room, parse, tmp_path, asked, fact, told):
    one = eg.cluster(room, n_clusters=3, random_state=0, **asked)
    one.report(tmp_path / "r.html", graph=room)
    page = parse(tmp_path / "r.html")
    assert facts(page)[fact].startswith(told)
    assert ("Fairness dial" in facts(page)) == ("fairness" in asked)
    assert ("The ring is this clustering." in words(page.query("body")[0])) == ("at_least" in asked)
    asked = {name: value for name, value in asked.items() if name != "at_least"}
    plain = eg.cluster(room, n_clusters=3, random_state=0, **{**asked, "fairness": 0.0})
    scores = {row[0]: row[1:3] for row in cells(page, "Scores")[1:]}
    assert scores["modularity Q"] == [f"{one.scores['Q']:.3f}", f"{plain.scores['Q']:.3f}"]


@pytest.mark.parametrize(
    ("method", "parameters", "reason"),
    [
        ("scalable-fair-sc", {}, "ScalableFairSC has no fairness dial"),
        ("fair-partition", {"fairness": 0.0}, "the fairness dial is at 0"),
        (
            "fair-nmtf",
            {"fairness": 0.5, "penalty": Scatter(encode_groups([0, 1] * 15))},
            "cannot be made again",
        ),
        (None, {}, "nothing to compare it with"),
    ],
)
def test_why_there_is_no_comparison(room, curve, parse, tmp_path, method, parameters, reason):
    if method is None:
        one, options = curve, {"select": curve.points[0]}
    else:
        one, options = eg.cluster(room, method=method, n_clusters=3, random_state=0, **parameters), {}
    (sentence,) = write_report(one, tmp_path / "r.html", graph=room, **options)
    assert reason in sentence
    assert cells(parse(tmp_path / "r.html"), "Scores")[0] == ["score", "value", "what it means"]


def test_no_groups_no_fairness(room, parse, tmp_path):
    one = eg.cluster(room.adjacency, method="nmtf", n_clusters=3, random_state=0)
    one.report(tmp_path / "r.html")
    page = parse(tmp_path / "r.html")
    assert "The nodes have no groups" in words(page.query(".lead")[0])
    assert not page.query(".bar")
    assert page.query(".picture")


def test_another_graph_or_baseline_is_refused(room, result, curve, tmp_path):
    other = Graph(room.adjacency * 2, room.node_names, room.sensitive_features, "gender")
    for subject in (result, curve):
        with pytest.raises(GraphError, match="is not the one that was clustered: its hash is"):
            subject.report(tmp_path / "r.html", graph=other)
    with pytest.raises(ParameterError, match="3 labels of the baseline for 30 nodes"):
        result.report(tmp_path / "r.html", graph=room, baseline=[0, 1, 2])
    foreign = replace(curve.points[0])
    with pytest.raises(ParameterError, match="not one of the curve"):
        curve.report(tmp_path / "r.html", select=foreign)
    assert not list(tmp_path.iterdir())


def test_a_curve_and_its_chosen_point(room, curve, parse, tmp_path):
    point = curve.select("knee")
    curve.report(tmp_path / "r.html", select="knee")
    page = parse(tmp_path / "r.html")
    heads, *rows = cells(page, "All points of the curve")
    assert heads[:4] == ["dial", "NB", "Q", "B"]
    for row, one in zip(rows, curve.points, strict=True):
        assert row[:4] == [f"{one.fairness:g}", *(f"{one.scores[name]:.3f}" for name in ("NB", "Q", "B"))]
    (chosen,) = [words(one.query("th")[0]) for one in page.query("tr.chosen") if len(one.query("td")) > 4]
    assert chosen == f"{point.fairness:g}"
    told = {row[0]: row[1:3] for row in cells(page, "Scores")[1:]}
    assert told["modularity Q"] == [f"{one.scores['Q']:.3f}" for one in (point, curve.points[0])]
    assert facts(page)["In Python"] == (
        "eg.tradeoff_curve(graph, estimator=eg.FairLouvain(n_clusters=3), fairness=[0, 0.1, 0.5, 1], random_state=0)"
    )
    front = f"picked among {len(curve.front)} clusterings that no other found dominates"
    assert front in facts(page)["Fairness dial"]


def test_a_point_of_the_front_has_its_row(room, parse, tmp_path):
    curve = eg.tradeoff_curve(room, estimator=eg.FairPartition(3, effort=0.1), n_points=2, random_state=1)
    point = curve.at_least(0.7)
    assert point not in curve.points
    curve.report(tmp_path / "r.html", graph=room, select=point)
    page = parse(tmp_path / "r.html")
    _, *rows = cells(page, "All points of the curve")
    three = (curve.points[0], point, curve.points[1])
    assert [row[1] for row in rows] == [f"{one.scores['NB']:.3f}" for one in three]
    (chosen,) = [one for one in page.query("tr.chosen") if len(one.query("td")) > 4]
    assert words(chosen.query("td")[0]) == f"{point.scores['NB']:.3f}"
    assert facts(page)["In Python"] == (
        "eg.tradeoff_curve(graph, estimator=eg.FairPartition(effort=0.1, n_clusters=3), random_state=1)"
    )


def dominated(room, result):
    """Return a result with two nodes of the same gender exchanged: equally fair, and less cohesive."""
    girls, found = np.flatnonzero(np.asarray(room.sensitive_features) == "girl"), []
    for one, two in itertools.combinations(girls, 2):
        labels = result.labels.copy()
        labels[[one, two]] = labels[[two, one]]
        found.append(replace(result, labels=labels, scores=eg.metrics.evaluate(room, labels)))
    return min(found, key=lambda other: other.scores["Q"])


def test_a_result_is_never_shown_as_dominated(room, result, parse, tmp_path):
    sentence = "clusters were found that are at least as good by both measures and better by one"
    for one, is_worse in ((result, False), (dominated(room, result), True)):
        found = findings_of(one, room)
        assert found.curve is not None
        assert found.point is not None
        front = [(a.scores["Q"], a.scores["NB"]) for a in found.curve.front]
        here = (found.point.scores["Q"], found.point.scores["NB"])
        assert (found.better is not None) == is_worse
        assert any(a is found.point for a in found.curve.front) != is_worse
        assert any(q > here[0] and n >= here[1] for q, n in front) == is_worse
        one.report(tmp_path / "r.html", graph=room)
        text = words(parse(tmp_path / "r.html").query("body")[0])
        assert (sentence in text) == is_worse
        assert ("The ring is this clustering, at dial 0.5." in text) != is_worse
        assert "dominated by others" not in text


def test_without_matplotlib_there_are_no_pictures(room, result, parse, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    left_out = write_report(result, tmp_path / "r.html", graph=room)
    assert sum("equigraph[plot]" in sentence for sentence in left_out) == 1
    page = parse(tmp_path / "r.html")
    assert page.query(".bar")
    assert not page.query(".picture")
