"""Scores of random labels with clusters of the same sizes, and how a score stands among them.

The last two axes of ``counts`` are clusters and groups; what stands before them, such as many samples, is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.metrics._table import Labels, LabelTable
from equigraph.metrics.individual import group_balances
from equigraph.metrics.notions import BALANCE, EVENNESS, MOUFLON, NORMALIZED, Notion

# Cells of tables, and entries of graphs, that are looked at together; and how many entries at all.
_CELLS, _ENTRIES, _MOST_ENTRIES = 1 << 21, 1 << 22, 10**9
_FEWEST = 100
# Scores that need links.
OF_LINKS = ("Q", "links_kept", "without_link")
Tables = NDArray[np.int64]


def _notion_values(counts: Tables, population: NDArray[np.integer], notion: Notion) -> NDArray[np.float64]:
    """Return a notion of fairness of every table; empty clusters do not count."""
    sizes = counts.sum(axis=-1)
    weights = sizes if notion.sized else sizes > 0
    total = np.maximum(weights.sum(axis=-1), 1)
    return (weights * _cluster_scores(notion, counts, population)).sum(axis=-1) / total


def _cluster_scores(notion: Notion, counts: Tables, population: NDArray[np.integer]) -> NDArray[np.float64]:
    flat = counts.reshape(-1, counts.shape[-1])
    return notion.cluster_scores(flat, population).reshape(counts.shape[:-1])


def _least_balance(counts: Tables, population: NDArray[np.integer]) -> NDArray[np.float64]:
    scores = _cluster_scores(BALANCE, counts, population)
    return np.where(counts.sum(axis=-1) > 0, scores, np.inf).min(axis=-1)


def _individual(counts: Tables, population: NDArray[np.integer]) -> NDArray[np.float64]:
    cells = group_balances(counts)
    return (counts * cells).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))


# In the order of the columns of a frame.
TABLE_SCORES: Mapping[str, Callable[[Tables, NDArray[np.integer]], NDArray[np.float64]]] = {
    "B": partial(_notion_values, notion=BALANCE),
    "NB": partial(_notion_values, notion=NORMALIZED),
    "min_balance": _least_balance,
    "evenness": partial(_notion_values, notion=EVENNESS),
    "mouflon": partial(_notion_values, notion=MOUFLON),
    "rho": _individual,
}


def standing(value: float, samples: NDArray[np.float64], confidence: float) -> dict[str, float]:
    """Return a score beside those of random labels: their mean, an interval, and the share that is lower.

    Ties count half.
    """
    low, high = np.quantile(samples, [(1 - confidence) / 2, (1 + confidence) / 2])
    close = np.isclose(samples, value, rtol=1e-12, atol=1e-12)
    beats = np.mean(np.where(close, 0.5, samples < value))
    return {
        "value": float(value),
        "chance": float(samples.mean()),
        "low": float(low),
        "high": float(high),
        "beats": float(beats),
        "samples": int(samples.size),
    }


def table_samples(
    table: LabelTable, n_samples: int, rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """Return every fairness score of random labels."""
    sizes = table.groups.sizes
    drawn: list[list[NDArray[np.float64]]] = []
    for number in _batches(n_samples, table.counts.size, _CELLS):
        tables = random_tables(table.labels.sizes, sizes, number, rng)
        drawn.append([score(tables, sizes) for score in TABLE_SCORES.values()])
    return dict(zip(TABLE_SCORES, np.concatenate(drawn, axis=1), strict=True))


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


def link_samples(
    adjacency: sparse.csr_array,
    weights: NDArray[np.float64],
    labels: Labels,
    n_samples: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return Q, the links kept and the number of those who keep none, of random labels; weights are the degrees.

    Graphs of many links get fewer samples, and never fewer than a hundred.
    """
    affordable = max(_FEWEST, _MOST_ENTRIES // max(adjacency.nnz, 1))
    batches = _batches(min(n_samples, affordable), max(adjacency.nnz, labels.n_nodes), _ENTRIES)
    return np.concatenate([_draw_links(adjacency, weights, labels, size, rng) for size in batches], axis=1)


def _draw_links(
    adjacency: sparse.csr_array,
    weights: NDArray[np.float64],
    labels: Labels,
    number: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return Q, the links kept and the number of those who keep none, of random labels."""
    codes = rng.permuted(np.tile(labels.codes.astype(np.int32), (number, 1)), axis=1)
    total, degrees = float(weights.sum()), np.diff(adjacency.indptr)
    if total == 0:
        return np.stack([np.zeros(number), np.full(number, np.nan), np.zeros(number)])
    same = codes[:, np.repeat(np.arange(labels.n_nodes), degrees)] == codes[:, adjacency.indices]
    inside = same @ adjacency.data.astype(np.float64) / total
    places = (codes + labels.n_clusters * np.arange(number)[:, None]).ravel()
    volumes = np.bincount(places, np.tile(weights, number), minlength=number * labels.n_clusters)
    expected = (volumes.reshape(number, -1) / total) ** 2
    kept = np.add.reduceat(same, adjacency.indptr[:-1][degrees > 0], axis=1, dtype=np.int64)
    return np.stack([inside - expected.sum(axis=1), inside, (kept == 0).sum(axis=1)])


def _batches(n_samples: int, entries: int, together: int) -> Iterator[int]:
    size = max(1, together // max(entries, 1))
    for start in range(0, n_samples, size):
        yield min(size, n_samples - start)
