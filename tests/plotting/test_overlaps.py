"""Pictures whose parts do not cover each other."""

import itertools

import numpy as np
import pytest

import equigraph as eg

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from equigraph.plotting import CompositionDisplay, GraphDisplay, TradeoffDisplay  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")


@pytest.fixture(scope="module")
def curve(room):
    return eg.tradeoff_curve(room, n_clusters=3, random_state=0, n_points=3, effort=0.1)


def overlap(one, other):
    """Return the area that two boxes share, in pixels."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(width, 0) * max(height, 0)


def test_subplots_do_not_overlap(room, curve):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 8))
    labels = eg.FairPartition(3, random_state=0).fit_predict(room)
    GraphDisplay(room, labels).plot(axes[0, 0])
    CompositionDisplay.from_predictions(labels, sensitive_features=room.groups, ax=axes[0, 1])
    twin = TradeoffDisplay(curve, kind="twin").plot(axes[1, 0])
    TradeoffDisplay(curve, kind="front").plot(axes[1, 1])
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes = [ax.get_tightbbox(renderer) for ax in axes.flat]
    second = [ax for ax in figure.axes if ax not in axes.flat]
    twin_boxes = [ax.get_tightbbox(renderer) for ax in second]
    for one, other in itertools.combinations(boxes, 2):
        assert overlap(one, other) == 0
    for box in twin_boxes:
        assert all(overlap(box, boxes[i]) == 0 for i in (0, 1, 3))
    # Legends and titles are inside the figure.
    for box in [*boxes, *twin_boxes]:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width + 1
        assert box.y1 <= figure.bbox.height + 1
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
