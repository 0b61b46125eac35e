"""A comparison of methods: means and spreads, tuned dials, custom estimators, and exported tables."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClusterMixin

import equigraph as eg
from equigraph.analysis.comparison import ComparedGraph, Comparison, ComparisonRow, Fit, compare
from equigraph.analysis.comparison.rows import holm, wilcoxon
from equigraph.exceptions import ParameterError
from tests.tables import rows_of

pytestmark = pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")


class Deal(ClusterMixin, BaseEstimator):
    """Assigns nodes to clusters in turn; not an estimator of equigraph."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None, *, sensitive_features=None):
        order = np.argsort(sensitive_features, kind="stable")
        self.labels_ = np.empty(X.shape[0], dtype=int)
        self.labels_[order] = np.arange(X.shape[0]) % self.n_clusters
        return self


@pytest.fixture(scope="module")
def comparison(room):
    candidates = ["random", Deal(), eg.NMTF(n_clusters=2), eg.NMTF(tol=1e-2)]
    return compare(room, methods=candidates, n_clusters=3, n_seeds=3, random_state=7)


def test_scores_are_means_over_the_seeds_of_cluster(room, comparison):
    assert comparison.seeds == (7, 8, 9)
    row = comparison.rows[0]
    options = {"method": "random", "n_clusters": 3}
    expected = [eg.cluster(room, **options, random_state=seed) for seed in comparison.seeds]
    for name in ("Q", "B", "NB", "min_balance", "rho"):
        values = [one.scores[name] for one in expected]
        assert getattr(row, name) == pytest.approx(np.mean(values))
        assert getattr(row, f"{name}_spread") == pytest.approx(np.std(values, ddof=1))
    assert row.sizes == tuple(expected[0].sizes)
    assert (row.n_nonempty, row.error) == (3, None)
    assert row.seconds > 0
    assert f"{row.Q:.3f} ± {row.Q_spread:.3f}" in comparison.markdown()


def test_own_estimators(room, comparison):
    assert [row.method for row in comparison.rows] == ["random", "Deal", "NMTF", "NMTF (2)"]
    deal = comparison.rows[1]
    assert (deal.error, deal.NB, deal.sizes, deal.Q_spread) == (None, 1, (10, 10, 10), 0)
    own = eg.NMTF(n_clusters=3, random_state=7).fit(room)
    assert comparison.rows[2].sizes == tuple(np.bincount(own.labels_).tolist())
    for wrong in (Deal, object(), 3):
        with pytest.raises(ParameterError, match="cannot be compared"):
            compare(room, methods=[wrong], n_clusters=3)


class Broken(eg.NMTF):
    def fit(self, *args, **kwargs):
        raise RuntimeError("the cable\n is out")


def test_failed_method_has_a_row_with_its_error(room):
    found = compare(room, methods=[Broken(), "random"], n_clusters=3, n_seeds=2)
    broken, random = found.rows
    assert broken == ComparisonRow("Broken", error="the cable is out")
    assert random.error is None
    assert "Broken: the cable is out" in found.markdown()
    (row,) = compare(room, methods=["random"], n_clusters=31, n_seeds=1).rows
    assert row.bad_input
    assert "n_clusters=31" in row.error


def test_warnings_become_notes_of_the_row(room):
    (row,) = compare(room, methods=[eg.IFairNMTF(3, fairness=20, max_iter=20)], n_clusters=3, n_seeds=2).rows
    (note,) = row.notes
    assert note.startswith("IFairNMTF did not converge")
    assert note.endswith("(2 times)")
    assert row.status == "max_iter"
    endings = ("converged", "diverged", "max_iter")
    row = ComparisonRow("nmtf", fits=tuple(Fit(i, {}, status=one) for i, one in enumerate(endings)))
    assert row.status == "diverged"
    assert " diverged " in Comparison((row,), (ComparedGraph("", 30, 73, 3),), (0, 1, 2)).markdown()


def test_fairness_is_set_in_methods_with_a_dial(room):
    expected = eg.cluster(room, method="nmtf", n_clusters=3, random_state=0)
    for fairness in (20, {"ifair-nmtf": 20}):
        rows = compare(room, methods=["nmtf", "ifair-nmtf"], n_clusters=3, n_seeds=1, fairness=fairness).rows
        assert pytest.approx(expected.scores["Q"]) == rows[0].Q
        assert rows[1].NB > rows[0].NB


@pytest.mark.filterwarnings("ignore:IFairNMTF did not converge")
def test_tuned_dials_maximise_q_times_nb(room):
    options = {"methods": "ifair-nmtf", "n_clusters": 3, "n_seeds": 1}
    (tuned,) = compare(room, **options, tune=True).rows
    assert tuned.fairness in (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    for fairness in (None, 0.0, 10.0):
        (row,) = compare(room, **options, fairness=fairness).rows
        assert tuned.Q * tuned.NB >= row.Q * row.NB - 1e-12
    (kept,) = compare(room, **options, tune=True, fairness=2).rows
    assert kept.fairness == 2
    with pytest.raises(ParameterError, match="needs groups"):
        compare(room.adjacency, methods=["sc"], n_clusters=3, tune=True)


def test_callbacks_are_called_and_can_stop(room):
    told = []
    options = {"methods": ["random", "nmtf"], "n_clusters": 3, "n_seeds": 2}
    compare(room, **options, callbacks=told.append)
    steps = list(dict.fromkeys((p.stage, p.step) for p in told))
    assert steps == [(m, s) for m in ("random", "nmtf") for s in (0, 1, 2)]
    stopped = compare(room, **options, callbacks=lambda progress: progress.step == 1)
    assert [row.method for row in stopped.rows] == ["random"]
    assert stopped.stopped


def test_files(comparison, tmp_path):
    comparison.to_csv(tmp_path / "t.csv")
    row = rows_of(tmp_path / "t.csv")[0]
    assert (row["method"], row["sizes"], float(row["Q"])) == ("random", "10 10 10", comparison.rows[0].Q)
    assert json.loads(json.dumps(comparison.summary()))["rows"][0]["Q"] == comparison.rows[0].Q
    comparison.to_csv(tmp_path / "seeds.csv", per_seed=True)
    seeds = [(row["method"], int(row["seed"])) for row in rows_of(tmp_path / "seeds.csv")]
    assert seeds == [(method, seed) for method in comparison.methods for seed in comparison.seeds]
    comparison.to_markdown(tmp_path / "t.md")
    lines = (tmp_path / "t.md").read_text().splitlines()
    assert lines[2].startswith("| random | ")
    assert len({line.count("|") for line in lines}) == 1


def n_clusters_found(graph, labels):
    return np.unique(labels).size


@pytest.fixture(scope="module")
def several(room):
    """Two graphs, estimators under names, metrics by name and as functions."""
    half = eg.Graph(room.adjacency[:15][:, :15], sensitive_features=room.sensitive_features[:15])
    options = {
        "methods": {"dealt": Deal(), "any": "random", "low": eg.FairLouvain(fairness=0.1)},
        "metrics": {"NB": "NB", "cut": "conductance", "found": n_clusters_found},
    }
    return compare({"all": room, "half": half}, **options, n_clusters={"all": 3, "half": 2}, n_seeds=4)


def test_comparisons_of_several_graphs_methods_and_metrics_by_name(room, several):
    assert [(row.graph, row.method) for row in several.rows] == [
        (graph, method) for graph in ("all", "half") for method in ("dealt", "any", "low")
    ]
    assert several.graphs == (ComparedGraph("all", 30, 73, 3), ComparedGraph("half", 15, 19, 2))
    rows = [row for row in several.table(per_seed=True) if (row["graph"], row["method"]) == ("all", "any")]
    for row in rows:
        one = eg.cluster(room, method="random", n_clusters=3, random_state=row["seed"])
        assert row["NB"] == pytest.approx(one.scores["NB"])
        assert row["cut"] == pytest.approx(eg.metrics.conductance_score(room, one.labels))
        assert row["found"] == 3
    assert repr(several).splitlines()[1].split()[:5] == ["graph", "method", "NB", "cut", "found"]
    lines = several.latex(bold=True).splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrrrr}"
    assert lines[2] == r" & \multicolumn{3}{c}{all} & \multicolumn{3}{c}{half} \\"
    assert [line.split(" & ")[0] for line in lines[6:9]] == ["dealt", "any", "low"]
    assert r"\textbf{1.000" in lines[6]


def test_confidence_intervals(several):
    row = several.rows[1]
    assert replace(several, rows=()).intervals("NB").empty
    found = several.intervals("NB").loc[("all", "any")]
    expected = stats.ttest_1samp(row.values("NB"), 0).confidence_interval(0.95)
    assert found[["low", "high"]].tolist() == pytest.approx([expected.low, expected.high])
    assert rf"$\pm$ {expected.high - row.NB:.3f}" in several.latex(["NB"], spread="interval")


def test_paired_tests(several):
    found = several.tests("NB", baseline="any", over="seeds")
    assert found.index.tolist() == [("dealt", "any"), ("low", "any")]
    by_graph = several.tests("NB")
    assert by_graph["n"].tolist() == [2, 2, 2]
    assert by_graph["p"].min() >= 0.5
    assert by_graph["p_holm"].tolist() == holm(by_graph["p"].tolist())
    # No seed changes what Deal does, nor the number of clusters: four seeds are one pair for each graph.
    assert several.tests("found", over="seeds").loc[("dealt", "any"), "n"] == 2


def test_signed_rank_tests_match_all_signs_and_scipy():
    rng = np.random.default_rng(0)
    for n in range(1, 9):
        differences = rng.integers(-3, 4, n) / 7
        kept = differences[differences != 0]
        ranks = stats.rankdata(np.abs(kept))
        sums = [np.dot(signs, ranks) for signs in itertools.product((-1, 1), repeat=kept.size)]
        observed = abs(np.dot(np.sign(kept), ranks))
        assert wilcoxon(differences) == pytest.approx(np.mean([abs(one) >= observed - 1e-9 for one in sums]))
    for n in (7, 20):
        differences = rng.normal(0.3, 1, n)
        assert wilcoxon(differences) == pytest.approx(stats.wilcoxon(differences).pvalue)
    assert holm([0.01, np.nan, 0.4, 0.03]) == pytest.approx([0.03, np.nan, 0.4, 0.06], nan_ok=True)


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"methods": ["magic"]}, "magic"),
        ({"n_seeds": 0}, "n_seeds must be"),
        ({"n_clusters": 1}, "n_clusters must be"),
        ({"fairness": {"random": 1.0}}, "'random', which has no such dial"),  # of all methods, by default
        ({"metrics": ["colour"]}, "no metric 'colour'"),
        ({"metrics": [lambda graph, labels: "red"], "methods": ["random"]}, None),
        ({"metrics": {"Q": n_clusters_found}}, "'Q', which is taken"),
        ({"metrics": []}, "metrics is empty"),
        ({"methods": []}, "methods is empty"),
        ({"methods": {3: "random"}}, "expected a text"),
        ({"n_clusters": {"all": 3}}, "n_clusters is given for 'all'"),
        ({"graphs": {}}, "mapping from the names"),
        ({"graphs": {"a": np.ones((3, 3))}, "sensitive_features": {"b": [0, 1, 1]}}, "names 'b'"),
        ({"graphs": {"a": np.ones((3, 3))}, "sensitive_features": np.ones(3)}, "several graphs"),
    ],
)
def test_wrong_graphs_methods_and_metrics(room, wrong, part):
    call = {"graphs": room, "n_clusters": 3, "n_seeds": 1, **wrong}
    if part is None:
        assert "returned 'red'" in compare(**call).rows[0].error
        return
    with pytest.raises(ParameterError, match=part):
        compare(**call)


@pytest.mark.parametrize(
    ("name", "arguments", "part"),
    [
        ("tests", {"metric": "NB", "baseline": "magic"}, "baseline must be one of"),
        ("tests", {"metric": "colour"}, "no column 'colour'"),
        ("tests", {"metric": "NB", "over": "moons"}, "over='moons'"),
        ("intervals", {"metric": "NB", "confidence": 2}, "confidence"),
        ("latex", {"spread": "wide"}, "spread='wide'"),
        ("latex", {"columns": ["MiB"]}, "no column 'MiB'"),
    ],
)
def test_invalid_arguments_raise(several, name, arguments, part):
    with pytest.raises(ParameterError, match=part):
        getattr(several, name)(**arguments)
