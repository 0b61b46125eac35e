"""Pages from templates: a value that is no markup is escaped, and shown without control characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from equigraph._utils.templates import environment
from equigraph.plotting.style import shown


@dataclass(frozen=True)
class PageTable:
    """A table of the page; the first cell of a row is its head."""

    caption: str
    heads: list[Any]
    rows: list[list[Any]]
    words: tuple[int, ...] = ()  # columns of texts, which are set to the left
    mark: int = -1  # row that is emphasised
    stacked: bool = False  # whether cells stand below each other on a phone, each with the head of its column

    def kind(self, column: int) -> str:
        """Return the class of the cells of a column."""
        return "words" if column in self.words else "number"


def visible(value: Any) -> Any:
    """Return a value as a page can show it: without control characters, unless it is markup."""
    return value if isinstance(value, Markup) else shown(value)


def render(package: str, **values: Any) -> str:
    """Return the page of a package: its template ``page.html`` with values."""
    return environment(package, finalize=visible).get_template("page.html").render(**values).lstrip()
