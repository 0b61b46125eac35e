"""Graphs and definitions that the tests of label search share; conftest files import the fixtures."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy import sparse

from equigraph.graph import check_adjacency
from equigraph.search.level import first_level
from equigraph.search.objective import make_objective
from tests.reference import labels_objective

SETTINGS = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def codes_for(n, n_groups, seed, n_unknown=0):
    """Return groups that all have a member; the last ``n_unknown`` nodes drawn have none."""
    rng = np.random.default_rng(seed)
    known = n - n_unknown
    drawn = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, known - n_groups)])
    return rng.permutation(np.concatenate([drawn, np.full(n_unknown, -1)]))


def labels_for(n, n_clusters, seed):
    """Return labels that use every cluster."""
    rng = np.random.default_rng(seed + 1)
    return rng.permutation(np.arange(n) % n_clusters).astype(np.int32)


def prepare(
    adjacency,
    codes,
    fairness,
    notion="normalized",
    *,
    resolution=1.0,
    weights=None,
    cap=np.inf,
    even=0.0,
    k=0,
    least=1,
    most=None,
):
    """Return the graph as a level, and the objective, with bounds on the sizes of k clusters."""
    n = adjacency.shape[0]
    objective, columns = make_objective(
        codes,
        n_nodes=n,
        total=float(adjacency.sum()),
        fairness=fairness,
        notion=notion,
        resolution=resolution,
        weights=weights,
    )
    bounds = {"least": np.full(k, least), "most": np.full(k, n if most is None else most)}
    return first_level(adjacency, columns, objective.population.size), replace(
        objective, cap=cap, even=even, **bounds
    )


@pytest.fixture(scope="session")
def naive():
    """Return the module with the naive definitions."""
    return labels_objective


def random_graph(n, seed, density=0.25):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, k=1) * rng.integers(1, 5, (n, n))
    return check_adjacency((upper + upper.T).astype(float))


def skewed_blocks(seed, n_blocks=6, size=30, inside=0.35, outside=0.02, paired=5):
    """Return blocks in pairs: one block of a pair is nearly all of one group, the other of the other group."""
    rng = np.random.default_rng(seed)
    blocks = np.repeat(np.arange(n_blocks), size)
    pair = blocks[:, None] // 2 == blocks[None, :] // 2
    same = blocks[:, None] == blocks[None, :]
    probability = np.where(same, inside, np.where(pair, paired * outside, outside))
    upper = np.triu(rng.random(probability.shape) < probability, k=1)
    codes = np.where(rng.random(blocks.size) < 0.9, blocks % 2, 1 - blocks % 2)
    return check_adjacency((upper + upper.T).astype(float)), codes


@pytest.fixture(scope="session")
def make_graph():
    return random_graph


@pytest.fixture(scope="session")
def make_skewed():
    return skewed_blocks


def _star(n):
    dense = np.zeros((n, n))
    dense[0, 1:] = dense[1:, 0] = 1
    return dense


def _tiny():
    clique = np.ones((12, 12)) - np.eye(12)
    two = np.kron(np.eye(2), np.ones((6, 6)) - np.eye(6))
    lonely = np.zeros((12, 12))
    lonely[:6, :6] = np.ones((6, 6)) - np.eye(6)
    path = np.eye(12, k=1) + np.eye(12, k=-1)
    return {
        "star": _star(12),
        "clique": clique,
        "disconnected": two,
        "isolated": lonely,
        "path": path,
        "empty": np.zeros((12, 12)),
    }


@pytest.fixture(params=["star", "clique", "disconnected", "isolated", "path", "empty"])
def tiny(request):
    return sparse.csr_array(check_adjacency(_tiny()[request.param]))


@pytest.fixture(scope="module")
def blocks():
    """Return six blocks in pairs; the blocks of a pair are nearly all of one group each."""
    return skewed_blocks(0)


@pytest.fixture(scope="module")
def apart():
    """Return four blocks, each nearly all of one group, hardly tied to each other: cohesion and fairness differ."""
    return skewed_blocks(0, n_blocks=4, paired=2)
