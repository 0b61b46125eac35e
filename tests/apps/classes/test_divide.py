"""People divided into classes, lists edited by hand, and what is told about both."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import equigraph as eg
from equigraph.apps.classes.attributes import group_columns
from equigraph.apps.classes.divide import company_changed
from equigraph.apps.classes.division import what_got_worse
from equigraph.apps.classes.keeping import load_division, save_division
from equigraph.exceptions import ConflictError, InputError, ParameterError, RosterError
from equigraph.rules import Fixed, Friends, Rules, settle_rules
from tests.apps.classes.roster.sheets import csv_bytes


@pytest.fixture(scope="module")
def roster(tmp_path_factory: pytest.TempPathFactory) -> eg.Roster:
    path = tmp_path_factory.mktemp("school") / "school.csv"
    path.write_bytes(csv_bytes(eg.datasets.make_school_roster(random_state=3).rows))
    return eg.read_roster(path)


@pytest.fixture(scope="module")
def division(roster: eg.Roster) -> eg.Division:
    return eg.divide(roster, 3, names=["5a", "5b", "5c"], sizes=(25, 27), alternatives=2, effort=0.2)


def test_the_school_is_divided_as_asked(roster: eg.Roster, division: eg.Division) -> None:
    place = dict(zip(roster.people, division.labels.tolist(), strict=True))
    assert all(25 <= size <= 27 for size in division.sizes)
    assert all(place[one] != place[other] for one, other in roster.apart)
    assert all(place[one] == place[other] for one, other in roster.together)
    assert all(division.class_names[place[name]] == fixed for name, fixed in roster.fixed.items())
    assert division.broken == ()
    assert division.given_up == ()
    # Everybody who is linked to anybody has one of them in class.
    linked = roster.graph().adjacency
    for person in np.flatnonzero(np.diff(linked.indptr)):
        near = linked.indices[linked.indptr[person] : linked.indptr[person + 1]]
        assert (division.labels[near] == division.labels[person]).any()


def test_every_attribute_is_spread_evenly(division: eg.Division) -> None:
    even = division.evenness()
    assert set(even) == set(division.attributes)
    assert min(even.values()) > 0.9
    assert even["Gender"] >= 0.98
    assert even["Special needs"] >= 0.98


def test_evenness_is_that_of_people_whose_value_is_known(roster: eg.Roster, division: eg.Division) -> None:
    values = np.array([value or "" for value in roster.attributes["Primary school"]])
    known = values != ""
    assert not known.all()
    expected = eg.metrics.normalized_balance_score(division.labels[known], sensitive_features=values[known])
    assert division.evenness()["Primary school"] == pytest.approx(expected, abs=1e-12)


def test_marks_make_a_group_of_those_without(roster: eg.Roster) -> None:
    found = group_columns(roster)["Special needs"]
    assert set(found) == {"yes", "(blank)"}


def test_alternatives_keep_the_rules_and_differ(division: eg.Division) -> None:
    assert len(division.others) == 1
    other = division.others[0]
    assert other.broken == ()
    pairs = [
        {
            pair
            for pair in combinations(range(len(one.labels)), 2)
            if one.labels[pair[0]] == one.labels[pair[1]]
        }
        for one in (division, other)
    ]
    expected = 1 - len(pairs[0] & pairs[1]) / len(pairs[0] | pairs[1])
    assert company_changed(division, other) == pytest.approx(expected)
    assert expected > 0.05


def test_a_saved_division_comes_back(division: eg.Division, tmp_path: Path) -> None:
    save_division(division, tmp_path / "out")
    again = load_division(tmp_path / "out")
    assert again.labels.tolist() == division.labels.tolist()
    assert again.rules == division.rules
    assert again.lists.facts() == division.lists.facts()
    assert [one.labels.tolist() for one in again.others] == [one.labels.tolist() for one in division.others]
    (tmp_path / "out" / "division.json").write_text("{}")
    with pytest.raises(InputError):
        load_division(tmp_path / "out")


def test_what_got_worse_and_the_repair(roster: eg.Roster, division: eg.Division) -> None:
    one, other = roster.apart[0]
    labels = division.labels.copy()
    place = {name: number for number, name in enumerate(roster.people)}
    labels[place[one]] = labels[place[other]]
    edited = division.with_labels(labels)
    told = what_got_worse(division, edited)
    assert any("different classes" in sentence for sentence in told)
    mended = edited.repaired(division)
    assert mended.broken == ()
    assert mended.labels[place[one]] == labels[place[one]]  # what was done by hand stays
    held = Rules.of([*division.rules.items, Fixed(one, int(labels[place[one]]))])
    fewest = settle_rules(held, roster.graph(), n_clusters=3, start=labels)
    assert fewest.fewest
    assert len(edited.moved(mended)) == (fewest.labels != labels).sum()


def test_contradictions_are_told_in_the_words_of_a_school() -> None:
    roster = eg.Roster(("Ada", "Ben", "Cem", "Dora"), together=(("Ada", "Ben"),), apart=(("Ada", "Ben"),))
    with pytest.raises(
        ConflictError, match=r"in 2 classes: Ada and Ben are in one class\. Ada and Ben are in diff"
    ):
        eg.divide(roster, 2)


def test_who_cannot_have_a_friend_is_named_and_all_others_have_one() -> None:
    roster = eg.Roster(
        ("Ada", "Ben", "Cem", "Dora"), friends=(("Ada", "Ben"), ("Ben", "Cem")), apart=(("Ada", "Ben"),)
    )
    division = eg.divide(roster, 2, effort=0.1)
    assert division.rules.items[-1] == Friends(1, but=("Ada",))
    assert division.broken == division.given_up == ()
    assert division.lists.class_of("Ben") == division.lists.class_of("Cem")


def test_a_friend_for_everybody_is_given_up_where_sizes_forbid_it() -> None:
    roster = eg.Roster(("Ada", "Ben", "Cem"), friends=(("Ada", "Ben"), ("Ben", "Cem"), ("Cem", "Ada")))
    division = eg.divide(roster, 3, effort=0.1)
    assert division.given_up == (Friends(1),)
    assert division.broken == ()
    assert division.lists.rules[-1] == (
        "Everybody has a friend in class: somebody they wished for, or who wished for them.",
        False,
    )


@pytest.mark.parametrize(
    ("options", "error", "pattern"),
    [
        ({"attributes": ["gendr"]}, ParameterError, "did you mean 'gender'"),
        ({"attributes": {"gender": -1}}, ParameterError, "a number above 0"),
        ({"attributes": ["town"]}, ParameterError, "1 value: nothing can be spread evenly"),
        ({"names": ["5a"]}, RosterError, "1 class name for 2 classes"),
        ({"names": ["5b", "5c"]}, RosterError, "fixes people in the class '5a'"),
        ({"sizes": (1, 3), "rules": eg.Rules(sizes=(2, 2))}, ParameterError, "expected one of them"),
        ({"evenness": 2}, ParameterError, "evenness"),
    ],
)
def test_what_cannot_be_asked(options: dict, error: type[Exception], pattern: str) -> None:
    roster = eg.Roster(
        ("Ada", "Ben", "Cem", "Dora"),
        attributes={"gender": ("f", "m", "m", "f"), "town": ("A", "A", "A", "A")},
        fixed={"Ada": "5a"},
    )
    with pytest.raises(error, match=pattern):
        eg.divide(roster, 2, **options)


def test_classes_are_called_what_the_sheet_calls_them() -> None:
    roster = eg.Roster(("Ada", "Ben", "Cem", "Dora"), fixed={"Ben": "5a"})
    division = eg.divide(roster, 2, effort=0.1)
    assert division.class_names == ("5a", "Class 1")
    assert division.lists.class_of("Ben") == 0
