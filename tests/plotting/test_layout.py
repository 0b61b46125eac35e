import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from equigraph.datasets import make_classroom, make_fair_sbm
from equigraph.exceptions import ParameterError
from equigraph.plotting import layout, spring_layout


@pytest.fixture(scope="module")
def room():
    return make_classroom()


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 30), density=st.floats(0, 1), seed=st.integers(0, 100))
def test_places_are_finite_and_in_the_square(n, density, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1).astype(float)
    labels = rng.integers(3, size=n)
    places = spring_layout(upper + upper.T, labels=labels, seed=seed)
    assert places.shape == (n, 2)
    assert np.array_equal(places, spring_layout(upper + upper.T, labels=labels, seed=seed))
    assert np.isfinite(places).all()
    assert np.abs(places).max() <= 1 + 1e-9


def test_clusters_are_apart(room):
    with pytest.raises(ParameterError, match="3 labels for 30 nodes"):
        spring_layout(room.adjacency, labels=[0, 1, 2])
    places = spring_layout(room.adjacency, labels=room.target)
    centres = np.array([places[room.target == c].mean(axis=0) for c in range(3)])
    own = np.linalg.norm(places - centres[room.target], axis=1).mean()
    between = np.linalg.norm(centres[:, None] - centres[None], axis=2)[np.triu_indices(3, 1)].min()
    assert between > 1.3 * own


def test_isolated_nodes_are_on_the_rim(room):
    n = room.adjacency.shape[0]
    padded = sparse.block_diag((room.adjacency, sparse.csr_array((4, 4))), format="csr")
    places = spring_layout(padded, labels=np.append(room.target, [0, 0, 1, 2]))
    radius = np.linalg.norm(places, axis=1)
    assert radius[n:].min() > radius[:n].max() * 0.95
    assert np.unique(places[n:].round(6), axis=0).shape[0] == 4


def test_places_depend_on_the_seed_and_not_on_the_scale_of_weights(room):
    places = spring_layout(room.adjacency)
    assert np.allclose(spring_layout(room.adjacency * 1e9), places)
    assert not np.allclose(spring_layout(room.adjacency, seed=4), places)


def test_large_graphs_get_discs_that_do_not_overlap(monkeypatch):
    monkeypatch.setattr(layout, "MAX_SPRING_NODES", 100)
    sbm = make_fair_sbm(600, 4, 2, random_state=0)
    places = spring_layout(sbm.adjacency, labels=sbm.target)
    assert np.isfinite(places).all()
    codes = np.asarray(sbm.target)
    centres = np.array([places[codes == c].mean(axis=0) for c in range(4)])
    nearest = np.linalg.norm(places[:, None] - centres[None], axis=2).argmin(axis=1)
    assert (nearest == codes).mean() > 0.97
    assert np.array_equal(places, spring_layout(sbm.adjacency, labels=sbm.target))
