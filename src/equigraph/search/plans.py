"""Length of each step of the search, by the size of the graph; the algorithm is the same for all sizes.

The numbers were tuned on the generated graphs of ``python -m benchmarks unseen`` with seeds 1 to 6 and the six networks
of the paper; docs/measurements.md has the results on other graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt

# Increasing values of the dial, the same for every target: labels that were once fairer than the target asks for are
# often better at the target than those that never were.
LADDER = (0.1, 0.2, 0.35, 0.5, 0.8)
# Values of the dial at which a whole front is searched; the pool covers those between.
DIAL = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)
# Graphs with at least so many nodes or stored entries are searched on parts.
_LARGE_NODES, _LARGE_ENTRIES = 100_000, 2_000_000
# Proposals of an annealing per node and cluster, and the number of clusters counted at most.
_PER_PAIR, _MOST_CLUSTERS = 4, 20
# Least number of proposals, for the values of a front and otherwise. On graphs of up to so many nodes, and under rules,
# a few long annealings find more than many short ones.
_LEAST_FRONT, _LEAST_STEPS, _FEW_NODES = 40_000, 100_000, 60
# Mean degree above which a proposal costs more.
_EDGES = 40
# Numbers of divisions made and raised, by the number of nodes plus a tenth of the stored entries; one on larger graphs.
_STARTS = (
    (200, (8, 4)),
    (500, (20, 10)),
    (3_000, (12, 4)),
    (12_000, (8, 3)),
    (60_000, (6, 1)),
    (300_000, (2, 2)),
)
# Of many clusters more divisions are raised, one for so many clusters up to the most, on graphs of up to so much work:
# each cluster is a choice of its own, and the more divisions are recombined, the more of these are good.
_CLUSTERS_EACH, _MOST_RAISED, _RAISED_WORK = 4, 8, 12_000
# Most final annealings on graphs with so many nodes plus tenths of stored entries; on larger ones, up to the second
# number, a single one for cohesion alone, whose proposals cost a third.
_MOST_LONGER, _LONGER_WORK, _PLAIN_WORK = 8, 20_000, 60_000
# Where there are no clear clusters: least proposals of these annealings per node and cluster, most in all, and the
# number of groups above which a proposal costs more.
_PER_UNCLEAR, _MOST_UNCLEAR, _MANY_GROUPS = 1_000, 4_000_000, 10
# From so many nodes on, so many rounds of swaps and single moves follow at the end; on fewer nodes annealing proposes
# all relevant swaps.
_SWAPPED_NODES, _SWAP_ROUNDS = 500, 10
# Parts of a large graph: number per cluster, and least number.
_PARTS_EACH, _LEAST_PARTS = 20, 10_000
# Most pairs of parts for graphs with more entries, which may link all of them: their graph needs about a gigabyte.
_MOST_PAIRS = 20_000_000


@dataclass(frozen=True)
class Plan:
    """Lengths of the steps of the search on one graph.

    Attributes
    ----------
    n_starts : int
        Number of independent cohesive divisions, which are recombined.
    n_raised : int
        Number of divisions that are raised along the dial, and recombined for each target.
    n_steps : int
        Number of proposals of an annealing on the nodes.
    n_longer : int
        Most final annealings, each of them longer, while their gain is large enough.
    n_plain : int
        The same for cohesion alone.
    n_unclear : int
        Least number of proposals of each of these where there are no clear clusters.
    n_swaps : int
        Number of final rounds of swaps.
    """

    n_starts: int
    n_raised: int
    n_steps: int
    n_longer: int
    n_plain: int
    n_unclear: int
    n_swaps: int


def is_large(n_nodes: int, n_entries: int) -> bool:
    """Return whether a graph of this size is searched on parts."""
    return n_nodes >= _LARGE_NODES or n_entries >= _LARGE_ENTRIES


def plan_for(
    n: int,
    entries: int,
    n_clusters: int,
    n_groups: int,
    effort: float,
    *,
    ruled: bool = False,
    front: bool = False,
) -> Plan:
    """Return the plan for a graph with ``n`` nodes and ``entries`` stored entries.

    Under rules it has fewer and longer steps; for a whole front each value of the dial gets less work.
    """
    many = max(effort, 0.1) ** 0.5
    # A proposal costs a pass over the edges of a node.
    dense = max(entries / (_EDGES * max(n, 1)), 1.0)
    long = ruled or n <= _FEW_NODES
    least = _LEAST_FRONT if front and not long else _LEAST_STEPS
    pairs = n * min(n_clusters, _MOST_CLUSTERS) / dense
    n_steps = max(_PER_PAIR * pairs, least)
    work = n + entries / 10
    n_starts, n_raised = next((counts for most, counts in _STARTS if work <= most), (1, 1))
    if work <= _RAISED_WORK:
        n_raised = max(n_raised, min(n_clusters // _CLUSTERS_EACH, _MOST_RAISED))
    if ruled:
        n_starts, n_raised = min(n_starts, 6), min(max(n_raised, 6), 8 if n <= 500 else n_raised)
        n_steps *= 2
    n_longer = _MOST_LONGER if work <= _LONGER_WORK else 0
    plan = Plan(
        n_starts=max(round(n_starts * many), 1),
        n_raised=max(round(n_raised * many), 1),
        n_steps=int(n_steps * many),
        n_longer=n_longer,
        n_plain=n_longer or int(work <= _PLAIN_WORK),
        n_unclear=int(min(_PER_UNCLEAR * pairs, _MOST_UNCLEAR) * effort / max(n_groups / _MANY_GROUPS, 1.0)),
        n_swaps=_SWAP_ROUNDS if n >= _SWAPPED_NODES else 0,
    )
    if not front:
        return plan
    return replace(
        plan,
        n_starts=min(plan.n_starts, max(plan.n_starts // 2, 4)),
        n_raised=min(plan.n_raised, max(plan.n_raised // 3, 2)),
        n_longer=0,
        n_plain=0,
    )


def n_parts_for(n: int, entries: int, n_clusters: int) -> int:
    """Return the number of parts for a large graph."""
    least = _LEAST_PARTS if entries <= _MOST_PAIRS else min(_LEAST_PARTS, isqrt(_MOST_PAIRS))
    return max(min(max(_PARTS_EACH * n_clusters, least), n // 2), n_clusters + 1)
