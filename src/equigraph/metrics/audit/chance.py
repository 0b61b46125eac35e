"""How scores stand among those of random labels with clusters of the same sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.graph.groups import Groups
from equigraph.metrics._table import Labels
from equigraph.metrics.audit.tables import TABLE_SCORES, random_tables
from equigraph.metrics.audit.views import Columns, Links, overall, table_of

# Cells of tables, and entries of graphs, that are looked at together; and how many entries at all.
_CELLS, _ENTRIES, _MOST_ENTRIES = 1 << 21, 1 << 22, 10**9
_FEWEST = 100
GRAPH = "links"
_OF_LINKS = ("Q", "links_kept", "without_link")


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


def chance_of_tables(
    labels: Labels, groups: Groups, n_samples: int, confidence: float, rng: np.random.Generator
) -> dict[str, dict[str, float]]:
    """Return the standing of every fairness score of one attribute."""
    counts = table_of(labels, groups)
    drawn: dict[str, list[NDArray[np.float64]]] = {name: [] for name in TABLE_SCORES}
    for number in _batches(n_samples, counts.size, _CELLS):
        tables = random_tables(labels.sizes, groups.sizes, number, rng)
        for name, score in TABLE_SCORES.items():
            drawn[name].append(score(tables, groups.sizes))
    return {
        name: standing(float(score(counts, groups.sizes)), np.concatenate(drawn[name]), confidence)
        for name, score in TABLE_SCORES.items()
    }


def chance_of_links(
    adjacency: sparse.csr_array,
    links: Links,
    labels: Labels,
    n_samples: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, dict[str, float]]:
    """Return the standing of Q, of the links kept and of the number of those who keep none.

    Graphs of many links get fewer samples, and never fewer than a hundred.
    """
    affordable = max(_FEWEST, _MOST_ENTRIES // max(adjacency.nnz, 1))
    batches = _batches(min(n_samples, affordable), max(adjacency.nnz, labels.n_nodes), _ENTRIES)
    drawn = np.concatenate([_draw_links(adjacency, links, labels, size, rng) for size in batches], axis=1)
    now = overall(links, labels, None)
    return {name: standing(now[name], drawn[i], confidence) for i, name in enumerate(_OF_LINKS)}


def _draw_links(
    adjacency: sparse.csr_array, links: Links, labels: Labels, number: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return Q, the links kept and the number of those who keep none, of random labels."""
    codes = rng.permuted(np.tile(labels.codes.astype(np.int32), (number, 1)), axis=1)
    total, degrees = float(links.weight.sum()), np.diff(adjacency.indptr)
    if total == 0:
        return np.stack([np.zeros(number), np.full(number, np.nan), np.zeros(number)])
    same = codes[:, np.repeat(np.arange(labels.n_nodes), degrees)] == codes[:, adjacency.indices]
    inside = same @ adjacency.data.astype(np.float64) / total
    places = (codes + labels.n_clusters * np.arange(number)[:, None]).ravel()
    volumes = np.bincount(places, np.tile(links.weight, number), minlength=number * labels.n_clusters)
    expected = (volumes.reshape(number, -1) / total) ** 2
    kept = np.add.reduceat(same, adjacency.indptr[:-1][degrees > 0], axis=1, dtype=np.int64)
    return np.stack([inside - expected.sum(axis=1), inside, (kept == 0).sum(axis=1)])


def chance_of_metric(
    metric: Callable[..., float],
    labels: Labels,
    groups: Groups,
    n_samples: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return the standing of a score of one's own, which is called once for every sample."""
    drawn = [metric(rng.permutation(labels.codes), sensitive_features=groups) for _ in range(n_samples)]
    value = float(metric(labels.codes, sensitive_features=groups))
    return standing(value, np.asarray(drawn, dtype=np.float64), confidence)


def as_columns(found: Mapping[tuple[str, str], Mapping[str, Any]]) -> Columns:
    """Return standings by (attribute, score) as columns."""
    heads = list(next(iter(found.values())))
    keys = {"attribute": [key[0] for key in found], "score": [key[1] for key in found]}
    return {**keys, **{head: [one[head] for one in found.values()] for head in heads}}


def _batches(n_samples: int, entries: int, together: int) -> Iterator[int]:
    size = max(1, together // max(entries, 1))
    for start in range(0, n_samples, size):
        yield min(size, n_samples - start)
