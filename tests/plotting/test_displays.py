import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups import encode_groups
from equigraph.plotting import (
    ClusterGraphDisplay,
    CompositionDisplay,
    GraphDisplay,
    InteractionDisplay,
    TradeoffDisplay,
)
from equigraph.plotting.style import cluster_colors, group_colors, text_color
from tests.optional import optional

matplotlib = optional("matplotlib")
Figure, Legend = optional("matplotlib.figure").Figure, optional("matplotlib.legend").Legend
imread = optional("matplotlib.image").imread
matplotlib.use("agg")


@pytest.fixture(scope="module")
def result(room):
    return eg.cluster(room, method="nmtf", n_clusters=3, random_state=0)


def legends(ax):
    """Return the texts of every legend by its title."""
    found = [child for child in ax.get_children() if isinstance(child, Legend)]
    return {one.get_title().get_text(): [text.get_text() for text in one.get_texts()] for one in found}


def test_graph_shows_every_node_edge_name_cluster_and_group(room, result):
    display = GraphDisplay.from_result(result, room)
    nodes = [drawn for drawn in display.ax_.collections if hasattr(drawn, "get_sizes")]
    assert sum(len(drawn.get_offsets()) for drawn in nodes) == 30
    colors = np.vstack([drawn.get_facecolor()[:, :3] for drawn in nodes])
    np.testing.assert_allclose(np.unique(colors, axis=0), sorted(cluster_colors(3)))
    lines = [drawn for drawn in display.ax_.collections if hasattr(drawn, "get_segments")]
    assert sum(len(drawn.get_segments()) for drawn in lines) == room.n_edges
    assert {text.get_text() for text in display.ax_.texts} >= set(room.node_names.tolist())
    expected = [f"{cluster} ({size})" for cluster, size in enumerate(result.sizes)] + [
        "boy (15)",
        "girl (15)",
    ]
    assert sorted(itertools.chain(*legends(display.ax_).values())) == sorted(expected)


def test_many_nodes_are_drawn_without_names_and_many_edges_thinned(monkeypatch):
    from equigraph.plotting import graph

    monkeypatch.setattr(graph, "MAX_DRAWN_EDGES", 100)
    sbm = eg.datasets.make_fair_sbm(200, 3, 2, random_state=0)
    display = GraphDisplay.from_predictions(sbm.adjacency, sbm.target)
    (note,) = [text.get_text() for text in display.ax_.texts]
    assert note.startswith(f"100 of {sbm.adjacency.nnz // 2:,} edges")


def test_every_way_to_a_display_names_the_attribute_and_leaves_pyplot_alone(room, result):
    before, had_pyplot = dict(matplotlib.rcParams), "matplotlib.pyplot" in sys.modules
    ax, model = Figure().add_subplot(), eg.NMTF(3, random_state=0).fit(room)
    given = {"sensitive_features": room.sensitive_features}
    for display, title in (
        (GraphDisplay.from_result(result, room), "gender"),
        (GraphDisplay.from_result(result, room.adjacency), "gender"),
        (GraphDisplay.from_predictions(room, result.labels), "gender"),
        (GraphDisplay.from_estimator(model, room), "gender"),
        (CompositionDisplay.from_result(result), "gender"),
        (CompositionDisplay.from_estimator(model, room), "gender"),
        (GraphDisplay.from_predictions(room.adjacency, result.labels, **given), "group"),
        (CompositionDisplay.from_predictions(result.labels, **given), "group"),
    ):
        assert title in legends(display.ax_)
    display = InteractionDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert dict(matplotlib.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == had_pyplot


def test_saved_pictures_are_not_blank(room, result, tmp_path):
    graph = GraphDisplay.from_result(result, room)
    for display in (graph, InteractionDisplay.from_result(result), CompositionDisplay.from_result(result)):
        display.save(tmp_path / "picture.png", dpi=50)
        image = imread(tmp_path / "picture.png")[..., :3]
        assert np.unique(image.reshape(-1, 3), axis=0).shape[0] > 20
        assert (image < 0.9).any(axis=2).mean() > 0.005
    graph.save(tmp_path / "graph.svg")
    assert "Wanjiru" in (tmp_path / "graph.svg").read_text(encoding="utf-8")


def test_notebooks_show_the_picture_of_every_display(room, result):
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    curve = eg.tradeoff_curve(room, estimator=eg.FairLouvain(3), fairness=[0, 1], random_state=0)
    for display in (curve.plot(), GraphDisplay(room, result.labels)):
        shown, _ = formatter.format(display)
        assert shown["image/png"].startswith(b"\x89PNG")
    # Axes of the user's are shown by who made them.
    assert "image/png" not in formatter.format(curve.plot(ax=Figure().add_subplot()))[0]


def test_interaction_shows_values_up_to_fifteen_clusters():
    rng = np.random.default_rng(0)
    assert len(InteractionDisplay(rng.random((15, 15))).plot().ax_.texts) == 225
    assert len(InteractionDisplay(rng.random((16, 16))).plot().ax_.texts) == 0
    for small in ([[1, 1e-9], [0, 2]], sparse.csr_array([[1, 1e-9], [0, 2]])):
        texts = [text.get_text() for text in InteractionDisplay(small).plot().ax_.texts]
        assert texts == ["1", "≈ 0", "0", "2"]


def test_composition_bars_add_up_and_show_sizes():
    labels, groups = [0, 0, 0, 1, 1], ["a", "a", "b", "b", "c"]
    display = CompositionDisplay.from_predictions(labels, sensitive_features=groups)
    heights = np.array([[bar.get_height() for bar in bars] for bars in display.ax_.containers])
    assert heights.shape == (3, 3)
    assert np.allclose(heights.sum(axis=0), 1)
    assert np.allclose(heights[:, 1], [2 / 3, 1 / 3, 0])
    texts = [text.get_text() for text in display.ax_.texts]
    assert [text for text in texts if text and "%" not in text] == ["5", "3", "2"]
    some = encode_groups(["a", "a", "b", None, "c"], missing="ignore")
    display = CompositionDisplay.from_predictions(labels, sensitive_features=some)
    assert display.ax_.get_ylabel() == "share of nodes with a group"  # the numbers above count all


def test_colours_are_distinct_and_readable():
    assert len(set(cluster_colors(24))) == 24
    assert not set(cluster_colors(24)) & set(group_colors(8))
    assert text_color(group_colors(1)[0]) == "white"


def test_names_are_no_formulas_and_no_group_is_hidden(tmp_path):
    graph = Graph(
        sparse.csr_array(1 - np.eye(3)),
        np.array(["$a", "$\\frac$", "b\nc"]),
        np.array(["_x", "$y$", "z"]),
        "$attribute",
    )
    display = GraphDisplay(graph, [0, 1, 1]).plot(numbers=True)
    texts = [text.get_text() for text in display.ax_.texts]
    assert sorted(texts) == sorted(["$a", "$\\frac$", "b c", "0", "1", "1"])
    display.save(tmp_path / "graph.svg")
    assert "$attribute" in (tmp_path / "graph.svg").read_text(encoding="utf-8")
    shares = CompositionDisplay.from_predictions([0, 1, 1], sensitive_features=graph.sensitive_features)
    assert sorted(itertools.chain(*legends(shares.ax_).values())) == ["$y$", "_x", "z"]


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_picture_is_the_same_file(room, result, tmp_path, suffix):
    for name in ("a", "b"):
        GraphDisplay.from_result(result, room).save(tmp_path / f"{name}.{suffix}", dpi=40)
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_links_between_clusters_are_those_of_a_dense_count():
    sbm = eg.datasets.make_fair_sbm(180, 4, 2, random_state=0)
    display = ClusterGraphDisplay.from_predictions(sbm.adjacency, sbm.target)
    dense = sbm.adjacency.toarray()
    for i, j in np.ndindex(4, 4):
        expected = 0 if i == j else dense[np.ix_(sbm.target == i, sbm.target == j)].sum()
        assert display.links[i, j] == pytest.approx(expected)
    assert display.sizes.tolist() == np.bincount(sbm.target).tolist()
    assert display.ax_.get_title("left") == "4 clusters"
    areas = [patch.get_radius() ** 2 for patch in display.ax_.patches]
    assert np.allclose(np.array(areas) / areas[0], display.sizes / display.sizes[0])


def test_of_many_clusters_the_largest_are_drawn():
    labels = np.concatenate((np.arange(60), np.arange(10, 60)))
    display = ClusterGraphDisplay(sparse.eye_array(110, k=1) + sparse.eye_array(110, k=-1), labels).plot()
    assert display.clusters.tolist() == list(range(10, 60))
    assert display.ax_.get_title("left") == "The 50 largest of 60 clusters"
    with pytest.raises(ParameterError, match="3 labels for 110 nodes"):
        ClusterGraphDisplay(sparse.eye_array(110, k=1) + sparse.eye_array(110, k=-1), [0, 1, 2])


def test_one_cluster_without_edges_can_be_drawn(room):
    model = eg.RandomClustering(2, random_state=0).fit(room)
    assert ClusterGraphDisplay.from_estimator(model, room).clusters.tolist() == [0, 1]
    display = ClusterGraphDisplay.from_predictions(np.zeros((3, 3)), [0, 0, 0])
    assert [text.get_text() for text in display.ax_.texts] == ["0\n3 nodes"]
    assert GraphDisplay.from_predictions(np.zeros((3, 3)), [0, 0, 0]).ax_.get_title("left")[:7] == "3 nodes"


def test_what_cannot_be_drawn(result, tmp_path):
    with pytest.raises(ParameterError, match="no known format"):
        InteractionDisplay.from_result(result).save(tmp_path / "picture.doc")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ParameterError, match=r"\(2, 3\)"):
        InteractionDisplay(np.ones((2, 3)))
    with pytest.raises(ParameterError, match="at most 2,000"):
        InteractionDisplay(sparse.eye_array(5000, format="csr"))
    with pytest.raises(GroupsError, match="needs groups"):
        CompositionDisplay.from_predictions(result.labels, sensitive_features=None)


@pytest.fixture
def many():
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(100), 20)
    return labels, np.array([f"origin number {i}" for i in rng.integers(1000, size=2000)])


def test_pictures_of_a_thousand_groups_are_bounded(many, tmp_path):
    labels, groups = many
    composition = CompositionDisplay.from_predictions(labels, sensitive_features=groups)
    shown = [text.get_text() for text in composition.ax_.get_legend().get_texts()]
    assert len(shown) == 12
    assert shown[0].endswith("other groups")
    assert "50 more are not drawn" in composition.ax_.get_xlabel()
    graph = eg.Graph(
        sparse.eye_array(500, k=1) + sparse.eye_array(500, k=-1), sensitive_features=groups[:500]
    )
    places = np.random.default_rng(0).random((500, 2))
    drawn = GraphDisplay(graph, labels[:500], positions=places), ClusterGraphDisplay(graph, labels[:500])
    for display in (composition, *drawn):
        display.save(tmp_path / "picture.png")
        assert max(imread(tmp_path / "picture.png").shape) < 4000


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


def overlap(one, other):
    """Return the area that two boxes share, in pixels."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(width, 0) * max(height, 0)


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")
def test_subplots_do_not_overlap(room):
    import matplotlib.pyplot as plt

    curve = eg.tradeoff_curve(room, n_clusters=3, random_state=0, n_points=3, effort=0.1)
    figure, axes = plt.subplots(2, 2, figsize=(10, 8))
    labels = eg.FairPartition(3, random_state=0).fit_predict(room)
    GraphDisplay(room, labels).plot(axes[0, 0])
    CompositionDisplay.from_predictions(labels, sensitive_features=room.groups, ax=axes[0, 1])
    twin = TradeoffDisplay(curve, kind="twin").plot(axes[1, 0])
    TradeoffDisplay(curve, kind="front").plot(axes[1, 1])
    figure.canvas.draw()
    boxes = {ax: ax.get_tightbbox(figure.canvas.get_renderer()) for ax in figure.axes}
    assert len(boxes) == 5
    for one, other in itertools.combinations(boxes, 2):
        # Two of them are twins, in one place.
        assert one.bbox.bounds == other.bbox.bounds or overlap(boxes[one], boxes[other]) == 0
    # Legends and titles are inside the figure.
    for box in boxes.values():
        assert min(box.x0, box.y0) >= 0
        assert (box.max <= figure.bbox.max + 1).all()
    assert twin.figure_ is figure
    plt.close(figure)


@pytest.mark.parametrize("n", [30, 120])
def test_names_do_not_cover_each_other(n):
    graph = eg.as_graph(eg.datasets.make_classroom(n, n_circles=3))
    display = GraphDisplay(graph, np.arange(n) % 3).plot(names=True)
    display.figure_.canvas.draw()
    notes = [text for text in display.ax_.texts if hasattr(text, "xyann")]
    boxes = [note.get_window_extent() for note in notes]
    assert len(boxes) >= n / 2
    assert all(overlap(one, other) == 0 for one, other in itertools.combinations(boxes, 2))
    told = [text.get_text() for text in display.ax_.texts if "names written" in text.get_text()]
    assert told == ([f"{len(boxes)} of {n} names written"] if len(boxes) < n else [])
