"""Boards as files, and boards stored on this machine."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.apps.classes.persistence import roster_entries
from equigraph.apps.classes.roster import Roster
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.scoring import rule_states
from equigraph.apps.explore.steps import Step, check_number, names_for
from equigraph.exceptions import InputError, require
from equigraph.results.persistence import read_record, record, refusing_damage, write_record
from equigraph.rules import Rules

KIND, PEOPLE, STATE = "board", "board-people", "board-state"
FOLDER_VARIABLE = "EQUIGRAPH_BOARDS"
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
    roster: Roster
    links: (
        NDArray[np.float64] | None
    )  # rows of two people and a weight; None for wishes, which are in the roster


class StoredState(TypedDict):
    """Entries of a state stored without its people."""

    title: str
    state: StateEntries


class BoardEntries(PeopleEntries, StoredState):
    """Entries of a board."""


def board_to_json(step: Step) -> dict[str, Any]:
    """Return a board as a record: the people and the state."""
    return record(KIND, {**_people_to_json(step.people), **_state_to_json(step)})


def _people_to_json(people: BoardPeople) -> dict[str, Any]:
    links = None
    if not people.directed:
        upper = sparse.triu(people.adjacency, format="coo")
        links = list(zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True))
    return {"title": people.title, "roster": roster_entries(people.sheet), "links": links}


def _state_to_json(step: Step) -> dict[str, Any]:
    state = {
        "labels": step.labels.tolist(),
        "clusters": list(step.clusters),
        "rules": [Rules.of([rule]).to_dict() for rule in step.rules],
        "locked": sorted(step.locked),
        "attributes": list(step.attributes),
    }
    return {"title": step.people.title, "state": state}


def _people(entries: PeopleEntries) -> BoardPeople:
    roster, links, title = entries["roster"], entries["links"], entries["title"][:200]
    n = len(roster.people)
    if n < 2:
        raise InputError(f"it has {n} people: expected at least 2")
    if links is None:
        return BoardPeople.of_roster(roster, title)
    links = links.reshape(-1, 3)
    ends = links[:, :2].astype(np.intp)
    if not ((ends >= 0) & (ends < n) & (ends == links[:, :2])).all():
        raise InputError(f"a link is to nobody: expected numbers from 0 to {n - 1}")
    adjacency = sparse.csr_array((links[:, 2], ends.T), shape=(n, n))
    people = BoardPeople(title, roster, sparse.csr_array(adjacency + adjacency.T), False)
    _ = people.graph  # checks names and weights
    return people


def _step(entries: StateEntries, people: BoardPeople) -> Step:
    """Return a state, validated against the people."""
    labels, clusters = entries["labels"], entries["clusters"]
    check_number(people, len(clusters))
    if labels.size and (
        labels.shape != (people.n_people,) or labels.min() < 0 or labels.max() >= len(clusters)
    ):
        raise InputError("its labels do not fit its people and groups")
    if any(not 0 <= who < people.n_people for who in entries["locked"]):
        raise InputError("a locked person is not on the board")
    for name in entries["attributes"]:
        people.grouped(name)
    rules = tuple(rule for one in entries["rules"] for rule in Rules.from_dict(one).items)
    names, locked = names_for(clusters, len(clusters)), frozenset(entries["locked"])
    step = Step(people, labels, names, rules, locked, entries["attributes"], what="open")
    rule_states(step)  # raises if a rule names what is not there
    return step


def folder() -> Path:
    """Return the folder of stored boards: ``EQUIGRAPH_BOARDS``, or the user state directory."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return Path(given)
    platformdirs = require("platformdirs", extra="explore", purpose="Keeping boards")
    return Path(platformdirs.user_state_dir("equigraph", appauthor=False)) / "boards"


def store(step: Step, people: bool) -> None:
    """Store the state of a board and, if they are new, its people, so that it opens without the file."""
    place = folder()
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    contents = {f"{step.people.mark}.json": (STATE, _state_to_json(step))}
    if people:
        contents[f"{step.people.mark}.people.json"] = (PEOPLE, _people_to_json(step.people))
    for name, (kind, content) in contents.items():
        write_record(place / name, kind, content)
        (place / name).chmod(0o600)  # names of people: readable by this user only


def stored_step(people: BoardPeople) -> Step | None:
    """Return the stored state of these people, None if it is missing or unreadable."""
    path = folder() / f"{people.mark}.json"
    with suppress(InputError), refusing_damage(path):
        return _step(read_record(path, STATE, StoredState)["state"], people)
    return None


def stored_boards() -> list[dict[str, Any]]:
    """Return the stored boards, latest first."""
    found = []
    with suppress(OSError):
        for path in folder().iterdir():
            mark = path.name.removesuffix(".json")
            if not _MARK.fullmatch(mark) or not path.with_name(f"{mark}.people.json").exists():
                continue
            with suppress(OSError, InputError):
                title = read_record(path, STATE, StoredState)["title"]
                found.append({"mark": mark, "title": title, "changed": path.stat().st_mtime})
    return sorted(found, key=lambda one: -one["changed"])


def stored_board(mark: str) -> Step:
    """Return a stored board by its mark, which must be listed by `stored_boards`, so never a path."""
    if mark not in {one["mark"] for one in stored_boards()}:
        raise BoardError("not-stored")
    path = folder() / f"{mark}.people.json"
    with refusing_damage(path):
        people = _people(read_record(path, PEOPLE, PeopleEntries))
        return _step(read_record(folder() / f"{mark}.json", STATE, StoredState)["state"], people)


def forget(mark: str) -> None:
    """Remove a stored board."""
    if _MARK.fullmatch(mark):
        for name in (f"{mark}.json", f"{mark}.people.json"):
            (folder() / name).unlink(missing_ok=True)


def read_board(path: str | os.PathLike[str]) -> tuple[BoardPeople, Step]:
    """Read a board that the explorer saved.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    BoardPeople, Step
        The people, and who is in which cluster under which rules.

    Raises
    ------
    InputError
        If the file cannot be read or is no board.
    """
    path = Path(path)
    with refusing_damage(path):
        entries = read_record(path, KIND, BoardEntries)
        people = _people(entries)
        return people, _step(entries["state"], people)
