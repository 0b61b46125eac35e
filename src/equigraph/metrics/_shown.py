"""The part of a table of clusters and groups that fits a page, a picture or a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_CLUSTERS, MAX_GROUPS = 50, 12


@dataclass(frozen=True, eq=False)
class Shown:
    """The largest clusters, and small groups together; the totals are those of all clusters."""

    clusters: list[Any]
    groups: list[str]  # the last may be all others
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    ungrouped: NDArray[np.int64]
    n_ungrouped: int  # in all clusters
    n_hidden: int  # clusters that are not shown
    hidden_nodes: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Nodes of each cluster that is shown."""
        return self.counts.sum(axis=1) + self.ungrouped


def capped(
    clusters: list[Any],
    groups: list[Any],
    counts: NDArray[np.int64],
    ungrouped: NDArray[np.int64],
    *,
    n_clusters: int = MAX_CLUSTERS,
    n_groups: int = MAX_GROUPS,
) -> Shown:
    """Return at most so many clusters, the largest, and at most so many groups, of which the last may be all others."""
    totals, names = counts.sum(axis=0), [str(name) for name in groups]
    sizes = counts.sum(axis=1) + ungrouped
    kept = np.sort(np.argsort(-sizes, kind="stable")[:n_clusters])
    if len(names) > n_groups:
        order = np.argsort(-totals, kind="stable")
        first, rest = np.sort(order[: n_groups - 1]), order[n_groups - 1 :]
        names = [*(names[i] for i in first), f"{rest.size:,} other groups"]
        counts = np.column_stack((counts[:, first], counts[:, rest].sum(axis=1)))
        totals = counts.sum(axis=0)
    return Shown(
        [clusters[i] for i in kept.tolist()],
        names,
        counts[kept],
        totals,
        ungrouped[kept],
        int(ungrouped.sum()),
        len(clusters) - kept.size,
        int(sizes.sum() - sizes[kept].sum()),
    )
