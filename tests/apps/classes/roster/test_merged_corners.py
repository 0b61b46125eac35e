"""Merged cells whose corners are in another order."""

import zipfile

import pytest

import equigraph as eg


def test_merged_cells_whose_corners_are_in_another_order(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([["name", "friends"], ["Ann", "Bob"], ["Bob", "Ann"]]):
            sheet.write_row(number, 0, row)
        sheet.merge_range("C1:D1", "")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as old, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for part in old.namelist():
            new.writestr(part, old.read(part).replace(b'ref="C1:D1"', b'ref="ZZ1:A1"'))
    assert tuple(eg.read_roster(tmp_path / "b.xlsx").people) == ("Ann", "Bob")
