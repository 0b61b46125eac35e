"""A class of students, small enough to read name by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import Integer, Seed, check_parameters
from equigraph._utils.randomness import RandomState
from equigraph.datasets.blocks import adjacency_from_edges, largest_remainder, random_generator
from equigraph.exceptions import ParameterError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_GIRLS = (
    "Ada Aiko Amara Anouk Beatriz Chiara Dilara Elif Esther Fatima Freya Greta Hana Ines Ingrid Jana Kalina "
    "Lakshmi Leila Linnea Lucia Mai Maren Mei Mira Nadia Naledi Noor Olga Paloma Priya Rosa Saoirse Selma "
    "Sofia Tala Thandi Wanjiru Yara Zofia"
)
_BOYS = (
    "Adam Alvaro Anton Arjun Bao Bilal Caspar Cem Dario Diego Elias Emeka Felix Finn Hamza Hugo Idris Ivan "
    "Jakub Jonas Kai Karim Kenji Kwame Lars Luca Malik Mateo Milan Nico Omar Otis Pavel Rafael Ravi Samir "
    "Tariq Theo Viktor Yusuf"
)
_HOUSES = ("Falcon", "Heron", "Otter", "Wolf")

_MIN_FRIENDS, _MEAN_FRIENDS, _MAX_FRIENDS = 3, 4.8, 7
# How readily two students become friends: at one table, in one circle, at tables that share a project, else.
_TABLE, _CIRCLE, _PROJECT, _ELSE = 0.6, 0.3, 0.08, 0.015
_SKEW = 0.9

_DESCR = """A class of {n} students and their friendships, made up by equigraph (seed and size decide
everything).

The friendship circles (target) are skewed: circles come in pairs, one nearly all girls and one nearly all
boys; with an odd number of circles the last is mixed. Each circle is two tables. The tables of a girls'
circle and of a boys' circle meet in projects, which makes friendships across: so there is a fair way to
divide the class, and it keeps most friends together. Every student has 3 to 7 friends, and all are
connected. The house (Falcon, Heron, Otter, Wolf) is a second attribute, which plays no part in who befriends
whom.
"""


def make_classroom(n_students: int = 30, *, n_circles: int = 3, random_state: RandomState = 0) -> Bunch:
    """Make up a class of students whose friendship circles are skewed by gender.

    The most cohesive clusters nearly separate girls and boys; a fair division that keeps most friends
    together exists as well. This is the graph of ``equigraph demo``.

    Parameters
    ----------
    n_students : int, default=30
        Size of the class, at least 12 and at least 6 per circle, at most 1000.
    n_circles : int, default=3
        Number of friendship circles.
    random_state : int, numpy Generator or RandomState, default=0
        Seed. The same seed gives the same class.

    Returns
    -------
    sklearn.utils.Bunch
        ``adjacency`` (csr_array), ``sensitive_features`` (gender, "girl" or "boy"), ``attribute`` ("gender"),
        ``house`` (a second attribute), ``node_names`` (unique first names), ``target`` (the friendship
        circles), ``name`` and ``DESCR``.

    Raises
    ------
    ParameterError
        If there are too few students for the circles, or too many to name.

    Examples
    --------
    >>> classroom = make_classroom()
    >>> classroom.adjacency.shape, np.unique(classroom.sensitive_features).tolist()
    ((30, 30), ['boy', 'girl'])
    """
    constraints = {"n_students": Integer(low=12), "n_circles": Integer(low=1), "random_state": Seed()}
    check_parameters("make_classroom", constraints, locals())
    n, k = int(n_students), int(n_circles)
    if n < 6 * k or n > 1000:
        raise ParameterError(
            f"make_classroom: n_students={n} does not fit n_circles={k}: give at least 6 students per "
            "circle, and at most 1000 in all."
        )
    from sklearn.utils import Bunch

    rng = random_generator(random_state)
    table = np.repeat(np.arange(2 * k), largest_remainder(n, np.full(2 * k, 1 / (2 * k))))
    is_girl = _genders(table, k)
    rows, columns = _friendships(table, k, rng)
    order = rng.permutation(n)  # a class list is not sorted by circle
    position = np.argsort(order)
    is_girl = is_girl[order]
    return Bunch(
        adjacency=adjacency_from_edges(position[rows], position[columns], n),
        sensitive_features=np.where(is_girl, "girl", "boy"),
        attribute="gender",
        house=np.array(_HOUSES)[rng.permutation(np.arange(n) % len(_HOUSES))],
        node_names=_names(is_girl, rng),
        target=(table // 2)[order],
        name="classroom",
        DESCR=_DESCR.format(n=n),
    )


def _genders(table: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
    """Return who is a girl: circles are mostly girls and mostly boys in turn, a last odd one is mixed."""
    is_girl = np.zeros(table.size, dtype=bool)
    for circle in range(k):
        members = np.flatnonzero(table // 2 == circle)
        if circle == k - 1 and k % 2:
            is_girl[members[: (members.size + 1) // 2]] = True  # one table of girls, one of boys
            continue
        n_few = max(1, round((1 - _SKEW) * members.size))
        girls_few = circle % 2 == 1
        is_girl[members] = not girls_few
        is_girl[members[:n_few]] = girls_few
    return is_girl


def _affinity(one: NDArray[np.int64], two: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return how readily two students become friends, given their tables."""
    paired = k - k % 2  # circles 2j and 2j + 1 share projects, table by table
    project = (one // 4 == two // 4) & (one % 2 == two % 2) & (two // 2 < paired)
    apart = np.where(project, _PROJECT, _ELSE)
    return np.where(one == two, _TABLE, np.where(one // 2 == two // 2, _CIRCLE, apart))


def _friendships(
    table: NDArray[np.int64], k: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Let pairs meet in a random order that favours affinity, until everyone has enough friends."""
    n = table.size
    first, second = np.triu_indices(n, 1)
    affinity = _affinity(table[first], table[second], k)
    order = np.argsort(rng.exponential(size=affinity.size) / affinity)
    meetings = list(zip(first[order].tolist(), second[order].tolist(), strict=True))
    edges: dict[tuple[int, int], None] = {}
    degree = [0] * n
    component = list(range(n))  # who is connected to whom so far

    def meet(i: int, j: int) -> None:
        if (i, j) in edges or max(degree[i], degree[j]) >= _MAX_FRIENDS:
            return
        edges[i, j] = None
        degree[i], degree[j] = degree[i] + 1, degree[j] + 1
        old, new = component[j], component[i]
        if old != new:
            component[:] = [new if one == old else one for one in component]

    n_wanted = round(_MEAN_FRIENDS * n / 2)
    for i, j in meetings:
        if len(edges) >= n_wanted:
            break
        meet(i, j)
    for i, j in meetings:
        if min(degree[i], degree[j]) < _MIN_FRIENDS:
            meet(i, j)
    for i, j in meetings:
        if component[i] != component[j]:
            meet(i, j)
    ends = np.array(list(edges))
    return ends[:, 0], ends[:, 1]


def _names(is_girl: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.str_]:
    """Give everyone a first name; from the second round through the list on, with an initial."""
    names = np.empty(is_girl.size, dtype=object)
    for pool, members in (
        (_GIRLS.split(), np.flatnonzero(is_girl)),
        (_BOYS.split(), np.flatnonzero(~is_girl)),
    ):
        shuffled = rng.permutation(pool)
        for rank, member in enumerate(members):
            turn, place = divmod(rank, len(pool))
            names[member] = shuffled[place] if turn == 0 else f"{shuffled[place]} {chr(ord('A') + turn)}."
    return names.astype(str)
