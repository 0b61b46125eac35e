"""A column of names is never ignored: its header says what it is, or the run stops and asks."""

import re
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equigraph as eg
from equigraph.apps.classes.roster.vocabulary import role_of
from equigraph.exceptions import RosterError
from tests.apps.classes.roster.sheets import table, write_csv

HEADERS = tomllib.loads(Path(__file__).with_name("headers.toml").read_text("utf-8"))
CASES = [
    (" ".join(header.split()), role or None)
    for role, listed in HEADERS.items()
    for header in listed.split(";")
]
PEOPLE = ["Ada Roth", "Ben Groß", "Cem Voß", "Dora Süß", "Eli Maaß", "Fay Koç"]


@pytest.mark.parametrize(("header", "role"), CASES)
def test_what_a_header_is_taken_for(header, role):
    assert role_of(header) == role


def sheet(folder, header, cells):
    return write_csv(folder / "a.csv", [["Name", header], *zip(PEOPLE, cells, strict=True)])


NAMED = ["Ben Groß", "", "Ada Roth", "", "", "Cem Voß"]


@pytest.mark.parametrize(
    ("header", "role"), [case for case in CASES if case[1] in ("not_with", "together_with", "friends", None)]
)
def test_names_arrive_as_what_they_are_or_the_run_stops(tmp_path, header, role):
    path = sheet(tmp_path, header, NAMED)
    if role_of(header) is None:
        cells = "('Ben Groß', 'Ada Roth' and 'Cem Voß')"
        with pytest.raises(RosterError, match=re.escape(cells) + ".*" + re.escape(f'"{header}=not_with"')):
            eg.read_roster(path)
        assert len(eg.read_roster(path, columns={header: "not_with"}).apart) == 3
        assert eg.read_roster(path, columns={header: None}).apart == ()
        return
    roster = eg.read_roster(path)
    found = {"not_with": roster.apart, "together_with": roster.together, "friends": roster.friends}
    assert {kind: len(pairs) for kind, pairs in found.items() if pairs} == {role: 3}


def test_a_header_about_people_over_other_cells(tmp_path):
    marked = eg.read_roster(sheet(tmp_path, "Sibling", ["yes", "no", "yes", "no", "yes", "no"]))
    assert list(marked.attributes) == ["Sibling"]
    with pytest.raises(RosterError, match=r'none of its cells .* is on the list.*"Choice=attribute"'):
        eg.read_roster(sheet(tmp_path, "Choice", ["Chess", "Choir"] * 3))
    for one, other in (("B. Groß", "A. Roth"), ("Ben Groß (5b)", "Ada Roth [5a]")):
        with pytest.raises(RosterError, match=re.escape(f"names people ('{one}' and '{other}')")):
            eg.read_roster(sheet(tmp_path, "Bench", [one, "", other, "", "", ""]))
    for text in ("not with Ben Groß, please", "better apart from ben groß", "and not beside Ben"):
        noted = eg.read_roster(sheet(tmp_path, "Notes", [text, "", "the bus, then a bend", "", "", ""]))
        assert any(
            "'Notes' is not used, but mentions other people in 1 row (2)" in str(note) for note in noted.notes
        )


@pytest.mark.parametrize(
    ("header", "cells", "pattern"),
    [
        # Numbers of people or of groups are no amounts to be spread.
        ("Friend 1", "654321", r"none of its cells \('6', '5' and '4'\) is on the list"),
        ("Together", ["1", "1", "", "2", "2", ""], r"none of its cells \('1' and '2'\) is on the list"),
        ("Fixed", ["x", "", "", "x", "-", ""], r"marks people \('x'\) and does not name their class"),
        ("Fixed class", ["5a", "not 5a"] * 3, r"row 3, column B: 'not 5a' is not the name of one class"),
        ("Fixed class", ["5a", "x", "not known", "", "", ""], "row 3, column B: 'x' is not the name of one"),
        ("Best friend", "002310", r"none of its cells \('0', '2' and '3'\) is on the list"),
        ("Fixed class", ["5a oder 5b", *[""] * 5], "'5a oder 5b' is not the name of one class"),
    ],
)
def test_marks_and_numbers_are_neither_people_nor_classes(tmp_path, header, cells, pattern):
    with pytest.raises(RosterError, match=pattern):
        eg.read_roster(sheet(tmp_path, header, cells))


def test_a_table_of_people_by_people_is_not_passed_over(tmp_path):
    rows = [[name, *["x" * (name != other) for other in PEOPLE]] for name in PEOPLE]
    path = write_csv(tmp_path / "a.csv", [["Name", *PEOPLE], *rows])
    with pytest.raises(RosterError, match=r"row 1, column B: 'Ada Roth' is one of the people, and a table"):
        eg.read_roster(path)
    assert eg.read_roster(path, columns=dict.fromkeys(PEOPLE)).friends == ()


def test_numbers_from_zero_on_and_class_names_are_what_they_seem(tmp_path):
    assert list(eg.read_roster(sheet(tmp_path, "Siblings", "012012")).attributes) == ["Siblings"]
    assert set(eg.read_roster(sheet(tmp_path, "Fixed class", "ABABBA")).fixed.values()) == {"A", "B"}


def test_columns_of_one_header_are_asked_about_by_their_letters(tmp_path):
    rows = [[name, "", ""] for name in PEOPLE]
    rows[0][1:] = [PEOPLE[1], PEOPLE[2]]
    path = write_csv(tmp_path / "a.csv", [["", "Wishes", "Apart"], ["Name", "1", "1"], *rows])
    with pytest.raises(RosterError, match=r'--columns "B=friends".*the same for \'C\''):
        eg.read_roster(path)
    roster = eg.read_roster(path, columns={"B": "friends", "C": "not_with"})
    assert (roster.friends, roster.apart) == (((PEOPLE[0], PEOPLE[1]),), ((PEOPLE[0], PEOPLE[2]),))


def test_a_word_that_is_near_a_first_name_is_no_person(tmp_path):
    rows = table("Name;Notes | Gus Alt; | Gus Berg;bus | Lea Alt;bus | Lea Cole;Les")
    assert len(eg.read_roster(write_csv(tmp_path / "bus.csv", rows)).people) == 4


letters = st.text(st.characters(codec="utf-8", categories=("L", "Nd", "Zs", "P")), min_size=1, max_size=30)
words = st.sampled_from(
    [word for header, role in CASES if role not in ("name", "first_name") for word in header.split()]
)


FURTHER = ["", "Ben", "Ada Rot", "Groß, Ben; Cem Voß", "none", "n/a", "-", "Cem und Dora Süß", "1. Ben Groß"]


@given(
    st.one_of(letters, st.lists(words, min_size=1, max_size=5).map(" ".join)),
    st.lists(st.sampled_from([*PEOPLE, *FURTHER]), min_size=6, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_no_column_of_names_is_unused_without_a_question(header, cells):
    cells = ["" if cell == own else cell for cell, own in zip(cells, PEOPLE, strict=True)]
    if not any(cell in PEOPLE for cell in cells):
        cells[0] = PEOPLE[1]
    with tempfile.TemporaryDirectory() as folder:
        try:
            roster = eg.read_roster(sheet(Path(folder), header, cells), accept_near=True)
        except RosterError:
            return
    read = roster.apart or roster.together or roster.friends
    assert read or "name" in {one.role for one in roster.columns[1:]}
