"""Sheets that are huge, or meant to do harm, are refused before they cost time or memory."""

import re
import struct
import tracemalloc
import zipfile

import pytest

import equigraph as eg
from equigraph.apps.classes.roster import workbooks
from equigraph.apps.classes.roster.sheet import MAX_BYTES, MAX_COLUMNS, MAX_ROWS
from equigraph.exceptions import RosterError
from tests.apps.classes.roster.sheets import (
    PEOPLE,
    repacked,
    write_csv,
    write_ods,
    write_xls,
    write_xlsx,
)


def refused(path, pattern):
    """Check that a file is refused without much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(RosterError, match=pattern):
            eg.read_roster(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 600e6


@pytest.mark.parametrize(
    ("told", "pattern"),
    [(300 * 2**20, "unpacks to more than 256 MB"), (10, "is damaged and cannot be opened")],
)
def test_an_archive_that_unpacks_to_gigabytes_whatever_it_says_of_its_sizes(tmp_path, told, pattern):
    path = write_xlsx(tmp_path / "bomb.xlsx", PEOPLE)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", bytes(300 * 2**20))
    raw, size = path.read_bytes(), struct.pack("<I", 300 * 2**20)
    assert len(raw) < 2**20
    assert raw.count(size) == 2
    path.write_bytes(raw.replace(size, struct.pack("<I", told)))
    refused(path, pattern)


def test_a_cell_at_the_far_corner(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE)
    far = b'<row r="1048576"><c r="XFD1048576" t="n"><v>1</v></c></row></sheetData>'
    repacked(path, lambda name, content: content.replace(b"</sheetData>", far))
    refused(path, "is used up to cell XFD1048576")


def test_rows_and_cells_that_are_repeated(tmp_path):
    path = write_ods(tmp_path / "a.ods", [*PEOPLE, ["again"]])
    last = rb"<table:table-row>((?:(?!</table:table-row>).)*again)"
    repeated = rb'<table:table-row table:number-rows-repeated="9000000">\1'
    repacked(path, lambda _, content: re.sub(last, repeated, content))
    refused(path, "far more than a list of people needs")


def test_one_long_text_in_very_many_cells(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["Name"], *(["x" * 30_000] for _ in range(5_000))])
    assert path.stat().st_size < 2**20
    refused(path, "holds far more text than a list of people")


def test_entities_are_not_expanded(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE)
    doctype = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    repacked(path, lambda _, content: content.replace(b"<worksheet", doctype + b"<worksheet"))
    refused(path, "declares a document type")


def test_sheets_with_too_many_rows_columns_or_bytes(tmp_path):
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


def test_formats_beyond_the_people_do_no_harm(tmp_path):
    def fill(book):
        grey = book.add_format({"bg_color": "#EEEEEE"})
        for i in range(5, 3000):
            book.worksheets()[0].write_blank(i, 9, None, grey)

    assert len(eg.read_roster(write_xlsx(tmp_path / "a.xlsx", PEOPLE, change=fill)).people) == 4


def test_a_large_school_is_read(tmp_path):
    n = 5000
    names = [f"Pupil {i:04d} Ä" for i in range(n)]
    rows = [[names[i], names[(i + 1) % n], names[(i + 7) % n].lower()] for i in range(n)]
    rows.insert(0, ["Name", "Friend 1", "Friend 2"])
    rows[9][1] = "Pupl 0009 Ä"
    path = write_csv(tmp_path / "a.csv", rows)
    roster = eg.read_roster(path, accept_near=True)
    # A misspelt wish keeps its place, which is its rank.
    assert roster.friends_of("Pupil 0008 Ä") == ("Pupil 0009 Ä", "Pupil 0015 Ä")


def test_a_text_file_of_one_endless_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"Name" + b";" * 2_000_000 + b"x")
    refused(path, r"is used up to column|field larger")
    write_csv(path, [["Name"], ["x" * 5_000_000]])
    refused(path, r"field larger|letters")


def test_a_far_corner_of_an_old_file(tmp_path):
    rows = [["Name"], *([] for _ in range(65534)), [*[""] * 40, "far"]]
    path = write_xls(tmp_path / "a.xls", rows)
    refused(path, "is damaged and cannot be opened|has 65,536 rows")


def test_a_reader_that_dies_or_says_nothing(tmp_path, monkeypatch):
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE)
    reader = tmp_path / "reader.py"
    monkeypatch.setattr(workbooks, "READER", reader)
    for code in ("import os; os.abort()", "", "print('[')", "raise MemoryError"):
        reader.write_text(code)
        refused(path, "a.xlsx is damaged and cannot be opened: save it again")
