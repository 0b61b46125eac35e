"""A board as one file that opens again, and the boards that are kept on this machine."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from equigraph._utils.files import write_text
from equigraph.apps.explore.matter import Matter, pattern
from equigraph.apps.explore.steps import MAX_CLUSTERS, MAX_RULES, Step, check_number, names_for
from equigraph.exceptions import EquigraphError, InputError
from equigraph.rules import Rules

FORMAT, VERSION = "equigraph-board", 1
FOLDER_VARIABLE = "EQUIGRAPH_BOARDS"
MAX_PEOPLE, MAX_LINKS = 200_000, 5_000_000
_MARK = re.compile(r"[0-9a-f]{24}")


def board_to_json(matter: Matter, step: Step) -> dict[str, Any]:
    """Return a board as plain values: the people and the state."""
    return {"format": FORMAT, "version": VERSION, **matter_to_json(matter), "state": step_to_json(step)}


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


def board_from_json(content: Any, source: str) -> tuple[Matter, Step]:
    """Return the board that plain values describe."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise InputError(f"{source} is no board that equigraph saved: expected its format to be {FORMAT!r}.")
    if content.get("version") != VERSION:
        raise InputError(f"{source} is a board of another version of equigraph: expected version {VERSION}.")
    try:
        matter = _matter(content)
        return matter, step_from_json(content["state"], matter)
    except EquigraphError as error:
        raise InputError(f"{source} is a damaged board: {error}") from error
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError) as error:
        raise InputError(
            f"{source} is a damaged board: a part is missing or of the wrong kind ({type(error).__name__})."
        ) from error


def _matter(content: Mapping[str, Any]) -> Matter:
    names = _texts(content["people"], "people")
    n = len(names)
    if not 2 <= n <= MAX_PEOPLE:
        raise InputError(f"it has {n} people: expected 2 to {MAX_PEOPLE:,}.")
    links = np.array(content["links"], dtype=float).reshape(-1, 3)
    if len(links) > MAX_LINKS:
        raise InputError(f"it has {len(links):,} links: expected at most {MAX_LINKS:,}.")
    adjacency = _array(links[:, :2], links[:, 2], n)
    adjacency = sparse.csr_array(adjacency + adjacency.T)
    wishes = content["wishes"]
    pairs = None if wishes is None else np.array(wishes, dtype=float).reshape(-1, 2)
    attributes = {str(key): _texts(column, str(key)) for key, column in dict(content["attributes"]).items()}
    for key, column in attributes.items():
        if len(column) != n:
            raise InputError(f"the attribute {key!r} has {len(column)} values for {n} people.")
    matter = Matter(
        title=str(content["title"])[:200],
        names=names,
        attributes=attributes,
        adjacency=adjacency,
        wishes=_array(pairs, np.ones(len(pairs)), n) if pairs is not None else pattern(adjacency),
        rules=_rules(content["rules"]),
        clusters=_texts(content["clusters"], "clusters"),
        directed=pairs is not None,
        origin={str(key): value for key, value in dict(content["origin"]).items()},
        notes=_texts(content["notes"], "notes"),
    )
    _ = matter.graph  # checks names and weights
    return matter


def _texts(values: Any, what: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"its {what[:40]} are no list of texts.")
    return tuple(values)


def _array(ends: np.ndarray, weights: np.ndarray, n: int) -> sparse.csr_array:
    if len(ends) and not (np.isfinite(ends).all() and (ends >= 0).all() and (ends < n).all()):
        raise InputError(f"a link is to nobody: expected numbers from 0 to {n - 1}.")
    whole = ends.astype(np.intp)
    array = sparse.csr_array((weights, (whole[:, 0], whole[:, 1])), shape=(n, n))
    array.sum_duplicates()
    return array


def _rules(content: Any) -> tuple[Any, ...]:
    if not isinstance(content, list) or len(content) > MAX_RULES:
        raise InputError(f"its rules are no list of at most {MAX_RULES}.")
    return tuple(rule for one in content for rule in Rules.from_dict(one).items)


def step_from_json(content: Any, matter: Matter) -> Step:
    """Return the state that plain values describe, checked against the people."""
    clusters = _texts(content["clusters"], "groups")
    if len(clusters) > MAX_CLUSTERS:
        raise InputError(f"it has {len(clusters)} groups: expected at most {MAX_CLUSTERS}.")
    check_number(matter, len(clusters))
    labels = np.array(content["labels"], dtype=np.intp)
    if labels.size and (
        labels.shape != (matter.n_people,) or labels.min() < 0 or labels.max() >= len(clusters)
    ):
        raise InputError("its labels do not fit its people and groups.")
    locked = frozenset(int(who) for who in content["locked"])
    if any(not 0 <= who < matter.n_people for who in locked):
        raise InputError("somebody is locked who is not there.")
    attributes = _texts(content["attributes"], "even attributes")
    for name in attributes:
        matter.grouped(name)
    rules = _rules(content["rules"])
    step = Step(labels, names_for(clusters, len(clusters)), rules, locked, attributes, what="open")
    if labels.size:
        from equigraph.apps.explore.judging import judged_rules

        judged_rules(matter, step)  # raises if a rule names what is not there
    return step


def folder() -> Path:
    """Return the folder of kept boards: ``EQUIGRAPH_BOARDS``, or where this system keeps the state of programs."""
    told = os.environ.get(FOLDER_VARIABLE)
    if told:
        return Path(told)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "equigraph" / "boards"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "equigraph" / "boards"
    return Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "equigraph" / "boards"


def keep_matter(matter: Matter) -> None:
    """Keep the people of a board, for whoever opens it again without the file."""
    _write(f"{matter.mark}.people.json", {"format": FORMAT, "version": VERSION, **matter_to_json(matter)})


def keep_step(matter: Matter, step: Step) -> None:
    """Keep the state of a board."""
    _write(f"{matter.mark}.json", {"title": matter.title, "state": step_to_json(step)})


def kept_step(matter: Matter) -> Step | None:
    """Return the state in which these people were left, None if there is none that can be read."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, EquigraphError):
        return step_from_json(_read(f"{matter.mark}.json")["state"], matter)
    return None


def kept_boards() -> list[dict[str, Any]]:
    """Return the boards that are kept, the latest first."""
    found = []
    with suppress(OSError):
        for path in folder().iterdir():
            mark = path.name.removesuffix(".json")
            if not _MARK.fullmatch(mark) or not path.with_name(f"{mark}.people.json").exists():
                continue
            with suppress(OSError, ValueError, AttributeError):
                title = str(_read(path.name).get("title", ""))
                found.append({"mark": mark, "title": title, "changed": path.stat().st_mtime})
    return sorted(found, key=lambda one: -one["changed"])


def kept_board(mark: str) -> tuple[Matter, Step]:
    """Return a kept board by its mark, which is one of those that `kept_boards` lists and never a path."""
    if mark not in {one["mark"] for one in kept_boards()}:
        raise InputError("This board is not kept on this machine any more.")
    content = _read(f"{mark}.people.json")
    return board_from_json({**content, "state": _read(f"{mark}.json")["state"]}, "The kept board")


def forget(mark: str) -> None:
    """Remove a kept board."""
    if _MARK.fullmatch(mark):
        for name in (f"{mark}.json", f"{mark}.people.json"):
            (folder() / name).unlink(missing_ok=True)


def _read(name: str) -> Any:
    return json.loads((folder() / name).read_text(encoding="utf-8"))


def _write(name: str, content: dict[str, Any]) -> None:
    place = folder()
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_text(place / name, json.dumps(content, ensure_ascii=False))
    # Names of people: for nobody else on this machine.
    (place / name).chmod(0o600)


MAX_BYTES = 512 << 20


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
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path.name} has more than {MAX_BYTES >> 20} MB: expected a saved board.")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError):
        raise InputError(
            f"{path.name} is no saved board: expected a file that the explorer's 'Save the board' wrote."
        ) from None
    return board_from_json(content, path.name)
