"""Divisions in folders: the lists that people print and edit, and what is needed to check them again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from equigraph._utils.records import write_json
from equigraph.apps.classes.division import Division
from equigraph.apps.classes.roster import Roster
from equigraph.exceptions import InputError, ParameterError, RosterError
from equigraph.results.folders import OutputFolder, parse_json, read_kept
from equigraph.rules import Rules

KIND = "classes"
DIVISION = "division.json"
LISTS = ("classes.xlsx", "classes.html", "classes.csv")
_PEOPLE = ("people", "friends", "apart", "together", "notes")


def files_of(n_divisions: int) -> list[str]:
    """Return the names of the files that a folder of divisions holds."""
    return [DIVISION, *(list_name(name, number) for number in range(n_divisions) for name in LISTS)]


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

    Returns
    -------
    list of Path
        The files.
    """
    with OutputFolder(folder) as out:
        return write_division(division, out, excel=excel, title=title, force=force)


def write_division(
    division: Division, out: OutputFolder, *, excel: bool | str, title: str, force: bool, **facts: Any
) -> list[Path]:
    """Write a division into a folder that is held already; see `save_division`."""
    with out.writing(KIND, force=force, **facts) as partial:
        write_json(partial / DIVISION, _told(division))
        for number, one in enumerate((division, *division.others)):
            headline = title if number == 0 else f"{title}, alternative {number + 1}"
            lists = replace(one.lists, title=headline)
            lists.to_xlsx(partial / list_name(LISTS[0], number))
            lists.to_html(partial / list_name(LISTS[1], number))
            lists.to_csv(partial / list_name(LISTS[2], number), excel=excel)
    return [out.path / name for name in files_of(1 + len(division.others))]


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
    kept = read_kept(folder, [DIVISION])
    path = Path(folder) / DIVISION
    if kept.manifest.get("kind") != KIND or DIVISION not in kept.files:
        raise InputError(f"{folder} holds no class lists: expected a folder that `equigraph classes` wrote.")
    told = parse_json(kept.files[DIVISION], path)
    try:
        return _division(told)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, (RosterError, ParameterError)):
            raise InputError(f"{path}: {error}") from None
        raise InputError(f"{path} is not what equigraph wrote: make the classes again.") from None


def _told(division: Division) -> dict[str, Any]:
    roster = division.roster
    return {
        "roster": {
            **{name: getattr(roster, name) for name in _PEOPLE},
            "attributes": dict(roster.attributes),
            "fixed": dict(roster.fixed),
            "wishes": roster.wishes,
            "bins": dict(roster.bins),
            "source": roster.source,
        },
        "class_names": division.class_names,
        "rules": division.rules.to_dict(),
        "friends": division.friends,
        "proven": division.proven,
        "attributes": dict(division.attributes),
        "notes": division.notes,
        "divisions": [one.labels.tolist() for one in (division, *division.others)],
    }


def _division(told: Mapping[str, Any]) -> Division:
    people = dict(told["roster"])
    for name in _PEOPLE:
        people[name] = _tuples(people[name])
    people["attributes"] = {name: tuple(values) for name, values in people["attributes"].items()}
    first, *others = told["divisions"]
    division = Division(
        Roster(**people),
        first,
        told["class_names"],
        Rules.from_dict(told["rules"]),
        told["attributes"],
        int(told["friends"]),
        bool(told["proven"]),
        notes=tuple(told["notes"]),
    )
    return replace(division, others=tuple(division.with_labels(labels) for labels in others))


def _tuples(value: Any) -> Any:
    """Return lists as tuples, all the way down."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
