"""What compiled loops take: named tuples of arrays, each of one type, since every other type is compiled anew."""

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
        Weights between different sites in CSR form, columns sorted, without a diagonal: what lies inside a super-node
        moves with it and never changes a gain.
    strength : ndarray of shape (n,)
        Sum of the degrees of the nodes inside.
    sizes : ndarray of shape (n,), int64
        Number of nodes inside.
    columns : ndarray of shape (n, n_attributes), int32
        Group of each node by each attribute, -1 for none; without rows where sites are super-nodes. Groups of several
        attributes are numbered one after the other.
    counts : ndarray of shape (n, n_groups), int64
        Nodes of each group inside a super-node, so that fairness is exact at
        every level; without rows where sites are nodes.
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
    """The objective as plain values, but for the score of the notion; see `equigraph.search.objective.Objective`.

    The columns of a table of counts are the groups of all attributes side by side, those of attribute ``a`` from
    ``offsets[a]`` to ``offsets[a + 1]``. A cluster adds ``weights[a]`` times its score to the notion, and times its
    nodes that have a group if ``sized``; ``even`` times its evenness less 1 is added to the score. ``least`` and
    ``most`` bound the nodes of each cluster; empty where the number of clusters is free. ``everywhere`` says that a
    site looks at all clusters, not only at those of its neighbours.
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
    """Labels with all that moves need, updated in place.

    ``table`` counts the groups of each cluster and ``parts`` holds what it adds to the notion by each attribute;
    ``cached[c, 0, g]`` and ``cached[c, 1, g]`` are the change of that when a node of group g joins or leaves, NaN where
    it is not known. Groups are not counted where the dial rests at 0. ``tally`` has the sum of the parts, the number of
    clusters in use, a label that no site has (-1: none is known), and by how much sizes and rules are missed.
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


class Constraints(NamedTuple):
    """Rules on the sites of a level, and how far labels keep them; see `equigraph.rules.CompiledRules`.

    ``nodes[first[i] : first[i + 1]]`` are the nodes of site i. ``foes`` are sites to be apart, ``columns`` and
    ``numbers`` the counts of a site, each with its own ``..._starts``. Row r of ``links`` holds the friends of node
    ``r % n``, of whom it needs ``needed[r]``; ``askers`` holds the rows in which each node occurs. ``home`` (-1:
    none) is per node. What no rule needs is empty; ``any`` says whether there is a rule at all. ``allowed`` is the
    number of nodes that may be elsewhere than at home, and ``stay`` what each of them costs. Updated by moves:
    ``counts`` of the columns in each cluster, ``costs``, by how much each cluster misses them, ``kept`` links of
    each row, and ``sums``: links that are lacking, nodes moved, and how many more the move that was looked at last
    would move.
    """

    any: bool
    site: Integers
    first: Integers
    nodes: Integers
    free: Integers
    movable: NDArray[np.bool_]
    foe_starts: Integers
    foes: Integers
    column_starts: Integers
    columns: Integers
    numbers: Integers
    least: Integers
    most: Integers
    alone: Integers
    low: Integers
    high: Integers
    needed: Integers
    link_starts: Integers
    links: Integers
    asker_starts: Integers
    askers: Integers
    home: NDArray[np.int32]
    allowed: int
    stay: float
    counts: Integers
    costs: Integers
    kept: Integers
    sums: Integers


# Positions in ``Constraints.sums``.
LACKING, MOVED, AWAY = 0, 1, 2


class Tour(NamedTuple):
    """The sites that a pass of moves visits: rows ``order``, counted from ``low``, that are awake.

    A site only sees neighbours with the same entry of ``within``, unless that is empty. ``fixed`` says that clusters
    are neither emptied nor added, ``wanted`` has for each group the clusters that lack it most, or nothing. ``gained``
    adds up moves, and what Q, the notion and the objective rose by; its last entry is a cluster to look at in turn.
    ``links`` (zeros) and ``near`` are room for the clusters of neighbours.
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
    """A piece of an annealing: temperatures and prices of a broken rule in units of a typical change.

    The unit is measured on ``n_trials`` random moves, and kept in ``sums`` with the gain, the best gain and whether any
    labels that keep all bounds and rules were met; those are in ``best``. ``random`` is the state of the generator.
    ``members`` are the sites by cluster, ``place`` where each site is among them, ``ends`` where each cluster ends.
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


class Waiting(NamedTuple):
    """Nodes that would change places: a heap for each slot (cluster, cluster to go to, kind: its first group).

    Slot ``(a * n_clusters + b) * n_kinds + kind`` has ``number`` entries, the one that gains most first, of the equally
    many that there is room for. What is kept of a node was true when it was visited: a neighbour may have moved since.
    """

    number: Integers
    who: Integers
    gain: Numbers
    strength: Numbers
    columns: NDArray[np.int32]
