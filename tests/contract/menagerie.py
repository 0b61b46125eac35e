"""Tiny graphs with the shapes that break algorithms, each with groups."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    name: str
    adjacency: np.ndarray
    groups: np.ndarray
    n_clusters: int


def _symmetric(upper):
    return upper + upper.T


def _edges(n, edges):
    upper = np.zeros((n, n))
    upper[tuple(np.transpose(edges))] = 1
    return _symmetric(upper)


def _cliques(*sizes):
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return (owner[:, None] == owner) - np.eye(owner.size)


def _cases():
    rng = np.random.default_rng(0)
    bridged = _cliques(6, 6)
    bridged[5, 6] = bridged[6, 5] = 1
    yield Case("two cliques and a bridge", bridged, np.tile([0, 1], 6), 2)

    weights = np.triu(rng.random((16, 16)) * (rng.random((16, 16)) < 0.5), 1)
    yield Case("weighted", _symmetric(weights), rng.permutation(np.repeat(["a", "b", "c"], [8, 5, 3])), 3)

    yield Case("disconnected", _cliques(4, 5, 6), np.arange(15) % 2, 3)
    yield Case("star", _edges(10, [(0, i) for i in range(1, 10)]), np.arange(10) % 2, 2)
    yield Case("clique", _cliques(8), np.arange(8) % 2, 2)
    yield Case("bipartite", _edges(10, list(np.ndindex(4, 6)) + np.array([0, 4])), np.arange(10) % 3 == 0, 2)
    yield Case("two nodes per group", _cliques(4, 4), np.repeat([0, 1, 2, 3], 2), 2)

    isolated = np.zeros((14, 14))
    isolated[:12, :12] = bridged
    yield Case("isolated nodes", isolated, np.r_[np.tile([0, 1], 6), 0, 1], 2)

    yield Case("k close to n", bridged[:7, :7], np.array([0, 1, 0, 1, 0, 1, 0]), 6)
    yield Case("path", _edges(12, [(i, i + 1) for i in range(11)]), np.arange(12) % 2, 3)
    yield Case("group of one node", bridged, np.r_[[1], np.zeros(11, int)], 2)


CASES = list(_cases())
