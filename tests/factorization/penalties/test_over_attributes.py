"""Penalties, constraints and other methods over several attributes, against plain sums."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import GroupsError
from equigraph.factorization.penalties import Contrastive, GroupParity, Scatter, over_attributes
from equigraph.graph.groups import encode_attributes
from equigraph.methods import METHODS
from equigraph.spectral.embedding import group_constraint
from equigraph.stores.blocks import write_blocks

pytestmark = [
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning"),
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallGroupWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

ROOM = eg.datasets.make_classroom()
BOTH = {"gender": ROOM.sensitive_features, "house": ROOM.house}
ATTRIBUTES = encode_attributes(BOTH).weighted({"house": 3})


@pytest.mark.parametrize("make", [Contrastive, Scatter, GroupParity])
def test_a_penalty_is_the_weighted_sum_and_its_tables_are_on_joint_groups(make):
    penalty = over_attributes(ATTRIBUTES, make)
    H = np.random.default_rng(0).random((30, 4))
    one, other = make(ROOM.sensitive_features), make(ROOM.house)
    assert penalty.value(H) == pytest.approx(0.25 * one.value(H) + 0.75 * other.value(H))
    form = penalty.group_form()
    sums = np.array([H[form.codes == code].sum(axis=0) for code in range(form.own.size)])
    positive = (form.positive @ sums)[form.codes] + form.own[form.codes][:, None] * H
    np.testing.assert_allclose(positive, penalty.positive(H), atol=1e-12)
    np.testing.assert_allclose((form.negative @ sums)[form.codes], penalty.negative(H), atol=1e-12)


def test_ifair_nmtf_adds_one_penalty_per_attribute():
    model = eg.IFairNMTF(3, fairness=2.0, max_iter=30, random_state=0)
    given = 2.0 * (Contrastive(ROOM.sensitive_features) + Contrastive(ROOM.house))
    plain = eg.NMTF(3, penalty=0.5 * given, max_iter=30, init=model.init, tol=model.tol, random_state=0)
    model.fit(ROOM.adjacency, sensitive_features=BOTH)
    plain.fit(ROOM.adjacency)
    np.testing.assert_allclose(model.membership_, plain.membership_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("normalized", [False, True])
def test_spectral_constraints_stand_side_by_side(normalized):
    model = eg.FairSC(3, normalized=normalized, random_state=0).fit(ROOM.adjacency, sensitive_features=BOTH)
    active = np.diff(ROOM.adjacency.indptr) > 0
    for groups in ATTRIBUTES.groups.values():
        constraint = group_constraint(groups.codes[active], groups.n_groups)
        assert np.abs(constraint.T @ model.embedding_[active]).max() < 1e-8


@pytest.mark.parametrize("name", ["fair-nmtf", "dfnmf", "scalable-fair-sc", "individual-fair-sc"])
def test_every_fair_method_takes_several_attributes(name):
    model = METHODS[name].load()(3, random_state=0).fit(ROOM.adjacency, sensitive_features=BOTH)
    assert model.n_nonempty_clusters_ >= 2


@pytest.mark.parametrize("name", ["fair-nmtf", "ifair-nmtf", "dfnmf"])
def test_without_fairness_an_attribute_may_be_constant(name):
    model = METHODS[name].load()(3, fairness=0, random_state=0)
    model.fit(ROOM.adjacency, sensitive_features={"school": ["one"] * 30, **BOTH})
    assert model.n_nonempty_clusters_ == 3


def test_fair_louvain_climbs_the_mean_of_attributes():
    graph = eg.read_graph(ROOM.adjacency, BOTH, attribute_weights={"house": 3})
    model = eg.FairLouvain(3, fairness=0.5, random_state=0).fit(graph)
    scores = eg.metrics.evaluate(graph, model.labels_)
    assert model.objective_ == pytest.approx(0.5 * scores["Q"] + 0.5 * scores["NB"])


def test_rows_on_disk_hold_one_attribute_and_take_several(tmp_path):
    graph = eg.read_graph(ROOM.adjacency, BOTH)
    with pytest.raises(GroupsError, match="hold one attribute, and the graph has 2"):
        write_blocks(graph, tmp_path / "blocks")
    blocks = write_blocks(ROOM.adjacency, tmp_path / "plain", rows_per_block=8)
    for model in (
        eg.IFairNMTF(3, fairness=2.0, max_iter=20, init="random", random_state=0),
        eg.FairNMTF(3, solver="mu", max_iter=20, init="random", random_state=0),
    ):
        there = model.fit(blocks, sensitive_features=BOTH).membership_
        np.testing.assert_allclose(there, model.fit(graph).membership_, atol=1e-12)
