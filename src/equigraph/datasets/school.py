"""Generated school data: a small class of students with friendships, and a roster of pupils."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import Integer, Seed, check_known, check_parameters
from equigraph._utils.randomness import RandomState
from equigraph.datasets.sbm import adjacency_from_edges, largest_remainder, random_generator
from equigraph.exceptions import ParameterError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# First names, families, schools and the headers of a sheet.
_PEOPLE = json.loads(resources.files(__package__).joinpath("people.json").read_text(encoding="utf-8"))
_MIN_FRIENDS, _MEAN_FRIENDS, _MAX_FRIENDS = 3, 4.8, 7
# Affinity of two students: at one table, in one circle, at tables that share a project, else.
_TABLE, _CIRCLE, _PROJECT, _ELSE = 0.6, 0.3, 0.08, 0.015
_SKEW = 0.9


def _description(name: str, n: int) -> str:
    path = resources.files(__package__).joinpath("descr", f"{name}.rst")
    return path.read_text(encoding="utf-8").format(n=n)


def make_classroom(n_students: int = 30, *, n_circles: int = 3, random_state: RandomState = 0) -> Bunch:
    """Generate a class of students whose friendship circles are skewed by gender.

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
    houses = _PEOPLE["classroom"]["houses"]
    return Bunch(
        adjacency=adjacency_from_edges(position[rows], position[columns], n),
        sensitive_features=np.where(is_girl, "girl", "boy"),
        attribute="gender",
        house=np.array(houses)[rng.permutation(np.arange(n) % len(houses))],
        node_names=_first_names(is_girl, rng),
        target=(table // 2)[order],
        name="classroom",
        DESCR=_description("classroom", n),
    )


def _genders(table: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
    """Return True for girls: circles alternate between mostly girls and mostly boys, a last odd one is mixed."""
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
    """Return the affinity of pairs of students, given their tables."""
    paired = k - k % 2  # circles 2j and 2j + 1 share projects, table by table
    project = (one // 4 == two // 4) & (one % 2 == two % 2) & (two // 2 < paired)
    apart = np.where(project, _PROJECT, _ELSE)
    return np.where(one == two, _TABLE, np.where(one // 2 == two // 2, _CIRCLE, apart))


def _friendships(
    table: NDArray[np.int64], k: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw friendships in a random order weighted by affinity, until everyone has enough friends."""
    n = table.size
    first, second = np.triu_indices(n, 1)
    affinity = _affinity(table[first], table[second], k)
    order = np.argsort(rng.exponential(size=affinity.size) / affinity)
    candidates = list(zip(first[order].tolist(), second[order].tolist(), strict=True))
    edges: dict[tuple[int, int], None] = {}
    degree = [0] * n
    component = list(range(n))  # connected component of each student so far

    def link(i: int, j: int) -> None:
        if (i, j) in edges or max(degree[i], degree[j]) >= _MAX_FRIENDS:
            return
        edges[i, j] = None
        degree[i], degree[j] = degree[i] + 1, degree[j] + 1
        old, new = component[j], component[i]
        if old != new:
            component[:] = [new if one == old else one for one in component]

    n_wanted = round(_MEAN_FRIENDS * n / 2)
    for i, j in candidates:
        if len(edges) >= n_wanted:
            break
        link(i, j)
    for i, j in candidates:
        if min(degree[i], degree[j]) < _MIN_FRIENDS:
            link(i, j)
    for i, j in candidates:
        if component[i] != component[j]:
            link(i, j)
    ends = np.array(list(edges))
    return ends[:, 0], ends[:, 1]


def _first_names(is_girl: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.str_]:
    """Give everyone a first name; from the second round through the list on, with an initial."""
    names = np.empty(is_girl.size, dtype=object)
    for pool, members in (("girls", np.flatnonzero(is_girl)), ("boys", np.flatnonzero(~is_girl))):
        shuffled = rng.permutation(_PEOPLE["classroom"][pool])
        for rank, member in enumerate(members):
            turn, place = divmod(rank, shuffled.size)
            names[member] = shuffled[place] if turn == 0 else f"{shuffled[place]} {chr(ord('A') + turn)}."
    return names.astype(str)


def make_school_roster(
    n_pupils: int = 78, *, language: str = "en", western: bool = False, random_state: RandomState = 0
) -> Bunch:
    """Generate a sheet of pupils, such as for trying `read_roster`.

    Parameters
    ----------
    n_pupils : int, default=78
        Number of pupils, from 12 to 1000.
    language : {"en", "de"}, default="en"
        Language of the headers.
    western : bool, default=False
        Whether all names can be written in Windows-1252, the encoding of older spreadsheet programs.
    random_state : int, numpy Generator or RandomState, default=0
        Seed. The same seed gives the same sheet.

    Returns
    -------
    sklearn.utils.Bunch
        ``rows`` (a list of lists of text, the header first), ``name`` and ``DESCR``.

    Raises
    ------
    ParameterError
        If there are too few or too many pupils, or the language is unknown.

    Examples
    --------
    >>> sheet = make_school_roster()
    >>> len(sheet.rows), sheet.rows[0][1:4]
    (79, ['Last name', 'First name', 'Gender'])
    """
    constraints = {"n_pupils": Integer(low=12), "random_state": Seed()}
    check_parameters("make_school_roster", constraints, {"n_pupils": n_pupils, "random_state": random_state})
    sheet = _PEOPLE["roster"]
    check_known("language", language, tuple(sheet["headers"]))
    if n_pupils > 1000:
        raise ParameterError(
            f"make_school_roster: n_pupils={n_pupils} is more than the 1000 that have names."
        )
    from sklearn.utils import Bunch

    rng = random_generator(random_state)
    n = int(n_pupils)
    girl = rng.permutation(n) < n // 2
    names = _pupils(girl, western, rng)
    school = rng.choice(len(sheet["schools"]), size=n, p=(0.5, 0.3, 0.2))
    preferences = _preferences(girl, school, rng)
    special, rules = _special(n, preferences, rng)
    female, male, yes, fixed = sheet["values"][language]
    rows = [list(sheet["headers"][language])]
    for i in range(n):
        first, last = names[i]
        friends = [" ".join(names[j]) for j in preferences[i]] + [""] * (3 - len(preferences[i]))
        apart, together = (
            " ".join(names[rules[kind][i]]) if i in rules[kind] else "" for kind in ("apart", "together")
        )
        where = sheet["schools"][school[i]] if rng.random() > 0.03 else ""
        needs, place = yes if special[i] else "", fixed if i == rules["fixed"] else ""
        gender = female if girl[i] else male
        rows.append([str(i + 1), last, first, gender, where, needs, *friends, apart, together, place])
    return Bunch(rows=rows, name="school", DESCR=_description("roster", n))


def _pupils(girl: np.ndarray, western: bool, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return first and last names, each pair once, sorted by the last name as lists are."""
    encoding = "cp1252" if western else "utf-8"
    pools = {
        kind: [
            word
            for word in _PEOPLE["roster"][kind]
            if word.encode(encoding, "ignore").decode(encoding) == word
        ]
        for kind in ("girls", "boys", "families")
    }
    families, used = pools["families"], set()
    last = sorted(families[k] for k in rng.integers(len(families), size=girl.size))
    pupils = []
    for is_girl, family in zip(girl, last, strict=True):
        free = [name for name in pools["girls" if is_girl else "boys"] if (name, family) not in used]
        pupil = (free[rng.integers(len(free))], family)
        used.add(pupil)
        pupils.append(pupil)
    return pupils


def _preferences(girl: np.ndarray, school: np.ndarray, rng: np.random.Generator) -> list[list[int]]:
    """Return the preferred classmates of each pupil: mostly of the same school and gender."""
    n = girl.size
    distance = rng.exponential(size=(n, n))
    distance = (distance + distance.T) * np.where(school[:, None] == school, 1.0, 4.0)
    distance *= np.where(girl[:, None] == girl, 1.0, 2.5)
    np.fill_diagonal(distance, np.inf)
    counts = rng.choice(4, size=n, p=(0.06, 0.12, 0.27, 0.55))
    return [np.argsort(distance[i])[: counts[i]].tolist() for i in range(n)]


def _special(n: int, preferences: list[list[int]], rng: np.random.Generator) -> tuple[np.ndarray, dict]:
    """Return the pupils with special needs, and the rules: two pairs apart, one together, one class fixed."""
    special = rng.permutation(n) < max(1, n // 12)
    order = [i for i in rng.permutation(n).tolist() if preferences[i]]
    first, second, third, fourth = order[:4]
    apart = {
        i: next(j for j in order[4:] if j not in preferences[i] and i not in preferences[j])
        for i in (first, second)
    }
    return special, {"apart": apart, "together": {third: preferences[third][0]}, "fixed": fourth}
