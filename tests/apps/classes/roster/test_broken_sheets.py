"""Whatever is wrong with a sheet, one sentence says what, and where in the sheet."""

import re
import zipfile

import pytest

import equigraph as eg
from equigraph.exceptions import InputError
from tests.apps.classes.roster.sheets import (
    PEOPLE,
    csv_bytes,
    repacked,
    write_csv,
    write_ods,
    write_xls,
    write_xlsx,
)

WRITERS = {"csv": write_csv, "xlsx": write_xlsx, "xls": write_xls, "ods": write_ods}


def changed(*changes):
    """Return the people with some cells changed, rows and columns counted from 0."""
    rows = [list(row) for row in PEOPLE]
    for row, column, text in changes:
        rows[row][column] = text
    return rows


def hobbies():
    return [["Name", "Wunsch"], *([f"Kind {i}", f"Basteln {i} und mehr"] for i in range(201))]


BROKEN = {
    "no header": (PEOPLE[1:], r"no column of names that is known in row 1 \(A 'Änne Müller', B 'f'.*columns"),
    "no names": ([row[1:] for row in PEOPLE], r"no column of names that is known in row 1 \(A 'Gender'"),
    "header only": (PEOPLE[:1], r"has nobody below the header in row 1: expected at least two people"),
    "one person": ([PEOPLE[0], ["Ada", "f"]], r"has 1 person below the header in row 1"),
    "two of one name": (changed((4, 0, "Ben Groß")), r"rows 3 and 5 both have 'Ben Groß'"),
    "two but for capitals": (changed((4, 0, "BEN  groß ")), r"rows 3 and 5 both have 'BEN groß'"),
    "header repeated": ([*PEOPLE, PEOPLE[0]], r"row 6, column A: 'Name' is not a person"),
    "name is blank": (changed((2, 0, "")), r"row 3, column A: the name is blank, but column B has 'm'"),
    "name of signs": (changed((2, 0, "???")), r"row 3, column A: '\?\?\?' is not a name"),
    "name too long": (changed((2, 0, "x" * 201)), r"row 3, column A: the name has 201 letters; .* at most"),
    "misspelt friend": (changed((1, 2, "Ben Grsoß")), r"'Ben Grsoß' \(row 2, column C\), perhaps 'Ben"),
    "friend of a class": (changed((1, 2, "Ben Groß (5b)")), r"'Ben Groß \(5b\)' .* perhaps 'Ben Groß'"),
    "unknown friend": (changed((1, 3, "Wilhelmine")), r"'Wilhelmine' \(row 2, column D\), and nobody has a"),
    "a sentence for a friend": (changed((1, 2, "ist ihr egal")), r"'ist ihr egal' \(row 2, column C\)"),
    "own friend": (changed((2, 2, "Ben Groß")), r"row 3, column C: 'Ben Groß' is named in their own row"),
    "unknown not with": (changed((3, 4, "Kai")), r"'Kai' \(row 4, column E\)"),
    "unknown together": (changed((3, 5, "Zoe Kruger")), r"'Zoe Kruger' \(row 4, column F\), perhaps 'Zoë"),
    "together and apart": (changed((4, 4, "Cem Öztürk")), r"together \(row 4, column F\) and apart \(row 5"),
    "hobbies for friends": (hobbies(), r"201 names of other people are not on .*row 2, column B"),
    "column without header": (changed((0, 3, "")), r"row 3, column D: .*but column D has no header"),
    "two columns of names": (changed((0, 1, "Pupil")), r"columns A \('Name'\) and B \('Pupil'\) both look"),
    "two of one attribute": ([[*row, row[1]] for row in PEOPLE], r"columns B \('Gender'\) and H"),
    "two fixed classes": ([[*row, "Feste Klasse"] for row in PEOPLE], r"columns G \('Fixed class'\) and H"),
    "formula as text": (changed((1, 2, "=B3&C3")), r"row 2, column C: the cell holds a formula \('=B3&C3'\)"),
    "formula for a name": (changed((1, 0, "=A1")), r"row 2, column A: the cell holds a formula"),
    "lost reference": (changed((1, 0, "#REF!")), r"row 2, column A: the cell holds '#REF!', the error"),
    "German error": (changed((3, 2, "#BEZUG!")), r"row 4, column C: the cell holds '#BEZUG!', the error"),
    "cell too long": (changed((3, 2, "y" * 2001)), r"row 4, column C: the cell has 2,001 letters; expected"),
    "all blank": ([["", ""], [" ", ""]], r"(is empty|has no cells): expected one row per person below a"),
}


def refused(path, pattern, **options):
    """Check that a sheet is refused with one sentence, in both languages."""
    with pytest.raises(InputError) as caught:
        eg.read_roster(path, **options)
    message, name = str(caught.value), path.name
    texts = caught.value.note.texts()
    assert texts["en"] == message
    german = texts["de"]
    assert german.startswith(name)
    assert not re.search(r"\b(expected|column|row|cell|save)\b", german), german
    assert re.search(pattern, message), message
    assert message.startswith(name), message
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 500
    assert not re.search(r"[.!?] [A-Z]", message), "more than one sentence"


# What is wrong is found behind the readers: some cases are enough for each of them but one.
SOME = [(case, suffix) for suffix in WRITERS for case in list(BROKEN)[:: 1 if suffix == "csv" else 4]]


@pytest.mark.parametrize(("case", "suffix"), SOME)
def test_broken_cells(tmp_path, case, suffix):
    rows, pattern = BROKEN[case]
    refused(WRITERS[suffix](tmp_path / f"class.{suffix}", rows), pattern)


def text(rows=PEOPLE, **options):
    return csv_bytes(rows, **options)


WESTERN = [["Name", "Freund"], ["Jörg Müller", "René"], ["René", "Jörg Müller"]]
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FILES = {
    "empty": ("a.csv", b"", {}, r"is empty: expected one row per person"),
    "blank": ("a.csv", b" \r\n\t\r\n", {}, r"is empty: expected one row per person"),
    "mac": ("a.csv", text(WESTERN, encoding="mac_roman"), {}, r"line 2, is not UTF-8, .* such as .*: give"),
    "dos": (
        "a.csv",
        text(WESTERN, encoding="cp850"),
        {},
        r"line 2, is not UTF-8.*encoding it was saved in, such as mac_roman or cp850",
    ),
    # A search for the word that began anew at every letter would take minutes.
    "long word": ("a.csv", b"x" * 1_000_000 + "Ã„nne".encode(), {}, r"'x{20}Ã„nne.*UTF-8 was taken"),
    "read twice": ("a.csv", text(encoding="utf-8").decode("latin-1").encode(), {}, r"UTF-8 was taken"),
    "told wrong": ("a.csv", text(encoding="utf-8"), {"encoding": "latin-1"}, r"line 2: 'Ã.*UTF-8 was taken"),
    "told UTF-8": ("a.csv", text(WESTERN, encoding="cp1252"), {"encoding": "utf-8"}, r"line 2, is not utf-8"),
    "letters lost": ("a.csv", "Name;Friend\nJ\ufffdrg;\nAda;".encode(), {}, r"line 2, has letters that"),
    "UTF-16 without mark": ("a.csv", text(encoding="utf-16-le"), {}, r"neither text nor a spreadsheet"),
    "binary": ("a.xlsx", bytes(range(256)) * 40, {}, r"neither text nor a spreadsheet"),
    "web page": ("a.xls", b"<html><table><tr><td>Name</td></tr></table>", {}, r"is a web page or XML"),
    "quote not closed": ("a.csv", b'Name;Friend\nAda;"Ben\nBen;\n', {}, r"row 2, cannot be split into"),
    "separator inside": ("a.csv", b"Name,Friends\nAda,Ben,Cem\nBen,\nCem,\n", {}, r"needs quotation marks"),
    "damaged archive": ("a.xlsx", b"PK\x03\x04" + b"\0" * 500, {}, r"is damaged and cannot be opened"),
    "damaged old file": ("a.xls", OLD + b"\1" * 900, {}, r"is damaged and cannot be opened"),
    "password": ("a.xlsx", OLD + bytes(600) + "EncryptedPackage".encode("utf-16-le"), {}, "protected by a"),
    "sheets of text": ("a.csv", text(), {"sheet": "Liste"}, r"is a text file, which has no sheets"),
}


@pytest.mark.parametrize("case", FILES)
def test_broken_files(tmp_path, case):
    name, content, options, pattern = FILES[case]
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, pattern, **options)


@pytest.mark.parametrize(
    ("parts", "pattern"),
    [
        (["Index/Document.iwa"], "is a Numbers document: save it as .xlsx"),
        (["xl/workbook.bin"], r"is a binary workbook \(.xlsb\)"),
        (["word/document.xml"], "is not in a known spreadsheet format"),
        (["xl/workbook.xml"], "is damaged and cannot be opened"),
        (["content.xml", "META-INF/manifest.xml"], "is protected by a password"),
    ],
)
def test_other_archives(tmp_path, parts, pattern):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        for part in parts:
            archive.writestr(part, "<m:file-entry><m:encryption-data/></m:file-entry>")
    refused(path, pattern)


@pytest.mark.parametrize(
    ("merged", "pattern"),
    [
        ("A2:A3", r"row 2, column A: cells A2:A3 are merged: split them"),
        ("A1:A2", r"row 1, column A: cells A1:A2 are merged"),
        ("B4:C5", r"row 4, column B: cells B4:C5 are merged"),
    ],
)
def test_merged_cells(tmp_path, merged, pattern):
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE, change=lambda book: merge(book, merged))
    refused(path, pattern)


def merge(book, cells, text="Name"):
    book.worksheets()[0].merge_range(cells, text)


def test_merged_cells_of_the_open_format(tmp_path):
    path = write_ods(tmp_path / "a.ods", PEOPLE)
    # The cell behind the name of the fourth person holds for the fifth too.
    name = "Cem Öztürk</text:p></table:table-cell>".encode()

    def span(part, content):
        if part != "content.xml":
            return content
        start = content.rpartition(name)[0].rpartition(name)[0]
        assert start.count(b"<table:table-row>") == 4
        spanned = b'<table:table-cell table:number-rows-spanned="2"'
        return start + name + content[len(start) + len(name) :].replace(b"<table:table-cell", spanned, 1)

    refused(repacked(path, span), r"row 4, column B: cells B4:B5 are merged: split them")


def test_merged_cells_whose_corners_are_in_another_order(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE, change=lambda book: merge(book, "H1:I1", "Hobby"))
    repacked(path, lambda _, content: content.replace(b'ref="H1:I1"', b'ref="ZZ1:A1"'))
    assert len(eg.read_roster(path).people) == 4


@pytest.mark.parametrize(
    ("cell", "value", "pattern"),
    [
        ("A3", None, "row 3, column A: the formula was never computed"),
        ("G5", None, "row 5, column G: the formula was never computed"),
        ("C4", "#N/A", r"row 4, column C: the formula gives the error #N/A"),
    ],
)
def test_formulas_without_a_value_are_not_blanks(tmp_path, cell, value, pattern):
    def fill(book):
        book.worksheets()[0].write_formula(cell, "=Z9", None, value or "uncomputed")

    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE, change=fill)
    # Some programs write formulas without their values.
    repacked(path, lambda _, content: content.replace(b"<v>uncomputed</v>", b"").replace(b' t="str"', b""))
    refused(path, pattern)


def test_formulas_of_columns_that_are_not_read_do_no_harm(tmp_path):
    def remark(book):
        book.worksheets()[0].write_column("H1", ["Remarks"])
        book.worksheets()[0].write_formula("H2", "=Z9", None, "#N/A")

    assert len(eg.read_roster(write_xlsx(tmp_path / "a.xlsx", PEOPLE, change=remark)).people) == 4


@pytest.mark.parametrize(
    ("columns", "pattern"),
    [
        ({"Nmae": "name"}, r"a.csv has no column 'Nmae' in its header, row 1 \(did you mean 'Name'\?\)"),
        ({"Augenfarbe": None}, r"has no column 'Augenfarbe' .*: expected one of A 'Name', B 'Gender'"),
        ({"Friend 1": "freinds"}, r"'Friend 1' is 'freinds' \(did you mean 'friends'\?\)"),
        ({"Friend 1": "colour"}, r"expected one of name, .* and none"),
        ({"Name": "name", "A": "name"}, r"columns names column A, 'Name', twice"),
        (["Name"], r"columns=\['Name'\] is no mapping"),
    ],
)
def test_columns_that_are_not_there(tmp_path, columns, pattern):
    with pytest.raises(InputError, match=pattern):
        eg.read_roster(write_csv(tmp_path / "a.csv", PEOPLE), columns=columns)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        eg.read_roster(tmp_path / "no.xlsx")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        eg.read_roster(tmp_path)
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE)
    with pytest.raises(InputError, match=r"sheet='Alt' is not in a[.]xlsx: it has 'Liste'"):
        eg.read_roster(path, sheet="Alt")
    with pytest.raises(InputError, match="encoding='klingon' is unknown"):
        eg.read_roster(write_csv(tmp_path / "a.csv", PEOPLE), encoding="klingon")
    with pytest.raises(InputError, match="encoding='rot13' is"):
        eg.read_roster(tmp_path / "a.csv", encoding="rot13")
