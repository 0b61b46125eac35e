"""The spectral estimators."""

import warnings

import numpy as np
import pytest
from scipy import linalg, sparse

from equigraph.exceptions import (
    EquigraphWarning,
    FairnessIgnoredWarning,
    GroupsError,
    InfeasibleError,
    OwnGroupsWarning,
    ParameterError,
)
from equigraph.graph.groups import contingency_table
from equigraph.spectral import FairSC, IndividualFairSC, ScalableFairSC, SpectralClustering
from equigraph.spectral.labels import fill_empty, spectral_labels

FAIR = [FairSC, ScalableFairSC, IndividualFairSC]


def planted(n=200, k=2, h=2, seed=0, probabilities=(0.5, 0.35, 0.25, 0.05)):
    """Return adjacency, fair clusters and groups of a block model whose group ties outweigh its cluster ties."""
    rng = np.random.default_rng(seed)
    cluster, group = np.arange(n) % k, (np.arange(n) // k) % h
    a, b, c, d = probabilities
    same_cluster, same_group = cluster[:, None] == cluster[None], group[:, None] == group[None]
    chance = np.where(same_cluster, np.where(same_group, a, c), np.where(same_group, b, d))
    upper = np.triu(rng.random((n, n)) < chance, 1).astype(float)
    return sparse.csr_array(upper + upper.T), cluster, group


def angle(one, two):
    return float(linalg.subspace_angles(one, two).max())


@pytest.mark.parametrize("cls", FAIR)
def test_planted_fair_clusters_are_found_where_plain_clustering_finds_the_groups(cls):
    A, cluster, group = planted()
    fair = cls(2, random_state=0).fit(A, sensitive_features=group)
    table = contingency_table(fair.labels_, cluster, 2, 2)
    assert max(np.trace(table), np.trace(table[::-1])) >= 195
    plain = SpectralClustering(2, random_state=0).fit(A, sensitive_features=group)
    table = contingency_table(plain.labels_, group, 2, 2)
    assert max(np.trace(table), np.trace(table[::-1])) >= 195


@pytest.mark.parametrize("seed", [0, 1])
def test_scalable_is_normalized_fair_sc(seed):
    A, _, group = planted(n=240, k=3, h=3, seed=seed)
    one = FairSC(3, normalized=True, random_state=0).fit(A, sensitive_features=group)  # factorises
    two = ScalableFairSC(3, random_state=0).fit(A, sensitive_features=group)  # iterates
    np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, atol=1e-10)
    assert angle(one.embedding_, two.embedding_) < 1e-6


def test_group_no_constant_is_fair_sc_without_its_first_vector():
    A, _, group = planted(n=180, h=3)
    k = 3
    fair = FairSC(k + 1, random_state=0).fit(A, sensitive_features=group)
    model = IndividualFairSC(k, constraint="group_no_constant", random_state=0).fit(
        A, sensitive_features=group
    )
    assert angle(fair.embedding_[:, 1:], model.embedding_) < 1e-6
    np.testing.assert_allclose(fair.eigenvalues_[1:], model.eigenvalues_, atol=1e-10)
    np.testing.assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-10)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("way", ["default", "group", "explicit", "without loops", "rank"])
def test_groups_as_representation_give_fair_sc(normalized, way):
    A, _, group = planted(n=180, h=3)
    R = sparse.csr_array((group[:, None] == group[None]).astype(float))
    parameters = {
        "default": {},
        "group": {"constraint": "group"},
        "explicit": {"representation": R},
        "without loops": {"representation": sparse.csr_array(R - sparse.eye_array(180))},
        "rank": {"representation": R, "rank": 3},
    }[way]
    groups = None if "representation" in parameters else group
    model = IndividualFairSC(3, normalized=normalized, random_state=0, **parameters)
    model.fit(A, sensitive_features=groups)
    fair = FairSC(3, normalized=normalized, random_state=0).fit(A, sensitive_features=group)
    np.testing.assert_allclose(model.eigenvalues_, fair.eigenvalues_, atol=1e-9)
    assert angle(model.embedding_, fair.embedding_) < 1e-6
    assert model.exact_ == (way != "rank")


def _ring_representation(n, reach):
    offset = np.abs(np.arange(n)[:, None] - np.arange(n)[None])
    return sparse.csr_array((np.minimum(offset, n - offset) <= reach).astype(float))


def test_full_rank_representation_is_approximated_and_said_so():
    A, _, _ = planted()
    R = _ring_representation(200, 3)
    with pytest.warns(EquigraphWarning, match=r"leaves \d+ of 200 dimensions; .* rank 4") as told:
        model = IndividualFairSC(2, representation=R, random_state=0).fit(A)
    with pytest.warns(EquigraphWarning) as also:
        IndividualFairSC(2, representation=R, random_state=0).fit_predict(A)
    assert {warning.filename for warning in (*told, *also)} == {__file__}
    assert not model.exact_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = IndividualFairSC(2, representation=R, rank=4, random_state=0).fit(A)
    np.testing.assert_allclose(model.eigenvalues_, same.eigenvalues_, atol=1e-12)


def test_rank_is_a_dial():
    A, _, _ = planted()
    R = _ring_representation(200, 3)
    spread, cost = [], []
    for rank in (1, 20, 100, 180):
        model = IndividualFairSC(3, representation=R, rank=rank, random_state=0).fit(A)
        H = model.embedding_
        spread.append(np.linalg.norm(R @ (H - H.mean(axis=0))))
        cost.append(model.eigenvalues_.sum())
    assert spread[0] > spread[1] > spread[2] > spread[3]
    assert cost[0] < cost[1] < cost[2] < cost[3]


def test_representation_is_met_exactly_when_it_can_be():
    A, _, _ = planted()
    pairs = np.arange(200) // 2
    R = sparse.csr_array((pairs[:, None] == pairs[None]).astype(float))
    model = IndividualFairSC(3, representation=R, normalized=True, random_state=0).fit(A)
    H = model.embedding_
    assert model.exact_
    assert np.abs(R @ (H - H.mean(axis=0))).max() < 1e-10


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"constraint": "group", "representation": np.eye(200)}, "does not use representation"),
        ({"rank": 2}, "give representation="),
        ({"constraint": "none"}, "constraint must be one of"),
        ({"representation": np.eye(3)}, "expected \\(200, 200\\)"),
        ({"representation": "graph"}, "representation must be"),
        ({"representation": np.tri(200)}, "symmetric"),
        ({"representation": -np.eye(200)}, "nonnegative"),
        ({"representation": np.nan * np.eye(200)}, "finite"),
        ({"representation": np.full((200, 200), "a")}, "numbers"),
    ],
)
def test_contradicting_parameters_are_refused(parameters, message):
    A, _, group = planted()
    with pytest.raises(ParameterError, match=message):
        IndividualFairSC(2, **parameters).fit(A, sensitive_features=group)


@pytest.mark.parametrize("cls", FAIR)
def test_isolated_nodes_get_zeros_and_help_fairness(cls):
    A, _, group = planted()
    bigger = sparse.csr_array(sparse.block_diag([A, sparse.csr_array((4, 4))]))
    codes = np.r_[group, 0, 1, 0, 1]
    model = cls(2, random_state=0).fit(bigger, sensitive_features=codes)
    assert np.array_equal(model.embedding_[200:], np.zeros((4, 2)))
    small = cls(2, random_state=0).fit(A, sensitive_features=group)
    np.testing.assert_allclose(model.eigenvalues_, small.eigenvalues_, atol=1e-10)
    agreement = np.mean(model.labels_[:200] == small.labels_)
    assert max(agreement, 1 - agreement) == 1
    before = contingency_table(model.labels_[:200], group, 2, 2)
    after = contingency_table(model.labels_, codes, 2, 2)
    assert np.abs(after[:, 0] - after[:, 1]).sum() <= np.abs(before[:, 0] - before[:, 1]).sum()


@pytest.mark.parametrize("cls", FAIR)
def test_too_many_groups(cls):
    A, _, _ = planted(n=20)
    groups = [f"team {i % 18}" for i in range(20)]
    with pytest.raises(InfeasibleError, match="fewer groups"), pytest.warns(OwnGroupsWarning):
        cls(4).fit(A, sensitive_features=groups)


@pytest.mark.parametrize("cls", FAIR)
def test_constant_groups_are_an_error_and_no_groups_a_warning(cls):
    A, _, _ = planted()
    with pytest.raises(GroupsError, match="constant"):
        cls(2).fit(A, sensitive_features=["all"] * 200)
    with pytest.warns(FairnessIgnoredWarning):
        model = cls(2, random_state=0).fit(A)
    plain = SpectralClustering(2, normalized=cls is ScalableFairSC, row_normalize=False, random_state=0).fit(
        A
    )
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, atol=1e-10)


def test_fill_empty_takes_outliers_first():
    points = np.array([[0.0], [0.1], [0.2], [9.0], [5.0]])
    labels = fill_empty(np.array([0, 0, 0, 0, 1]), points, 3)
    assert labels.tolist() == [0, 0, 0, 2, 1]


@pytest.mark.parametrize("n_clusters", [2, 5, 30])
def test_spectral_labels_fill_every_cluster(n_clusters):
    components = sparse.csr_array(sparse.block_diag([np.ones((10, 10)) - np.eye(10)] * 3))
    labels = spectral_labels(components, n_clusters, seed=0)
    assert labels.dtype == np.intp
    assert set(labels) == set(range(n_clusters))
    assert np.array_equal(labels, spectral_labels(components, n_clusters, seed=0))
    no_edges = spectral_labels(sparse.csr_array((40, 40)), n_clusters, seed=0)
    assert set(no_edges) == set(range(n_clusters))


@pytest.mark.parametrize("cls", FAIR)
def test_a_graph_without_edges_is_told(cls):
    with pytest.raises(InfeasibleError, match=f"^{cls.__name__}: the graph has no edges"):
        cls(2, random_state=0).fit(np.zeros((6, 6)), sensitive_features=[0, 1] * 3)
    assert SpectralClustering(2, random_state=0).fit(np.zeros((6, 6))).n_nonempty_clusters_ == 2
