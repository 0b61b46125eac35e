"""Boards as files, saved by the page or stored on this machine: one record of `equigraph.results.persistence` each."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict

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
from equigraph.results.persistence import read_record, refusing_damage, write_record
from equigraph.rules import Rules

KIND = "board"
_MARK = re.compile(r"[0-9a-f]{24}")


class BoardEntries(TypedDict):
    """Entries of a board."""

    title: str
    roster: Roster
    links: (
        NDArray[np.float64] | None
    )  # rows of two people and a weight; None for wishes, which are in the roster
    labels: NDArray[np.intp]
    clusters: tuple[str, ...]
    rules: list[dict[str, Any]]
    locked: list[int]
    attributes: tuple[str, ...]
    evenness: NotRequired[float]


def write_board(step: Step, path: Path) -> None:
    """Write a board as a file."""
    people, links = step.people, None
    if not people.directed:
        upper = sparse.triu(people.adjacency, format="coo")
        links = list(zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True))
    content = {
        "title": people.title,
        "roster": roster_entries(people.sheet),
        "links": links,
        "labels": step.labels.tolist(),
        "clusters": list(step.clusters),
        "rules": [Rules.of([rule]).to_dict() for rule in step.rules],
        "locked": sorted(step.locked),
        "attributes": list(step.attributes),
        "evenness": step.evenness,
    }
    write_record(path, KIND, content)


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
        step = _step(read_record(path, KIND, BoardEntries))
        return step.people, step


def _step(entries: BoardEntries) -> Step:
    """Return a state, validated against its people."""
    people, labels, clusters = _people(entries), entries["labels"], entries["clusters"]
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
    step = replace(step, evenness=entries.get("evenness", step.evenness))
    if not 0 <= step.evenness <= 1:
        raise InputError(f"its evenness is {step.evenness}: expected a number from 0 to 1")
    rule_states(step)  # raises if a rule names what is not there
    return step


def _people(entries: BoardEntries) -> BoardPeople:
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


def stored_path(mark: str) -> Path:
    """Return where the board of some people is stored: in ``EQUIGRAPH_BOARDS``, or the user state directory."""
    if given := os.environ.get("EQUIGRAPH_BOARDS"):
        return Path(given) / f"{mark}.json"
    platformdirs = require("platformdirs", extra="explore", purpose="Keeping boards")
    return Path(platformdirs.user_state_dir("equigraph", appauthor=False)) / "boards" / f"{mark}.json"


def store(step: Step) -> None:
    """Store a board, readable by this user only."""
    path = stored_path(step.people.mark)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_board(step, path)
    path.chmod(0o600)


def stored_step(people: BoardPeople) -> Step | None:
    """Return the stored state of these people, None if it is missing or unreadable."""
    with suppress(InputError):
        return replace(stored_board(people.mark), people=people)
    return None


def stored_boards() -> list[dict[str, Any]]:
    """Return the stored boards, latest first."""
    found = []
    for path in stored_path("*").parent.glob("*.json"):
        with suppress(OSError, InputError):
            title = read_record(path, KIND, BoardEntries)["title"]
            found.append({"mark": path.stem, "title": title, "changed": path.stat().st_mtime})
    return sorted(found, key=lambda one: -one["changed"])


def stored_board(mark: str) -> Step:
    """Return a stored board by its mark, never by a path."""
    path = stored_path(mark)
    if not (_MARK.fullmatch(mark) and path.exists()):
        raise BoardError("not-stored")
    return read_board(path)[1]


def forget(mark: str) -> None:
    """Remove a stored board."""
    if _MARK.fullmatch(mark):
        stored_path(mark).unlink(missing_ok=True)
