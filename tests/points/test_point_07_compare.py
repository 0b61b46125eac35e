"""Point 7: a comparison of means and spreads, with tuned dials, estimators of one's own, and tables to take along."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

import equigraph as eg
from equigraph.analysis.comparison import Comparison
from equigraph.exceptions import ParameterError
from equigraph.metrics.scores import COMPARED

pytestmark = pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")


@pytest.fixture(scope="module")
def room():
    data = eg.datasets.make_classroom()
    return eg.Graph(data.adjacency, data.node_names, data.sensitive_features, "gender")


class Deal(ClusterMixin, BaseEstimator):
    """Deals nodes out in turn; knows nothing of equigraph."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None, *, sensitive_features=None):
        self.seen_ = sensitive_features
        order = np.argsort(sensitive_features, kind="stable")
        self.labels_ = np.empty(X.shape[0], dtype=int)
        self.labels_[order] = np.arange(X.shape[0]) % self.n_clusters
        return self


@pytest.fixture(scope="module")
def comparison(room):
    methods = ["random", Deal(), eg.NMTF(n_clusters=2), eg.NMTF(tol=1e-2)]
    return eg.compare(room, methods=methods, n_clusters=3, n_seeds=3)


def test_point_07_mean_and_spread_over_seeds(room, comparison):
    row = comparison.rows[0]
    values = [
        eg.cluster(room, method="random", n_clusters=3, random_state=seed).scores["Q"] for seed in range(3)
    ]
    assert pytest.approx(np.mean(values)) == row.Q
    assert row.Q_spread == pytest.approx(np.std(values, ddof=1))
    assert row.Q_spread > 0
    assert f"{row.Q:.3f} ± {row.Q_spread:.3f}" in comparison.markdown()


def test_point_07_own_estimators(room, comparison):
    assert [row.method for row in comparison.rows] == ["random", "Deal", "NMTF", "NMTF (2)"]
    deal = comparison.rows[1]
    assert deal.error is None
    assert deal.NB == 1
    assert deal.sizes == (10, 10, 10)
    assert deal.Q_spread == 0
    own = eg.NMTF(n_clusters=3, random_state=0).fit(room)
    assert comparison.rows[2].sizes == tuple(np.bincount(own.labels_).tolist())
    for wrong in (Deal, object(), 3):
        with pytest.raises(ParameterError, match="cannot be compared"):
            eg.compare(room, methods=[wrong], n_clusters=3)


def test_point_07_a_row_says_that_fairness_changed_nothing():
    # Two cliques with as many of each group: the best clusters are fair as they are.
    clique = np.ones((6, 6)) - np.eye(6)
    adjacency = np.kron(np.eye(2), clique)
    adjacency[0, 6] = adjacency[6, 0] = 1
    graph = eg.Graph(adjacency, sensitive_features=["x", "y"] * 6)
    same, other = eg.compare(graph, methods=["fair-partition", "random"], n_clusters=2, n_seeds=1).rows
    assert any("fairness changed nothing" in note for note in same.notes)
    assert other.notes == ()
    groups = np.array(["x"] * 6 + ["y"] * 6)
    moved = eg.compare(
        graph, methods=["fair-partition"], n_clusters=2, n_seeds=1, sensitive_features=groups, fairness=1.0
    ).rows[0]
    assert not any("fairness changed nothing" in note for note in moved.notes)


def test_point_07_fair_spectral_clustering_has_a_twin_too():
    clique = np.ones((6, 6)) - np.eye(6)
    adjacency = np.kron(np.eye(2), clique)
    adjacency[0, 6] = adjacency[6, 0] = 1
    graph = eg.Graph(adjacency, sensitive_features=["x", "y"] * 6)
    rows = eg.compare(graph, methods=["fair-sc", "scalable-fair-sc"], n_clusters=2, n_seeds=1).rows
    assert all(any("SpectralClustering" in note for note in row.notes) for row in rows)


@pytest.mark.filterwarnings("ignore:IFairNMTF did not converge")
def test_point_07_tuned_dials_are_the_best_of_those_tried(room):
    (plain,) = eg.compare(room, methods=["ifair-nmtf"], n_clusters=3, n_seeds=1).rows
    (tuned,) = eg.compare(room, methods=["ifair-nmtf"], n_clusters=3, n_seeds=1, tune=True).rows
    assert tuned.fairness in (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    assert tuned.Q * tuned.NB >= plain.Q * plain.NB - 1e-12
    tried = [
        eg.IFairNMTF(n_clusters=3, fairness=value, random_state=0).fit(room).labels_ for value in (0.0, 10.0)
    ]
    for labels in tried:
        scores = eg.metrics.evaluate(room, labels)
        assert scores["Q"] * scores["NB"] - 1e-12 <= tuned.Q * tuned.NB
    (kept,) = eg.compare(room, methods=["ifair-nmtf"], n_clusters=3, n_seeds=1, tune=True, fairness=2).rows
    assert kept.fairness == 2
    with pytest.raises(ParameterError, match="needs groups"):
        eg.compare(room.adjacency, methods=["sc"], n_clusters=3, tune=True)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_point_07_to_frame(comparison, backend):
    pytest.importorskip(backend)
    frame = comparison.to_frame(backend)
    column = frame["Q"]
    values = column.to_pylist() if backend == "pyarrow" else column.to_list()
    assert values == pytest.approx([row.Q for row in comparison.rows])
    assert set(COMPARED) <= set(frame.column_names if backend == "pyarrow" else frame.columns)


def test_point_07_latex_and_markdown(comparison, tmp_path):
    text = comparison.latex(["Q", "NB", "seconds"])
    lines = text.splitlines()
    assert lines[0] == r"\begin{tabular}{lrrr}"
    body = lines[4:-2]
    assert len(body) == 4
    assert all(line.endswith(r" \\") and line.count("&") == 3 for line in body)
    assert r"$\pm$" in body[0]
    with pytest.raises(ParameterError, match="There is no column 'MiB'"):
        comparison.latex(["MiB"])
    comparison.to_latex(tmp_path / "t.tex")
    assert (tmp_path / "t.tex").read_text(encoding="utf-8") == comparison.latex()
    comparison.to_json(tmp_path / "t.json")
    assert Comparison.load(tmp_path / "t.json") == comparison


def test_point_07_memory_is_not_shown(comparison):
    assert not any("mib" in name.lower() or "memory" in name.lower() for name in vars(comparison.rows[0]))
