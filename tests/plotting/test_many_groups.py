"""Pictures and tables of many groups stay bounded."""

from types import SimpleNamespace

import numpy as np
import pytest

import equigraph as eg
from equigraph.plotting import ClusterGraphDisplay, CompositionDisplay, GraphDisplay

pytest.importorskip("matplotlib").use("agg")


@pytest.fixture
def many():
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(100), 20)
    return labels, np.array([f"origin number {i}" for i in rng.integers(1000, size=2000)])


def test_a_composition_of_a_thousand_groups_is_one_picture(many, tmp_path):
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


def test_the_table_of_the_command_is_not_blank(many, capsys):
    from equigraph.apps.cli.console import print_composition
    from equigraph.graph.groups import encode_attributes

    labels, groups = many
    sizes = np.bincount(labels)
    attributes = encode_attributes(groups)
    print_composition(SimpleNamespace(attributes=attributes, labels=labels, sizes=sizes, n_clusters=100))
    lines = capsys.readouterr().out.splitlines()
    assert "other groups" in lines[0]
    assert lines[-1].split()[:2] == ["all", "2000"]
    assert max(map(len, lines)) <= 160


def test_other_pictures_are_bounded(many, tmp_path):
    from matplotlib.image import imread
    from scipy import sparse

    labels, groups = many[0][:500], many[1][:500]
    ring = sparse.csr_array((np.ones(500), (np.arange(500), np.roll(np.arange(500), 1))), shape=(500, 500))
    graph = eg.Graph(ring + ring.T, sensitive_features=groups)
    pictures = {
        "graph": GraphDisplay(graph, labels, positions=np.random.default_rng(0).random((500, 2))).plot(),
        "clusters": ClusterGraphDisplay(graph, labels).plot(),
    }
    for name, display in pictures.items():
        display.save(tmp_path / f"{name}.png")
        assert max(imread(tmp_path / f"{name}.png").shape) < 4000
