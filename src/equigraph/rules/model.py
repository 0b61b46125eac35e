r"""Rules as a mixed-integer program.

Units that no rule distinguishes form a class. With :math:`q_a` units in class :math:`a`, each of :math:`w_a` nodes, the
variables are the whole numbers :math:`x_{ac}` of units of class a in cluster c:

.. math:: \sum_c x_{ac} = q_a, \qquad \sum_a w_a x_{ac} = s_c, \qquad \sum_a m_{av} x_{ac} = n_{vc}

with bounds on the sizes :math:`s_c` and on the counts :math:`n_{vc}` of columns. Units that must be apart, or that need
friends, are classes of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from equigraph.rules.compile import CompiledRules, Integers, entries_of

# The hint: number of passes over the units, and size of a full cluster relative to the mean size.
_PASSES, _FULL = 4, 1.15


@dataclass(frozen=True, eq=False)
class Classes:
    """Partition of the units into classes of interchangeable ones."""

    of_unit: Integers
    sizes: Integers
    first: Integers  # a representative unit of each class
    named: NDArray[np.bool_]  # units that are classes of their own, as a rule names them


@dataclass(eq=False)
class Program:
    """A mixed-integer program for `scipy.optimize.milp`.

    Its variables are whole quantities in every cluster: rows and columns of ``low``, ``high`` and ``cost``. The first
    quantities are x, one per class. The cost is an objective (`minimise`), or only a hint where to look first.
    """

    classes: Classes
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cost: NDArray[np.float64]
    minimise: bool = False
    rows: list[optimize.LinearConstraint] = field(default_factory=list)

    def add(self, parts: dict[int, Any], low: Any, high: Any, clusters: Any = None) -> None:
        """Add linear constraints; ``parts`` maps the first quantity of each block to its coefficients.

        They hold in every cluster, or for each linear combination of clusters in the rows of ``clusters``.
        """
        n_quantities, k = self.cost.shape
        pieces = {start: sparse.coo_array(block) for start, block in parts.items()}
        height = next(iter(pieces.values())).shape[0]
        # 32-bit indices: the HiGHS of older scipy takes no others, and no program is as large.
        rows = np.concatenate([piece.row for piece in pieces.values()]).astype(np.int32)
        columns = np.concatenate([piece.col + start for start, piece in pieces.items()]).astype(np.int32)
        data = np.concatenate([piece.data for piece in pieces.values()]).astype(float)
        block = sparse.coo_array((data, (rows, columns)), shape=(height, n_quantities))
        matrix = sparse.kron(block, sparse.eye_array(k) if clusters is None else clusters, format="csr")
        sides = (np.broadcast_to(side, matrix.shape[0]) for side in (low, high))
        self.rows.append(optimize.LinearConstraint(matrix, *sides))

    def number_clusters(self, compiled: CompiledRules) -> None:
        """Break the symmetry of interchangeable clusters, and drop the hint.

        The i-th of a few named units is restricted to the first i clusters; without named units clusters are ordered by
        size. Units that must be apart come first: for most of them only one cluster remains.
        """
        k, classes = compiled.n_clusters, self.classes
        self.cost[:] = 0
        biggest = max(compiled.apart_sets, key=len, default=np.zeros(0, dtype=np.int64))
        order = list(dict.fromkeys([*biggest.tolist(), *np.flatnonzero(classes.named)[:k].tolist()]))
        for clusters in interchangeable(compiled):
            for place, unit in enumerate(order[: len(clusters) - 1]):
                self.high[classes.of_unit[unit], clusters[place + 1 :]] = 0
            if not order:
                larger = np.eye(k)
                self.add({classes.sizes.size: [[1]]}, 0, np.inf, larger[clusters[:-1]] - larger[clusters[1:]])

    def only_preferred(self) -> NDArray[np.float64]:
        """Return upper bounds that fix every unit with a preferred cluster there; the remaining program is small."""
        wanted = self.cost < 0
        return np.where(wanted.any(axis=1, keepdims=True) & ~wanted, 0, self.high)


def alike(
    compiled: CompiledRules, start: Integers | None = None, also: NDArray[np.bool_] | None = None
) -> Classes:
    """Return classes of units that neither a rule nor the start distinguishes; ``also`` names further units.

    Named units are those that must be apart, and those that need friends or are their friends.
    """
    unit, named = compiled.unit, np.diff(compiled.apart.indptr) > 0
    if compiled.needed.any():
        own, _, friends = compiled.unit_friends
        named[own[compiled.needed > 0]] = named[friends[compiled.needed > 0].indices] = True
    if also is not None:
        named |= also
    properties = [compiled.unit_size, compiled.fixed, *compiled.counts.toarray().T]
    split = named.copy()
    if start is not None:
        first = np.full(compiled.n_units, -1, dtype=np.int64)
        first[unit] = start
        split[unit[first[unit] != start]] = True  # a unit with several start clusters is a class of its own
        properties.append(first)
    properties.append(np.where(split, np.arange(compiled.n_units), -1))
    _, place, of_unit, sizes = np.unique(
        np.column_stack(properties), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return Classes(of_unit.ravel(), sizes.astype(np.int64), place.astype(np.int64), named)


def n_entries(compiled: CompiledRules, classes: Classes) -> int:
    """Estimate the number of entries of the program, without making it."""
    links = compiled.links.nnz if compiled.needed.any() else 0
    members = sum(units.size for units in compiled.apart_sets)
    counts = int(np.diff(compiled.counts.indptr)[classes.first].sum())
    return compiled.n_clusters * (2 * classes.sizes.size + counts + members + links)


def make_program(
    compiled: CompiledRules,
    classes: Classes,
    allowed: NDArray[np.bool_] | None = None,
    more: Sequence[int] | NDArray = (),
) -> Program:
    """Return rules as a program without a cost; ``more`` are the upper bounds of further quantities."""
    k, n_x, n_columns = compiled.n_clusters, classes.sizes.size, len(compiled.columns)
    alone = np.flatnonzero(compiled.not_alone > 1)
    at_size, at_counts, at_some = n_x, n_x + 1, n_x + 1 + n_columns
    fixed = compiled.fixed[classes.first][:, None]
    x = np.where((fixed < 0) | (fixed == np.arange(k)), classes.sizes[:, None], 0)
    if allowed is not None:
        x[~allowed[classes.first]] = 0
    last = np.concatenate([np.ones(alone.size), more])[:, None] * np.ones(k)
    high = np.vstack([x, compiled.most_size, compiled.most_count.T, last]).astype(float)
    low = np.zeros_like(high)
    low[at_size:at_some] = np.vstack([compiled.least_size, compiled.least_count.T])
    program = Program(classes, low, high, np.zeros_like(high))
    # Every unit is in a cluster; sizes and counts are defined by the units.
    program.add({0: sparse.eye_array(n_x)}, classes.sizes, classes.sizes, np.ones((1, k)))
    program.add({0: compiled.unit_size[classes.first][None, :], at_size: [[-1]]}, 0, 0)
    if n_columns:
        counts = compiled.counts[classes.first].T
        program.add({0: counts, at_counts: -sparse.eye_array(n_columns)}, 0, 0)
    # A count n is at least floor(a s / b) if and only if n - a s / b > -1. Both sides are multiples of 1 / b, so a
    # slack of 1 / (2 b) is exact, and larger than the tolerance of the solver.
    shares = zip(compiled.share_low, compiled.share_high, strict=True)
    for count, ((a, b), (c, d)) in enumerate(shares, start=at_counts):
        if a > 0:
            program.add({count: [[1]], at_size: [[-a / b]]}, 0.5 / b - 1, np.inf)
        if c < d:
            program.add({count: [[1]], at_size: [[-c / d]]}, -np.inf, 1 - 0.5 / d)
    for some, column in enumerate(alone, start=at_some):
        _add_not_alone(program, compiled, int(column), at_counts + int(column), some)
    if compiled.apart_sets:
        owner = np.repeat(np.arange(len(compiled.apart_sets)), list(map(len, compiled.apart_sets)))
        members = classes.of_unit[np.concatenate(compiled.apart_sets)]
        program.add({0: _ones(owner, members, (len(compiled.apart_sets), n_x))}, -np.inf, 1)
    _add_friends(program, compiled)
    return program


def _ones(rows: NDArray, columns: NDArray, shape: tuple[int, int]) -> sparse.coo_array:
    return sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=shape)


def _add_not_alone(program: Program, compiled: CompiledRules, column: int, count: int, some: int) -> None:
    """Require a count to be 0 or at least the least; the binary quantity ``some`` is 0 or 1 accordingly."""
    classes = program.classes
    by_class = compiled.counts[classes.first][:, [column]].tocoo()
    program.add({count: [[1]], some: [[-compiled.not_alone[column]]]}, 0, np.inf)
    program.add({count: [[1]], some: [[-compiled.counts[:, [column]].sum()]]}, -np.inf, 0)
    # The same constraint for each class tightens the linear relaxation.
    own = by_class.row
    one = _ones(np.arange(own.size), own, (own.size, classes.sizes.size))
    program.add({0: one, some: -classes.sizes[own][:, None]}, -np.inf, 0)


def _add_friends(program: Program, compiled: CompiledRules) -> None:
    """Require enough friends of every node in its cluster; those of its own unit count already."""
    own, missing, friends = compiled.unit_friends
    lacking = np.flatnonzero(missing > 0)
    if not lacking.size:
        return
    # Units with friends, and friends, are classes of one.
    classes, shape = program.classes, (lacking.size, program.classes.sizes.size)
    needed = sparse.coo_array(
        (missing[lacking], (np.arange(lacking.size), classes.of_unit[own[lacking]])), shape=shape
    )
    program.add({0: friends[lacking][:, classes.first] - needed}, 0, np.inf)


def interchangeable(compiled: CompiledRules) -> list[list[int]]:
    """Return the sets of interchangeable clusters, which can be renumbered without breaking a rule.

    Clusters of fixed nodes are in none of them.
    """
    named = set(compiled.fixed.tolist())
    bounds = compiled.least_size, compiled.most_size, compiled.least_count, compiled.most_count
    alike: dict[tuple[int, ...], list[int]] = {}
    for cluster, own in enumerate(np.column_stack(bounds).tolist()):
        if cluster not in named:
            alike.setdefault(tuple(own), []).append(cluster)
    return [clusters for clusters in alike.values() if len(clusters) > 1]


def cohesive_hint(compiled: CompiledRules, named: NDArray[np.bool_]) -> Integers:
    """Return a greedy assignment of the named units that keeps links, balances sizes and respects apart rules.

    Without an objective the solver is slow. With cohesive labels as a hint, in which most friends are kept already, it
    finds a solution in a hundredth of the time. The hint has no other effect.

    Units are assigned one after another in an order in which neighbours are close, in several passes. Each goes to the
    cluster with most of its links that is not full. Units without a name have -1.
    """
    k, unit_size, links = compiled.n_clusters, compiled.unit_size, _unit_links(compiled)
    order = reverse_cuthill_mckee(links, symmetric_mode=True)
    sizes, cluster = np.zeros(k), np.full(compiled.n_units, -1, dtype=np.int64)
    for unit in order[named[order]].tolist() * (_PASSES if links.nnz else 1):
        if cluster[unit] >= 0:
            sizes[cluster[unit]] -= unit_size[unit]
        friends, weights = entries_of(links, unit)
        placed = cluster[friends] >= 0
        kept = np.bincount(cluster[friends[placed]], weights[placed], k)
        # A small penalty for large clusters, and a large one for full ones.
        filled = sizes * k / compiled.n_nodes
        score = kept - 0.2 * filled - 10 * np.maximum(filled - _FULL, 0)
        forbidden = cluster[entries_of(compiled.apart, unit)[0]]
        score[forbidden[forbidden >= 0]] -= np.inf
        cluster[unit] = np.argmax(score) if compiled.fixed[unit] < 0 else compiled.fixed[unit]
        sizes[cluster[unit]] += unit_size[unit]
    return cluster


def _unit_links(compiled: CompiledRules) -> sparse.csr_matrix:
    """Return the number of links between every two units, in both directions; none without a rule on friends."""
    shape = (compiled.n_units, compiled.n_units)
    if not compiled.needed.any():
        return sparse.csr_matrix(shape)
    own, _, friends = compiled.unit_friends
    links = friends.tocoo()
    found = sparse.csr_matrix((links.data, (own[links.row], links.col)), shape=shape)
    return found + found.T.tocsr()
