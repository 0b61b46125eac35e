"""Arguments of the compiled loops: named tuples of arrays, each of one fixed type, as any other is compiled anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


class Level(NamedTuple):
    """A graph of nodes or of super-nodes (sites).

    Attributes
    ----------
    indptr, indices, data : ndarray
        Weights between different sites in CSR form, columns sorted, without a diagonal: weight inside a super-node
        never changes a gain.
    strength : ndarray of shape (n,)
        Sum of the degrees of the nodes inside.
    sizes : ndarray of shape (n,), int64
        Number of nodes inside.
    columns : ndarray of shape (n, n_attributes), int32
        Group of each node by each attribute, -1 for none; no rows if sites are super-nodes. Groups of several
        attributes are numbered consecutively.
    counts : ndarray of shape (n, n_groups), int64
        Nodes of each group inside a super-node, so that fairness is exact at every level; no rows if sites are nodes.
    """

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: Numbers
    strength: Numbers
    sizes: Integers
    columns: NDArray[np.int32]
    counts: Integers

    @property
    def n_sites(self) -> int:
        """Number of sites."""
        return int(self.strength.size)


class Terms(NamedTuple):
    """Parameters of the objective except the score of the notion; see `equigraph.search.objective.Objective`.

    The columns of a table of counts are the groups of all attributes side by side, those of attribute ``a`` from
    ``offsets[a]`` to ``offsets[a + 1]``. A cluster adds ``weights[a]`` times its score to the notion, and if ``sized``
    this times its number of nodes with a group. ``even`` times its evenness less 1 is added to the score. ``least``
    and ``most`` bound the nodes of each cluster; empty if the number of clusters is free. With ``everywhere`` the
    candidates of a move are all clusters, not only those of neighbours.
    """

    population: Integers
    offsets: Integers
    weights: Numbers
    least: Integers
    most: Integers
    sized: bool
    everywhere: bool
    total: float
    resolution: float
    fairness: float
    cap: float
    even: float


class LabelState(NamedTuple):
    """Labels with aggregates per cluster for the gain of a move, updated in place.

    ``table`` counts the groups of each cluster, and ``parts`` is its contribution to the notion by each attribute.
    ``cached[c, 0, g]`` and ``cached[c, 1, g]`` are the change of that contribution when a node of group g joins or
    leaves, NaN if not computed yet. Groups are not counted if the dial is 0. ``tally`` has the sum of the parts, the
    number of clusters in use, an unused label (-1: none known), and the total violation of size bounds and rules.
    """

    labels: NDArray[np.int32]
    volume: Numbers
    size: Integers
    table: Integers
    parts: Numbers
    cached: Numbers
    tally: Numbers


# Positions in ``LabelState.tally``.
SUM, N_CLUSTERS, SPARE, BROKEN = 0, 1, 2, 3


_NONE = np.zeros(0, dtype=np.int64)
_NO_TABLE = np.zeros((0, 0), dtype=np.int64)


class Constraints(NamedTuple):
    """Rules on the sites of a level with their violations; see `equigraph.rules.CompiledRules`.

    ``nodes[first[i] : first[i + 1]]`` are the nodes of site i. ``foes`` are the sites that may not share its cluster;
    ``columns`` and ``numbers`` are its entries in the count columns; each has its own ``..._starts``. Row r of
    ``links`` holds the friends of node ``r % n``, of whom it needs ``needed[r]``; ``askers`` is the transpose. ``home``
    is the home cluster of each node (-1: none), ``allowed`` the number of nodes that may be outside theirs, and
    ``stay`` the penalty for each of those. Arrays without a rule are empty, of the same types, so that
    no loop is compiled twice; ``any`` is whether there is a rule.

    Updated by moves: ``counts`` of the columns in each cluster, ``costs`` (the violation of these counts), ``kept``
    (friends in the same cluster, by row of ``links``), and ``sums``: missing friends, nodes outside their home
    cluster, and the change of the latter by the move evaluated last.
    """

    any: bool = False
    site: Integers = _NONE
    first: Integers = _NONE
    nodes: Integers = _NONE
    free: Integers = _NONE
    movable: NDArray[np.bool_] = _NONE.astype(np.bool_)
    foe_starts: Integers = _NONE
    foes: Integers = _NONE
    column_starts: Integers = _NONE
    columns: Integers = _NONE
    numbers: Integers = _NONE
    least: Integers = _NO_TABLE
    most: Integers = _NO_TABLE
    alone: Integers = _NONE
    low: Integers = _NO_TABLE
    high: Integers = _NO_TABLE
    needed: Integers = _NONE
    link_starts: Integers = _NONE
    links: Integers = _NONE
    asker_starts: Integers = _NONE
    askers: Integers = _NONE
    home: NDArray[np.int32] = _NONE.astype(np.int32)
    allowed: int = 0
    stay: float = 0.0
    counts: Integers = _NO_TABLE
    costs: Integers = _NONE
    kept: Integers = _NONE
    sums: Integers = np.zeros(3, dtype=np.int64)


# Positions in ``Constraints.sums``.
LACKING, MOVED, AWAY = 0, 1, 2


class Tour(NamedTuple):
    """Sites visited by a pass of local moves: the rows ``order``, counted from ``low``, whose ``awake`` flag is set.

    A site only considers neighbours with the same entry of ``within``, unless that is empty. With ``fixed`` the number
    of clusters is fixed. ``wanted`` lists for each group the clusters that lack it most, or is empty. ``gained``
    accumulates the number of moves and the gains of Q, of the notion and of the objective; its last entry is a
    cluster that is a candidate in rotation. ``links`` (zeros) and ``near`` are work arrays for neighbouring clusters.
    """

    low: int
    order: Integers
    within: NDArray[np.int32]
    fixed: bool
    awake: NDArray[np.bool_]
    wanted: Integers
    gained: Numbers
    links: Numbers
    near: Integers


class Cooling(NamedTuple):
    """Temperature schedule of a segment of simulated annealing, in units of a typical change of the objective.

    ``cheap`` and ``dear`` are the penalty of a violation at the start and at the end. The unit is measured on
    ``n_trials`` random moves. It is kept in ``sums``, with the gain, the best gain and whether feasible labels were
    visited; the best of those are in ``best``. ``random`` is the state of the generator. ``members`` are the sites
    sorted by cluster, ``place`` the position of each site among them, and ``ends`` the end of each cluster.
    """

    hot: float
    cold: float
    cheap: float
    dear: float
    n_trials: int
    n_steps: int
    swaps: float
    random: NDArray[np.uint64]
    best: NDArray[np.int32]
    sums: Numbers
    members: Integers
    place: Integers
    ends: Integers


# Positions in ``Cooling.sums``.
UNIT, GAIN, BEST, MET = 0, 1, 2, 3


class SwapCandidates(NamedTuple):
    """Candidates for swaps: a heap of nodes for each slot (cluster, target cluster, kind: the first group of a node).

    Slot ``(a * n_clusters + b) * n_kinds + kind`` has ``number`` entries, the largest gain first. All slots have the
    same capacity. A gain is that of Q, in units of weight, by a move of the node alone, less the part that is quadratic
    in its strength. It was exact when the node was visited; a neighbour may have moved since.
    """

    number: Integers
    who: Integers
    gain: Numbers
    strength: Numbers
    columns: NDArray[np.int32]
