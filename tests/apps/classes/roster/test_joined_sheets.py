"""Several sheets joined by name, lists of pairs, and exports of web forms."""

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import equigraph as eg
from equigraph.apps.classes.roster.columns import make_table
from equigraph.apps.classes.roster.people import read_people
from equigraph.apps.classes.roster.read import join_tables
from equigraph.apps.classes.roster.sheet import Sheet
from equigraph.apps.classes.roster.wishes import raise_questions, read_named
from equigraph.exceptions import RosterError
from tests.apps.classes.roster.sheets import table, write_csv, write_xlsx

pytest.importorskip("xlsxwriter")

PUPILS = table("Name;Gender | Ada A;f | Ben B;m | Cem C;f | Dora D;m")
PAIRS = table("From;To | Ada A;Ben B | Ada A;Cem C | Ben B;Ada A")
ROWS = table("Name;Friend 1;Friend 2 | Ada A;Ben B;Cem C | Ben B;Ada A")
THREE = table("Who;Not with 1;Not with 2 | Ada A;Ben B;Cem C")
SEVERAL = table("Who;Friend;Not with | Ada A;Ben B;Cem C | Ben B;none;")
APART = table("A;B;C | Ada A;Ben B;Cem C | Ben B;Dora D;")
NEAR, DORA = ["Dorra D", "Cem C"], ("Dora D", "Cem C")
WISHED = (("Ada A", "Ben B"), ("Ada A", "Cem C"), ("Ben B", "Ada A"))
FORM = table(
    "Timestamp;What is your full name?;Which friends would you like to be with? | "
    "2024/05/03 9:12:11 PM GMT+2;Ada A;Ben B | 2024/05/03 9:12:12 AM GMT+2;ada a;Cem C, Dora D | "
    "2024/05/03 9:13:12 AM GMT+2;Ben B;Ada A"
)


@pytest.mark.parametrize(
    ("tabs", "options", "wished", "apart"),
    [
        ({"Pupils": PUPILS, "Wishes": PAIRS}, {}, WISHED, set()),
        ({"Wishes": PAIRS, "Pupils": PUPILS}, {}, WISHED, set()),
        ({"Liste": PUPILS, "Trennungen": [["Titel", ""], *PAIRS]}, {}, (), {"Ada Ben", "Ada Cem"}),
        ({"Liste": PUPILS, "Tabelle2": PAIRS}, {"columns": {"To": "not_with"}}, (), {"Ada Ben", "Ada Cem"}),
        ({"Liste": PUPILS, "Tabelle2": PAIRS}, {"sheet": 1, "wishes_sheet": 2}, WISHED, set()),
        ({"Wishes": ROWS, "P": PUPILS}, {}, WISHED, set()),
        # Both columns of a list of pairs may look like the names.
        ({"P": PUPILS, "Keep apart": [["Name 1", "Name 2"], *PAIRS[1:]]}, {}, (), {"Ada Ben", "Ada Cem"}),
        # All people of a row are to be apart from each other where only the name of the sheet says so.
        ({"P": PUPILS, "Apart": APART}, {}, (), {"Ada Ben", "Ada Cem", "Ben Cem", "Ben Dora"}),
        ({"P": PUPILS, "Sheet2": THREE}, {}, (), {"Ada Ben", "Ada Cem"}),
        # Several columns of names on a sheet whose own name says nothing.
        ({"P": PUPILS, "Sheet2": SEVERAL}, {}, (("Ada A", "Ben B"),), {"Ada Cem"}),
        ({"Pupils": PUPILS, "Answers": FORM}, {}, (("Ada A", "Ben B"), ("Ben B", "Ada A")), set()),
        ({"P": PUPILS, "Wishes": [*PAIRS, NEAR]}, {"accept_near": True}, (*WISHED, DORA), set()),
    ],
)
def test_sheets_are_joined_by_name(tabs, options, wished, apart, tmp_path):
    (first, rows), *more = tabs.items()
    roster = eg.read_roster(write_xlsx(tmp_path / "a.xlsx", rows, sheet=first, more=dict(more)), **options)
    assert roster.people == ("Ada A", "Ben B", "Cem C", "Dora D")
    assert list(roster.attributes) == ["Gender"]
    assert roster.friends == wished
    assert {" ".join(sorted(name.split()[0] for name in pair)) for pair in roster.apart} == apart
    assert any(note.kind == "sheet_joined" for note in roster.notes)


@pytest.mark.parametrize(
    ("tabs", "options", "pattern"),
    [
        ({"P": PUPILS, "Tabelle2": PAIRS}, {}, r"'To', names people.*--columns \"To=not_with\" or"),
        ({"P": PUPILS, "Apart": table("From;To | Ada;Ben B | Cem C;Dora")}, {}, r"2 names .*'Dora' .*-near"),
        ({"P": PUPILS, "Apart": table("a;b | Kai Q;Leo R")}, {}, "no column with names of the list"),
        ({"P": PUPILS, "Wishes": PAIRS[1:]}, {}, "expected a header above the names"),
        ({"P": PUPILS, "Wishes": [*PAIRS, ["Bob", "Ada A"]]}, {}, r"'Bob' \('Wishes', row 5, column A\)"),
        ({"P": PUPILS, "Q": [["a", "b"], ["c", "d"]]}, {"wishes_sheet": "Q"}, "no column with names of the"),
        ({"P": PUPILS, "Q": PAIRS}, {"sheet": "P", "wishes_sheet": "P"}, "expected another one"),
        ({"P": PUPILS, "Apart": [["Name", "Friend"], *PAIRS[1:]]}, {}, "looks like friends, and the name of"),
        ({"5a": PUPILS, "5b": PUPILS}, {}, "which one has the people with sheet"),
    ],
)
def test_what_cannot_be_joined(tabs, options, pattern, tmp_path):
    (first, rows), *more = tabs.items()
    path = write_xlsx(tmp_path / "a.xlsx", rows, sheet=first, more=dict(more))
    with pytest.raises(RosterError, match=pattern):
        eg.read_roster(path, **options)


@pytest.mark.parametrize(
    ("head", "ranks", "options", "found"),
    [
        ("Priorität (1-3)", "21", {}, ("Cem C", "Ben B")),
        ("Priorität (1-3)", "21", {"columns": {"Priorität (1-3)": None}}, ("Ben B", "Cem C")),
        ("Points", "12", {}, ("Ben B", "Cem C")),  # as the rows
        ("Points", "21", {}, "may give the order of the wishes"),
        ("Rank", ["high", "low"], {}, "may give the order of the wishes"),
        ("Rank", "11", {}, 'or let the order of the rows count with --columns "Rank=none"'),
    ],
)
def test_ranks_of_pairs_are_read_or_asked_about(head, ranks, options, found, tmp_path):
    pairs = [["Von", "Zu", head], *([*pair, rank] for pair, rank in zip(PAIRS[1:3], ranks, strict=True))]
    path = write_xlsx(tmp_path / "a.xlsx", PUPILS, sheet="P", more={"Wünsche": pairs})
    assert eg.read_roster(path, **options).friends_of("Ada A") == ("Ben B", "Cem C")
    if isinstance(found, tuple):
        assert eg.read_roster(path, wishes="ranked", **options).friends_of("Ada A") == found
        return
    with pytest.raises(RosterError, match=found):
        eg.read_roster(path, wishes="ranked", **options)


NAMES = [row[0] for row in PUPILS[1:]]
HEADS = table("Name;Name 1;Who;From;Pupil;Child 2;Info;Not with;Friend;Class;Notes;x;Reading")[0]


@given(
    st.sampled_from(["Sheet2", "Apart", "Wishes", "Siblings", "2024", "Notes"]),
    st.lists(st.sampled_from(HEADS), min_size=3, max_size=3),
    st.permutations(NAMES),
    st.lists(st.sampled_from([*NAMES, "", "none", "Ada", "good"]), min_size=4, max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_no_further_sheet_with_names_is_unused_without_a_question(title, heads, order, cells):
    # A third column full of names may be those of the people who ask.
    assume(not set(cells) <= set(NAMES))
    rows = [heads, *map(list, zip(order, [*order[1:], ""], cells, strict=True))]
    main = Sheet("a.xlsx", PUPILS, title="Pupils", others=(Sheet("a.xlsx", rows, title=title),))
    people = read_people(make_table(main), accept_near=True)
    try:
        tables, _ = join_tables(main, people, None, None, is_chosen=False)
        for table in tables:
            raise_questions(table, people)
        pairs, _ = read_named(tables, people)
    except RosterError:
        return
    named = {frozenset(pair) for found in pairs.values() for pair in found}
    assert named >= {frozenset((NAMES.index(one), NAMES.index(other))) for one, other in pairwise(order)}


def test_what_a_joined_sheet_says_besides_is_told(tmp_path):
    wishes = [[*ROWS[0], "Comment"], [*ROWS[1], "not beside Dora"], [*ROWS[2], "", "late"]]
    roster = eg.read_roster(write_xlsx(tmp_path / "a.xlsx", PUPILS, sheet="P", more={"Wishes": wishes}))
    told = " ".join(map(str, roster.notes))
    assert "and 'Comment' as not used." in told
    assert "'Comment' is not used, but mentions other people in 1 row (2)" in told


def test_a_list_of_pairs_may_be_a_file(tmp_path):
    people, pairs = write_csv(tmp_path / "p.csv", PUPILS), write_csv(tmp_path / "w.csv", PAIRS)
    assert eg.read_roster(people, wishes_sheet=str(pairs)).friends == WISHED
    with pytest.raises(RosterError, match="is not a file"):
        eg.read_roster(people, wishes_sheet="Wishes")


@pytest.mark.parametrize(
    ("times", "counts"),
    [
        (["03.05.2024 10:00:00", "03.05.2024 09:00:00", "04.05.2024 08:00:00"], "Ben B"),
        (["5/3/2024 10:00", "5/13/2024 9:00", "5/13/2024 9:01"], "Cem C"),
        (["2024-05-03T10:00:00", "2024-05-03T09:00:00", "2024-05-04T09:00:00"], "Ben B"),
        (["on Monday", "later", ""], "Cem C"),  # in the order of the rows
    ],
)
def test_the_last_answer_counts_and_the_others_are_named(times, counts, tmp_path):
    answers = [["Ada A", "Ben B"], ["ADA A", "Cem C"], ["Ben B", ""]]
    rows = [[time, *one] for time, one in zip(times, answers, strict=True)]
    rows = [["Zeitstempel", "Name", "Wunsch"], *rows, [times[-1], "Cem C", ""]]
    roster = eg.read_roster(write_csv(tmp_path / "f.csv", rows))
    first = roster.people[0]
    assert (len(roster.people), roster.friends_of(first)) == (3, (counts,))
    row = 2 if counts == "Ben B" else 3
    sentence = f"Ada A (2 times, of which row {row} counts, and not {5 - row})"
    assert any(sentence in str(note) for note in roster.notes)
