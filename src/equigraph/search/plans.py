"""How long each step of the search takes: another size of graph is another plan, never another algorithm.

The numbers were settled on the generated graphs of ``python -m benchmarks unseen`` with seeds 1 to 6 and the six
networks of the paper; docs/measurements.md has what they reach on others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt

# Where the dial rests on its way up, once for every fit whatever dial it asks for: labels that were made fairer than
# wanted, and then let go, are often better than those that were never that fair.
LADDER = (0.1, 0.2, 0.35, 0.5, 0.8)
# Values at which a whole front is searched; between them the pool serves.
DIAL = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)
# From so many nodes or stored entries on, the search is done on parts of the graph.
_LARGE_NODES, _LARGE_ENTRIES = 100_000, 2_000_000
# Proposals of an annealing for each node and cluster, where more clusters than this do not count.
_PER_PAIR, _MOST_CLUSTERS = 4, 20
# No annealing is shorter, on the many values of a front and otherwise. On graphs of up to so many nodes, and under
# rules, few long ones find more than many short ones.
_LEAST_FRONT, _LEAST_STEPS, _FEW_NODES = 40_000, 100_000, 60
# Nodes with more edges than this make a proposal cost more.
_EDGES = 40
# Divisions that are made and raised on graphs of up to so many nodes and tenths of stored entries; one on larger ones.
_STARTS = (
    (200, (4, 4)),
    (500, (10, 10)),
    (3_000, (6, 4)),
    (12_000, (4, 3)),
    (60_000, (3, 1)),
    (300_000, (2, 2)),
)
# Annealings at the end, ever longer as long as they pay: at most so many, and none on graphs with more nodes and tenths
# of stored entries than this.
_MOST_LONGER, _LONGER_WORK = 10, 20_000
# On fewer nodes an annealing proposes every swap that counts; on more, nodes that wait for a partner are matched at the
# end, so often in turn with single moves.
_SWAPPED_NODES, _SWAP_ROUNDS = 500, 10
# Parts of a large graph: so many for each cluster, and at least so many.
_PARTS_EACH, _LEAST_PARTS = 20, 10_000
# A graph with more entries may link every two parts: fewer of them then, so that their graph needs about a gigabyte.
_MOST_PAIRS = 20_000_000


@dataclass(frozen=True)
class Plan:
    """What is done on a graph of one size.

    Attributes
    ----------
    n_starts : int
        Cohesive divisions that are made independently of each other and recombined.
    n_raised : int
        Divisions that are raised along the dial, and recombined at each value asked for.
    n_steps : int
        Proposals of an annealing on the nodes.
    n_longer : int
        How many annealings at the end there are at most, ever longer as long as they pay.
    n_swaps : int
        How often pairs of nodes that gain by changing places are looked for at the end.
    """

    n_starts: int
    n_raised: int
    n_steps: int
    n_longer: int
    n_swaps: int


def is_large(n_nodes: int, n_entries: int) -> bool:
    """Return whether a graph of this size is searched on parts."""
    return n_nodes >= _LARGE_NODES or n_entries >= _LARGE_ENTRIES


def plan_for(
    n: int, entries: int, n_clusters: int, effort: float, *, ruled: bool = False, front: bool = False
) -> Plan:
    """Return the plan for a graph of so many nodes and stored entries.

    Under rules it has fewer and longer steps; for a whole front, each value of the dial needs less work of its own.
    """
    many = max(effort, 0.1) ** 0.5
    # A proposal costs a pass over the edges of a node.
    dense = max(entries / (_EDGES * max(n, 1)), 1.0)
    long = ruled or n <= _FEW_NODES
    least = _LEAST_FRONT if front and not long else _LEAST_STEPS
    n_steps = max(_PER_PAIR * n * min(n_clusters, _MOST_CLUSTERS) / dense, least)
    work = n + entries / 10
    n_starts, n_raised = next((counts for most, counts in _STARTS if work <= most), (1, 1))
    if ruled:
        n_starts, n_raised = min(n_starts, 6), min(max(n_raised, 6), 8 if n <= 500 else n_raised)
    plan = Plan(
        n_starts=max(round(n_starts * many), 1),
        n_raised=max(round(n_raised * many), 1),
        n_steps=int(n_steps * many),
        n_longer=_MOST_LONGER if work <= _LONGER_WORK else 0,
        n_swaps=_SWAP_ROUNDS if n >= _SWAPPED_NODES else 0,
    )
    if not front:
        return plan
    return replace(
        plan,
        n_starts=min(plan.n_starts, max(plan.n_starts // 2, 4)),
        n_raised=min(plan.n_raised, max(plan.n_raised // 3, 2)),
        n_longer=0,
    )


def n_parts_for(n: int, entries: int, n_clusters: int) -> int:
    """Return into how many parts a large graph is divided."""
    least = _LEAST_PARTS if entries <= _MOST_PAIRS else min(_LEAST_PARTS, isqrt(_MOST_PAIRS))
    return max(min(max(_PARTS_EACH * n_clusters, least), n // 2), n_clusters + 1)
