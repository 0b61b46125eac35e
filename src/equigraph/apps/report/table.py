"""Tables of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
