"""A board as one file that opens again, and the boards that are kept on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.apps.explore.matter import Matter, pattern
from equigraph.apps.explore.steps import MAX_CLUSTERS, MAX_RULES, Step, check_number, names_for
from equigraph.exceptions import InputError, require
from equigraph.results.persistence import read_record, record, refusing_damage, write_record
from equigraph.rules import Rules

KIND, PEOPLE, STATE = "board", "board-people", "board-state"
FOLDER_VARIABLE = "EQUIGRAPH_BOARDS"
MAX_PEOPLE, MAX_LINKS = 200_000, 5_000_000
MAX_BYTES = 512 << 20
_MARK = re.compile(r"[0-9a-f]{24}")


class StateEntries(TypedDict):
    """Entries of a state."""

    labels: NDArray[np.intp]
    clusters: tuple[str, ...]
    rules: list[dict[str, Any]]
    locked: list[int]
    attributes: tuple[str, ...]


class PeopleEntries(TypedDict):
    """Entries of people, attributes and links."""

    title: str
    people: tuple[str, ...]
    attributes: dict[str, tuple[str, ...]]
    links: NDArray[np.float64]  # rows of two people and a weight
    wishes: NDArray[np.intp] | None  # rows of two people
    rules: list[dict[str, Any]]
    clusters: tuple[str, ...]
    origin: dict[str, Any]
    notes: tuple[str, ...]


class BoardEntries(PeopleEntries):
    """Entries of a board."""

    state: StateEntries


class KeptState(TypedDict):
    """Entries of a state that is kept by itself."""

    title: str
    state: StateEntries


def board_to_json(matter: Matter, step: Step) -> dict[str, Any]:
    """Return a board as a record: the people and the state."""
    return record(KIND, {**matter_to_json(matter), "state": step_to_json(step)})


def matter_to_json(matter: Matter) -> dict[str, Any]:
    """Return people, attributes and links as plain values."""
    upper = sparse.triu(matter.adjacency, format="coo")
    wishes = matter.wishes.tocoo()
    links = zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True)
    return {
        "title": matter.title,
        "people": list(matter.names),
        "attributes": {name: list(column) for name, column in matter.attributes.items()},
        "links": [list(link) for link in links],
        "wishes": np.column_stack((wishes.row, wishes.col)).tolist() if matter.directed else None,
        "rules": [Rules.of([rule]).to_dict() for rule in matter.rules],
        "clusters": list(matter.clusters),
        "origin": dict(matter.origin),
        "notes": list(matter.notes),
    }


def step_to_json(step: Step) -> dict[str, Any]:
    """Return a state as plain values."""
    return {
        "labels": step.labels.tolist(),
        "clusters": list(step.clusters),
        "rules": [Rules.of([rule]).to_dict() for rule in step.rules],
        "locked": sorted(step.locked),
        "attributes": list(step.attributes),
    }


def _matter(entries: PeopleEntries) -> Matter:
    names, n = entries["people"], len(entries["people"])
    if not 2 <= n <= MAX_PEOPLE:
        raise InputError(f"it has {n} people: expected 2 to {MAX_PEOPLE:,}")
    links, pairs = entries["links"].reshape(-1, 3), entries["wishes"]
    if len(links) > MAX_LINKS:
        raise InputError(f"it has {len(links):,} links: expected at most {MAX_LINKS:,}")
    adjacency = _array(links[:, :2], links[:, 2], n)
    adjacency = sparse.csr_array(adjacency + adjacency.T)
    for name, column in entries["attributes"].items():
        if len(column) != n:
            raise InputError(f"the attribute {name!r} has {len(column)} values for {n} people")
    matter = Matter(
        title=entries["title"][:200],
        names=names,
        attributes=entries["attributes"],
        adjacency=adjacency,
        wishes=pattern(adjacency) if pairs is None else _array(pairs.reshape(-1, 2), np.ones(len(pairs)), n),
        rules=_rules(entries["rules"]),
        clusters=entries["clusters"],
        directed=pairs is not None,
        origin=entries["origin"],
        notes=entries["notes"],
    )
    _ = matter.graph  # checks names and weights
    return matter


def _array(ends: np.ndarray, weights: np.ndarray, n: int) -> sparse.csr_array:
    if ends.size and not ((ends >= 0).all() and (ends < n).all() and (ends == np.floor(ends)).all()):
        raise InputError(f"a link is to nobody: expected numbers from 0 to {n - 1}")
    whole = ends.astype(np.intp)
    array = sparse.csr_array((weights, (whole[:, 0], whole[:, 1])), shape=(n, n))
    array.sum_duplicates()
    return array


def _rules(entries: list[dict[str, Any]]) -> tuple[Any, ...]:
    if len(entries) > MAX_RULES:
        raise InputError(f"it has {len(entries)} rules: expected at most {MAX_RULES}")
    return tuple(rule for one in entries for rule in Rules.from_dict(one).items)


def _step(entries: StateEntries, matter: Matter) -> Step:
    """Return a state, checked against the people."""
    from equigraph.apps.explore.judging import judged_rules

    labels, clusters = entries["labels"], entries["clusters"]
    if len(clusters) > MAX_CLUSTERS:
        raise InputError(f"it has {len(clusters)} groups: expected at most {MAX_CLUSTERS}")
    check_number(matter, len(clusters))
    if labels.size and (
        labels.shape != (matter.n_people,) or labels.min() < 0 or labels.max() >= len(clusters)
    ):
        raise InputError("its labels do not fit its people and groups")
    if any(not 0 <= who < matter.n_people for who in entries["locked"]):
        raise InputError("somebody is locked who is not there")
    for name in entries["attributes"]:
        matter.grouped(name)
    names, rules, locked = names_for(clusters, len(clusters)), _rules(entries["rules"]), entries["locked"]
    step = Step(labels, names, rules, frozenset(locked), entries["attributes"], what="open")
    if labels.size:
        judged_rules(matter, step)  # raises if a rule names what is not there
    return step


def folder() -> Path:
    """Return the folder of kept boards: ``EQUIGRAPH_BOARDS``, or where this system keeps the state of programs."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return Path(given)
    platformdirs = require("platformdirs", extra="explore", purpose="Keeping boards")
    return Path(platformdirs.user_state_dir("equigraph", appauthor=False)) / "boards"


def keep_matter(matter: Matter) -> None:
    """Keep the people of a board, for whoever opens it again without the file."""
    _write(f"{matter.mark}.people.json", PEOPLE, matter_to_json(matter))


def keep_step(matter: Matter, step: Step) -> None:
    """Keep the state of a board."""
    _write(f"{matter.mark}.json", STATE, {"title": matter.title, "state": step_to_json(step)})


def _write(name: str, kind: str, content: Mapping[str, Any]) -> None:
    place = folder()
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_record(place / name, kind, content)
    # Names of people: for nobody else on this machine.
    (place / name).chmod(0o600)


def kept_step(matter: Matter) -> Step | None:
    """Return the state in which these people were left, None if there is none that can be read."""
    path = folder() / f"{matter.mark}.json"
    with suppress(InputError), refusing_damage(path):
        return _step(read_record(path, STATE, KeptState)["state"], matter)
    return None


def kept_boards() -> list[dict[str, Any]]:
    """Return the boards that are kept, the latest first."""
    found = []
    with suppress(OSError):
        for path in folder().iterdir():
            mark = path.name.removesuffix(".json")
            if not _MARK.fullmatch(mark) or not path.with_name(f"{mark}.people.json").exists():
                continue
            with suppress(OSError, InputError):
                title = read_record(path, STATE, KeptState)["title"]
                found.append({"mark": mark, "title": title, "changed": path.stat().st_mtime})
    return sorted(found, key=lambda one: -one["changed"])


def kept_board(mark: str) -> tuple[Matter, Step]:
    """Return a kept board by its mark, which is one of those that `kept_boards` lists and never a path."""
    if mark not in {one["mark"] for one in kept_boards()}:
        raise InputError("This board is not kept on this machine any more.")
    path = folder() / f"{mark}.people.json"
    with refusing_damage(path):
        matter = _matter(read_record(path, PEOPLE, PeopleEntries))
        return matter, _step(read_record(folder() / f"{mark}.json", STATE, KeptState)["state"], matter)


def forget(mark: str) -> None:
    """Remove a kept board."""
    if _MARK.fullmatch(mark):
        for name in (f"{mark}.json", f"{mark}.people.json"):
            (folder() / name).unlink(missing_ok=True)


def read_board(path: str | os.PathLike[str]) -> tuple[Matter, Step]:
    """Read a board that the explorer saved.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Matter, Step
        The people, and who is in which cluster under which rules.

    Raises
    ------
    InputError
        If the file cannot be read or is no board.
    """
    path = Path(path)
    with suppress(OSError):
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} has more than {MAX_BYTES >> 20} MB: expected a saved board.")
    with refusing_damage(path):
        entries = read_record(path, KIND, BoardEntries)
        matter = _matter(entries)
        return matter, _step(entries["state"], matter)
