r"""Labels with as many friends together as rules allow, by mixed-integer programming.

With :math:`x_{ic}` = 1 where node i is in cluster c and :math:`F_i` the friends of i, the variables

.. math:: u_{ic} \le x_{ic}, \qquad u_{ic} \le \sum_{j \in F_i} x_{jc}, \qquad
    t_{ic} \le N_i x_{ic}, \qquad t_{ic} \le \sum_{j \in F_i} x_{jc}

are 1 if i has a friend in its cluster c, and the number of its friends there, up to :math:`N_i`. The sum of u is
maximised first, then that of t.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.parameters import Integer, check_parameters
from equigraph.rules.compile import CompiledRules, compile_rules, keeps, kept_links
from equigraph.rules.conflict import settle_rules
from equigraph.rules.facts import Facts
from equigraph.rules.friends import Friends
from equigraph.rules.model import alike, make_program
from equigraph.rules.rules import Rules
from equigraph.rules.solve import checked_labels, solve_program

_PARAMETERS = {"n_clusters": Integer(low=1), "node_limit": Integer(low=1)}


@dataclass(frozen=True, eq=False)
class MostFriends:
    """Labels with as many friends together as rules allow.

    Attributes
    ----------
    labels : ndarray of shape (n_nodes,), dtype intp
        Labels in ``range(n_clusters)`` that keep the rules.
    kept : dict of node to int
        Number of friends in the same cluster, up to the number asked for, for each node that has friends.
    proven : bool
        Whether it is proven that no labels that keep the rules leave fewer nodes without a friend, or as many of them
        with more friends in all.
    rule : Friends
        The rule on friends that these labels keep: the one asked for, with a smaller number for nodes that have fewer.
    """

    labels: NDArray[np.intp]
    kept: dict[Hashable, int]
    proven: bool
    rule: Friends

    @property
    def without(self) -> tuple[Hashable, ...]:
        """Nodes that have friends, but none in their cluster."""
        return tuple(name for name, number in self.kept.items() if number == 0)


def most_friends(
    rules: Rules,
    friends: Friends,
    graph: Any,
    groups: Any = None,
    *,
    n_clusters: int,
    start: ArrayLike | None = None,
    node_limit: int = 500,
) -> MostFriends:
    """Find labels that keep rules and leave as few nodes as possible without a friend.

    Among these labels the total number of friends is maximal, counted up to ``friends.least`` for each node.

    Parameters
    ----------
    rules : Rules
        The rules to keep.
    friends : Friends
        The friends of each node, and the number to count up to.
    graph : graph
        Anything that `equigraph.as_graph` takes.
    groups : dict of columns, table, Series or array, optional
        The attributes that the rules name; by default those of the graph.
    n_clusters : int
        Number of clusters.
    start : array-like of shape (n_nodes,), optional
        Labels to improve; if they keep the rules, the result is no worse.
    node_limit : int, default=500
        Most nodes of the branch-and-bound tree, for each of the two programs.

    Returns
    -------
    MostFriends
        The labels, the number of friends of each node, and whether the labels are proven to be optimal.

    Raises
    ------
    ConflictError
        If the rules contradict each other.
    NotFoundError
        If the solver finds no labels that keep the rules.

    Examples
    --------
    >>> ring = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    >>> asked = Friends(1, of={0: [1], 1: [2], 2: [0, 3]})
    >>> found = most_friends(Rules(sizes=(2, 2)), asked, ring, n_clusters=2)
    >>> len(found.without), found.proven
    (1, True)
    """
    check_parameters("most_friends", _PARAMETERS, locals())
    facts = Facts.of(graph, groups)
    compiled = compile_rules(rules, facts, None, n_clusters)
    links = friends.rows(facts)
    most = friends.needed(links, facts)
    known = None if start is None else checked_labels("start", start, compiled)
    if known is None or not keeps(compiled, known):
        known = settle_rules(rules, facts, n_clusters=n_clusters).labels
    one, fewest = _more_friends(compiled, links, np.minimum(most, 1), known, node_limit)
    with_one = int(np.minimum(kept_links(links, one), 1)[most > 0].sum())
    best, proven = _more_friends(compiled, links, most, one, node_limit, with_one)
    kept = np.minimum(kept_links(links, best), most)
    names = facts.graph.node_names.tolist()
    fewer = {names[facts.node(name)]: number for name, number in friends.but}
    fewer |= {names[i]: int(kept[i]) for i in np.flatnonzero(kept < most)}
    return MostFriends(
        labels=best.astype(np.intp),
        kept={names[i]: int(kept[i]) for i in np.flatnonzero(most)},
        proven=fewest and proven,
        rule=Friends(friends.least, fewer, friends.of),
    )


def _more_friends(
    compiled: CompiledRules,
    links: sparse.csr_array,
    most: NDArray,
    known: NDArray,
    node_limit: int,
    with_one: int = 0,
) -> tuple[NDArray, bool]:
    """Return labels with most friends, counted up to ``most`` for each node, and whether they are proven optimal.

    Returns the known labels unless the solver finds better ones. At least ``with_one`` nodes have a friend.
    """
    total = int(np.minimum(kept_links(links, known), most).sum())
    if total == most.sum():
        return known, True
    asks = np.flatnonzero(most)
    rows = links[asks].tocoo()
    named = np.zeros(compiled.n_units, dtype=bool)
    named[compiled.unit[asks]] = named[compiled.unit[rows.col]] = True
    classes = alike(compiled, None, named)
    class_of = classes.of_unit[compiled.unit]
    shape = (asks.size, classes.sizes.size)
    friends = sparse.coo_array((np.ones(rows.nnz), (rows.row, class_of[rows.col])), shape=shape)
    # t, or u if one friend is asked for; u also beside t, so that no more nodes are without a friend.
    blocks = [(most[asks], total + 1)]
    if with_one:
        blocks.append((np.ones(asks.size, dtype=np.int64), with_one))
    program = make_program(compiled, classes, more=np.concatenate([number for number, _ in blocks]))
    first = at = len(program.cost) - len(blocks) * asks.size
    one = sparse.eye_array(asks.size)
    for number, needed in blocks:
        own = sparse.coo_array((number, (np.arange(asks.size), class_of[asks])), shape=shape)
        program.add({at: one, 0: -own}, -np.inf, 0)
        program.add({at: one, 0: -friends}, -np.inf, 0)
        program.add({at: np.ones((1, asks.size))}, needed, np.inf, np.ones((1, compiled.n_clusters)))
        at += asks.size
    program.cost[first : first + asks.size] = -1.0
    program.minimise = True
    answer = solve_program(program, compiled, node_limit)
    if answer.labels is None:
        return known, answer.status == "impossible"
    return answer.labels, answer.fewest
