"""Made-up sheets of people for the benchmark of divisions, in families that differ in who wishes for whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import equigraph as eg

Wishes = list[list[int]]


class Sheet(NamedTuple):
    """People, and into how many classes they go."""

    family: str
    roster: eg.Roster
    n_classes: int


def school_sheet() -> Sheet:
    """Return the sheet of `make_school_roster`, without its fixed class."""
    header, *rows = eg.datasets.make_school_roster().rows
    cells = [dict(zip(header, row, strict=True)) for row in rows]
    people = tuple(f"{cell['First name']} {cell['Last name']}" for cell in cells)

    def pairs(*columns: str) -> tuple[tuple[str, str], ...]:
        return tuple(
            (person, cell[column])
            for person, cell in zip(people, cells, strict=True)
            for column in columns
            if cell[column]
        )

    attributes = {
        name: tuple(cell[name] or None for cell in cells)
        for name in ("Gender", "Primary school", "Special needs")
    }
    friends = pairs(*(name for name in header if name.startswith("Friend")))
    return Sheet(
        "school", eg.Roster(people, attributes, friends, pairs("Not with"), pairs("Together with")), 3
    )


def made_up(family: str, seed: int) -> Sheet:
    """Return a sheet of a family: 60 to 180 people for 3 to 9 classes, teams of 5 or a cohort in teams of 15."""
    rng = np.random.default_rng([list(FAMILIES).index(family), seed])
    n = int(rng.integers(60, 181))
    k = int(np.clip(round(n / rng.uniform(18, 28)), 3, 9))
    n, k = {"teams": (60, 12), "cohort": (180, 12)}.get(family, (n, k))
    gender, village = rng.integers(2, size=n), rng.choice(5, size=n, p=(0.35, 0.25, 0.2, 0.12, 0.08))
    if family == "cliques":
        gender = (rng.random(n) < 0.3).astype(int)
    wishes = FAMILIES[family](rng, gender, village)
    attributes = {"gender": np.array(["f", "m"])[gender], "needs": _marked(rng, n, 3 * k)}
    if family in ("attributes", "clusters"):
        attributes["village"] = np.array(list("ABCDE"))[village]
    if family == "attributes":
        attributes["village"] = np.where(rng.random(n) < 0.05, None, attributes["village"])
        attributes["mark"] = rng.normal(3, 1, n).round(1)
        attributes["support"] = _marked(rng, n, k + 1)
    if family == "teams":
        attributes = {f"skill {i}": _marked(rng, n, number) for i, number in enumerate((12, 18, 24, 30))}
    if family == "cohort":
        attributes["programme"] = np.array(list("ABCDE"))[village]
        attributes["years"] = rng.integers(0, 30, size=n)
    many = family in ("pairs", "cliques", "teams")
    apart, together = _pairs(rng, n, n // 4 if many else 4, n // 12 if family in ("pairs", "cliques") else 2)
    people = tuple(f"P{i}" for i in range(n))
    roster = eg.Roster(
        people,
        {
            name: tuple(None if value is None else str(value) for value in column)
            for name, column in attributes.items()
        },
        friends=tuple((people[i], people[j]) for i, others in enumerate(wishes) for j in others),
        apart=tuple((people[i], people[j]) for i, j in apart),
        together=tuple((people[i], people[j]) for i, j in together),
        wishes="ranked" if family == "ranked" else "any",
    )
    return Sheet(family, roster, k)


def _marked(rng: np.random.Generator, n: int, number: int) -> np.ndarray:
    column = np.full(n, None, dtype=object)
    column[rng.choice(n, number, replace=False)] = "yes"
    return column


def _pairs(
    rng: np.random.Generator, n: int, n_apart: int, n_together: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return pairs that are apart and pairs that are together; nobody is in two of the latter."""
    together = rng.permutation(n)[: 2 * n_together].reshape(-1, 2).tolist()
    apart: list[list[int]] = []
    while len(apart) < n_apart:
        pair = sorted(rng.choice(n, 2, replace=False).tolist())
        if pair not in apart and pair not in [sorted(one) for one in together]:
            apart.append(pair)
    return apart, together


def _drawn(rng: np.random.Generator, weights: np.ndarray, numbers: np.ndarray) -> Wishes:
    """Return whom everybody wishes for, drawn by weights without repetition."""
    weights = weights.astype(float)
    np.fill_diagonal(weights, 0)
    chances = weights / weights.sum(axis=1, keepdims=True)
    n = len(weights)
    return [
        rng.choice(n, number, replace=False, p=row).tolist()
        for number, row in zip(numbers.tolist(), chances, strict=True)
    ]


def _alike(gender: np.ndarray, village: np.ndarray, by_gender: float, by_village: float) -> np.ndarray:
    """Return weights that are larger between people of one gender and of one village."""
    same_gender, same_village = (column[:, None] == column for column in (gender, village))
    return np.where(same_gender, by_gender, 1.0) * np.where(same_village, by_village, 1.0)


def _clusters(rng: np.random.Generator, gender: np.ndarray, village: np.ndarray) -> Wishes:
    """Return wishes within small groups of friends of one village, mostly."""
    order = np.lexsort((rng.random(gender.size), gender, village))
    group = np.empty(gender.size, dtype=int)
    group[order] = np.arange(gender.size) // 6
    weights = np.where(group[:, None] == group, 60.0, 1.0)
    return _drawn(rng, weights, rng.choice([1, 2, 3], size=gender.size, p=(0.1, 0.3, 0.6)))


def _popular(rng: np.random.Generator, gender: np.ndarray, village: np.ndarray) -> Wishes:
    """Return wishes for popular people, mostly."""
    fame = rng.permutation(1 / np.arange(1, gender.size + 1) ** 0.8)
    return _drawn(rng, _alike(gender, village, 3, 2) * fame, rng.integers(0, 4, size=gender.size))


def _few(rng: np.random.Generator, gender: np.ndarray, village: np.ndarray) -> Wishes:
    numbers = rng.choice([0, 1, 2], size=gender.size, p=(0.3, 0.5, 0.2))
    return _drawn(rng, _alike(gender, village, 6, 4), numbers)


def _several(rng: np.random.Generator, gender: np.ndarray, village: np.ndarray) -> Wishes:
    numbers = rng.choice([0, 2, 3, 4], size=gender.size, p=(0.05, 0.2, 0.45, 0.3))
    return _drawn(rng, _alike(gender, village, 8, 3), numbers)


def _random(rng: np.random.Generator, gender: np.ndarray, village: np.ndarray) -> Wishes:
    """Return three wishes of everybody for anybody: nothing holds together."""
    return _drawn(rng, np.ones((gender.size, gender.size)), np.full(gender.size, 3))


def _cliques(rng: np.random.Generator, gender: np.ndarray, village: np.ndarray) -> Wishes:
    """Return wishes within cliques of three to seven of one gender, and a few beyond."""
    order = np.lexsort((rng.random(gender.size), gender))
    group = np.empty(gender.size, dtype=int)
    group[order] = np.cumsum(np.isin(np.arange(gender.size), np.cumsum(rng.integers(3, 8, size=gender.size))))
    weights = np.where(group[:, None] == group, 40.0, 0.3)
    return _drawn(rng, weights, rng.choice([0, 1, 2, 3], size=gender.size, p=(0.1, 0.2, 0.4, 0.3)))


# The place of a family is part of the seed of its sheets.
FAMILIES: dict[str, Callable[[np.random.Generator, np.ndarray, np.ndarray], Wishes]] = {
    "attributes": _several,
    "clusters": _clusters,
    "few": _few,
    "pairs": _several,
    "popular": _popular,
    "random": _random,
    "ranked": _several,
    "cliques": _cliques,
    "teams": _few,
    "cohort": _several,
}
