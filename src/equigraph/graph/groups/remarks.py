"""What is odd about groups, though nothing is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.text import count
from equigraph.exceptions import NumericGroupsWarning, OwnGroupsWarning, SmallGroupWarning, warn
from equigraph.graph.groups.encode import Groups

# Codes of groups are seldom more different numbers than this; ages, incomes and marks are.
_MOST_NUMBERS = 10
# A larger share of the nodes in groups of one member is worth a note.
_MOST_ALONE = 0.1


def warn_about_groups(name: str, groups: Groups, attribute: str | None, n_clusters: int | None) -> None:
    """Warn once about groups that hardly mean what they were given for; the most telling remark comes alone."""
    what = f"the attribute {attribute!r}" if attribute else "the sensitive feature"
    alone = int(np.count_nonzero(groups.sizes == 1))
    if groups.n_groups > _MOST_NUMBERS and all(map(_is_number, groups.names.tolist())):
        warn(
            f"{name}: {what} has {groups.n_groups:,} different numbers, each of them a group: if it measures "
            "something, put the numbers into a few bins first, such as with pandas.cut.",
            NumericGroupsWarning,
        )
    elif alone > _MOST_ALONE * groups.n_nodes:
        warn(
            f"{name}: {alone:,} of {count(groups.n_nodes, 'node')} are groups of their own by {what}, which no "
            "clustering can spread: give an attribute that nodes share.",
            OwnGroupsWarning,
        )
    elif n_clusters is not None and groups.sizes.min() < n_clusters:
        warn(f"{name}: {_small_words(groups, n_clusters)}.", SmallGroupWarning)


def ungrouped_sentence(n_ungrouped: int) -> str:
    """Say what nodes without a group count for."""
    they = "it counts" if n_ungrouped == 1 else "they count"
    return (
        f"{count(n_ungrouped, 'node')} without a group: {they} for cohesion and sizes, for no group's share."
    )


def _small_words(groups: Groups, n_clusters: int) -> str:
    small = int(np.count_nonzero(groups.sizes < n_clusters))
    least = int(np.argmin(groups.sizes))
    one = f"the group {groups.names.tolist()[least]!r} has {count(int(groups.sizes[least]), 'member')}"
    if small == 1:
        return f"{one} for {n_clusters} clusters, so it cannot be in all of them"
    return f"{small} groups have fewer members than there are clusters ({one}), so they cannot be in all {n_clusters}"


def _is_number(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False
