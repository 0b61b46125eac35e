"""A sheet as schools have it becomes people, wishes and a graph; what was guessed is said."""

import datetime
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equigraph as eg
from equigraph.exceptions import GroupsError, InputError, ParameterError, RosterError
from tests.apps.classes.roster.sheets import (
    PEOPLE,
    csv_bytes,
    table,
    write_csv,
    write_ods,
    write_xls,
    write_xlsx,
)

CELLS = [*'-"=#1\x00 ', "Ada\nBen", "x" * 250, *table(";Ada;ada;Ben;Ben Voß;Voß, Ben;B.;Ada, Ben")[0]]


def check_people(roster):
    assert roster.people == ("Änne Müller", "Ben Groß", "Cem Öztürk", "Zoë Krüger")
    assert roster.attributes == {"Gender": ("f", "m", "m", None)}
    assert roster.wished == {
        "Änne Müller": ("Ben Groß",),
        "Ben Groß": ("Änne Müller", "Cem Öztürk"),
        "Zoë Krüger": ("Ben Groß", "Cem Öztürk"),
    }
    assert roster.apart == (("Änne Müller", "Zoë Krüger"),)
    assert roster.together == (("Cem Öztürk", "Zoë Krüger"),)
    assert roster.fixed == {"Ben Groß": "5a"}


def test_all_kinds_of_files_say_the_same(tmp_path):
    for path in (
        write_xlsx(tmp_path / "a.xlsx", PEOPLE),
        write_xls(tmp_path / "a.xls", PEOPLE),
        write_ods(tmp_path / "a.ods", PEOPLE),
        write_csv(tmp_path / "a.csv", PEOPLE),
        write_csv(tmp_path / "b.csv", PEOPLE, separator=",", encoding="utf-8"),
        write_csv(tmp_path / "a.tsv", PEOPLE, separator="\t", encoding="utf-16"),
        write_csv(tmp_path / "c.csv", PEOPLE, separator="|", encoding="utf-8", line_end="\n"),
        # Their bytes say what they are, not their names.
        write_xlsx(tmp_path / "sheet.csv", PEOPLE),
        write_csv(tmp_path / "export.xls", PEOPLE),
    ):
        roster = eg.read_roster(path)
        check_people(roster)
    assert "The file is a text file although its name ends in .xls." in map(str, roster.notes)
    path.write_bytes(b"sep=|\r\n" + csv_bytes(PEOPLE, separator="|", encoding="utf-8"))
    roster = eg.read_roster(path)
    check_people(roster)
    assert "Cells are separated by bars (as its first line says)." in map(str, roster.notes)


def test_an_old_western_file_is_read_and_the_guess_is_said(tmp_path):
    rows = [["Name", "Freund"], ["Änne Groß", "Zoë"], ["Zoë", "Änne Groß"]]
    path = write_csv(tmp_path / "a.csv", rows, encoding="cp1252")
    roster = eg.read_roster(path)
    assert roster.people == ("Änne Groß", "Zoë")
    assert any("Windows-1252 (guessed: line 2 is not UTF-8)" in str(note) for note in roster.notes)
    assert not any("guessed: line" in str(note) for note in eg.read_roster(path, encoding="cp1252").notes)
    mac = write_csv(tmp_path / "b.csv", rows, encoding="mac_roman")
    assert eg.read_roster(mac, encoding="mac_roman").people == ("Änne Groß", "Zoë")


def test_wishes_make_weights(tmp_path):
    path = write_csv(tmp_path / "a.csv", PEOPLE)
    adjacency = eg.read_roster(path).graph().adjacency.toarray().tolist()
    assert adjacency == [[0, 2, 0, 0], [2, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    mutual = eg.read_roster(path, wishes="mutual")
    assert mutual.graph().adjacency.toarray().tolist() == [[0, 2, 0, 0], [2, 0, 0, 0], [0] * 4, [0] * 4]
    assert any("only these count" in str(note) for note in mutual.notes)


def test_blanks_are_blanks(tmp_path):
    roster = eg.read_roster(write_csv(tmp_path / "a.csv", PEOPLE))
    assert "'Gender' is blank for Zoë Krüger (row 5)." in map(str, roster.notes)
    with pytest.raises(GroupsError, match="'Gender' is missing for 1 of 4 nodes, first 'Zoë Krüger'"):
        roster.graph("Gender")
    groups = roster.graph("Gender", missing="own-group").sensitive_features
    assert groups is not None
    assert groups.tolist() == ["f", "m", "m", "missing"]
    with pytest.raises(ParameterError, match="attribute='Sex' is not in the roster: its attributes are"):
        roster.graph("Sex")


@pytest.mark.parametrize(
    "cell",
    [
        "Ben Groß, Cem",
        "Ben Groß; Cem",
        "ben  groß\nCEM",
        "Groß, Ben; Cem",
        "Ben Groß/Cem",
        "Ben Groß und Cem",
        "Cem & Ben Groß",
        "Ben Groß og Cem",
        "1. Ben Groß 2. Cem",
        "- Cem\n- Ben Groß",
        "Ben Groß, Cem, none",
    ],
)
def test_several_friends_in_one_cell(tmp_path, cell):
    rows = [["Vorname", "Nachname", "Freunde"], ["Ada", "Roth", cell], ["Ben", "Groß", ""], ["Cem", "", ""]]
    for path in (write_csv(tmp_path / "a.csv", rows), write_xlsx(tmp_path / "a.xlsx", rows)):
        assert sorted(eg.read_roster(path).friends_of("Ada Roth")) == ["Ben Groß", "Cem"]


# Sheets, with who wishes for whom, and notes.
SMALL_SHEETS = {
    "the blank column of names of a form": (
        "Name;Full name;Friends | ;Ada;Ben | ;Ben;",
        {"Ada": ("Ben",), "Ben": ()},
        ["Column A, 'Name': not used (guessed)."],
    ),
    "dashes are blanks": (
        "Name;Friends | Ada;- | Ben;Ada, - | Cem;\u2013",
        {"Ada": (), "Ben": ("Ada",), "Cem": ()},
        ["Cells with a dash only are read as blank: 2."],
    ),
    "words for nobody are blanks": (
        "Name;Friends;Not with | Ada;none;n/a | Ben;Ada;k.A. | Nil;Niemand;Ben",
        {"Ada": (), "Ben": ("Ada",), "Nil": ()},
        ["Cells that name nobody are read as blank: 'none' (1), 'n/a' (1), 'k.A.' (1), 'Niemand' (1)."],
    ),
    "commas between last and first names": (
        "Name;Wünsche | Groß, Ben;Roth, Ada, Voß, Cem | Roth, Ada;Ben Groß | Voß, Cem;Roth Ada",
        {"Groß, Ben": ("Roth, Ada", "Voß, Cem"), "Roth, Ada": ("Groß, Ben",), "Voß, Cem": ("Roth, Ada",)},
        [],
    ),
    "a full name beside a first name stays whole": (
        "Name;Rufname;Friend | Ada Maria Roth;Ada; | Ben Groß;Ben;Ada Maria Roth",
        {"Ada Maria Roth": (), "Ben Groß": ("Ada Maria Roth",)},
        [],
    ),
    "what cannot be seen does not part names": (
        "Name;Friend | Ada\u00a0Roth;ben\u200b | Ben;Ada Roth | Zoe\u0308;",
        {"Ada Roth": ("Ben",), "Ben": ("Ada Roth",), "Zoë": ()},
        [],
    ),
    "a title above the header and blank rows are passed over": (
        "Klassenliste 2026 |  | Nr;Name;Freund | 1;Ada;Ben | 2;; | 3;Ben;",
        {"Ada": ("Ben",), "Ben": ()},
        [
            "The header is in row 3; rows above it are not read.",
            "Skipped rows without cells that are read: 1.",
        ],
    ),
    "pupils are known by numbers": (
        "Name;Friend | 11;12 | 12;11 | 13;",
        {"11": ("12",), "12": ("11",), "13": ()},
        [],
    ),
    "wishes come in the order of their numbers": (
        "Name;2. Wunsch;1. Wunsch | Ada;Cem;Ben | Ben; | Cem;",
        {"Ada": ("Ben", "Cem"), "Ben": (), "Cem": ()},
        [],
    ),
    "an attribute that mentions people": (
        "Name;Info | Ada Roth;Brille | Ben;nicht mit Ada Roth | Cem;Brille | Dora;nicht mit Ada Roth",
        dict.fromkeys(["Ada Roth", "Ben", "Cem", "Dora"], ()),
        ["'Info' is an attribute, but mentions other people in 2 rows (3, 5): read it yourself."],
    ),
    "a date below the list": (
        f"Name;Friend | {' | '.join('ABCDEFGHI')} | J;A | Stand: 12.3.2026",
        {**dict.fromkeys([*"ABCDEFGHI", "Stand: 12.3.2026"], ()), "J": ("A",)},
        ["Rows with a name only, which may not be people: 'Stand: 12.3.2026' (row 12)."],
    ),
}


@pytest.mark.parametrize(("text", "wishes", "notes"), SMALL_SHEETS.values(), ids=SMALL_SHEETS)
def test_small_sheets(tmp_path, text, wishes, notes):
    roster = eg.read_roster(write_xlsx(tmp_path / "a.xlsx", table(text)))
    assert {name: roster.friends_of(name) for name in roster.people} == wishes
    assert {*notes} <= set(map(str, roster.notes))


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Name;Tandem | Ada Roth;Ben Gross 5a | Ben Gross;mit Ada Roth | Cem Koç;", "'Tandem', names people"),
        ("Name;Tandem | Ada Roth;B.G. | Ben Gross;A. R. | Cem Koç;A.R.", "'Tandem', names people"),
        ("Name;Tandem | Ada Roth;b.gross@x.de | Ben Gross;koc.cem@x.de | Cem Koç;", "'Tandem', names people"),
        ("Name;Tandem | Ada Roth;ada.roth@x.de | Ben Gross;b.gross@x.de | Cem Koç;ckoc@x.de", ""),
        ("No.;Name;Friend | 11;Ada Roth;12 | 12;Ben Gross;11 | 13;Cem Koç;", '--columns "No.=name"'),
    ],
)
def test_columns_that_mention_people_in_other_ways_are_asked_about(tmp_path, text, pattern):
    path = write_csv(tmp_path / "a.csv", table(text))
    if not pattern:
        assert eg.read_roster(path).friends == ()
        return
    with pytest.raises(RosterError, match=pattern):
        eg.read_roster(path)


@pytest.mark.parametrize("name", ["Total: 24", "Summe", "f = female"])
def test_rows_that_are_no_people(tmp_path, name):
    rows = [["Name", "Gender"], *([f"P{i}", "fm"[i % 2]] for i in range(19)), ["Group 4b"], ["P4 .", "f"]]
    path = write_csv(tmp_path / "a.csv", rows)
    told = list(map(str, eg.read_roster(path).notes))
    assert "Rows with a name only, which may not be people: 'Group 4b' (row 21)." in told
    assert "Perhaps one person, read as 2: 'P4' (row 6), 'P4 .' (row 22)." in told
    with pytest.raises(RosterError, match=rf"row 23, column A: '{name}' is not a person"):
        eg.read_roster(write_csv(path, [*rows, [name, "12"]]))


def test_columns_can_be_given(tmp_path):
    text = "Kennung;Wer;Klasse;mag;mag auch;Wunsch | x1;Ada;4a;Ben;Cem;Chor | x2;Ben;4b;;;Chor | x3;Cem;4a;;;Chor"
    path = write_csv(tmp_path / "a.csv", table(text))
    given = {"Wer": "name", "mag": "friends", "E": "wishes", "Wunsch": None}
    roster = eg.read_roster(path, columns={**given, "Klasse": "attribute"})
    assert roster.people == ("Ada", "Ben", "Cem")
    assert roster.friends_of("Ada") == ("Ben", "Cem")
    assert roster.attributes == {"Klasse": ("4a", "4b", "4a")}
    assert {"Column B, 'Wer': names.", "Column F, 'Wunsch': not used."} <= set(map(str, roster.notes))
    fixed = eg.read_roster(path, columns={**given, "mag": "none", "E": "none", "Klasse": "fixed class"})
    assert fixed.fixed == {"Ada": "4a", "Ben": "4b", "Cem": "4a"}
    assert fixed.friends == ()


def test_unknown_columns_are_attributes_only_where_people_share_values(tmp_path):
    rows = [[f"P{i}", "abc"[i % 2], str(30 + i), f"{i}.5"] for i in range(8)]
    roster = eg.read_roster(write_csv(tmp_path / "a.csv", [["Name", "Bus", "Nummer", "Punkte"], *rows]))
    assert list(roster.attributes) == ["Bus", "Punkte"]
    assert "Column C, 'Nummer': not used (guessed)." in map(str, roster.notes)


def test_values_that_say_nothing_are_blanks(tmp_path):
    text = "Name;Programme;Klasse (fest) | Ada;CS;- | Ben;n/a;5a | Cem;CS;none | Dora;-;"
    roster = eg.read_roster(write_csv(tmp_path / "a.csv", table(text)))
    assert roster.attributes == {"Programme": ("CS", None, "CS", None)}
    assert roster.fixed == {"Ben": "5a"}
    note = "Values of 'Programme' without information, such as a dash or n/a, are read as blank: 2."
    assert note in map(str, roster.notes)


def test_a_header_merged_over_columns_holds_for_all(tmp_path):
    def merge(book):
        book.worksheets()[0].merge_range("B1:D1", "Freunde")

    rows = table("Name;Freunde | Ada;Ben;;Cem | Ben;;Ada | Cem")
    roster = eg.read_roster(write_xlsx(tmp_path / "a.xlsx", rows, change=merge))
    assert roster.friends == (("Ada", "Ben"), ("Ada", "Cem"), ("Ben", "Ada"))
    assert "The header 'Freunde' is merged over columns B to D and applies to all." in map(str, roster.notes)


def test_numbers_dates_and_formulas_are_read_as_they_are_shown(tmp_path):
    def fill(book):
        page, date = book.worksheets()[0], book.add_format({"num_format": "dd.mm.yyyy"})
        for i in range(1, 5):
            page.write_formula(i, 0, f'="P"&{i}', None, f"P{i}")
            page.write_row(i, 1, [5 + (i > 2) / 2, i == 1])
            page.write_datetime(i, 3, datetime.date(2026, 8, 1), date)

    roster = eg.read_roster(write_xlsx(tmp_path / "a.xlsx", table("Name;Level;Needs;Since"), change=fill))
    assert roster.people == ("P1", "P2", "P3", "P4")
    assert roster.attributes["Level"] == ("5", "5", "5.5", "5.5")
    assert roster.attributes["Needs"] == ("TRUE", "FALSE", "FALSE", "FALSE")
    assert roster.attributes["Since"] == ("2026-08-01",) * 4


def test_which_sheet_of_a_workbook(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", PEOPLE, more={"Notizen": [["Bitte bis Freitag"]]})
    roster = eg.read_roster(path)
    check_people(roster)
    assert "Not read: sheet 'Notizen', which names nobody of the list." in map(str, roster.notes)
    both = write_xlsx(tmp_path / "b.xlsx", PEOPLE, more={"Alt": PEOPLE[:3]})
    with pytest.raises(RosterError, match=r"b.xlsx has 2 sheets \('Liste', 'Alt'\): say which one"):
        eg.read_roster(both)
    for name in ("Alt", 2):
        with pytest.raises(RosterError, match=r"sheet 'Alt': 1 name is not .*'Zoë Krüger' \(row 2, column E"):
            eg.read_roster(both, sheet=name, columns={"Friend 1": None, "Friend 2": None})
    check_people(eg.read_roster(both, sheet=1))
    numbers = write_xlsx(tmp_path / "c.xlsx", PEOPLE[:1], sheet="2", more={"1": PEOPLE})
    check_people(eg.read_roster(numbers, sheet=2))
    check_people(eg.read_roster(numbers, sheet="1"))
    long = write_xlsx(tmp_path / "d.xlsx", PEOPLE, more={"Apart": [["A", "B"], ["x" * 3000, "y"]]})
    with pytest.raises(RosterError, match="3,000 letters"):
        eg.read_roster(long)
    told = list(map(str, eg.read_roster(long, sheet=1).notes))
    assert any("Not readable: sheet 'Apart'" in sentence for sentence in told)
    for sheet in (0, 3, True, "3"):
        with pytest.raises(ParameterError, match=r"is not in c.xlsx: it has '2', '1'"):
            eg.read_roster(numbers, sheet=sheet)


def test_hidden_sheets_are_told(tmp_path):
    def hide(book):
        book.get_worksheet_by_name("Apart").hide()

    more = {"Apart": table("A;B | Ada;Ben")}
    path = write_xlsx(tmp_path / "a.xlsx", table("Name | Ada | Ben"), more=more, change=hide)
    told = "Not read, as it is hidden: sheet 'Apart'; wishes_sheet (--wishes-sheet) joins it."
    for options, apart in (({}, ()), ({"wishes_sheet": "Apart"}, (("Ada", "Ben"),))):
        roster = eg.read_roster(path, **options)
        assert roster.apart == apart
        assert (told in map(str, roster.notes)) == (not apart)


def test_near_names_are_proposed_and_taken_only_if_told(tmp_path):
    wishes = "Änne Müller;Ben Gross;Lena | Ben Groß;Aenne Mueller;Lena Vogtt | Lena Vogt;Groß Ben;"
    path = write_csv(tmp_path / "a.csv", table(f"Name;Friend 1;Friend 2 | {wishes}"))
    first = r"a.csv: 4 names are not on the list: 'Lena' \(row 2, column C\), perhaps 'Lena Vogt'; "
    with pytest.raises(RosterError, match=rf"^{first}.*accept_near \(--accept-near\).$"):
        eg.read_roster(path)
    roster = eg.read_roster(path, accept_near=True)
    assert roster.friends_of("Ben Groß") == ("Änne Müller", "Lena Vogt")
    taken = [str(note) for note in roster.notes if note.kind == "name_near"]
    assert len(taken) == 4
    assert taken[2] == "Matched as a similar name: 'Lena Vogtt' (row 3, column C) is 'Lena Vogt'."


@pytest.mark.parametrize(
    ("names", "friend", "hint"),
    [
        ("Lena Vogt | Lena Roth | Ada", "Lena", "perhaps 'Lena Vogt' or 'Lena Roth'"),
        ("Tam | Tomke | Tom", "Tim", "perhaps 'Tam' or 'Tom'"),
        ("Tom | Tomke | Ada", "Tim", "perhaps 'Tom'"),
    ],
)
def test_ambiguous_near_names_are_never_taken(tmp_path, names, friend, hint):
    path = write_csv(tmp_path / "a.csv", table(f"Name;Friend | {names};{friend}"))
    for accept in (False, True):
        with pytest.raises(RosterError, match=rf"'{friend}' \(row 4, column B\), {hint}: correct or clear"):
            eg.read_roster(path, accept_near=accept)


@pytest.mark.parametrize(("n", "language"), [(12, "en"), (78, "de")])
def test_the_school_of_the_examples(tmp_path, language, n):
    sheet = eg.datasets.make_school_roster(n, language=language)
    assert sheet.rows == eg.datasets.make_school_roster(n, language=language).rows
    roster = eg.read_roster(write_csv(tmp_path / "a.csv", sheet.rows))
    assert len(roster.people) == len(set(roster.people)) == n < len(roster.friends)
    assert (len(roster.apart), len(roster.together), len(roster.fixed)) == (2, 1, 1)
    assert len(roster.attributes) == 3


def test_the_school_refuses_what_it_cannot_make():
    with pytest.raises(ParameterError, match="language='fr' is unknown"):
        eg.datasets.make_school_roster(language="fr")
    with pytest.raises(ParameterError, match="more than the 1000"):
        eg.datasets.make_school_roster(1001)


@pytest.mark.parametrize(
    ("parts", "pattern"),
    [
        ({"people": ("Ada", "Ada")}, "The name 'Ada' occurs twice"),
        ({"friends": (("Ada", "Kai"),)}, "friends names 'Kai', who is not one of the people"),
        ({"apart": (("Kai", "Ben"),)}, "apart names 'Kai'"),
        ({"fixed": {"Kai": "5a"}}, "fixed names 'Kai'"),
        ({"attributes": {"gender": ("f",)}}, "The attribute 'gender' has 1 value for 2 people: expected"),
        ({"wishes": "all"}, "wishes='all' is unknown"),
    ],
)
def test_a_roster_made_by_hand_is_checked(parts, pattern):
    with pytest.raises(InputError, match=pattern):
        eg.Roster(**{"people": ("Ada", "Ben"), **parts})


@given(st.lists(st.lists(st.sampled_from(CELLS), max_size=5), max_size=6), st.sampled_from([";", ",", "\t"]))
@settings(max_examples=60, deadline=None)
def test_any_cells_give_people_or_one_sentence(rows, separator):
    with tempfile.TemporaryDirectory() as folder:
        path = write_csv(
            Path(folder) / "a.csv", [["Name", "Friend", "Apart", "Bus"], *rows], separator=separator
        )
        try:
            roster = eg.read_roster(path, accept_near=True)
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
            return
    assert roster.graph().n_nodes == len(roster.people) >= 2
    assert all(one != other for one, other in roster.friends)
