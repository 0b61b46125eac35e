"""Class lists as text: one row per person."""

from __future__ import annotations

import csv
import os

from equigraph._utils.files import atomic_path
from equigraph._utils.records import harmless
from equigraph._utils.text import shown
from equigraph.apps.classes.lists import ClassLists
from equigraph.exceptions import ParameterError


def write_table(
    lists: ClassLists, path: str | os.PathLike[str], attributes: list[str], excel: bool | str
) -> None:
    """Write the rows as `ClassLists.to_csv` says."""
    separator = {True: ";", False: ","}.get(excel, excel) if isinstance(excel, bool) else excel
    if separator not in (",", ";", "\t"):
        raise ParameterError(f"excel={excel!r}: expected True, False, or a separator: ',', ';' or a tab.")
    with (
        atomic_path(path) as partial,
        partial.open("w", encoding="utf-8-sig" if excel else "utf-8", newline="") as stream,
    ):
        writer = csv.writer(stream, delimiter=separator, lineterminator="\r\n" if excel else "\n")
        for row in table_rows(lists, attributes):
            writer.writerow([harmless(shown(cell)) for cell in row])


def table_rows(lists: ClassLists, attributes: list[str]) -> list[list[str]]:
    """Return the header and one row per person, class by class."""
    words = lists.words
    rows = [[words["class"], words["name"], *attributes, words["here"], words["elsewhere"]]]
    for number, class_name in enumerate(lists.class_names):
        for name in lists.members(number):
            values = [lists.value(name, attribute) for attribute in attributes]
            rows.append([class_name, name, *values, friends_text(lists, name), elsewhere_text(lists, name)])
    return rows


def friends_text(lists: ClassLists, name: str) -> str:
    """Return the friends of a person in the same class, for a cell."""
    return ", ".join(lists.friends_here(name))


def elsewhere_text(lists: ClassLists, name: str) -> str:
    """Return the friends of a person in other classes, for a cell."""
    return ", ".join(f"{other} ({where})" for other, where in lists.friends_elsewhere(name))
