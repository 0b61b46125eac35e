"""FairNMTF: the dial, exactly k clusters, honest factors, and the quality that is claimed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph.callbacks import Notifier
from equigraph.exceptions import EmptyClusterWarning, FairnessIgnoredWarning, ParameterError
from equigraph.penalties import Penalty
from equigraph.refinement import Refiner
from tests.contract.menagerie import CASES
from tests.penalties.test_penalties import KeepApart as PairsApart
from tests.reference.label_fixtures import skewed_blocks

NOTIONS = {"normalized": "NB", "balance": "B", "mouflon": "mouflon"}


class KeepApart(PairsApart):
    """The penalty of the documentation, with the bound on its curvature that coordinate descent needs."""

    def curvature(self):
        return 2.0 * np.bincount(self.pairs.ravel()).max()


class BestStart:
    """A user's own refiner: takes the first start as it is, and counts what it was given."""

    def __init__(self):
        self.calls = []

    def refine(self, problem, values, starts, notify):
        starts = list(starts)
        self.calls.append((problem, tuple(values), starts))
        return [np.asarray(starts[0]) for _ in values]


@pytest.fixture(scope="module")
def blocks():
    """Return six blocks in pairs; the blocks of a pair are nearly all of one group each."""
    return skewed_blocks(0)


@pytest.fixture(scope="module")
def apart():
    """Return four blocks, each nearly all of one group, hardly tied to each other: cohesion and fairness differ."""
    return skewed_blocks(0, n_blocks=4, paired=2)


@pytest.fixture(scope="module")
def planted():
    return eg.datasets.make_fair_sbm(2000, 5, 5, random_state=0)


def fit(graph, fairness=0.5, n_clusters=3, *, adjacency=None, **parameters):
    own, codes = graph
    parameters = {"effort": 0.3, "random_state": 0, **parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return eg.FairNMTF(n_clusters, fairness, **parameters).fit(
            own if adjacency is None else adjacency, sensitive_features=codes
        )


def scores(graph, labels):
    adjacency, codes = graph
    return {
        **eg.metrics.evaluate(adjacency, labels, sensitive_features=codes),
        "mouflon": eg.metrics.mouflon_balance_score(labels, sensitive_features=codes),
    }


@pytest.mark.parametrize("notion", NOTIONS)
def test_the_ends_of_the_dial(apart, notion):
    points = [scores(apart, fit(apart, f, 4, notion=notion).labels_) for f in (0, 0.5, 1)]
    measure = NOTIONS[notion]
    assert points[0]["Q"] == max(point["Q"] for point in points)
    assert points[2][measure] >= max(point[measure] for point in points) - 0.01
    assert points[2][measure] > points[0][measure] + 0.1
    assert points[0]["Q"] > points[2]["Q"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("fairness", [0, 0.5, 1])
def test_exactly_k_clusters_and_honest_factors(case, fairness):
    model = fit((case.adjacency, case.groups), fairness, case.n_clusters, effort=0.1)
    assert model.n_nonempty_clusters_ == case.n_clusters
    assert (np.bincount(model.labels_, minlength=case.n_clusters) > 0).all()
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert np.isfinite(model.membership_).all()
    assert (model.membership_ >= 0).all()
    assert (model.interaction_ >= 0).all()


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("penalty", ["scatter", "contrastive"])
@pytest.mark.parametrize("fairness", [0, 0.5, 1])
def test_the_objective_of_the_factorisation_never_rises(blocks, solver, penalty, fairness):
    model = fit(blocks, fairness, solver=solver, penalty=penalty, effort=0)
    history = model.objective_history_
    assert history.size >= 2
    assert np.isfinite(history).all()
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
    assert model.n_iter_ <= model.max_iter
    assert model.n_nonempty_clusters_ == 3


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("fairness", [0, 0.4, 1])
def test_the_objective_is_that_of_the_metrics(blocks, notion, fairness):
    model = fit(blocks, fairness, notion=notion)
    told = scores(blocks, model.labels_)
    expected = (1 - fairness) * told["Q"] + fairness * told[NOTIONS[notion]]
    assert model.objective_ == pytest.approx(expected, abs=1e-12)


def test_the_columns_of_membership_belong_to_the_rows_of_interaction(blocks):
    """Clusters hold more weight inside than between, and the columns of H are numbered as the labels."""
    model = fit(blocks, 0.0)
    inside = np.diag(model.interaction_)
    assert (inside[:, None] >= model.interaction_ - 1e-12).all()


def test_without_refinement_the_labels_are_those_of_the_factorisation(blocks):
    model = fit(blocks, 0.5, refine=False)
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    told = scores(blocks, model.labels_)
    assert model.objective_ == pytest.approx((told["Q"] + told["NB"]) / 2, abs=1e-12)
    assert fit(blocks, 0.5).objective_ >= model.objective_ - 1e-12


def test_without_refinement_the_curve_has_the_labels_of_the_fits(blocks):
    adjacency, codes = blocks
    values = [0, 0.5, 1]
    curve = eg.tradeoff_curve(
        adjacency,
        sensitive_features=codes,
        estimator=eg.FairNMTF(3, refine=False),
        fairness=values,
        random_state=0,
    )
    for value, point in zip(values, curve.points, strict=True):
        labels = fit(blocks, value, refine=False).labels_
        assert eg.metrics.adjusted_rand_score(labels, point.labels) == 1.0


def test_a_refiner_of_ones_own(blocks):
    refiner = BestStart()
    model = fit(blocks, 0.5, refine=refiner, size_bounds=(10, None), notion="balance")
    ((problem, values, starts),) = refiner.calls
    assert eg.metrics.adjusted_rand_score(model.labels_, starts[0]) == 1.0
    assert values == (0.5,)
    assert (problem.n_clusters, problem.notion, problem.size_bounds) == (3, "balance", (10, None))
    assert len(starts) == 2
    np.testing.assert_array_equal(problem.codes, blocks[1])


def test_a_refiner_object_is_the_same_as_its_effort(blocks):
    own = fit(blocks, 0.5, refine=Refiner(0.3), effort=7)
    np.testing.assert_array_equal(own.labels_, fit(blocks, 0.5, effort=0.3).labels_)


def test_effort_zero_only_climbs(blocks):
    quick, long = fit(blocks, 0.5, effort=0), fit(blocks, 0.5, effort=1)
    assert quick.n_nonempty_clusters_ == 3
    assert long.objective_ >= quick.objective_ - 1e-12
    assert quick.objective_ >= fit(blocks, 0.5, refine=False).objective_ - 1e-12


def test_a_penalty_of_ones_own_keeps_nodes_apart(blocks):
    """Five pairs within one block: without the penalty they share clusters, with it the factors part them."""
    pairs = np.array([(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)])

    def together(penalty, fairness):
        labels = fit(
            blocks, fairness, 6, penalty=penalty, refine=False, init="spectral", max_iter=200
        ).labels_
        return int(np.count_nonzero(labels[pairs[:, 0]] == labels[pairs[:, 1]]))

    assert together("scatter", 0.0) >= 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyClusterWarning)
        assert together(1000 * KeepApart(pairs), 0.99) < together(KeepApart(pairs), 0.0)
    model = fit(blocks, 0.5, penalty=KeepApart(pairs))
    assert model.n_nonempty_clusters_ == 3
    assert (np.diff(model.objective_history_) <= 1e-9).all()


def test_a_penalty_of_unknown_curvature_needs_multiplicative_updates(blocks):
    class Unbounded(KeepApart):
        curvature = Penalty.curvature

    penalty = Unbounded([(0, 1)])
    with pytest.raises(ParameterError, match="use multiplicative updates"):
        fit(blocks, 0.5, penalty=penalty)
    assert fit(blocks, 0.5, penalty=penalty, solver="mu").n_nonempty_clusters_ == 3


def test_a_bad_penalty_is_named(blocks):
    with pytest.raises(ParameterError, match="graph of another size"):
        fit(blocks, penalty=KeepApart([(0, 999)]))
    with pytest.raises(ParameterError, match="penalty"):
        fit(blocks, penalty="kind")
    with pytest.raises(ParameterError, match="penalty"):
        fit(blocks, penalty=object())


@pytest.mark.parametrize("init", ["fair-spectral", "spectral", "random"])
def test_every_start_leads_to_k_clusters(blocks, init):
    model = fit(blocks, 0.5, init=init)
    assert model.n_nonempty_clusters_ == 3
    np.testing.assert_array_equal(fit(blocks, 0.5, init=init).labels_, model.labels_)


def test_starts_differ(blocks):
    starts = [
        fit(blocks, 1, init=init, refine=False, max_iter=1).labels_ for init in ("fair-spectral", "random")
    ]
    assert scores(blocks, starts[0])["Q"] > scores(blocks, starts[1])["Q"] + 0.1


@pytest.mark.parametrize("fairness", [0.3, 1])
def test_several_runs_keep_the_best(blocks, fairness):
    singles = [fit(blocks, fairness, 4, effort=0, random_state=seed) for seed in range(4)]
    best = fit(blocks, fairness, 4, effort=0, n_init=4)
    if fairness < 1:
        assert best.objective_ == max(model.objective_ for model in singles)
        assert best.objective_ > min(model.objective_ for model in singles)
        return
    # At 1 the notion comes first up to .01, and among what is left Q: the best of them, not the fairest.
    told = [scores(blocks, model.labels_) for model in singles]
    enough = [one["Q"] for one in told if one["NB"] >= max(other["NB"] for other in told) - 0.01]
    assert scores(blocks, best.labels_)["Q"] == max(enough)


def test_bounds_on_sizes_are_met(blocks):
    free = np.bincount(fit(blocks, 0.0, 5).labels_)
    sizes = np.bincount(fit(blocks, 0.0, 5, size_bounds=(35, 37)).labels_)
    assert free.max() > 37
    assert sizes.min() >= 35
    assert sizes.max() <= 37


def test_without_groups_there_is_modularity_alone(blocks):
    adjacency, _ = blocks
    with pytest.warns(FairnessIgnoredWarning, match="no fairness term"):
        model = eg.FairNMTF(3, 0.7, effort=0.3, random_state=0).fit(adjacency)
    quality = eg.metrics.modularity_score(adjacency, model.labels_)
    assert model.objective_ == pytest.approx(quality, abs=1e-12)
    assert eg.metrics.clustering_accuracy(np.arange(180) // 60, model.labels_) > 0.95
    silent = eg.FairNMTF(3, 0, effort=0.3, random_state=0).fit(adjacency)
    np.testing.assert_array_equal(silent.labels_, model.labels_)


@pytest.mark.parametrize("factor", [1e-12, 2.0**-30, 2.0**30, 1e12])
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_the_unit_of_weights_does_not_matter(blocks, factor, solver):
    expected = fit(blocks, 0.3, solver=solver)
    model = fit(blocks, 0.3, adjacency=blocks[0] * factor, solver=solver)
    assert eg.metrics.adjusted_rand_score(expected.labels_, model.labels_) == 1.0
    assert model.objective_history_[-1] == pytest.approx(expected.objective_history_[-1], rel=1e-3)
    np.testing.assert_allclose(model.membership_ / np.sqrt(factor), expected.membership_, atol=0.05)


@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_single_precision(blocks, solver):
    model = fit(blocks, 0.3, adjacency=blocks[0].astype(np.float32), solver=solver)
    assert model.membership_.dtype == np.float32
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert eg.metrics.clustering_accuracy(fit(blocks, 0.3).labels_, model.labels_) > 0.95


def test_same_seed_same_everything(blocks):
    first, second = fit(blocks, 0.5), fit(blocks, 0.5)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.membership_, second.membership_)
    assert first.objective_ == second.objective_
    np.testing.assert_array_equal(
        clone(first).fit(blocks[0], sensitive_features=blocks[1]).labels_, first.labels_
    )


def test_a_callback_stops_and_the_labels_are_whole(blocks):
    seen = []

    def stop(progress):
        seen.append(progress.stage)
        return progress.stage == "search"

    model = fit(blocks, 0.5, effort=5, callbacks=stop)
    assert seen.count("search") == 1
    assert model.n_nonempty_clusters_ == 3
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)


@pytest.mark.parametrize("fairness", [0.5, 1])
def test_planted_fair_clusters_are_found(planted, fairness):
    model = eg.FairNMTF(5, fairness, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit_predict(planted.adjacency, sensitive_features=planted.sensitive_features)
    assert eg.metrics.clustering_accuracy(planted.target, labels) >= 0.999


def curve_of(graph, values, n_clusters=3, **parameters):
    adjacency, codes = graph
    parameters = {"effort": 0.3, **parameters}
    return eg.tradeoff_curve(
        adjacency,
        sensitive_features=codes,
        n_clusters=n_clusters,
        estimator=eg.FairNMTF(**parameters),
        fairness=values,
        random_state=0,
    )


@pytest.mark.parametrize("notion", NOTIONS)
def test_the_curve_rises_in_fairness_and_falls_in_cohesion(apart, notion):
    curve = curve_of(apart, np.linspace(0, 1, 6), n_clusters=4, notion=notion)
    assert (np.diff(curve.values(curve.measure)) >= -0.01).all()
    assert (np.diff(curve.values("Q"))[:-1] <= 1e-9).all()
    assert all(np.unique(point.labels).size == 4 for point in curve.points)


def test_the_curve_solves_all_values_together(blocks, apart):
    """One run with all values, whose labels come out aligned: neighbours on the curve share their numbers."""
    refiner = BestStart()
    values = (0.0, 0.5, 1.0)
    model = eg.FairNMTF(3, refine=refiner, random_state=0)
    problem = model._prepare(blocks[0], blocks[1])
    found = model._fit_dial(problem, values, Notifier())
    assert len(found) == 3
    assert refiner.calls[0][1] == values
    assert len(refiner.calls) == 1
    curve = curve_of(apart, np.linspace(0, 1, 6), n_clusters=4)
    for before, after in zip(curve.points[:-1], curve.points[1:], strict=True):
        kept = np.mean(before.labels == after.labels)
        assert kept == pytest.approx(eg.metrics.clustering_accuracy(before.labels, after.labels))


def test_curves_for_several_numbers_of_clusters(blocks):
    curves = curve_of(blocks, [0, 0.5, 1], n_clusters=range(2, 5), effort=0.1)
    assert list(curves) == [2, 3, 4]
    for k, curve in curves.items():
        assert all(np.unique(point.labels).size == k for point in curve.points)


@pytest.mark.parametrize(("name", "least"), [("diaries", 0.66), ("drugnet", 0.58)])
def test_the_claimed_trade_off_on_real_networks(name, least, data_dir):
    data = eg.datasets.load(name)
    curve = curve_of(
        (data.adjacency, data.sensitive_features), np.linspace(0, 1, 11), n_clusters=5, effort=1.0
    )
    assert curve.hypervolume("Q", "NB") >= least
    assert (np.diff(curve.values("NB")) >= -0.01).all()
    assert all(np.unique(point.labels).size == 5 for point in curve.points)
