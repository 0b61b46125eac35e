r"""Rules as a mixed-integer program.

Units that no rule tells apart are counted instead of named. With :math:`q_a` units in class :math:`a`, all of
:math:`w_a` nodes, the program is over whole numbers :math:`x_{ac}`, how many of class a are in cluster c:

.. math:: \sum_c x_{ac} = q_a, \qquad \sum_a w_a x_{ac} = s_c, \qquad \sum_a m_{av} x_{ac} = n_{vc}

with bounds on the sizes :math:`s_c` and the counts :math:`n_{vc}` of columns. Units that are to be apart, or that
have links to keep, are classes of one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from equigraph.rules.arrays import Integers
from equigraph.rules.compile import CompiledRules
from equigraph.rules.hint import cohesive_hint


@dataclass(frozen=True, eq=False)
class Classes:
    """Units that are alike, taken together."""

    of_unit: Integers
    sizes: Integers
    first: Integers  # a unit of each class, which stands for all of them
    named: NDArray[np.bool_]  # which units are classes of their own, since a rule speaks of them by name


class ConstraintRows(list[optimize.LinearConstraint]):
    """Constraints on so many variables."""

    def __init__(self, n_variables: int) -> None:
        super().__init__()
        self.n_variables = n_variables

    def add(self, parts: dict[int, Any], low: Any, high: Any) -> None:
        """Add rows made of blocks of columns, given with the number of their first column."""
        pieces = {start: sparse.coo_array(block) for start, block in parts.items()}
        height = next(iter(pieces.values())).shape[0]
        # 32-bit indices: the HiGHS of older scipy takes no others, and no program is as large.
        rows = np.concatenate([piece.row for piece in pieces.values()]).astype(np.int32)
        columns = np.concatenate([piece.col + start for start, piece in pieces.items()]).astype(np.int32)
        data = np.concatenate([piece.data for piece in pieces.values()]).astype(float)
        matrix = sparse.coo_array((data, (rows, columns)), shape=(height, self.n_variables)).tocsr()
        sides = (np.broadcast_to(side, height) for side in (low, high))
        self.append(optimize.LinearConstraint(matrix, *sides))


@dataclass(frozen=True, eq=False)
class Program:
    """A mixed-integer program for `scipy.optimize.milp`; the first ``n_classes * n_clusters`` variables are x.

    Its cost is worth minimising (`minimise`) or only says where to look first.
    """

    classes: Classes
    minimise: bool
    cost: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    rows: ConstraintRows

    def numbered(self, compiled: CompiledRules) -> Program:
        """Return the program with interchangeable clusters numbered by the first unit in them.

        The i-th of a few units is then in one of the first i clusters; where units have no names, clusters are ordered
        by size.
        """
        k, classes, high = compiled.n_clusters, self.classes, self.high.copy()
        rows = ConstraintRows(self.rows.n_variables)
        rows.extend(self.rows)
        order = _numbering_order(compiled, classes)
        for clusters in interchangeable(compiled):
            for place, unit in enumerate(order[: len(clusters) - 1]):
                high[classes.of_unit[unit] * k + np.array(clusters[place + 1 :])] = 0
            if not order:
                steps = np.arange(len(clusters) - 1)
                larger, smaller = np.zeros((2, steps.size, k))
                larger[steps, clusters[:-1]] = smaller[steps, clusters[1:]] = 1
                rows.add({classes.sizes.size * k: larger - smaller}, 0, np.inf)
        return replace(self, high=high, rows=rows)

    def extended(self, high: NDArray) -> Program:
        """Return the program with further variables from 0 to an upper bound each, which cost nothing."""
        more, total = np.zeros(high.size), self.cost.size + high.size
        rows = ConstraintRows(total)
        for row in self.rows:
            matrix = row.A.copy()
            matrix.resize((matrix.shape[0], total))
            rows.append(optimize.LinearConstraint(matrix, row.lb, row.ub))
        cost, low = (np.concatenate([one, more]) for one in (self.cost, self.low))
        return replace(self, cost=cost, low=low, high=np.concatenate([self.high, high]), rows=rows)


def individuals(compiled: CompiledRules) -> NDArray[np.bool_]:
    """Return which units a rule speaks of by name: those to be apart, and those with links to keep."""
    named = np.diff(compiled.apart.indptr) > 0
    asks = np.flatnonzero(compiled.needed)
    named[compiled.unit[asks % compiled.n_nodes]] = True
    named[compiled.unit[compiled.links[asks].indices]] = True
    return named


def alike(
    compiled: CompiledRules, start: Integers | None = None, also: NDArray[np.bool_] | None = None
) -> Classes:
    """Put units into classes that no rule, and no label of the start, tells apart; ``also`` names further units."""
    unit = compiled.unit
    looks = [compiled.unit_size, compiled.fixed, *compiled.counts.toarray().T]
    named = individuals(compiled) if also is None else individuals(compiled) | also
    split = named.copy()
    if start is not None:
        first = np.full(compiled.n_units, -1, dtype=np.int64)
        first[unit] = start
        split[unit[first[unit] != start]] = True  # a unit that starts in several clusters is like no other
        looks.append(first)
    looks.append(np.where(split, np.arange(compiled.n_units), -1))
    _, place, of_unit, sizes = np.unique(
        _one_number(looks), return_index=True, return_inverse=True, return_counts=True
    )
    return Classes(of_unit.astype(np.int64), sizes.astype(np.int64), place.astype(np.int64), named)


def _one_number(columns: list[Integers]) -> Integers:
    """Return a number for every row that only equal rows share; sorting numbers is quicker than sorting rows."""
    key, width = np.zeros(columns[0].size, dtype=np.int64), 1
    for column in columns:
        low, span = int(column.min()), int(column.max()) - int(column.min()) + 1
        if width * span >= 2**62:
            names, key = np.unique(key, return_inverse=True)
            width = names.size
        key = key * span + (column - low)
        width *= span
    return key


def n_entries(compiled: CompiledRules, classes: Classes) -> int:
    """Return about how many entries the program has, without making it."""
    links = compiled.links.nnz if compiled.needed.any() else 0
    members = sum(units.size for units in compiled.apart_sets)
    counts = int(np.diff(compiled.counts.indptr)[classes.first].sum())
    return compiled.n_clusters * (2 * classes.sizes.size + counts + members + links)


def make_program(
    compiled: CompiledRules,
    classes: Classes,
    start: Integers | None = None,
    hint: Integers | None = None,
    allowed: NDArray[np.bool_] | None = None,
) -> Program:
    """Write rules as a program; with a start, its cost is the number of nodes that leave their cluster."""
    k = compiled.n_clusters
    n_x, n_counts = classes.sizes.size * k, len(compiled.columns) * k
    at_sizes, at_counts = n_x, n_x + k
    at_some = at_counts + n_counts
    alone = np.flatnonzero(compiled.not_alone > 1)
    total = at_some + alone.size * k
    rows = ConstraintRows(total)
    _add_sums(rows, compiled, classes, at_sizes, at_counts)
    _add_shares(rows, compiled, at_sizes, at_counts)
    _add_not_alone(rows, compiled, classes, alone, at_counts, at_some)
    _add_apart(rows, compiled, classes)
    _add_friends(rows, compiled, classes)
    low, high = _bounds(compiled, classes, total)
    if allowed is not None:
        high[:n_x][~allowed[classes.first].ravel()] = 0
    cost = np.zeros(total)
    if start is None:
        _prefer_hint(cost, compiled, classes, hint)
    else:
        of_node = classes.of_unit[compiled.unit]
        np.add.at(cost, of_node * k + start, -1.0 / classes.sizes[of_node])
    return Program(
        classes=classes,
        minimise=start is not None,
        cost=cost,
        low=low,
        high=high,
        rows=rows,
    )


def per_cluster(matrix: Any, k: int) -> sparse.coo_array:
    """Return the rows of a matrix over classes, once for every cluster."""
    return sparse.kron(sparse.coo_array(matrix), sparse.eye_array(k), format="coo")


def _add_sums(
    rows: ConstraintRows, compiled: CompiledRules, classes: Classes, at_sizes: int, at_counts: int
) -> None:
    """Everybody is somewhere; sizes and counts are what the nodes make them."""
    k, n_columns = compiled.n_clusters, len(compiled.columns)
    everywhere = sparse.kron(sparse.eye_array(classes.sizes.size), np.ones((1, k)))
    rows.add({0: everywhere}, classes.sizes, classes.sizes)
    weights = compiled.unit_size[classes.first][None, :]
    rows.add({0: per_cluster(weights, k), at_sizes: -sparse.eye_array(k)}, 0, 0)
    if n_columns:
        counts = compiled.counts[classes.first].T
        rows.add({0: per_cluster(counts, k), at_counts: -sparse.eye_array(n_columns * k)}, 0, 0)


def _add_shares(rows: ConstraintRows, compiled: CompiledRules, at_sizes: int, at_counts: int) -> None:
    """Bound shares: a count n is at least floor(a s / b) just if n - a s / b > -1, and both sides are whole b-ths.

    So half a b-th may be left on either side, which is more than the solver is inexact.
    """
    k = compiled.n_clusters
    one = sparse.eye_array(k)
    for column, ((a, b), (c, d)) in enumerate(zip(compiled.share_low, compiled.share_high, strict=True)):
        at = at_counts + column * k
        if a > 0:
            rows.add({at: one, at_sizes: -(a / b) * one}, 0.5 / b - 1, np.inf)
        if c < d:
            rows.add({at: one, at_sizes: -(c / d) * one}, -np.inf, 1 - 0.5 / d)


def _add_not_alone(
    rows: ConstraintRows,
    compiled: CompiledRules,
    classes: Classes,
    alone: NDArray[np.intp],
    at_counts: int,
    at_some: int,
) -> None:
    """Let a count be 0, or at least the least and at most all; the last variables say which."""
    k = compiled.n_clusters
    totals = compiled.counts.sum(axis=0)
    by_class = compiled.counts[classes.first].tocsc()
    for place, column in enumerate(alone):
        count, some = at_counts + column * k, at_some + place * k
        least = float(compiled.not_alone[column]) * sparse.eye_array(k)
        rows.add({count: sparse.eye_array(k), some: -least}, 0, np.inf)
        rows.add({count: sparse.eye_array(k), some: -float(totals[column]) * sparse.eye_array(k)}, -np.inf, 0)
        # Class by class the same says more to a solver that begins with fractions.
        own = by_class.indices[by_class.indptr[column] : by_class.indptr[column + 1]]
        one = sparse.coo_array(
            (np.ones(own.size), (np.arange(own.size), own)), shape=(own.size, classes.sizes.size)
        )
        every = sparse.kron(-classes.sizes[own][:, None].astype(float), sparse.eye_array(k))
        rows.add({0: per_cluster(one, k), some: every}, -np.inf, 0)


def _add_apart(rows: ConstraintRows, compiled: CompiledRules, classes: Classes) -> None:
    if not compiled.apart_sets:
        return
    owner = np.repeat(np.arange(len(compiled.apart_sets)), [units.size for units in compiled.apart_sets])
    members = classes.of_unit[np.concatenate(compiled.apart_sets)]
    shape = (len(compiled.apart_sets), classes.sizes.size)
    sets = sparse.coo_array((np.ones(owner.size), (owner, members)), shape=shape)
    rows.add({0: per_cluster(sets, compiled.n_clusters)}, -np.inf, 1)


def _add_friends(rows: ConstraintRows, compiled: CompiledRules, classes: Classes) -> None:
    """Every node in a cluster has enough linked nodes there; those of its own unit come along anyway."""
    unit, links, n_rows = compiled.unit, compiled.links, compiled.needed.size
    row = np.repeat(np.arange(n_rows), np.diff(links.indptr))
    own = unit[np.arange(n_rows) % unit.size]
    inside = own[row] == unit[links.indices]
    missing = compiled.needed - np.bincount(row[inside], minlength=n_rows)
    lacking = np.flatnonzero(missing > 0)
    if not lacking.size:
        return
    place = np.full(n_rows, -1)
    place[lacking] = np.arange(lacking.size)
    used = ~inside & (place[row] >= 0)
    rows_ = np.concatenate([place[row[used]], np.arange(lacking.size)])
    columns = classes.of_unit[np.concatenate([unit[links.indices[used]], own[lacking]])]
    data = np.concatenate([np.ones(int(used.sum())), -missing[lacking].astype(float)])
    matrix = sparse.coo_array((data, (rows_, columns)), shape=(lacking.size, classes.sizes.size))
    rows.add({0: per_cluster(matrix, compiled.n_clusters)}, 0, np.inf)


def _bounds(compiled: CompiledRules, classes: Classes, total: int) -> tuple[NDArray, NDArray]:
    k = compiled.n_clusters
    fixed = compiled.fixed[classes.first][:, None]
    x = np.where((fixed < 0) | (fixed == np.arange(k)), classes.sizes[:, None], 0)
    n_x, n_counts = x.size, compiled.least_count.size
    low, high = np.zeros(total), np.ones(total)
    high[:n_x] = x.ravel()
    low[n_x : n_x + k], high[n_x : n_x + k] = compiled.least_size, compiled.most_size
    low[n_x + k : n_x + k + n_counts] = compiled.least_count.T.ravel()
    high[n_x + k : n_x + k + n_counts] = compiled.most_count.T.ravel()
    return low, high


def interchangeable(compiled: CompiledRules) -> list[list[int]]:
    """Return the sets of clusters that could trade their numbers without breaking a rule.

    Clusters that a fixed node names are in none of them.
    """
    named = set(compiled.fixed.tolist())
    alike: dict[tuple, list[int]] = {}
    for cluster in range(compiled.n_clusters):
        if cluster not in named:
            look = (
                compiled.least_size[cluster],
                compiled.most_size[cluster],
                compiled.least_count[cluster].tobytes(),
                compiled.most_count[cluster].tobytes(),
            )
            alike.setdefault(look, []).append(cluster)
    return [clusters for clusters in alike.values() if len(clusters) > 1]


def _numbering_order(compiled: CompiledRules, classes: Classes) -> list[int]:
    """Return a few named units, by which interchangeable clusters are numbered.

    Units to be apart come first: they are in different clusters, so that most of them have only one left to be in.
    """
    named = np.flatnonzero(classes.named)
    biggest = max(compiled.apart_sets, key=len, default=np.zeros(0, dtype=np.int64))
    return list(dict.fromkeys([*biggest.tolist(), *named[: compiled.n_clusters].tolist()]))


def _prefer_hint(cost: NDArray, compiled: CompiledRules, classes: Classes, labels: Integers | None) -> None:
    """Prefer the cluster of the hint for every named unit."""
    named = classes.named
    if labels is None:
        hint = cohesive_hint(compiled, named)
    else:
        hint = np.full(compiled.n_units, -1, dtype=np.int64)
        hint[compiled.unit] = labels
        hint[~named] = -1
    units = np.flatnonzero(hint >= 0)
    cost[classes.of_unit[units] * compiled.n_clusters + hint[units]] = -1.0


def only_preferred(program: Program, n_clusters: int) -> Program:
    """Return the program with every unit that prefers a cluster held there; what is left is small."""
    x = slice(0, program.classes.sizes.size * n_clusters)
    wanted = program.cost[x].reshape(-1, n_clusters) < 0
    high = program.high.copy()
    elsewhere = np.any(wanted, axis=1, keepdims=True) & ~wanted
    high[x][elsewhere.ravel()] = 0
    return replace(program, high=high)
