"""The score for scikit-learn's searches, with labels that nobody has to find."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.metrics import ClusteringScorer, evaluate

PAIRS = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
GROUPS = ["x", "y", "x", "x"]
LABELS = np.array([0, 0, 1, 1])


class Fitted:
    """A clusterer that has its labels."""

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


def test_half_of_each_by_default_and_the_groups_of_a_graph():
    expected = ClusteringScorer(GROUPS, fairness=0.5)(Fitted(), PAIRS)
    assert ClusteringScorer(GROUPS)(Fitted(), PAIRS) == expected
    assert ClusteringScorer()(Fitted(), Graph(PAIRS, sensitive_features=GROUPS)) == expected


def test_a_pipeline_is_scored_on_what_its_last_step_saw():
    pipeline = Pipeline([("half", FunctionTransformer(lambda A: A[:4, :4])), ("cluster", Fitted())])
    large = np.kron(np.eye(2, dtype=int), PAIRS)
    found = ClusteringScorer(GROUPS)(pipeline.fit(large), large)
    assert found == ClusteringScorer(GROUPS)(Fitted(), PAIRS)


def test_what_cannot_be_scored():
    for fairness in (-0.1, 1.1):
        with pytest.raises(ParameterError, match=rf"^fairness={fairness} is not in \[0, 1\]\.$"):
            ClusteringScorer(fairness=fairness)
    with pytest.raises(ParameterError, match=r"^The score is asked for 2 nodes and 4 were clustered"):
        ClusteringScorer(GROUPS)(Fitted(), PAIRS[:2, :2])
    with pytest.raises(ParameterError, match=r"^The score needs groups: give"):
        ClusteringScorer()(Fitted(), PAIRS)
    without = ClusteringScorer(fairness=0)(Fitted(), PAIRS)
    assert without == pytest.approx(evaluate(PAIRS, LABELS)["Q"])
