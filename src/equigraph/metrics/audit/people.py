"""Who fares worst, and why, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import count
from equigraph.graph.groups import Groups
from equigraph.metrics._table import Labels
from equigraph.metrics.audit.views import Columns, Links, ratio, table_of

# At most this part of what is usual is few.
_FEW = 0.5


def worst_people(
    names: NDArray[Any], links: Links, labels: Labels, attributes: Mapping[str, Groups], n: int
) -> Columns:
    """Return the people with the smallest part of what is usual, each with the reason.

    Of links the usual is the share that all people together keep; of the own group it is the number that a cluster
    of that size has in proportion. Where less than one other member would be in proportion, nobody is missed.
    """
    kept = _kept_part(links)
    fellows = {name: _fellows(labels, groups) for name, groups in attributes.items()}
    parts = np.stack([kept, *(_part(*pair) for pair in fellows.values())])
    people = _ordered(parts, links)[:n]
    columns: Columns = {
        "node": names[people].tolist(),
        "cluster": labels.values[labels.codes[people]].tolist(),
        "links": links.number[people].tolist(),
        "kept": links.kept[people].tolist(),
    }
    for name, (own, usual) in fellows.items():
        columns[f"fellows {name}"] = own[people].tolist()
        columns[f"usual {name}"] = usual[people].tolist()
    columns["reason"] = [
        _reason(person, parts[:, person], links, labels, attributes, fellows) for person in people
    ]
    return columns


def _ordered(parts: NDArray[np.float64], links: Links) -> NDArray[np.intp]:
    """Return those with few of anything: the smallest part first, then who has little of several things.

    Among equals, those who lose most links come first.
    """
    few = np.flatnonzero((parts <= _FEW).any(axis=0))
    lost = (links.kept - links.number)[few]
    order = np.lexsort((lost, parts[:, few].sum(axis=0), parts[:, few].min(axis=0)))
    return few[order]


def _kept_part(links: Links) -> NDArray[np.float64]:
    """Return each one's share of links kept over that of all, at most 1; 1 for who has no links."""
    usual = ratio(links.kept_weight.sum(), links.weight.sum())
    linked = links.weight > 0
    share = np.divide(links.kept_weight, links.weight, out=np.ones(linked.size), where=linked)
    return np.where(linked, np.minimum(share / usual, 1), 1.0) if usual > 0 else np.where(linked, share, 1.0)


def _fellows(labels: Labels, groups: Groups) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the others of each one's group in the cluster, and how many there would be in proportion."""
    counts = table_of(labels, groups)
    others = np.maximum(counts.sum(axis=1) - 1, 0)[labels.codes]
    own = counts[labels.codes, groups.codes] - 1
    usual = others * (groups.sizes[groups.codes] - 1) / max(groups.sizes.sum() - 1, 1)
    grouped = groups.codes >= 0
    return np.where(grouped, own, 0), np.where(grouped, usual, 0.0)


def _part(own: NDArray[np.int64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(own, usual, out=np.ones(own.size), where=usual >= 1).clip(max=1)


def _reason(
    person: int,
    parts: NDArray[np.float64],
    links: Links,
    labels: Labels,
    attributes: Mapping[str, Groups],
    fellows: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]],
) -> str:
    reasons = []
    if parts[0] <= _FEW:
        kept = int(links.kept[person])
        linked = count(int(links.number[person]), "linked person", "linked people")
        reasons.append(f"{'no one' if kept == 0 else f'only {kept}'} of {linked} in the cluster")
    for (name, groups), part in zip(attributes.items(), parts[1:], strict=True):
        if part <= _FEW:
            own, usual = fellows[name][0][person], fellows[name][1][person]
            value = repr(groups.names.tolist()[groups.codes[person]])
            size = count(int(labels.sizes[labels.codes[person]]), "person", "people")
            who = (
                f"the only one of {name} {value}"
                if own == 0
                else f"{own} other{'s' * bool(own > 1)} of {name} {value}"
            )
            reasons.append(f"{who} among {size}, where {usual:.1f} others would be in proportion")
    return "; ".join(reasons)
