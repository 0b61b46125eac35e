"""Files of a division: the lists that people print and edit, and what is needed to check them again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypedDict

from equigraph.apps.classes.division import Division
from equigraph.apps.classes.read import read_class_lists
from equigraph.apps.classes.roster import Roster
from equigraph.exceptions import InputError
from equigraph.results.persistence import OutputFolder, read_stored, refusing_damage
from equigraph.rules import Rules

KIND = "classes"
DIVISION = "division.json"
LISTS = ("classes.xlsx", "classes.html", "classes.csv")
DOOR = "door.html"  # names only
_ROSTER = ("people", "friends", "apart", "together", "wishes", "source")
_BY_NAME = ("attributes", "fixed", "bins")


class DivisionEntries(TypedDict):
    """Entries of division.json."""

    roster: Roster
    class_names: list[str]
    rules: dict[str, Any]
    friends: int
    proven: bool
    attributes: dict[str, float]
    notes: tuple[str, ...]
    divisions: list[list[int]]


def files_of(n_divisions: int, door: bool = False) -> list[str]:
    """Return the names of the files that a folder of divisions holds."""
    lists = (*LISTS, DOOR) if door else LISTS
    return [DIVISION, *(list_name(name, number) for number in range(n_divisions) for name in lists)]


def list_name(name: str, number: int) -> str:
    """Return the name of a list of one of several alternatives."""
    stem, dot, suffix = name.partition(".")
    return name if number == 0 else f"{stem}-{number + 1}{dot}{suffix}"


def save_division(
    division: Division,
    folder: str | os.PathLike[str],
    *,
    excel: bool | str = False,
    title: str = "Classes",
    force: bool = False,
    language: str = "en",
) -> list[Path]:
    """Write the lists of a division and its alternatives, and what `load_division` reads.

    Parameters
    ----------
    division : Division
        The division.
    folder : path-like
        Where to; what equigraph wrote there before is replaced as a whole.
    excel : bool or str, default=False
        Text files as Excel opens them; see `ClassLists.to_csv`.
    title : str
        Headline of the lists.
    force : bool
        Whether files that others wrote, or that were edited, may be replaced.
    language : {"en", "de"}
        Language of the lists.

    Returns
    -------
    list of Path
        The files.
    """
    with OutputFolder(folder) as out:
        return write_division(division, out, excel=excel, title=title, force=force, language=language)


def write_division(
    division: Division,
    out: OutputFolder,
    *,
    excel: bool | str,
    title: str,
    force: bool,
    run: Mapping[str, str] | None = None,
    door: bool = False,
    by_surname: bool = False,
    date: str = "",
    language: str = "en",
) -> list[Path]:
    """Write a division into a folder that is locked already; see `save_division`."""

    def write_lists(folder: Path) -> None:
        for number, one in enumerate((division, *division.others)):
            lists = one.lists_in(language)
            headline = title if number == 0 else f"{title}, {lists.words['alternative']} {number + 1}"
            lists = replace(lists, title=headline, date=date, by_surname=by_surname)
            lists.to_xlsx(folder / list_name(LISTS[0], number))
            lists.to_html(folder / list_name(LISTS[1], number))
            lists.to_csv(folder / list_name(LISTS[2], number), excel=excel)
            if door:
                lists.to_html(folder / list_name(DOOR, number), attributes=(), friends=False)

    out.write(KIND, {DIVISION: _entries(division)}, further=write_lists, force=force, run=run)
    return [out.path / name for name in files_of(1 + len(division.others), door)]


def load_division(folder: str | os.PathLike[str]) -> Division:
    """Read a division that was saved; the lists beside it may have been edited since.

    Examples
    --------
    >>> import tempfile
    >>> roster = Roster(("Ada", "Ben", "Cem"), attributes={"gender": ("f", "m", None)})
    >>> division = Division(roster, [1, 0, 0], ["5a", "5b"], Rules(apart=[("Ada", "Cem")]), {"gender": 1.0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_division(division, folder)
    ...     load_division(folder)
    Division(5a: 2, 5b: 1; 0 of 0 wishes kept)
    """
    stored = read_stored(folder, [DIVISION])
    if stored.manifest["kind"] != KIND:
        raise InputError(f"{folder} holds no class lists: expected a folder that `equigraph classes` wrote.")
    with refusing_damage(stored.folder / DIVISION):
        division = _division(stored.json(DIVISION, DivisionEntries))
        for one in (division, *division.others):
            _ = (
                one.lists,
                one.evenness(),
                repr(one),
            )  # names of people and attributes are checked by their use
        return division


def is_division(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder is one that `equigraph classes` wrote."""
    return read_stored(folder, []).manifest["kind"] == KIND


def load_edited(folder: str | os.PathLike[str]) -> Division:
    """Read a division as its lists are now: everybody in the class in which the workbook of the folder has them."""
    division, path = load_division(folder), Path(folder) / LISTS[0]
    return division.with_labels(read_class_lists(path, division.roster)) if path.exists() else division


def roster_entries(roster: Roster) -> dict[str, Any]:
    """Return a roster as plain values."""
    people = {name: getattr(roster, name) for name in _ROSTER}
    by_name = {name: dict(getattr(roster, name)) for name in _BY_NAME}
    return {**people, **by_name, "notes": [asdict(note) for note in roster.notes]}


def _entries(division: Division) -> dict[str, Any]:
    return {
        "roster": roster_entries(division.roster),
        "class_names": division.class_names,
        "rules": division.rules.to_dict(),
        "friends": division.friends,
        "proven": division.proven,
        "attributes": dict(division.attributes),
        "notes": division.notes,
        "divisions": [one.labels.tolist() for one in (division, *division.others)],
    }


def _division(entries: DivisionEntries) -> Division:
    first, *others = entries["divisions"]
    division = Division(
        entries["roster"],
        first,
        entries["class_names"],
        Rules.from_dict(entries["rules"]),
        entries["attributes"],
        entries["friends"],
        entries["proven"],
        notes=entries["notes"],
    )
    return replace(division, others=tuple(division.with_labels(labels) for labels in others))
