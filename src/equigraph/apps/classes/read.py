"""Read class lists back that were edited by hand."""

from __future__ import annotations

import os
from pathlib import Path

from equigraph._utils.records import as_given
from equigraph.apps.classes.messages import LANGUAGES, words
from equigraph.apps.classes.roster import Roster
from equigraph.apps.classes.roster.nearest import nearest
from equigraph.apps.classes.roster.people import same
from equigraph.apps.classes.roster.read import read_bytes
from equigraph.apps.classes.roster.sheet import Sheet, tidy
from equigraph.apps.classes.roster.text_files import read_text_sheet
from equigraph.apps.classes.roster.workbooks import OLE, ZIP, Workbook
from equigraph.exceptions import RosterError

_DEPTH = 20


def read_class_lists(
    path: str | os.PathLike[str], roster: Roster, *, encoding: str | None = None
) -> dict[str, str]:
    """Read who is in which class from a workbook or text that `ClassLists` wrote and somebody edited.

    On the sheets of classes only the column `Name` counts, and the class is what stands in cell A1; in text, and on a
    sheet with a column `Class`, the class is in that column. Sheets without a column `Name` are passed over.

    Parameters
    ----------
    path : path-like
        The edited classes.xlsx (or .ods, .xls) or classes.csv.
    roster : Roster
        The people, all of whom must be in one class.
    encoding : str, optional
        Encoding of a text file; guessed by default.

    Returns
    -------
    dict of str to str
        Class of each person, in the order of the roster; `ClassLists` takes it as its labels.

    Raises
    ------
    RosterError
        If somebody is missing, stands in two places, or is not on the list.

    Examples
    --------
    >>> import tempfile
    >>> from equigraph.apps.classes import ClassLists
    >>> roster = Roster(("Ada", "Ben", "Cem"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "classes.csv"
    ...     ClassLists(roster, [1, 0, 0], ["5a", "5b"]).to_csv(path)
    ...     read_class_lists(path, roster)
    {'Ada': '5b', 'Ben': '5a', 'Cem': '5a'}
    """
    path = Path(path)
    known = {same(name): name for name in roster.people}
    found: dict[str, tuple[str, str]] = {}
    sheets = [
        (name, sheet, row) for name, sheet in _sheets(path, encoding) if (row := _header(sheet)) is not None
    ]
    if not sheets:
        raise RosterError(
            f"{path.name} has no column {words('en')['name']!r}: expected a file that was made of class lists."
        )
    for name, sheet, row in sheets:
        _read_sheet(name, sheet, row, roster, known, found)
    absent = [name for name in roster.people if name not in found]
    if absent:
        more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
        listed = ", ".join(map(repr, absent[:5]))
        raise RosterError(f"{path.name} has no class for {listed}{more}: put everybody into one class.")
    return {name: found[name][0] for name in roster.people}


def _sheets(path: Path, encoding: str | None) -> list[tuple[str, Sheet]]:
    raw = read_bytes(path)
    if raw.startswith((ZIP, OLE)):
        book = Workbook(raw, path.name)
        return [(name, book.read(name)) for name in book.visible]
    return [("", read_text_sheet(raw, path.name, encoding, path.suffix.lower()))]


def _header(sheet: Sheet) -> int | None:
    """Return the row that has the header of the names."""
    rows = enumerate(sheet.rows[:_DEPTH])
    return next((row for row, cells in rows if _column(cells, "name") is not None), None)


def _column(cells: list[str], heading: str) -> int | None:
    """Return the first column with a heading, in whatever language the lists are."""
    headings = {same(words(language)[heading]) for language in LANGUAGES}
    return next((place for place, cell in enumerate(cells) if same(cell) in headings), None)


def _read_sheet(
    sheet_name: str,
    sheet: Sheet,
    header: int,
    roster: Roster,
    known: dict[str, str],
    found: dict[str, tuple[str, str]],
) -> None:
    heads = sheet.rows[header]
    names = _column(heads, "name")
    assert names is not None
    # On the sheet of a class, with its title above the header, a column behind the name is one of the roster.
    classes = _column(heads if header == 0 else heads[:names], "class")
    title = tidy(sheet.cell(0, 0)) if header > 0 else ""
    for row in range(header + 1, len(sheet.rows)):
        text = as_given(tidy(sheet.cell(row, names)))
        if not text:
            if (row, names) in sheet.broken:
                raise sheet.why_broken(row, names)
            continue  # what is left of somebody who was moved; whoever is lost is missed at the end
        name = _person(sheet, row, names, text, roster, known)
        label = as_given(tidy(sheet.cell(row, classes))) if classes is not None else title or sheet_name
        if not label:
            column = names if classes is None else classes
            raise RosterError(f"{sheet.where(row, column)}: {name!r} has no class: write its name there.")
        where = sheet.where(row, names)
        if name in found:
            raise RosterError(f"{where}: {name!r} stands also in {found[name][1]}: leave one of the two.")
        found[name] = (label, where)


def _person(sheet: Sheet, row: int, column: int, text: str, roster: Roster, known: dict[str, str]) -> str:
    name = known.get(same(text))
    if name is None:
        near = nearest(text, roster.people)
        meant = f"perhaps {roster.people[near[0]]!r} is meant" if near else "nobody has a name like it"
        raise RosterError(f"{sheet.where(row, column)}: {text[:60]!r} is not on the list of people; {meant}.")
    return name
