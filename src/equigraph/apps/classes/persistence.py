"""Files of a division: lists to print and edit, and the data to load and check them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from equigraph._utils.records import as_given
from equigraph.apps.classes.division import Division
from equigraph.apps.classes.messages import LANGUAGES, SheetError, words
from equigraph.apps.classes.roster import Roster
from equigraph.apps.classes.roster.people import nearest, same
from equigraph.apps.classes.roster.read import read_bytes
from equigraph.apps.classes.roster.sheet import Sheet, read_text_sheet, tidy
from equigraph.apps.classes.roster.workbooks import OLE, ZIP, Workbook
from equigraph.exceptions import InputError
from equigraph.results.persistence import OutputFolder, read_stored, refusing_damage
from equigraph.rules import Rules

KIND = "classes"
DIVISION = "division.json"
LISTS = ("classes.xlsx", "classes.html", "classes.csv")
DOOR = "door.html"  # names only
_DEPTH = 20  # rows searched for the header of a list
_ROSTER = ("people", "friends", "apart", "together", "wishes", "source")
_BY_NAME = ("attributes", "fixed", "bins")
_PLAIN = ("class_names", "friends", "proven", "notes", "evenness_weight")  # of a division


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
    evenness_weight: NotRequired[float]


def files_of(n_divisions: int, door: bool = False) -> list[str]:
    """Return the names of the files in a folder of divisions."""
    lists = (*LISTS, DOOR) if door else LISTS
    return [DIVISION, *(list_name(name, number) for number in range(n_divisions) for name in lists)]


def list_name(name: str, number: int) -> str:
    """Return the file name of a list of an alternative."""
    stem, dot, suffix = name.partition(".")
    return name if number == 0 else f"{stem}-{number + 1}{dot}{suffix}"


def save_division(
    division: Division,
    folder: str | os.PathLike[str] | OutputFolder,
    *,
    excel: bool | str = False,
    title: str = "Classes",
    force: bool = False,
    language: str = "en",
    door: bool = False,
    by_surname: bool = False,
    date: str = "",
    run: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the lists of a division and its alternatives, and the data for `load_division`.

    Parameters
    ----------
    division : Division
        The division.
    folder : path-like or OutputFolder
        Where to; what equigraph wrote there before is replaced as a whole.
    excel : bool or str, default=False
        Text files as Excel opens them; see `ClassLists.to_csv`.
    title : str
        Headline of the lists.
    force : bool
        Whether files that others wrote, or that were edited, may be replaced.
    language : {"en", "de"}
        Language of the lists.
    door : bool
        Whether to write lists of names only, too.
    by_surname : bool
        Whether the lists are sorted by surname.
    date : str
        Date to print on them.
    run : mapping of str to str, optional
        The command and the folder it ran in.

    Returns
    -------
    list of Path
        The files.
    """

    def write_lists(place: Path) -> None:
        for number, one in enumerate((division, *division.others)):
            lists = one.lists_in(language)
            headline = title if number == 0 else f"{title}, {lists.words['alternative']} {number + 1}"
            lists = replace(lists, title=headline, date=date, by_surname=by_surname)
            lists.to_xlsx(place / list_name(LISTS[0], number))
            lists.to_html(place / list_name(LISTS[1], number))
            lists.to_csv(place / list_name(LISTS[2], number), excel=excel)
            if door:
                lists.to_html(place / list_name(DOOR, number), attributes=(), friends=False)

    with nullcontext(folder) if isinstance(folder, OutputFolder) else OutputFolder(folder) as out:
        out.write(KIND, {DIVISION: _entries(division)}, further=write_lists, force=force, run=run)
    return [out.path / name for name in files_of(1 + len(division.others), door)]


def load_division(folder: str | os.PathLike[str]) -> Division:
    """Read a saved division, without later edits of its lists.

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
        # Names of people and attributes are checked where they are used.
        for one in (division, *division.others):
            _ = one.lists, one.evenness(), repr(one)
        return division


def is_division(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder was written by `equigraph classes`."""
    return read_stored(folder, []).manifest["kind"] == KIND


def load_edited(folder: str | os.PathLike[str]) -> Division:
    """Read a saved division with the classes of the workbook, which may have been edited."""
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
        "rules": division.rules.to_dict(),
        "attributes": dict(division.attributes),
        **{name: getattr(division, name) for name in _PLAIN},
        "divisions": [one.labels.tolist() for one in (division, *division.others)],
    }


def _division(entries: DivisionEntries) -> Division:
    first, *others = entries["divisions"]
    fields: dict[str, Any] = {**entries, "labels": first, "rules": Rules.from_dict(entries["rules"])}
    del fields["divisions"]
    division = Division(**fields)
    return replace(division, others=tuple(division.with_labels(labels) for labels in others))


def read_class_lists(
    path: str | os.PathLike[str], roster: Roster, *, encoding: str | None = None
) -> dict[str, str]:
    """Read the classes of people from a workbook or text that `ClassLists` wrote and that may have been edited.

    On the sheet of a class only the column `Name` counts, and cell A1 has the class; in text, and on a sheet with a
    column `Class`, that column has it. Sheets without a column `Name` are skipped.

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
        If a person is missing, listed twice, or not on the roster.

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
    found: dict[str, tuple[str, dict[str, Any]]] = {}  # class and position of each person
    sheets = [(sheet, place) for sheet in _sheets(path, encoding) if (place := _header(sheet)) is not None]
    if not sheets:
        raise SheetError.of("no_lists", source=path.name)
    for sheet, (header, names) in sheets:
        for text, label, row, classes in _entries_of(sheet, header, names):
            if same(text) not in known:
                near = [roster.people[place] for place in nearest(text, roster.people)]
                raise sheet.error("not_listed", row, names, text=text[:60], near=near[:1])
            name = known[same(text)]
            if not label:
                raise sheet.error("class_blank", row, classes, name=name)
            if name in found:
                raise sheet.error("in_two_classes", row, names, name=name, other=found[name][1])
            found[name] = label, sheet.at(row, names)
    absent = [name for name in roster.people if name not in found]
    if absent:
        raise SheetError.of("without_class", source=path.name, names=absent[:5], more=len(absent[5:]))
    return {name: found[name][0] for name in roster.people}


def _entries_of(sheet: Sheet, header: int, names: int) -> Iterator[tuple[str, str, int, int]]:
    """Yield each name with its class, its row, and the column of the class."""
    heads = sheet.rows[header]
    # On the sheet of a class, with its title above the header, a column behind the name is one of the roster.
    classes = _column(heads if header == 0 else heads[:names], "class")
    title = (tidy(sheet.cell(0, 0)) if header > 0 else "") or sheet.title
    for row in range(header + 1, len(sheet.rows)):
        text = as_given(tidy(sheet.cell(row, names)))
        if not text and (row, names) in sheet.broken:
            raise sheet.why_broken(row, names)
        # Without a name it is the rest of a row that was moved; missing people are found at the end.
        if text and classes is None:
            yield text, title, row, names
        elif text and classes is not None:
            yield text, as_given(tidy(sheet.cell(row, classes))), row, classes


def _sheets(path: Path, encoding: str | None) -> list[Sheet]:
    raw = read_bytes(path)
    if raw.startswith((ZIP, OLE)):
        book = Workbook(raw, path.name)
        return [book.read(name) for name in book.visible]
    return [read_text_sheet(raw, path.name, encoding, path.suffix.lower())]


def _header(sheet: Sheet) -> tuple[int, int] | None:
    """Return the row and the column of the header of the names."""
    columns = ((row, _column(cells, "name")) for row, cells in enumerate(sheet.rows[:_DEPTH]))
    return next(((row, column) for row, column in columns if column is not None), None)


def _column(cells: list[str], heading: str) -> int | None:
    """Return the first column with a heading, in whatever language the lists are."""
    headings = {same(words(language)[heading]) for language in LANGUAGES}
    return next((place for place, cell in enumerate(cells) if same(cell) in headings), None)
