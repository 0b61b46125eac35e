"""Point 6: sentences agree with the numbers, and pictures and tables of many groups stay bounded."""

from types import SimpleNamespace

import numpy as np
import pytest

import equigraph as eg
from equigraph.apps.report.wording import TOLERANCE, fairness_sentence
from equigraph.metrics import composition, normalized_balance_score
from equigraph.plotting import ClusterGraphDisplay, CompositionDisplay, GraphDisplay

pytest.importorskip("matplotlib").use("agg")


def said(labels, groups):
    what = composition(labels, sensitive_features=groups)
    return fairness_sentence(SimpleNamespace(compositions=lambda: [(None, None, what)], attribute=None))


def test_point_06_the_sentence_agrees_with_nb():
    rng = np.random.default_rng(0)
    seen = set()
    for trial in range(300):
        n, k, m = rng.integers(4, 60), rng.integers(2, 6), rng.choice([2, 3, 10, 40])
        groups = rng.integers(m, size=n)
        labels = np.arange(n) % k if trial % 2 else rng.integers(k, size=n)
        if trial % 3 == 0:
            groups = np.sort(groups)  # dealt out in turn, so that many of these are fair
        score, sentence = normalized_balance_score(labels, sensitive_features=groups), said(labels, groups)
        lowest = normalized_balance_score(labels, sensitive_features=groups, average="min")
        mirrors = sentence.startswith("Every cluster")
        seen.add(mirrors)
        if np.unique(labels).size > 1:
            assert mirrors == (lowest >= 1 - TOLERANCE - 1e-12), (sentence, lowest)
            assert not (mirrors and score < 1 - TOLERANCE - 1e-12)
            assert sentence.startswith("None") <= (lowest < 1)
    assert seen == {True, False}


@pytest.fixture
def many():
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(100), 20)
    return labels, np.array([f"origin number {i}" for i in rng.integers(1000, size=2000)])


def test_point_06_a_composition_of_a_thousand_groups_is_one_picture(many, tmp_path):
    from matplotlib.image import imread

    labels, groups = many
    display = CompositionDisplay.from_predictions(labels, sensitive_features=groups)
    display.save(tmp_path / "composition.png")
    height, width = imread(tmp_path / "composition.png").shape[:2]
    assert max(height, width) < 5000
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert len(shown) == 12
    assert shown[0].endswith("other groups")
    assert "50 more are not drawn" in display.ax_.get_xlabel()


def test_point_06_the_bars_of_grouped_groups_still_add_up(many):
    labels, groups = many
    shown = composition(labels, sensitive_features=groups).capped()
    assert shown.totals.sum() == labels.size
    assert shown.counts.sum() + shown.hidden_nodes == labels.size


def test_point_06_a_printed_composition_is_bounded(many):
    labels, groups = many
    lines = str(composition(labels, sensitive_features=groups)).splitlines()
    assert len(lines) == 53
    assert max(map(len, lines)) < 400
    assert lines[-2].split()[:2] == ["(50", "more)"]


def test_point_06_the_table_of_the_command_is_not_blank(many, capsys):
    from equigraph.apps.cli.summary import print_composition
    from equigraph.graph.groups import encode_attributes

    labels, groups = many
    sizes = np.bincount(labels)
    print_composition(
        SimpleNamespace(
            attributes=encode_attributes(groups),
            labels=labels,
            sizes=sizes,
            n_clusters=100,
        )
    )
    lines = capsys.readouterr().out.splitlines()
    assert "other groups" in lines[0]
    assert lines[-1].split()[:2] == ["all", "2000"]
    assert max(map(len, lines)) <= 160


def test_point_06_other_pictures_are_bounded(many, tmp_path):
    from matplotlib.image import imread
    from scipy import sparse

    labels, groups = many
    ring = sparse.csr_array(
        (np.ones(2000), (np.arange(2000), np.roll(np.arange(2000), 1))), shape=(2000, 2000)
    )
    graph = eg.Graph(ring + ring.T, sensitive_features=groups)
    pictures = {
        "graph": GraphDisplay(graph, labels, positions=np.random.default_rng(0).random((2000, 2))).plot(),
        "clusters": ClusterGraphDisplay(graph, labels).plot(),
    }
    for name, display in pictures.items():
        display.save(tmp_path / f"{name}.png")
        assert max(imread(tmp_path / f"{name}.png").shape) < 4000
