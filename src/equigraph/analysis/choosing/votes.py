"""Agreement of several clusterings of the same nodes, and what most of them say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.metrics import adjusted_rand_score, normalized_mutual_info_score

_ROUNDS = 20

Labels = NDArray[np.intp]


def mean_agreement(pairs: Iterable[tuple[Labels, Labels]]) -> tuple[float, float]:
    """Return the mean adjusted Rand index and mean NMI over pairs of clusterings; NaN where there is no pair."""
    scores = [(adjusted_rand_score(*pair), normalized_mutual_info_score(*pair)) for pair in pairs]
    ari, nmi = np.mean(scores, axis=0) if scores else (np.nan, np.nan)
    return float(ari), float(nmi)


class Consensus(NamedTuple):
    """What most clusterings say."""

    consensus: (
        Labels  # the cluster that most of them put a node into, after their clusters are numbered alike
    )
    sure: NDArray[np.float64]  # the share of them that does
    second: Labels  # the cluster with the second most votes; that of the consensus where they all agree


def consensus(labelings: Sequence[Labels], n_clusters: int) -> Consensus:
    """Return the clusters that most of several clusterings have.

    It starts from the one that agrees best with all others. All are numbered like it, every node goes where most put it
    (a tie leaves it where it is), and so on until nothing changes. Where that would empty a cluster, the last labels
    with all of them are kept.
    """
    reference = np.asarray(labelings[_medoid(labelings)], dtype=np.intp)
    nodes = np.arange(reference.size)
    votes = _votes(labelings, reference, n_clusters)
    for _ in range(_ROUNDS):
        # Half a vote for where a node is now, so that ties change nothing.
        favoured = votes.copy()
        favoured[nodes, reference] += 0.5
        winner = favoured.argmax(axis=1)
        if np.array_equal(winner, reference) or np.unique(winner).size < np.unique(reference).size:
            break
        reference = winner
        votes = _votes(labelings, reference, n_clusters)
    sure = votes[nodes, reference] / len(labelings)
    votes[nodes, reference] = -1
    second = np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), reference)
    return Consensus(reference, sure, second)


def _votes(labelings: Sequence[Labels], reference: Labels, n_clusters: int) -> NDArray[np.float64]:
    votes = np.zeros((reference.size, n_clusters), dtype=np.float64)
    nodes = np.arange(reference.size)
    for labels in labelings:
        votes[nodes, align_labels(labels, reference, n_clusters)] += 1
    return votes


def _medoid(labelings: Sequence[Labels]) -> int:
    """Return which clustering agrees best with the others; the first among equals."""
    totals = np.zeros(len(labelings))
    for (i, one), (j, other) in combinations(enumerate(labelings), 2):
        value = adjusted_rand_score(one, other)
        totals[i] += value
        totals[j] += value
    return int(np.argmax(totals))
