"""Lists of classes: what they say, and what is written into files."""

import csv
import re
from collections import Counter

import numpy as np
import pytest

import equigraph as eg
from equigraph.apps.classes import Division
from equigraph.apps.classes.division import rule_sentence
from equigraph.exceptions import InputError
from equigraph.rules import Rules
from tests.apps.classes.conftest import NASTY


def cells(path):
    openpyxl = pytest.importorskip("openpyxl")

    book = openpyxl.load_workbook(path)
    return {page.title: [[cell.value for cell in row] for row in page.iter_rows()] for page in book}


def test_friends_are_those_wished_for_in_the_same_class(lists):
    roster, label = lists.roster, dict(zip(lists.roster.people, lists.labels, strict=True))
    for name in roster.people:
        wished = [other for one, other in roster.friends if one == name]
        here = [other for other in wished if label[other] == label[name]]
        assert list(lists.friends_here(name)) == here
        elsewhere = [(other, lists.class_names[label[other]]) for other in wished if other not in here]
        assert list(lists.friends_elsewhere(name)) == elsewhere
        assert lists.is_friendless(name) == (bool(wished) and not here)
    kept = sum(label[one] == label[other] for one, other in roster.friends)
    assert lists.facts()[0].startswith(f"{kept} of {len(roster.friends)} wishes are kept: ")
    assert lists.facts()[1:] == ["1 of 2 rules holds.", "All is well."]


def test_labels_by_name_are_the_same_lists(lists):
    named = {name: lists.class_names[lists.class_of(name)] for name in lists.roster.people}
    again = eg.ClassLists(lists.roster, named, ["5a", "5b", "5/c"])
    assert again.labels == lists.labels
    assert eg.ClassLists(lists.roster, dict(reversed(named.items()))).class_names == ("5a", "5b", "5/c")
    numbered = eg.ClassLists(lists.roster, np.array(lists.labels))
    assert numbered.class_names == ("Class 1", "Class 2", "Class 3")


@pytest.mark.parametrize(
    ("labels", "names", "pattern"),
    [
        ([0, 1], None, r"labels has the shape \(2,\): expected a class from 0 for each of 3 people"),
        ([0, 1, -1], None, "expected a class from 0"),
        ([0.0, 1.0, 1.0], None, "expected a class from 0"),
        ([0, 1, 2], ["5a", "5b"], "There are 2 class names for 3 classes"),
        ([0, 1, 1], ["5a", "5A"], "Two classes are called '5a'"),
        ([0, 1, 1], ["5a", " "], "A class name is blank"),
        ([0, 1, 1], "5a,5b", "class_names='5a,5b' is one text"),
        ({"Ada": "5a", "Ben": "5a"}, None, "'Cem' has none"),
        ({"Ada": "5a", "Ben": "5a", "Cem": "5c"}, ["5a", "5b"], "labels has the class '5c': expected one"),
        ({"Ada": "5a", "Ben": "5a", "Cem": "5a", "Dora": "5a"}, None, "not on the list"),
    ],
)
def test_labels_that_do_not_fit(labels, names, pattern):
    with pytest.raises(InputError, match=pattern):
        eg.ClassLists(eg.Roster(("Ada", "Ben", "Cem")), labels, names)


def test_the_workbook_has_an_overview_and_a_sheet_per_class(lists, tmp_path):
    lists.to_xlsx(tmp_path / "classes.xlsx")
    sheets = cells(tmp_path / "classes.xlsx")
    assert list(sheets) == ["Overview", "5a", "5b", "5-c"]
    overview = [[value for value in row if value is not None] for row in sheets["Overview"]]
    assert overview[0] == ["Neue 5. Klassen"]
    assert ["yes", "Änne and Jörg are in different classes."] in overview
    assert ["NO", "Every class has 25 to 27 people."] in overview
    gender = Counter(lists.value(name, "Geschlecht") for name in lists.members(0))
    row = next(row for row in overview if row and row[0] == "5a")
    assert row[1:4] == [26, gender["m"], gender["w"]]
    for note in lists.roster.notes:
        assert [str(note)] in overview
    for number, sheet in enumerate(("5a", "5b", "5-c")):
        head, *people = sheets[sheet][3:]
        assert sheets[sheet][0][0] == lists.class_names[number]
        assert head[:3] == ["No.", "Name", "Geschlecht"]
        assert [row[1] for row in people] == list(lists.members(number))
        for row in people:
            here = ", ".join(lists.friends_here(row[1]))
            assert row[5] == here or (not here and row[5] in ("none", "no wish"))


def test_lists_in_german(roster, tmp_path):
    rules = eg.Rules(
        apart=[("Ada", "Ben")], together=[("Ben", "Cem")], fixed={"Ada": 0}, sizes=(1, 3), friends=1
    )
    klasse = {"Klasse": ("4a", "4b", "4a", None)}
    small = eg.Roster(
        ("Ada", "Ben", "Cem", "Dora"), klasse, (("Ada", "Dora"), ("Dora", "Cem")), notes=roster.notes
    )
    division = Division(small, [0, 1, 1, 0], ["5a", "5b"], rules, {"Klasse": 1.0}, friends=1)
    lists = division.lists_in("de")
    assert lists.facts() == [
        "1 von 2 Wünschen ist erfüllt: 1 von 2 Personen mit einem Wunsch hat jemanden davon in der Klasse.",
        "4 von 5 Regeln gelten.",
        "Ohne jemanden, den sie sich gewünscht haben: Dora (mit diesen Regeln geht es nicht besser).",
        "Klasse: 1 4a und 0 bis 1 4b in einer Klasse.",
    ]
    paths = lists.save(tmp_path)
    for path in (paths[0], paths[2]):  # a column of the sheet may be called as that of the classes is
        assert eg.read_class_lists(path, small) == {"Ada": "5a", "Ben": "5b", "Cem": "5b", "Dora": "5a"}
    sheets = cells(paths[0])
    assert list(sheets) == ["Übersicht", "5a", "5b"]
    found = {cell for rows in sheets.values() for row in rows for cell in row if cell}
    found |= {re.sub(r"<[^>]*>", "", line) for line in paths[1].read_text("utf-8").splitlines()}
    assert {"Ada und Ben sind in verschiedenen Klassen.", "Jede Klasse hat 1 bis 3 Personen."} <= found
    text = " ".join(map(str, found)) + paths[2].read_text("utf-8")
    assert not re.search(r"\b(Friends|Class|Rule|Holds|people|People|yes|nobody|guessed|wish)\b", text)
    assert paths[2].read_text("utf-8").startswith("Klasse,Name,Klasse,Gewünschte in dieser Klasse,")


def test_one_sided_wishes_and_names_that_begin_with_the_surname(tmp_path):
    people = ("Roth, Ada", "Groß, Ben", "Koç, Cem", "Vogt, Dora")
    pairs = [(one, other) for one in people[:3] for other in people[:3] if one != other]
    values = {"Punkte": ("1.5", "2,5", "3", "4"), "Mass": tuple("abab")}
    roster = eg.Roster(people, values, (*pairs, (people[3], people[0])), wishes="mutual")
    lists = Division(roster, [0, 0, 0, 1], ["5a", "5b"], attributes=dict.fromkeys(values, 1.0)).lists_in("de")
    assert lists.facts()[0].startswith("Nur gegenseitige Wünsche zählen")
    texts = [path.read_text("utf-8") for path in lists.save(tmp_path)[1:]]
    texts.append(
        " ".join(
            str(cell) for rows in cells(tmp_path / "classes.xlsx").values() for row in rows for cell in row
        )
    )
    for text in texts:
        assert "Groß, Ben; Koç, Cem" in re.sub("</?bdi[^>]*>", "", text)
    assert lists.no_friend("Vogt, Dora") == "kein gegenseitiger Wunsch"
    shares = rule_sentence(Rules(shares={"Mass": 0.125}).items[0], ["5a"], "de")
    assert "12,5 Prozentpunkte" in shares
    marks = eg.Roster(tuple("ABCDEFG"), {"Note": ("1", "2", "3", "4", "5", "6", "7.5")})
    assert eg.ClassLists(marks, [0] * 7, language="de").mean_text(0, "Note") == "4,07"


def test_nothing_in_the_workbook_is_a_formula_or_a_link(nasty, tmp_path):
    import zipfile

    nasty.to_xlsx(tmp_path / "classes.xlsx")
    with zipfile.ZipFile(tmp_path / "classes.xlsx") as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert b"<f>" not in content
            assert b"<hyperlink" not in content
        assert b'quotePrefix="1"' in archive.read("xl/styles.xml")
    sheets = cells(tmp_path / "classes.xlsx")
    assert [row[1] for row in sheets["=5a"][4:]] == NASTY[::2]


def test_text_for_excel(lists, tmp_path):
    path = tmp_path / "classes.csv"
    cases = (True, ";", True), (False, ",", False), (",", ",", True), ("\t", "\t", True)
    for excel, separator, mark in cases:
        lists.to_csv(path, excel=excel)
        raw = path.read_bytes()
        assert raw.startswith(b"\xef\xbb\xbf") == mark
        assert (b"\r\n" in raw) == mark
        head, *rows = csv.reader(raw.decode("utf-8-sig").splitlines(), delimiter=separator)
        assert head[:3] == ["Class", "Name", "Geschlecht"]
        assert [row[1] for row in rows] == [name for k in range(3) for name in lists.members(k)]
    with pytest.raises(InputError, match="excel='x': expected True, False, or a separator"):
        lists.to_csv(path, excel="x")


def test_nothing_in_the_text_is_a_formula(nasty, tmp_path):
    nasty.to_csv(tmp_path / "classes.csv", excel=True)
    rows = list(csv.reader((tmp_path / "classes.csv").read_text("utf-8-sig").splitlines(), delimiter=";"))
    found = [cell for row in rows for cell in row]
    assert not [cell for cell in found if cell[:1] in tuple("=+-@\t\r") and cell]
    assert "'=1+1" in found


def test_the_page_is_valid_and_quiet(nasty, lists, parse, tmp_path):
    path = tmp_path / "classes.html"
    for one in (nasty, lists):
        one.to_html(path)
        page = parse(path)
        text = path.read_text("utf-8")
        assert not page.query("script")
        assert "http://" not in text
        assert "https://" not in text
        names = [head.to_text() for head in page.query("section.class tbody th")]
        assert names == [name for k in range(one.n_classes) for name in one.members(k)]
        assert [title.to_text() for title in page.query("section.class h2")] == list(one.class_names)
        words = page.query("main")[0].to_text()
        assert not re.search(r"\b(Q|NB|dial|modularity|node|cluster)\b", words)


def test_a_list_for_the_door_hides_wishes_rules_and_attributes(lists, tmp_path):
    lists.to_html(tmp_path / "door.html", attributes=(), friends=False)
    text = (tmp_path / "door.html").read_text("utf-8")
    for hidden in ("Förderbedarf", "Friends", "different classes", "wish", "guessed"):
        assert hidden not in text
    assert all(name in text for name in lists.roster.people)
    teams = eg.ClassLists(eg.Roster(("Ada", "Ben", "Cem", "Dora")), [0, 0, 1, 1])
    teams.to_html(tmp_path / "teams.html", attributes=(), friends=False)
    # Small teams share a sheet of paper, side by side where they are names only.
    assert (tmp_path / "teams.html").read_text("utf-8").count('class="class small names"') == 2
    with pytest.raises(InputError, match="attributes='Sex' is not in the roster"):
        lists.to_html(tmp_path / "door.html", attributes=["Sex"])
