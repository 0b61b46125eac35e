r"""Synchronous moves of labels that live with the row blocks of the graph.

A round is one pass. Every node finds the cluster that would suit it best if nothing else moved; a histogram of these
wishes by group, cluster, target and gain comes to the caller, who lets the tables of cluster sizes move along with the
wishes in small steps, and grants each kind of wish as far as it still pays on the way. Who is granted a wish is decided
by a hash of the node, so no list of nodes travels. The next pass gives the exact value of the objective, and a round
that has not raised it is taken back and tried with fewer grants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equigraph.callbacks import Notifier
from equigraph.execution.distributed.rows import Rows, RowStore, hashed, in_order
from equigraph.groups.sums import contingency_table, group_sums
from equigraph.search.objective import Objective

# Rounds at effort 1; least gain of the objective that counts as one; least share of wishes that is still tried.
ROUNDS, LEAST_GAIN, LEAST_SHARE = 40, 1e-5, 1 / 64
# Rounds between two checkpoints.
CHECKPOINT = 10
# Small steps in which tables move along with the wishes.
_STEPS, _STEP = 40, 0.08
# Wishes are sorted by the change of Q that they bring, in units of a mean edge: these are the bounds of the classes.
_BOUNDS = np.array([-8.0, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 8])


@dataclass
class _State:
    """Tables of the current labels, and the wishes that go with them."""

    table: NDArray[np.float64]
    volume: NDArray[np.float64]
    value: float = -np.inf
    counts: NDArray[np.float64] | None = None
    gains: NDArray[np.float64] | None = None


class RowMoves:
    """Rounds of moves on labels with exactly k non-empty clusters.

    Parameters
    ----------
    store : RowStore
        The rows; panel "labels" holds labels in ``range(n_clusters)``, panel "degrees" the degrees.
    objective : Objective
        What to raise.
    n_clusters, n_groups : int
        k and m.
    mean_weight : float
        Mean weight of an edge.
    seed : int
        Seed of the hash.
    """

    def __init__(
        self,
        store: RowStore,
        objective: Objective,
        n_clusters: int,
        n_groups: int,
        *,
        mean_weight: float,
        seed: int,
    ):
        self._store, self.objective = store, objective
        self._k, self._m, self._seed = n_clusters, n_groups, seed
        # A change of Q by moving an edge of mean weight into a cluster.
        self._unit = 2 * mean_weight / max(objective.total, np.finfo(float).tiny)

    def run(self, max_rounds: int, notify: Notifier) -> float:
        """Move until a round gains little, and return the value of the objective; "labels" holds the labels."""
        self._store.checkpoint(["labels", "degrees"])
        state = self._counted(self._store.each(count_rows, self._k, self._m))
        self._measure(state)
        share, idle = 0.5, 0
        for step in range(1, max_rounds + 1):
            grants, expected = self._grants(state, share)
            if expected < 1:
                break
            trial = self._counted(self._store.each(grant_rows, grants, self._seed + step, self._k, self._m))
            whole = bool((trial.table.sum(axis=1) > 0).all())
            if whole:
                self._measure(trial)
            if whole and trial.value > state.value:
                idle = idle + 1 if trial.value - state.value < LEAST_GAIN else 0
                state, share = trial, min(2 * share, 1.0)
            else:
                self._store.each(back_rows)
                self._measure(state)
                share /= 4
            if step % CHECKPOINT == 0:
                self._store.checkpoint(["labels", "degrees", "wish", "kind"])
            if notify("search", step, max_rounds, -state.value) or idle >= 2 or share < LEAST_SHARE:
                break
        return state.value

    def _counted(self, parts: list[tuple[NDArray, NDArray]]) -> _State:
        return _State(in_order([part[0] for part in parts]), in_order([part[1] for part in parts]))

    def _measure(self, state: _State) -> None:
        """Make one pass: the exact value, and what every node wishes."""
        change = self.objective.fairness * notion_changes(self.objective, state.table)
        parts = self._store.multiply(
            "labels",
            "links",
            n_labels=self._k,
            then=wish_rows,
            arguments=(state.volume, change, self.objective, self._unit),
        )
        inside = in_order([part[0] for part in parts])
        modularity = self.objective.modularity(inside, state.volume)
        notion = self.objective.notion_value(state.table.astype(np.int64)) if self._m > 1 else 0.0
        state.value = self.objective.value(modularity, notion)
        state.counts = in_order([part[1] for part in parts])
        state.gains = in_order([part[2] for part in parts])

    def _grants(self, state: _State, share: float) -> tuple[NDArray[np.float32], float]:
        """Return which share of every kind of wish to grant, and how many nodes that moves."""
        counts, gains = state.counts, state.gains
        assert counts is not None
        assert gains is not None
        kinds = np.flatnonzero(counts)
        group, source, target, _ = np.unravel_index(kinds, (self._m, self._k, self._k, _BOUNDS.size + 1))
        number, table = counts[kinds], state.table.copy()
        mean = gains[kinds] / number
        left = share * number
        for _ in range(_STEPS):
            gain = (
                mean + self.objective.fairness * notion_changes(self.objective, table)[group, source, target]
            )
            moved = np.where((gain > 0) & (table.sum(axis=1)[source] > 1), _STEP * left, 0.0)
            if not moved.any():
                break
            left -= moved
            np.add.at(table, (source, group), -moved)
            np.add.at(table, (target, group), moved)
            np.maximum(table, 0, out=table)
        granted = share * number - left
        grants = np.zeros(counts.size, dtype=np.float32)
        grants[kinds] = granted / number
        return grants, float(granted.sum())


def row_scores(objective: Objective, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each cluster adds to the notion; clusters without a node add nothing.

    Tables that move along with wishes hold parts of nodes, of which a notion knows nothing: they are rounded.
    """
    whole = np.rint(table).astype(np.int64)
    scores = objective.notion.cluster_scores(whole, objective.population)
    if not objective.notion.sized:
        return scores / table.shape[0]
    return whole.sum(axis=1) * scores / objective.population.sum()


def notion_changes(objective: Objective, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by (group, source, target) how the notion changes when one node moves."""
    n_clusters, n_groups = table.shape
    here = row_scores(objective, table)
    if n_groups == 1:
        return np.zeros((1, n_clusters, n_clusters))
    lost, won = np.empty((n_groups, n_clusters)), np.empty((n_groups, n_clusters))
    for group, one in enumerate(np.eye(n_groups)):
        lost[group] = row_scores(objective, np.maximum(table - one, 0)) - here
        won[group] = row_scores(objective, table + one) - here
    return lost[:, :, None] + won[:, None, :]


def count_rows(rows: Rows, n_clusters: int, n_groups: int) -> tuple[NDArray, NDArray]:
    """Return nodes by cluster and group, and degrees by cluster."""
    labels = rows.get("labels")
    table = contingency_table(labels, rows.groups(), n_clusters, n_groups)
    volume = np.bincount(labels, weights=rows.get("degrees")[:, 0], minlength=n_clusters)
    return table.astype(np.float64), volume


def wish_rows(
    rows: Rows, volume: NDArray[np.float64], change: NDArray[np.float64], objective: Objective, unit: float
) -> tuple[NDArray, NDArray, NDArray]:
    """Put what every node wishes; return the weight inside by cluster, and wishes and their gains by kind."""
    labels, links, degrees = rows.get("labels"), rows.get("links"), rows.get("degrees")
    n_clusters = change.shape[1]
    number, codes = np.arange(labels.size), rows.groups()
    own = links[number, labels]
    total = max(objective.total, np.finfo(float).tiny)
    quality = 2 / total * (links - own[:, None])
    quality -= 2 * objective.resolution / total**2 * degrees * (volume - volume[labels][:, None] + degrees)
    quality *= 1 - objective.fairness
    gain = quality + change[codes, labels]
    gain[number, labels] = -np.inf
    wish = gain.argmax(axis=1)
    best = quality[number, wish]
    kind = np.searchsorted(_BOUNDS, best / (unit * max(1 - objective.fairness, 1e-3)))
    kind += (_BOUNDS.size + 1) * (wish + n_clusters * (labels + n_clusters * codes))
    wanted = gain[number, wish] > 0
    rows.put("wish", wish.astype(np.int32))
    rows.put("kind", np.where(wanted, kind, -1).astype(np.int64))
    n_kinds = change.size * (_BOUNDS.size + 1)
    return (
        np.bincount(labels, weights=own, minlength=n_clusters),
        np.bincount(kind[wanted], minlength=n_kinds).astype(np.float64),
        np.bincount(kind[wanted], weights=best[wanted], minlength=n_kinds),
    )


def grant_rows(
    rows: Rows, grants: NDArray[np.float32], seed: int, n_clusters: int, n_groups: int
) -> tuple[NDArray, NDArray]:
    """Grant a share of the wishes, and return the tables of the new labels as `count_rows` does."""
    labels, kind = rows.get("labels"), rows.get("kind")
    lucky = (kind >= 0) & (hashed(np.arange(rows.low, rows.high), seed) < grants[np.maximum(kind, 0)])
    rows.put("labels before", labels)
    labels[lucky] = rows.get("wish")[lucky]
    return count_rows(rows, n_clusters, n_groups)


def back_rows(rows: Rows) -> None:
    """Take the last grants back."""
    rows.put("labels", rows.get("labels before"))


def weight_rows(rows: Rows, n_clusters: int) -> NDArray[np.float64]:
    """Return the weight from each cluster to each, over the rows of a block."""
    labels, links = rows.get("labels"), rows.get("links")
    return group_sums(links, labels, n_clusters)
