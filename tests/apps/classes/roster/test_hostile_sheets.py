"""Sheets that are huge, or meant to do harm, are refused before they cost time or memory."""

from __future__ import annotations

import io
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import equigraph as eg
from equigraph.apps.classes.roster import reader_process
from equigraph.apps.classes.roster.sheet import MAX_BYTES, MAX_COLUMNS, MAX_ROWS
from equigraph.exceptions import InputError, RosterError
from tests.apps.classes.roster.sheets import PEOPLE, csv_bytes, write_csv, write_ods, write_xls, write_xlsx


def refused(path: Path, pattern: str) -> None:
    """Check that a file is refused without much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(RosterError, match=pattern):
            eg.read_roster(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 600e6


def repacked(path: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """Write an archive again with some of its parts changed."""
    parts = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            parts[name] = change(name, archive.read(name))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_an_archive_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    write_xlsx(path, PEOPLE)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", bytes(300 * 2**20))
    assert path.stat().st_size < 2**20
    refused(path, "unpacks to more than 256 MB")


def test_an_archive_that_lies_about_its_sizes(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    write_xlsx(path, PEOPLE)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", bytes(300 * 2**20))
    raw = path.read_bytes()
    size = struct.pack("<I", 300 * 2**20)
    assert raw.count(size) == 2
    path.write_bytes(raw.replace(size, struct.pack("<I", 10)))
    refused(path, "unpacks to more than 256 MB")


def test_a_cell_at_the_far_corner(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE)
    far = b'<row r="1048576"><c r="XFD1048576" t="n"><v>1</v></c></row></sheetData>'
    repacked(path, lambda name, content: content.replace(b"</sheetData>", far))
    refused(path, "is used up to cell XFD1048576")


def test_rows_and_cells_that_are_repeated(tmp_path: Path) -> None:
    path = write_ods(tmp_path / "a.ods", [*PEOPLE, ["again"]])

    def repeat(name: str, content: bytes) -> bytes:
        rows = re.findall(rb"<table:table-row>(?:(?!</table:table-row>).)*again", content)
        if not rows:
            return content
        return content.replace(
            rows[0],
            rows[0].replace(b"<table:table-row>", b'<table:table-row table:number-rows-repeated="9000000">'),
        )

    refused(repacked(path, repeat), "far more than a list of people needs")


def test_one_long_text_in_very_many_cells(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", [["Name"], *(["x" * 30_000] for _ in range(5_000))])
    assert path.stat().st_size < 2**20
    refused(path, "holds far more text than a list of people")


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE)
    doctype = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'

    def declare(name: str, content: bytes) -> bytes:
        return content.replace(b"<sst", doctype + b"<sst") if name == "xl/sharedStrings.xml" else content

    refused(repacked(path, declare), "declares a document type")


def test_sheets_with_too_many_rows_columns_or_bytes(tmp_path: Path) -> None:
    rows = [["Name"], *([f"P{i}"] for i in range(MAX_ROWS))]
    for path in (write_csv(tmp_path / "a.csv", rows), write_xlsx(tmp_path / "a.xlsx", rows)):
        refused(path, "has 20,001 rows: expected at most 20,000")
    wide = [["Name", *(f"c{i}" for i in range(MAX_COLUMNS))], ["Ada"], ["Ben"]]
    for path in (write_csv(tmp_path / "b.csv", wide), write_xlsx(tmp_path / "b.xlsx", wide)):
        refused(path, "is used up to column SG: expected at most 500 columns")
    large = tmp_path / "c.csv"
    with large.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    refused(large, "has 32 MB: expected a list of people of at most 32 MB")


def test_formats_beyond_the_people_do_no_harm(tmp_path: Path) -> None:
    import xlsxwriter

    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        page, grey = book.add_worksheet(), book.add_format({"bg_color": "#EEEEEE"})
        for i, row in enumerate(PEOPLE):
            page.write_row(i, 0, row)
        for i in range(5, 3000):
            page.write_blank(i, 9, None, grey)
    assert len(eg.read_roster(path).people) == 4


def test_a_large_school_is_read(tmp_path: Path) -> None:
    n = 5000
    rows = [["Name", "Friend 1", "Friend 2"]]
    rows += [
        [f"Pupil {i:04d} Ä", f"Pupil {(i + 1) % n:04d} Ä", f"pupil {(i + 7) % n:04d}  ä"] for i in range(n)
    ]
    rows[9][1] = "Pupl 0009 Ä"
    path = write_csv(tmp_path / "a.csv", rows)
    roster = eg.read_roster(path, accept_near=True)
    assert roster.friends_of("Pupil 0008 Ä") == ("Pupil 0009 Ä", "Pupil 0015 Ä")[::-1]


@pytest.mark.parametrize("suffix", ["xlsx", "xls", "ods", "csv"])
def test_damaged_bytes_give_a_sentence_or_people(tmp_path: Path, suffix: str) -> None:
    writers = {"xlsx": write_xlsx, "xls": write_xls, "ods": write_ods, "csv": write_csv}
    path = writers[suffix](tmp_path / f"a.{suffix}", PEOPLE)
    whole = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    rng = np.random.default_rng(0)
    refusals = 0
    for turn in range(60):
        raw = whole.copy()
        if turn % 3 == 0:
            raw = raw[: rng.integers(1, raw.size)]
        places = rng.integers(raw.size, size=1 + turn % 12)
        raw[places] = rng.integers(256, size=places.size)
        path.write_bytes(raw.tobytes())
        try:
            assert len(eg.read_roster(path).people) >= 2
        except InputError:
            refusals += 1
    assert refusals > 10


def test_damaged_xml_inside_a_whole_archive(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    refusals = 0
    for _ in range(40):
        path = write_xlsx(tmp_path / "a.xlsx", PEOPLE)

        def scratch(name: str, content: bytes) -> bytes:
            raw = np.frombuffer(content, dtype=np.uint8).copy()
            if name.startswith("xl/") and rng.random() < 0.5:
                raw[rng.integers(raw.size, size=2)] = rng.integers(32, 127, size=2)
            return raw.tobytes()

        try:
            eg.read_roster(repacked(path, scratch))
        except InputError:
            refusals += 1
    assert refusals > 5


def test_a_text_file_of_one_endless_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"Name" + b";" * 2_000_000 + b"x")
    refused(path, r"is used up to column|field larger")
    stream = io.BytesIO(csv_bytes([["Name"], ["x" * 5_000_000]]))
    path.write_bytes(stream.getvalue())
    refused(path, r"field larger|letters")


def test_a_far_corner_of_an_old_file(tmp_path: Path) -> None:
    path = write_xls(tmp_path / "a.xls", PEOPLE)
    import xlwt

    book = xlwt.Workbook()
    page = book.add_sheet("Liste")
    page.write(0, 0, "Name")
    page.write(65535, 255, "far")
    book.save(str(path))
    refused(path, "is damaged and cannot be opened|has 65,536 rows")


def test_a_reader_that_dies_or_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE)
    reader = tmp_path / "reader.py"
    monkeypatch.setattr(reader_process, "__file__", str(reader))
    for code in ("import os; os.abort()", "", "print('[')", "raise MemoryError"):
        reader.write_text(code)
        refused(path, "a.xlsx is damaged and cannot be opened: save it again")
