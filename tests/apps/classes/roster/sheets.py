"""Write rows of cells as the files people have."""

import csv
import io
import zipfile

import equigraph as eg

PEOPLE = [
    ["Name", "Gender", "Friend 1", "Friend 2", "Not with", "Together with", "Fixed class"],
    ["Änne Müller", "f", "Ben Groß", "", "Zoë Krüger", "", ""],
    ["Ben Groß", "m", "Änne Müller", "Cem Öztürk", "", "", "5a"],
    ["Cem Öztürk", "m", "", "", "", "Zoë Krüger", ""],
    ["Zoë Krüger", "", "Ben Groß", "Cem Öztürk", "", "", ""],
]


def table(text):
    """Return the rows of a sheet that is written in one line: `Name;Friend | Ada;Ben | Ben;`."""
    return [[cell.strip() for cell in line.split(";")] for line in text.split(" | ")]


def csv_bytes(rows, *, separator=";", encoding="utf-8-sig", line_end="\r\n"):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator, lineterminator=line_end).writerows(rows)
    return stream.getvalue().encode(encoding)


def write_csv(path, rows, **options):
    path.write_bytes(csv_bytes(rows, **options))
    return path


def write_xlsx(path, rows, *, sheet="Liste", more=None, change=None):
    """Write a workbook with one sheet or several; `change` gets the book before it is closed."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(path), {"strings_to_formulas": False}) as book:
        for name, cells in {sheet: rows, **(more or {})}.items():
            page = book.add_worksheet(name)
            for i, row in enumerate(cells):
                page.write_row(i, 0, row)
        if change is not None:
            change(book)
    return path


def write_xls(path, rows):
    import xlwt

    book = xlwt.Workbook()
    page = book.add_sheet("Liste")
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            page.write(i, j, value)
    book.save(str(path))
    return path


def write_ods(path, rows):
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    document = OpenDocumentSpreadsheet()
    table = Table(name="Liste")
    for row in rows:
        line = TableRow()
        for value in row:
            cell = TableCell(valuetype="string") if value else TableCell()
            if value:
                cell.addElement(P(text=str(value)))
            line.addElement(cell)
        table.addElement(line)
    # As spreadsheet programs write it: the rest of the sheet is one blank row, repeated.
    rest = TableRow(numberrowsrepeated=1048576 - len(rows))
    rest.addElement(TableCell(numbercolumnsrepeated=1024))
    table.addElement(rest)
    document.spreadsheet.addElement(table)
    document.save(str(path))
    return path


def repacked(path, change):
    """Write an archive again with some of its parts changed."""
    parts = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            parts[name] = change(name, archive.read(name))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def misspelt_sheet(folder):
    """Write a German sheet as an older Excel does: semicolons, Windows-1252, blanks, and one friend misspelt."""
    rows = eg.datasets.make_school_roster(language="de", western=True).rows
    column = rows[0].index("Freund/in 1")
    friend = next(row for row in rows[1:] if "ö" in row[column])
    friend[column] = friend[column].replace("ö", "oe")
    path = folder / "Klasse 5.csv"
    path.write_bytes(csv_bytes(rows, encoding="cp1252"))
    return path
