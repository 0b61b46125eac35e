"""Exports of web forms: of several answers of one person the last counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from equigraph.apps.classes.roster.columns import SheetLayout
from equigraph.apps.classes.roster.notes import Note, note
from equigraph.apps.classes.roster.sheet import Sheet
from equigraph.apps.classes.roster.vocabulary import is_time

_ZONE = re.compile(r"\s+[A-Z]{3,5}(?:[+-]\d{1,2}(?::?\d{2})?)?\Z|Z\Z|(?<=:\d\d)[+-]\d\d:?\d\d\Z")
_BEFORE_TIME = re.compile(r"(?<=\d)(?:T|, ?)(?=\d)")
_DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%d-%m-%Y",
)
_TIMES = (" %H:%M:%S", " %I:%M:%S %p", " %H:%M", " %I:%M %p", " %H:%M:%S.%f", "")


def last_answers(
    sheet: Sheet, layout: SheetLayout, rows: Sequence[tuple[str, int]]
) -> tuple[list[tuple[str, int]], list[Note]]:
    """Return the rows that count, each with whose it is, and notes on the others.

    Without a column of times all rows count. Times that cannot be read, or that can be read in two ways, leave the
    order of the rows, which is that of the answers where a form wrote them.
    """
    column = next((one for one in layout.columns if is_time(one.header)), None)
    if column is None or len({who for who, _ in rows}) == len(rows):
        return list(rows), []
    order = _order([sheet.cell(row, column.place) for _, row in rows])
    answers: dict[str, list[int]] = {}
    for place in order:
        who, row = rows[place]
        answers.setdefault(who, []).append(row)
    last = {found[-1] for found in answers.values()}
    several = [[who, [row + 1 for row in found]] for who, found in answers.items() if len(found) > 1]
    kept = [(who, row) for who, row in rows if row in last]
    return kept, [note("answers", people=several)]


def _order(texts: list[str]) -> Iterable[int]:
    """Return the places of times from the earliest to the latest.

    >>> list(_order(["2024/05/03 9:12:11 PM GMT+2", "2024/05/03 9:12:12 AM GMT+2"]))
    [1, 0]
    >>> list(_order(["03.05.2024 10:00", "soon"]))
    [0, 1]
    """
    plain = [_BEFORE_TIME.sub(" ", _ZONE.sub("", text)) for text in texts]
    read = [times for date in _DATES for time in _TIMES if (times := _times(plain, date + time)) is not None]
    # Days and months may be told apart by the rows, which a form writes one after another.
    rising = [times for times in read if times == sorted(times)]
    certain = rising[:1] or (read if len(read) == 1 else [])
    if not certain:
        return range(len(texts))
    return sorted(range(len(texts)), key=lambda place: (certain[0][place], place))


def _times(texts: list[str], how: str) -> list[datetime] | None:
    try:
        return [datetime.strptime(text, how) for text in texts]
    except ValueError:
        return None
