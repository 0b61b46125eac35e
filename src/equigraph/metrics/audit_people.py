"""The links that people keep in their cluster, and the people with the worst outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.text import count
from equigraph.metrics._table import Labels, LabelTable
from equigraph.metrics.quality import degrees_of, kept_links, modularity_parts

Columns = dict[str, Any]
# At most this share of the usual value counts as few.
_FEW = 0.5


@dataclass(frozen=True, eq=False)
class Links:
    """Weight and number of each node's links, and of its links within its cluster."""

    weight: NDArray[np.float64]
    kept_weight: NDArray[np.float64]
    number: NDArray[np.int64]
    kept: NDArray[np.int64]

    @property
    def lost_all(self) -> NDArray[np.bool_]:
        """Nodes that have links, and none within the cluster."""
        return (self.kept == 0) & (self.number > 0)

    def modularity_parts(self, labels: Labels) -> NDArray[np.float64]:
        """Return the contribution of each cluster to Q."""
        by_cluster = partial(sums, codes=labels.codes, n=labels.n_clusters)
        return modularity_parts(by_cluster(self.kept_weight), by_cluster(self.weight))

    def scores(self, labels: Labels) -> dict[str, float]:
        """Return Q, the share of link weight kept, and the number of nodes that have lost all links."""
        return {
            "Q": float(self.modularity_parts(labels).sum()),
            "links_kept": float(ratio(self.kept_weight.sum(), self.weight.sum())),
            "without_link": int(self.lost_all.sum()),
        }

    def columns(self, codes: NDArray[np.integer], n: int) -> Columns:
        """Return the share of link weight kept and the number of nodes without kept links, by cluster or group."""
        kept, weight = sums(self.kept_weight, codes, n), sums(self.weight, codes, n)
        lost = sums(self.lost_all, codes, n).astype(int)
        return {"links_kept": ratio(kept, weight).tolist(), "without_link": lost.tolist()}


def links_of(adjacency: sparse.csr_array, labels: Labels) -> Links:
    """Count the links of each node."""
    kept_weight, kept = kept_links(adjacency, labels.codes)
    number = np.diff(adjacency.indptr).astype(np.int64)
    return Links(degrees_of(adjacency), kept_weight, number, kept)


def ratio(part: Any, whole: Any) -> NDArray[np.float64]:
    """Return part over whole; NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.not_equal(whole, 0))


def sums(values: NDArray[Any], codes: NDArray[np.integer], n: int) -> NDArray[np.float64]:
    """Return the sums of values by cluster or group; a node of the code -1 is in none."""
    found: NDArray[Any] = np.bincount(codes + 1, weights=values, minlength=n + 1)
    return found[1:]


def worst_people(
    names: NDArray[Any], links: Links, labels: Labels, tables: Mapping[str, LabelTable], n: int
) -> Columns:
    """Return the people with the smallest share of the usual value, each with the reason.

    The usual share of links is that kept by all people together. The usual number of others of the own group is that in
    proportion to the size of the cluster; numbers below one are not considered.
    """
    fellows = {name: _fellows(table) for name, table in tables.items()}
    of_groups = (
        np.divide(own, usual, out=np.ones(own.size), where=usual >= 1).clip(max=1)
        for own, usual in fellows.values()
    )
    parts = np.stack([_kept_part(links), *of_groups])
    few = np.flatnonzero((parts <= _FEW).any(axis=0))
    # Order by the smallest share, then by the sum of the shares, then by the number of links lost.
    lost = (links.kept - links.number)[few]
    order = np.lexsort((lost, parts[:, few].sum(axis=0), parts[:, few].min(axis=0)))
    people = few[order][:n]
    columns: Columns = {
        "node": names[people].tolist(),
        "cluster": labels.values[labels.codes[people]].tolist(),
        "links": links.number[people].tolist(),
        "kept": links.kept[people].tolist(),
    }
    reasons: dict[int, list[str]] = {person: [] for person in people.tolist()}
    for person in people[parts[0, people] <= _FEW].tolist():
        kept, linked = links.kept[person], count(int(links.number[person]), "linked person", "linked people")
        reasons[person].append(f"{f'only {kept}' if kept else 'no one'} of {linked} in the cluster")
    for (name, (own, usual)), part in zip(fellows.items(), parts[1:], strict=True):
        columns[f"fellows {name}"] = own[people].tolist()
        columns[f"usual {name}"] = usual[people].tolist()
        values = tables[name].groups.values()
        for person in people[part[people] <= _FEW].tolist():
            value, size = f"{name} {values[person]!r}", labels.sizes[labels.codes[person]]
            others = f"{own[person]} other{'s' * bool(own[person] > 1)}" if own[person] else "the only one"
            reasons[person].append(
                f"{others} of {value} among {count(int(size), 'person', 'people')}, "
                f"where {usual[person]:.1f} others would be in proportion"
            )
    columns["reason"] = ["; ".join(each) for each in reasons.values()]
    return columns


def _kept_part(links: Links) -> NDArray[np.float64]:
    """Return each node's share of links kept over that of all nodes, at most 1; 1 without links."""
    usual = ratio(links.kept_weight.sum(), links.weight.sum())
    linked = links.weight > 0
    share = np.divide(links.kept_weight, links.weight, out=np.ones(linked.size), where=linked)
    return np.where(linked, np.minimum(share / usual, 1), 1.0) if usual > 0 else np.where(linked, share, 1.0)


def _fellows(table: LabelTable) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the number of others of each node's group in its cluster, and the number in proportion."""
    counts, codes, groups = table.counts, table.labels.codes, table.groups
    others = np.maximum(counts.sum(axis=1) - 1, 0)[codes]
    own = counts[codes, groups.codes] - 1
    usual = others * (groups.sizes[groups.codes] - 1) / max(groups.sizes.sum() - 1, 1)
    grouped = groups.codes >= 0
    return np.where(grouped, own, 0), np.where(grouped, usual, 0.0)
