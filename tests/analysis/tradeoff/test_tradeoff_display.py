import itertools
from dataclasses import replace

import numpy as np
import pytest

from equigraph.analysis.comparison import ComparedGraph, Comparison, ComparisonRow, Fit
from equigraph.analysis.tradeoff import TradeoffCurves
from equigraph.exceptions import ParameterError
from equigraph.plotting import TradeoffCurvesDisplay, TradeoffDisplay
from equigraph.plotting.style import PALETTE

pytest.importorskip("matplotlib")


QUALITY, FAIR = [0.40, 0.39, 0.37, 0.30, 0.29, 0.0], [0.30, 0.45, 0.60, 0.80, 0.70, 1.0]


@pytest.fixture(scope="module")
def curve(make_curve):
    return make_curve(QUALITY, FAIR, found=[3, 3, 3, 3, 2, 1], spread=0.01)


def line_through(ax, x, y):
    wanted = np.column_stack([x, y])
    (found,) = (
        line
        for line in ax.lines
        if np.shape(line.get_xydata()) == wanted.shape and np.allclose(line.get_xydata(), wanted)
    )
    return found


def test_twin_shows_both_measures_and_the_collapse(curve):
    display = curve.plot()
    assert isinstance(display, TradeoffDisplay)
    line_through(display.ax_, curve.fairness, curve.values("Q"))
    line_through(display.fairness_ax_, curve.fairness, curve.values("NB"))
    strip = line_through(display.clusters_ax_, curve.fairness, curve.values("n_nonempty"))
    assert strip.get_drawstyle() == "steps-mid"
    assert display.clusters_ax_.get_yticks().tolist() == [1, 3]
    point = curve.select("intersection")
    (text,) = display.ax_.texts
    assert f"{point.fairness:.3g}" in text.get_text()
    assert f"{point.scores['NB']:.3f}" in text.get_text()
    assert "3 restarts" in display.clusters_ax_.get_title(loc="right")


def test_axes_of_the_twin_begin_at_0(make_curve):
    """A loss of 4 % must look like one."""
    display = make_curve([0.50, 0.48], [0.9, 1.0]).plot("twin")
    for ax in (display.ax_, display.fairness_ax_):
        assert ax.get_ylim()[0] == 0
        assert min(ax.get_yticks()) == 0
    bottom, top = display.ax_.get_ylim()
    assert (0.50 - 0.48) / (top - bottom) < 0.05
    assert display.fairness_ax_.get_ylim()[1] > 1
    assert "dial" in display.clusters_ax_.get_xlabel()


def test_the_twin_of_a_curve_spaced_in_fairness_goes_along_the_front(make_curve):
    found = make_curve([0.5, 0.45, 0.4], [0.6, 0.7, 1.0], fairness=[0, 0.2, 0.2])
    curve = replace(found, points=(found.points[0], found.points[2]), spacing="reached")
    display = curve.plot("twin")
    line = line_through(display.ax_, np.array([0, 0.2, 0.2, 1]), np.array([0.5, 0.45, 0.4, 0.4]))
    assert line.get_drawstyle() == "steps-post"
    line_through(display.fairness_ax_, np.array([0, 0.2]), np.array([0.6, 1.0]))


def test_wide_dials_have_a_logarithmic_axis(make_curve):
    wide = make_curve([0.4, 0.3, 0.2], [0.3, 0.6, 0.9], fairness=[0, 1, 1000])
    narrow = make_curve([0.4, 0.3, 0.2], [0.3, 0.6, 0.9])
    assert wide.plot().ax_.get_xscale() == "symlog"
    assert narrow.plot().ax_.get_xscale() == "linear"
    assert any("dial 1,000" in text.get_text() for text in wide.plot("front").ax_.texts)


def test_front_shows_non_dominated_labels_and_points(make_curve):
    curve = make_curve(QUALITY, FAIR, spread=0.01, more=[(0.2, 0.9), (0.1, 0.85)])
    display = curve.plot("front")
    line = line_through(display.ax_, [0.40, 0.39, 0.37, 0.30, 0.2, 0.0], [0.3, 0.45, 0.6, 0.8, 0.9, 1.0])
    assert line.get_color() == PALETTE[0]
    line_through(display.ax_, np.array([0.29]), np.array([0.70]))
    points = line_through(display.ax_, np.delete(QUALITY, 4), np.delete(FAIR, 4))
    assert points.get_linestyle() == "None"
    assert points.get_markersize() > line.get_markersize()
    assert len(display.ax_.get_legend().get_texts()) == 5
    marked = curve.select("product")
    expected = f"NB {marked.scores['NB']:.2f}, dial {marked.fairness:.3g}"
    assert expected in {text.get_text() for text in display.ax_.texts}


SIZES = (ComparedGraph("", 6, 6, 3),)


def compared_row(method, **scores):
    return ComparisonRow(method, fits=(Fit(0, scores),))


def test_compared_methods_are_labelled_and_labels_do_not_overlap(curve):
    from matplotlib.text import Text

    rows = [compared_row(f"method-{i}", Q=0.30 + 0.01 * i, NB=0.6 + 0.005 * i) for i in range(8)]
    rows += [compared_row("twin-a", Q=0.1, NB=0.2), compared_row("twin-b", Q=0.1, NB=0.2)]
    rows += [ComparisonRow("failed", error="no")]
    display = curve.plot("front", compare=Comparison(tuple(rows), SIZES, (0,)))
    texts = {text.get_text(): text for text in display.ax_.texts}
    assert {row.method for row in rows[:8]} <= set(texts)
    assert "twin-a, twin-b" in texts
    assert not any("failed" in text for text in texts)
    display.figure_.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in texts.values()]  # without the leading lines
    for one, two in itertools.combinations(boxes, 2):
        width = min(one.x1, two.x1) - max(one.x0, two.x0)
        height = min(one.y1, two.y1) - max(one.y0, two.y0)
        assert width <= 0 or height <= 0


def test_mappings_of_scores_and_given_axes(curve, tmp_path):
    from matplotlib.figure import Figure

    left, right = Figure(figsize=(12, 5), layout="constrained").subplots(1, 2)
    assert curve.plot("twin", ax=left, select=curve.points[5]).ax_ is left
    display = curve.plot("front", ax=right, compare={"mine": (0.35, 0.5)}, select="intersection")
    assert display.ax_ is right
    line_through(right, np.array([0.35]), np.array([0.5]))
    display.save(tmp_path / "both.png")
    assert (tmp_path / "both.png").stat().st_size > 10_000


@pytest.mark.parametrize("kind", ["twin", "front"])
@pytest.mark.parametrize("scores", [([0.4], [0.3]), ([0.0, -0.1], [1.0, 1.0])])
def test_degenerate_curves_can_be_drawn(make_curve, kind, scores, tmp_path):
    display = make_curve(*scores).plot(kind)
    display.save(tmp_path / "picture.svg")
    assert max(display.ax_.get_yticks()) <= 1
    assert (tmp_path / "picture.svg").stat().st_size > 5_000


def test_several_numbers_of_clusters(curve):
    display = TradeoffCurves({3: curve, 4: curve}).plot()
    assert isinstance(display, TradeoffCurvesDisplay)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["3", "4"]
    assert len(display.ax_.lines) == 2
    assert display.ax_.get_ylabel() == "normalised balance NB"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"kind": "pie"}, "expected 'twin' or 'front'"),
        ({"compare": {"a": (1, 1)}}, "compare is drawn on the front only"),
        ({"kind": "front", "compare": {"a": 1}}, r"compare\['a'\] must be the pair \(Q, NB\)"),
        ({"kind": "front", "compare": [1]}, "must be a Comparison or a mapping"),
        ({"select": "elbow"}, "no rule 'elbow'"),
    ],
)
def test_invalid_arguments_raise(curve, arguments, part):
    with pytest.raises(ParameterError, match=part):
        curve.plot(**arguments)
