"""Labels that are likely near to some that keep the rules: where the solver looks first.

A solver without anything to minimise wanders about. Asked for labels near to cohesive ones, in which most links are
kept already, it finds the first in a hundredth of the time. The hint decides nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from equigraph.rules.arrays import Integers
from equigraph.rules.compile import CompiledRules

_PASSES = 8
_COHESION = 0.3  # what a link is worth that nobody needs, against one that somebody needs
_FULL = 1.15  # from which size on a cluster counts as full, in even sizes


def cohesive_hint(compiled: CompiledRules, named: NDArray[np.bool_]) -> Integers:
    """Return clusters of the named units in which links are kept, sizes are even and units to be apart are apart.

    Units are dealt out one after another, neighbours after neighbours, several times over; each goes where most of
    its links are, above all those that somebody still needs, as long as there is room. Units without a name have -1.
    """
    deal = _Deal(compiled)
    order = reverse_cuthill_mckee(deal.friends + deal.askers, symmetric_mode=True)
    order = order[named[order]].tolist()
    for _ in range(_PASSES if compiled.needed.any() else 1):
        for unit in order:
            deal.take(unit)
            deal.put(unit, deal.best(unit))
    return deal.cluster


class _Deal:
    """Units that are being dealt out."""

    def __init__(self, compiled: CompiledRules):
        self.compiled, self.friends = compiled, _unit_friends(compiled)
        self.askers = self.friends.T.tocsr()
        # -1 for units in no cluster, and how many links each unit still has to keep (negative: more than it has to).
        self.cluster = np.full(compiled.n_units, -1, dtype=np.int64)
        self.lacks = np.zeros(compiled.n_units)
        rows = np.arange(compiled.needed.size) % compiled.n_nodes
        np.maximum.at(self.lacks, compiled.unit[rows], compiled.needed)
        self.sizes = np.zeros(compiled.n_clusters)

    def take(self, unit: int) -> None:
        """Take a unit out of its cluster, if it is in one."""
        if self.cluster[unit] >= 0:
            self._change(unit, int(self.cluster[unit]), -1)
            self.cluster[unit] = -1

    def put(self, unit: int, cluster: int) -> None:
        """Put a unit into a cluster."""
        self._change(unit, cluster, 1)
        self.cluster[unit] = cluster

    def _change(self, unit: int, cluster: int, sign: int) -> None:
        for matrix, own in ((self.friends, True), (self.askers, False)):
            near, weights = _entries(matrix, unit)
            here = self.cluster[near] == cluster
            if own:
                self.lacks[unit] -= sign * weights[here].sum()
            else:
                self.lacks[near[here]] -= sign * weights[here]
        self.sizes[cluster] += sign * self.compiled.unit_size[unit]

    def _placed(self, matrix: sparse.csr_matrix, unit: int) -> tuple[NDArray, NDArray]:
        near, weights = _entries(matrix, unit)
        placed = self.cluster[near] >= 0
        return near[placed], weights[placed]

    def best(self, unit: int) -> int:
        """Return where a unit that is in no cluster keeps and serves most, with regard to the room left."""
        compiled, k = self.compiled, self.sizes.size
        if compiled.fixed[unit] >= 0:
            return int(compiled.fixed[unit])
        near, weights = self._placed(self.friends, unit)
        kept = np.bincount(self.cluster[near], weights, k)
        near, weights = self._placed(self.askers, unit)
        served = np.bincount(self.cluster[near], np.minimum(weights, np.maximum(self.lacks[near], 0)), k)
        gain = np.minimum(kept, max(self.lacks[unit], 0)) + served + _COHESION * kept
        # Little room is a small drawback, no room a large one.
        size = self.sizes * k / compiled.n_nodes
        score = gain - 0.2 * size - 10 * np.maximum(size - _FULL, 0)
        enemies = self.cluster[_entries(compiled.apart, unit)[0]]
        score[enemies[enemies >= 0]] -= np.inf
        return int(np.argmax(score))


def _unit_friends(compiled: CompiledRules) -> sparse.csr_matrix:
    """Return how many friends the nodes of each unit have in each other unit, if any rule asks for friends."""
    shape = (compiled.n_units, compiled.n_units)
    if not compiled.needed.any():
        return sparse.csr_matrix(shape)
    links = compiled.links.tocoo()
    one, other = compiled.unit[links.row % compiled.n_nodes], compiled.unit[links.col]
    between = one != other
    ends = one[between], other[between]
    return sparse.csr_matrix((np.ones(ends[0].size), ends), shape=shape)


def _entries(matrix: Any, row: int) -> tuple[NDArray, NDArray]:
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part], matrix.data[part]
