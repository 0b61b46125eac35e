"""Lists that were edited by hand are read back, or one sentence says what is wrong with them."""

import re

import pytest

import equigraph as eg
from equigraph.exceptions import RosterError
from tests.optional import optional

openpyxl = optional("openpyxl")


def expected(lists):
    return {name: lists.class_names[lists.class_of(name)] for name in lists.roster.people}


@pytest.mark.parametrize("excel", [True, False, "\t"])
def test_what_was_written_is_read(lists, nasty, tmp_path, excel):
    for one in (lists, nasty):
        one.to_csv(tmp_path / "classes.csv", excel=excel)
        one.to_xlsx(tmp_path / "classes.xlsx")
        for name in ("classes.csv", "classes.xlsx"):
            assert eg.read_class_lists(tmp_path / name, one.roster) == expected(one)


def edited(lists, path, change):
    lists.to_xlsx(path)
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)
    return path


def move(book):
    """Move the last person of the first class to the end of the second, as one does by cut and paste."""
    one, two = book["5a"], book["5b"]
    last, end = one.max_row, two.max_row + 1
    for column in range(2, 7):
        two.cell(end, column).value = one.cell(last, column).value
        one.cell(last, column).value = None


def test_a_person_who_was_moved(lists, tmp_path):
    found = eg.read_class_lists(edited(lists, tmp_path / "a.xlsx", move), lists.roster)
    moved = lists.members(0)[-1]
    assert found == {**expected(lists), moved: "5b"}
    again = eg.ClassLists(lists.roster, found, lists.class_names)
    assert moved in again.members(1)


def test_sheets_in_another_order_sorted_and_without_the_overview(lists, tmp_path):
    def shuffle(book):
        book.remove(book["Overview"])
        book.move_sheet("5-c", -2)
        book["5a"].title = "renamed"
        rows = [[cell.value for cell in row] for row in book["5b"].iter_rows(min_row=5)]
        book["5b"].delete_rows(5, len(rows))
        for row in reversed(rows):
            book["5b"].append(row)

    path = edited(lists, tmp_path / "a.xlsx", shuffle)
    assert eg.read_class_lists(path, lists.roster) == expected(lists)


def put(sheet, cell, value):
    def change(book):
        book[sheet][cell] = value

    return change


def test_edits_that_cannot_be(lists, tmp_path):
    first, other = lists.members(0)[0], lists.members(1)[0]
    misspelt = first[:-1] + "xx"
    cases = [
        (put("5a", "B5", misspelt), rf"sheet '5a', row 5, column B: '{misspelt}' is not .*perhaps '{first}'"),
        (put("5a", "B5", other), rf"sheet '5b', row 5, column B: '{other}' is also in .*'5a', row 5"),
        (put("5a", "B5", None), rf"a.xlsx has no class for '{first}': put everybody into one class"),
        (put("5a", "B5", "=B6"), r"sheet '5a', row 5, column B: the formula was never computed"),
        (lambda book: book.remove(book["5b"]), rf"a.xlsx has no class for '{other}', .* and 21 more"),
        (lambda book: [book.remove(book[name]) for name in ("5a", "5b", "5-c")], "a.xlsx has no column"),
    ]
    for change, pattern in cases:
        path = edited(lists, tmp_path / "a.xlsx", change)
        with pytest.raises(RosterError, match=pattern) as caught:
            eg.read_class_lists(path, lists.roster)
        assert "\n" not in str(caught.value)
        german = caught.value.note.texts()["de"]
        assert not re.search(r"\b(row|is|has|class|the|put)\b", german)


def test_text_without_a_class(tmp_path):
    roster = eg.Roster(("Ada", "Ben"))
    path = tmp_path / "a.csv"
    path.write_text("Class;Name\n5a;Ada\n;Ben\n")
    with pytest.raises(RosterError, match=r"a.csv, row 3, column A: 'Ben' has no class"):
        eg.read_class_lists(path, roster)
    path.write_text("Name;Class\nBen;5b\nada;5a\n")
    assert eg.read_class_lists(path, roster) == {"Ada": "5a", "Ben": "5b"}
