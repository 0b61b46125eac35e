"""evaluate, ClusteringScorer, sizes and composition, and the display of large tables."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from equigraph import metrics
from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups import AttributeOptions, encode_attributes
from equigraph.metrics import ClusteringScorer, Composition, composition, evaluate

FAST = settings(max_examples=40, deadline=None)


def random_case(seed, k=4, h=3, n=20):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < 0.3, 1).astype(float)
    labels, groups, target = (
        rng.integers(0, k, n) * 2,
        rng.integers(0, h, n).astype(str),
        rng.integers(0, k, n),
    )
    return upper + upper.T, labels, groups, target


@FAST
@given(st.integers(0, 10_000), st.sampled_from(["ignore", "zero"]))
def test_evaluate_is_the_single_scores(seed, empty):
    A, labels, groups, target = random_case(seed)
    found = metrics.evaluate(A, labels, sensitive_features=groups, n_clusters=6, target=target, empty=empty)
    options = {"sensitive_features": groups, "n_clusters": 6, "empty": empty}
    assert found == {
        "Q": metrics.modularity_score(A, labels),
        "B": metrics.balance_score(labels, **options),
        "NB": metrics.normalized_balance_score(labels, sensitive_features=groups),
        "min_balance": metrics.balance_score(labels, average="min", **options),
        "rho": metrics.individual_balance_score(labels, sensitive_features=groups),
        "n_nonempty": len(set(labels.tolist())),
        "accuracy": metrics.clustering_accuracy(target, labels),
        "nmi": metrics.normalized_mutual_info_score(target, labels),
        "ari": metrics.adjusted_rand_score(target, labels),
    }
    assert isinstance(found["n_nonempty"], int)
    assert all(type(value) in (float, int) for value in found.values())


def test_evaluate_without_groups_or_target():
    A, labels, groups, _ = random_case(0)
    assert list(metrics.evaluate(A, labels)) == ["Q", "n_nonempty"]
    keys = ["Q", "B", "NB", "min_balance", "rho", "n_nonempty"]
    assert list(metrics.evaluate(A, labels, sensitive_features=groups)) == keys


def test_cluster_sizes():
    assert metrics.cluster_sizes([5, 2, 5, 9]).tolist() == [1, 2, 1]
    assert metrics.cluster_sizes([5, -2, 5]).tolist() == [1, 2]
    assert metrics.cluster_sizes([True, False, True]).tolist() == [1, 2]
    small = np.array([3, 1, 3], dtype=np.uint8)
    assert metrics.cluster_sizes(small, n_clusters=5).tolist() == [0, 1, 0, 2, 0]
    for labels in (["a", "b"], [-1, 0], [0, 5], [0.0, 1.0]):
        with pytest.raises(ParameterError, match="needs integer labels in 0"):
            metrics.cluster_sizes(labels, n_clusters=3)
    with pytest.raises(ParameterError, match="less than"):
        metrics.cluster_sizes([0, 1, 2], n_clusters=2)


def test_composition():
    labels, groups = ["b", "a", "b", "b"], ["y", "x", "x", "y"]
    found = metrics.composition(labels, sensitive_features=groups)
    assert found.clusters.tolist() == ["a", "b"]
    assert found.groups.tolist() == ["x", "y"]
    assert found.counts.tolist() == [[1, 0], [1, 2]]
    np.testing.assert_allclose(found.shares, [[1, 0], [1 / 3, 2 / 3]])
    assert found.population.tolist() == [0.5, 0.5]
    assert found.sizes.tolist() == [1, 3]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.counts = None
    lines = str(found).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == ["cluster", "size", "x", "y"]
    assert lines[-1].split()[:2] == ["all", "4"]


def test_the_default_index_of_pandas_is_a_name_for_a_dict_only():
    pd = pytest.importorskip("pandas")
    plain, named = pd.Series([0, 0, 1, 1]), {3: "x", 2: "y", 1: "x", 0: "y"}
    assert metrics.balance_score(plain, sensitive_features=named) == 1.0
    # It may count rows that are in the order of the other, or name them.
    for labels, groups in ((plain, pd.Series(named)), (pd.Series(named), plain)):
        with pytest.raises(ParameterError, match="cannot be matched"):
            metrics.balance_score(labels, sensitive_features=groups)


def test_several_attributes_have_a_mean_a_least_and_their_own():
    pairs = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    columns = {"one": list("xyxy"), "age": [10, 12, 20, 22]}
    options = AttributeOptions(bins={"age": 2}, weights={"one": 3})
    found = metrics.evaluate(
        pairs, [0, 0, 2, 2], sensitive_features=encode_attributes(columns, options=options)
    )
    one, age = (
        {f"{score}[{name}]": value for score in ("B", "NB", "min_balance")}
        for name, value in (("one", 1), ("age", 0))
    )
    assert found == pytest.approx(
        {"Q": 0.5, "B": 0.75, "NB": 0.75, "min_balance": 0, "rho": 0, "n_nonempty": 2, **one, **age,
         "rho[one]": 0, "rho[age]": 0, "mean_gap[age]": 10, "mean_gap_sd[age]": 10 / np.std(columns["age"])}
    )  # fmt: skip


COUNTS = np.array([[1, 4, 0, 0, 2], [0, 1, 5, 0, 0], [1, 0, 0, 1, 0], [3, 3, 3, 0, 0]])
UNGROUPED = np.array([0, 2, 0, 1])


def table(counts, ungrouped=None):
    """Return clusters and groups that are called by their numbers."""
    k, h = counts.shape
    ungrouped = np.zeros(k, int) if ungrouped is None else ungrouped
    return Composition(range(k), range(h), counts, ungrouped, counts.sum(axis=0), int(ungrouped.sum()))


@pytest.mark.parametrize(
    ("most", "clusters", "groups", "counts", "hidden"),
    [
        ((4, 5), [0, 1, 2, 3], ["0", "1", "2", "3", "4"], COUNTS.tolist(), (0, 0)),
        ((2, 3), [1, 3], ["1", "2", "3 other groups"], [[1, 5, 0], [3, 3, 3]], (2, 9)),
    ],
)
def test_the_largest_clusters_and_groups(most, clusters, groups, counts, hidden):
    found = table(COUNTS, UNGROUPED).capped(*most)
    assert (found.clusters, found.groups, found.counts.tolist()) == (clusters, groups, counts)
    assert found.ungrouped.tolist() == UNGROUPED[clusters].tolist()
    assert found.sizes.tolist() == [[7, 8, 2, 10][one] for one in clusters]
    assert (found.totals.sum(), found.n_ungrouped) == (24, 3)
    assert (found.n_hidden, found.hidden_nodes) == hidden


def test_the_text_of_a_composition_with_clusters_that_are_not_shown():
    text = str(composition([*range(52), 7], sensitive_features=["x"] * 53)).split("\n")
    assert text[0] == "cluster   size          x"
    assert text[-2:] == ["(2 more)     2           ", "all         53  53 (100%)"]
    assert text[8] == "7            2   2 (100%)"
    assert len(text) == 1 + 50 + 2


PAIRS = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
GROUPS = ["x", "y", "x", "x"]
LABELS = np.array([0, 0, 1, 1])


class Fitted:
    """A fitted clusterer with given labels."""

    labels_ = LABELS

    def fit(self, X, y=None):
        return self


@pytest.mark.parametrize("fairness", [0, 0.25, 1])
@pytest.mark.parametrize("make", [np.asarray, Graph, lambda A: A.tolist()])
def test_score(fairness, make):
    scores = evaluate(PAIRS, LABELS, sensitive_features=GROUPS)
    assert 0 < scores["Q"] != scores["NB"]
    found = ClusteringScorer(GROUPS, fairness=fairness)(Fitted(), make(PAIRS))
    assert found == pytest.approx((1 - fairness) * scores["Q"] + fairness * scores["NB"])
    by_default = ClusteringScorer()(Fitted(), Graph(PAIRS, sensitive_features=GROUPS))
    assert by_default == ClusteringScorer(GROUPS, fairness=0.5)(Fitted(), PAIRS)


def test_pipelines_are_scored_on_the_input_of_their_last_step():
    pipeline = Pipeline([("half", FunctionTransformer(lambda A: A[:4, :4])), ("cluster", Fitted())])
    large = np.kron(np.eye(2, dtype=int), PAIRS)
    found = ClusteringScorer(GROUPS)(pipeline.fit(large), large)
    assert found == ClusteringScorer(GROUPS)(Fitted(), PAIRS)


def test_invalid_scoring_raises():
    for fairness in (-0.1, 1.1):
        with pytest.raises(ParameterError, match="fairness"):
            ClusteringScorer(fairness=fairness)
    with pytest.raises(ParameterError, match=r"^The score is asked for 2 nodes and 4 were clustered"):
        ClusteringScorer(GROUPS)(Fitted(), PAIRS[:2, :2])
    with pytest.raises(ParameterError, match=r"^The score needs groups: give"):
        ClusteringScorer()(Fitted(), PAIRS)
    without = ClusteringScorer(fairness=0)(Fitted(), PAIRS)
    assert without == pytest.approx(evaluate(PAIRS, LABELS)["Q"])
