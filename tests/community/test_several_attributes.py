"""Search on several attributes at once: the mean over them, against loops and against all divisions."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import check_adjacency
from tests.optional import optional
from tests.reference.every_labelling import every_labelling, every_score
from tests.reference.labels_objective import naive_modularity, naive_notion, naive_objective

pd = optional("pandas")

pytestmark = [
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning"),
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallGroupWarning"),
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.OwnGroupsWarning"),
]


def case(seed, n=9, n_groups=(2, 3)):
    """Return a random graph and two attributes with all their groups."""
    rng = np.random.default_rng([seed, 12])
    upper = np.triu(rng.random((n, n)) < 0.4, k=1)
    upper[0, 1] = True
    columns = [rng.permutation(np.arange(n) % h) for h in n_groups]
    return check_adjacency(upper + upper.T + 0.0), np.column_stack(columns)


def test_the_best_of_all_divisions_is_found():
    short = []
    for seed in range(6):
        adjacency, codes = case(seed)
        weights = np.array([1.0, 1 + seed % 3])
        q, one = every_score(adjacency.toarray(), codes[:, 0], 3)
        _, other = every_score(adjacency.toarray(), codes[:, 1], 3)
        fair = (weights[0] * one + weights[1] * other) / weights.sum()
        model = eg.FairPartition(3, 0.5, attribute_weights={"1": weights[1]}, random_state=seed)
        model.fit(adjacency, sensitive_features=codes)
        short.append((0.5 * q + 0.5 * fair).max() - model.objective_)
        assert model.notion_ == pytest.approx(
            naive_notion(model.labels_.tolist(), codes, "normalized", weights)
        )
        assert model.modularity_ == pytest.approx(naive_modularity(adjacency.toarray(), model.labels_))
    assert min(short) > -1e-9
    assert np.count_nonzero(np.array(short) < 1e-9) >= 5
    assert len(every_labelling(9, 3)) > 3000


@pytest.mark.parametrize("notion", ["normalized", "balance", "evenness"])
def test_refined_labels_are_locally_best_for_the_mean(notion):
    adjacency, codes = case(3, n=24, n_groups=(2, 4))
    codes = codes.astype(object)
    codes[5, 0] = codes[7, 1] = None
    dense = adjacency.toarray()
    graph = eg.read_graph(adjacency, {"a": codes[:, 0], "b": codes[:, 1]}, missing="ignore")
    plain = np.where(codes == None, -1, codes).astype(int)  # noqa: E711
    weights = np.array([1.0, 2.0])
    start = np.arange(24) % 3
    labels = eg.refine_labels(
        graph, start, fairness=0.6, notion=notion, attribute_weights={"b": 2}, random_state=0
    )
    value = naive_objective(dense, labels.tolist(), plain, 0.6, notion, weights=weights)
    for node in range(24):
        for cluster in range(3):
            moved = labels.copy()
            moved[node] = cluster
            if len(set(moved.tolist())) == 3:
                assert (
                    naive_objective(dense, moved.tolist(), plain, 0.6, notion, weights=weights) < value + 1e-9
                )


def test_one_column_gives_what_it_gave_alone():
    room = eg.datasets.make_classroom()
    alone = eg.FairPartition(3, random_state=0).fit(
        room.adjacency, sensitive_features=room.sensitive_features
    )
    named = {"gender": room.sensitive_features}
    again = eg.FairPartition(3, random_state=0).fit(room.adjacency, sensitive_features=named)
    assert again.labels_.tolist() == alone.labels_.tolist()
    # An attribute that counts for nothing changes nothing but what is searched in vain.
    both = {**named, "house": room.house}
    weighed = eg.FairPartition(3, attribute_weights={"house": 0}, random_state=0)
    assert weighed.fit(room.adjacency, sensitive_features=both).objective_ == pytest.approx(alone.objective_)


def test_a_dense_graph_starts_from_joint_groups():
    sbm = eg.datasets.make_fair_sbm(600, 3, 3, random_state=0)
    other = np.random.default_rng(0).permutation(np.arange(600) % 2)
    both = {"block": sbm.sensitive_features, "coin": other}
    model = eg.FairPartition(3, effort=0.1, random_state=0).fit(sbm.adjacency, sensitive_features=both)
    scores = eg.metrics.evaluate(sbm.adjacency, model.labels_, sensitive_features=both)
    assert min(scores["NB[block]"], scores["NB[coin]"]) > 0.9


def test_what_does_not_fit_is_told():
    room = eg.datasets.make_classroom()
    both = {"gender": room.sensitive_features, "house": room.house}
    with pytest.raises(ParameterError, match="names 'needs', and the attributes are 'gender', 'house'"):
        eg.FairPartition(3, attribute_weights={"needs": 2}).fit(room.adjacency, sensitive_features=both)
    with pytest.raises(GroupsError, match="attribute 'class' is constant"):
        eg.FairPartition(3).fit(room.adjacency, sensitive_features={**both, "class": ["5b"] * 30})
