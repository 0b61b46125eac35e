"""The tables of an audit, as columns: pure functions of links, labels and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.graph.groups import Attributes, Groups, contingency_table
from equigraph.metrics._table import Labels
from equigraph.metrics.audit.tables import TABLE_SCORES
from equigraph.metrics.individual import group_balances
from equigraph.metrics.notions import NORMALIZED
from equigraph.metrics.quality import _group_modularity, kept_links

Columns = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Links:
    """Weight and number of each node's links, and of those of them that stay in its cluster."""

    weight: NDArray[np.float64]
    kept_weight: NDArray[np.float64]
    number: NDArray[np.int64]
    kept: NDArray[np.int64]

    @property
    def lost_all(self) -> NDArray[np.bool_]:
        """Nodes that have links, and none within the cluster."""
        return (self.kept == 0) & (self.number > 0)


def links_of(adjacency: sparse.csr_array, labels: Labels) -> Links:
    """Count the links of each node."""
    kept_weight, kept = kept_links(adjacency, labels.codes)
    number = np.diff(adjacency.indptr).astype(np.int64)
    return Links(adjacency @ np.ones(labels.n_nodes), kept_weight, number, kept)


def table_of(labels: Labels, groups: Groups) -> NDArray[np.int64]:
    """Count the nodes of every (cluster, group) pair."""
    return contingency_table(labels.codes, groups.codes, labels.n_clusters, groups.n_groups)


def overall(links: Links, labels: Labels, attributes: Attributes | None) -> dict[str, float]:
    """Return the scores of the whole: Q, links kept, who lost all links, and the mean NB of the attributes."""
    scores: dict[str, float] = {
        "n_nodes": labels.n_nodes,
        "n_clusters": labels.n_clusters,
        "Q": float(_modularity_parts(links, labels).sum()),
        "links_kept": ratio(links.kept_weight.sum(), links.weight.sum()),
        "without_link": int(links.lost_all.sum()),
    }
    if attributes is not None:
        every = attributes.groups.values()
        scores["NB"] = attributes.mean([NORMALIZED.value(table_of(labels, one), one.sizes) for one in every])
    return scores


def by_attribute(labels: Labels, attributes: Mapping[str, Groups]) -> Columns:
    """Return every fairness score of every attribute."""
    tables = {name: (table_of(labels, groups), groups.sizes) for name, groups in attributes.items()}
    return {
        "attribute": list(attributes),
        "n_groups": [groups.n_groups for groups in attributes.values()],
        "n_ungrouped": [groups.n_ungrouped for groups in attributes.values()],
        **{
            name: [float(score(counts, sizes)) for counts, sizes in tables.values()]
            for name, score in TABLE_SCORES.items()
        },
    }


def by_cluster(links: Links, labels: Labels, attributes: Mapping[str, Groups]) -> Columns:
    """Return sizes, links and the normalised balance of every cluster."""
    kept, weight = _sums(links.kept_weight, labels), _sums(links.weight, labels)
    return {
        "cluster": labels.values.tolist(),
        "size": labels.sizes.tolist(),
        "Q": _modularity_parts(links, labels).tolist(),
        "links_kept": [ratio(*pair) for pair in zip(kept, weight, strict=True)],
        "without_link": _sums(links.lost_all, labels).astype(int).tolist(),
        **{
            f"NB {name}": _row_scores(table_of(labels, groups), groups.sizes)
            for name, groups in attributes.items()
        },
    }


def _row_scores(counts: NDArray[np.int64], group_sizes: NDArray[np.intp]) -> list[float]:
    """Return NB of each cluster; NaN where nobody has a group."""
    scores = NORMALIZED.cluster_scores(counts, group_sizes)
    return np.where(counts.sum(axis=1) > 0, scores, np.nan).tolist()


def by_group(adjacency: sparse.csr_array, links: Links, labels: Labels, groups: Groups) -> Columns:
    """Return what the members of each group have of the clusters."""
    counts = table_of(labels, groups)
    members = counts.sum(axis=1, keepdims=True)
    shares = (counts / np.maximum(members, 1))[members[:, 0] > 0]
    kept, weight = _group_sums(links.kept_weight, groups), _group_sums(links.weight, groups)
    return {
        "size": groups.sizes.tolist(),
        "share": groups.shares.tolist(),
        "least_share": shares.min(axis=0).tolist(),
        "most_share": shares.max(axis=0).tolist(),
        "alone": (counts == 1).sum(axis=0).tolist(),
        "links_kept": [ratio(*pair) for pair in zip(kept, weight, strict=True)],
        "without_link": _group_sums(links.lost_all, groups).astype(int).tolist(),
        "Q": _group_modularity(adjacency, labels.codes, labels.n_clusters, groups).tolist(),
        "rho": ((counts * group_balances(counts)).sum(axis=0) / groups.sizes).tolist(),
    }


def ratio(part: float, whole: float) -> float:
    """Return a share; NaN of nothing."""
    return float(part / whole) if whole else float("nan")


def _modularity_parts(links: Links, labels: Labels) -> NDArray[np.float64]:
    """Return what each cluster adds to Q."""
    total = float(links.weight.sum())
    if total == 0:
        return np.zeros(labels.n_clusters)
    return _sums(links.kept_weight, labels) / total - (_sums(links.weight, labels) / total) ** 2


def _sums(values: NDArray[Any], labels: Labels) -> NDArray[np.float64]:
    sums: NDArray[Any] = np.bincount(labels.codes, weights=values, minlength=labels.n_clusters)
    return sums


def _group_sums(values: NDArray[Any], groups: Groups) -> NDArray[np.float64]:
    sums: NDArray[Any] = np.bincount(groups.codes + 1, weights=values, minlength=groups.n_groups + 1)
    return sums[1:]
