"""Scores of one contingency table, or of many tables of the same groups at once.

The last two axes of ``counts`` are clusters and groups; what stands before them is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from equigraph.metrics.individual import group_balances
from equigraph.metrics.notions import BALANCE, EVENNESS, MOUFLON, NORMALIZED, Notion

Tables = NDArray[np.int64]
TableScore = Callable[[Tables, NDArray[np.integer]], NDArray[np.float64]]


def notion_values(notion: Notion, counts: Tables, population: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return a notion of fairness of every table; empty clusters do not count."""
    sizes = counts.sum(axis=-1)
    weights = sizes if notion.sized else sizes > 0
    return (weights * _rows(notion, counts, population)).sum(axis=-1) / np.maximum(weights.sum(axis=-1), 1)


def _rows(notion: Notion, counts: Tables, population: NDArray[np.integer]) -> NDArray[np.float64]:
    flat = counts.reshape(-1, counts.shape[-1])
    return notion.cluster_scores(flat, population).reshape(counts.shape[:-1])


def _least_balance(counts: Tables, population: NDArray[np.integer]) -> NDArray[np.float64]:
    scores = _rows(BALANCE, counts, population)
    return np.where(counts.sum(axis=-1) > 0, scores, np.inf).min(axis=-1)


def _individual(counts: Tables, population: NDArray[np.integer]) -> NDArray[np.float64]:
    cells = group_balances(counts)
    return (counts * cells).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))


def _of(notion: Notion) -> TableScore:
    return lambda counts, population: notion_values(notion, counts, population)


# In the order of the columns of a frame.
TABLE_SCORES: Mapping[str, TableScore] = {
    "B": _of(BALANCE),
    "NB": _of(NORMALIZED),
    "min_balance": _least_balance,
    "evenness": _of(EVENNESS),
    "mouflon": _of(MOUFLON),
    "rho": _individual,
}


def random_tables(
    sizes: NDArray[np.integer], group_sizes: NDArray[np.integer], n_samples: int, rng: np.random.Generator
) -> Tables:
    """Return the tables of random labels with clusters of given sizes.

    Every assignment of the nodes to clusters of these sizes is as likely as any other, so a table is drawn cell by
    cell from hypergeometric distributions, whatever the number of nodes.
    """
    rest = int(sizes.sum() - group_sizes.sum())
    columns = np.append(group_sizes, rest).astype(np.int64)
    left = np.tile(columns, (n_samples, 1))
    tables = np.zeros((n_samples, sizes.size, columns.size), dtype=np.int64)
    for cluster, size in enumerate(sizes.tolist()):
        places = np.full(n_samples, size, dtype=np.int64)
        others = left.sum(axis=1)
        for column in range(columns.size):
            others = others - left[:, column]
            drawn = rng.hypergeometric(left[:, column], others, places)
            tables[:, cluster, column] = drawn
            left[:, column] -= drawn
            places -= drawn
    return tables[:, :, : group_sizes.size]
