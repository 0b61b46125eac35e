"""Passes in which pairs of nodes change places, wherever the rows are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.search.objective import Objective

# Passes without a move in between, and what one must bring, in modularity, to be followed by another.
SWAP_PASSES, LEAST_SWAP = 5, 1e-6
# More pairs of clusters than this are not tried.
_MOST_PAIRS = 2**22
# A look at a node that waits reads all columns. With many columns fewer kinds of nodes wait, so that looks at all of
# them read about as many counts.
_MOST_READ = 144


def swapped(
    sites: Any,
    labels: NDArray,
    objective: Objective,
    visit: Callable[[list[NDArray]], Sequence[NDArray]],
    *,
    max_passes: int = SWAP_PASSES,
    least_gain: float = LEAST_SWAP,
) -> NDArray[np.int32]:
    """Let pairs of nodes change places, in index order, while the objective rises: the sizes stay.

    Parameters
    ----------
    sites : Sites
        The nodes; their rows need not be there.
    labels : ndarray of shape (n_nodes,)
        Where to begin.
    objective : Objective
        What is to rise.
    visit : callable
        Calls `swap_in_rows` on all rows in turn and returns the state after it.
    max_passes : int
        Visits of all rows.
    least_gain : float
        What a pass must bring, in modularity, to be followed by another.
    """
    from equigraph.search.kernels.exchange import waiting_room
    from equigraph.search.kernels.state import Clusters, start

    score, terms = objective.score, objective.terms()
    labels = labels.astype(np.int32)
    clusters = start(sites, labels, int(labels.max()) + 1, score, terms)
    n_clusters, n_columns = clusters.volume.size, objective.population.size
    if n_clusters**2 > _MOST_PAIRS:
        return labels
    n_kinds = min(n_columns, _MOST_PAIRS // n_clusters**2, max(_MOST_READ // n_columns, 1))
    gained = np.zeros(2)
    for _ in range(max_passes):
        before = gained[1]
        waiting = waiting_room(n_clusters, n_kinds, terms.offsets.size - 1)
        labels, gained, *rest = visit([labels, gained, *waiting, *clusters])
        clusters = Clusters(*rest[len(waiting) :])
        if gained[1] - before <= least_gain * (1.0 - objective.fairness):
            break
    return labels


def swap_in_rows(sites: Any, state: Sequence[NDArray], objective: Objective, low: int = 0) -> None:
    """Let nodes of some rows, from `low` on, change places with nodes that wait for it; the state is changed."""
    from equigraph.search.kernels.exchange import Waiting, swap_rows
    from equigraph.search.kernels.state import Clusters

    labels, gained, *rest = state
    waiting, clusters = Waiting(*rest[: len(Waiting._fields)]), Clusters(*rest[len(Waiting._fields) :])
    swap_rows(sites, labels, clusters, objective.score, objective.terms(), low, waiting, gained)
