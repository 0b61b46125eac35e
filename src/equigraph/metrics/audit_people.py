"""The links that people keep in their cluster, and the people with the worst outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import count
from equigraph.metrics._table import Labels, LabelTable
from equigraph.metrics.quality import Links, ratio

Columns = dict[str, Any]
# At most this share of the usual value counts as few.
_FEW = 0.5


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
