"""Sheets in text files, as spreadsheet programs write them: encoding and separator are guessed and noted."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter

from equigraph.apps.classes.messages import Note, SheetError, note
from equigraph.apps.classes.roster.sheet import MAX_ROWS, Sheet, check_bounds
from equigraph.exceptions import ParameterError
from equigraph.graph.delimited import declared_separator

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SEPARATORS = (";", ",", "\t", "|")
_MARKUP = re.compile(r"\s*(<!doctype html|<html|<\?xml|<table|<meta)", re.IGNORECASE)
# UTF-8 that was read as cp1252 has one of these letters before each accented one.
_READ_TWICE = re.compile(
    "[ÂÃ][\u0080-\u00bf\u0152-\u0178\u2013-\u2122\u0192\u02c6\u02dc]|[ÄÅ][\u0080-\u00bf]"
)
# What cp1252 makes of the accented letters of the older Macintosh and DOS encodings, inside a word or at its end.
_MISREAD = re.compile("[^\\W\\d_][„”‡†‰ŽŸ€ƒ¤¢£¥¦§©®°±¶](?=[a-zß-ÿ])|[a-zß-ÿ][‡†‰ŽŸƒ¤¢¥¦§¶](?![^\\W\\d_])")
_SAMPLE = 50


def read_text_sheet(raw: bytes, source: str, encoding: str | None, suffix: str) -> Sheet:
    """Return the cells of a text file.

    The suffix may promise something else than text; without an encoding it is guessed.
    """
    text, notes = _decode(raw, source, encoding)
    _check_letters(text, source)
    if _MARKUP.match(text):
        raise SheetError.of("web_page", source=source)
    if "\0" in text:
        raise SheetError.of("no_text", source=source)
    if suffix in (".xlsx", ".xls", ".ods"):
        notes.append(note("text_file", suffix=suffix))
    first, _, rest = text.partition("\n")
    declared = declared_separator(first)
    if declared is not None:
        text = rest
    separator = declared or _separator(text)
    notes.append(note("separator", separator=separator, declared=declared is not None))
    rows = _rows(text, separator, source)
    return check_bounds(Sheet(source, rows, notes=tuple(notes), is_text=True))


def _decode(raw: bytes, source: str, encoding: str | None) -> tuple[str, list[Note]]:
    encoding = encoding or next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    if encoding is not None:
        return _decode_as(raw, source, encoding), []
    try:
        text = raw.decode("utf-8")
        return text, [] if text.isascii() else [note("encoding_utf8")]
    except UnicodeDecodeError as error:
        return _decode_western(raw, source, raw.count(b"\n", 0, error.start) + 1)


def _decode_as(raw: bytes, source: str, encoding: str) -> str:
    try:
        # Python's own utf-8 would keep the mark at the beginning as a letter.
        text = raw.decode("utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding)
    except (LookupError, TypeError) as error:
        raise ParameterError(
            f"encoding={encoding!r} is unknown: expected one such as 'utf-8' or 'cp1252'."
        ) from error
    except UnicodeError as error:
        line = raw.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise SheetError.of("not_encoded", source=source, line=line, encoding=encoding) from error
    if not isinstance(text, str):
        raise ParameterError(f"encoding={encoding!r} is none of text: expected one such as 'utf-8'.")
    return text


def _decode_western(raw: bytes, source: str, line: int) -> tuple[str, list[Note]]:
    """Decode text that is not UTF-8 from some line on."""
    if b"\0" in raw:
        raise SheetError.of("no_text", source=source)
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError:
        text = ""
    sample = _MISREAD.search(text)
    if sample is not None or not text:
        word = _word(text, sample) if sample else ""
        raise SheetError.of("not_utf8", source=source, line=line, word=word)
    return text, [note("encoding_western", line=line)]


def _word(text: str, match: re.Match[str]) -> str:
    before = re.search(r"\w*\Z", text[: match.start()])
    after = re.match(r"\w*", text[match.end() :])
    return f"{before[0] if before else ''}{match[0]}{after[0] if after else ''}"[:40]


def _check_letters(text: str, source: str) -> None:
    """Raise SheetError for letters that were lost before, or that show a wrong encoding."""
    lost, twice = text.find("\N{REPLACEMENT CHARACTER}"), _READ_TWICE.search(text)
    if lost >= 0:
        raise SheetError.of("letters_lost", source=source, line=text.count("\n", 0, lost) + 1)
    if twice:
        line = text.count("\n", 0, twice.start()) + 1
        raise SheetError.of("read_twice", source=source, line=line, word=_word(text, twice))


def _separator(text: str) -> str:
    """Return the separator that parts the most lines into the same number of cells, more cells first."""
    lines = [line for line in text.splitlines()[: 2 * _SAMPLE] if line.strip()][:_SAMPLE]
    best, score = ";", (0, 0)
    for separator in _SEPARATORS:
        counts = Counter("".join(line.split('"')[::2]).count(separator) for line in lines)
        counts.pop(0, None)
        if counts:
            cells, alike = max(counts.items(), key=lambda item: (item[1], item[0]))
            score, best = max((score, best), ((alike, cells), separator), key=lambda pair: pair[0])
    return best


def _rows(text: str, separator: str, source: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    try:
        for row in reader:
            rows.append(row)
            if len(rows) > 4 * MAX_ROWS:
                break
    except csv.Error as error:
        raise SheetError.of("no_cells_in_row", source=source, row=len(rows) + 1, reason=str(error)) from error
    return rows
