"""The board without a browser: what people do to it, how it is judged, and how it is kept."""

import json
import re
import shutil
import stat
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from equigraph.apps.classes import load_division
from equigraph.apps.classes.divide import divide
from equigraph.apps.classes.division import Division
from equigraph.apps.classes.roster import Roster
from equigraph.apps.explore import persistence, read_board
from equigraph.apps.explore.files import WRITERS
from equigraph.apps.explore.people import BLANK, BoardPeople, school
from equigraph.apps.explore.scoring import kept, reasons, rule_states, scores
from equigraph.apps.explore.session import Session
from equigraph.apps.explore.steps import act, board_of_division, first_step, with_labels, with_number
from equigraph.apps.explore.tasks import _numbered, conflict, first_labels, price, run
from equigraph.exceptions import ConflictError, InputError
from equigraph.graph import Graph
from equigraph.metrics import modularity_score, normalized_balance_score
from equigraph.results.persistence import write_record
from equigraph.rules import Apart, Fixed, Rules, Sizes, Together


@pytest.fixture(scope="module")
def year():
    return school()


def test_scores_are_those_of_the_metrics(year):
    rng = np.random.default_rng(0)
    step = replace(first_step(year, 3), attributes=("Gender", "Special needs"))
    for _ in range(20):
        labels = np.concatenate((np.arange(3), rng.integers(0, 3, year.n_people - 3)))
        found = scores(replace(step, labels=labels))
        for name, value in found["even_by_attribute"].items():
            values = np.array(year.attributes[name])
            known = values != BLANK
            expected = normalized_balance_score(labels[known], sensitive_features=values[known])
            assert value == pytest.approx(expected, abs=1e-12)
        assert found["cohesion"] == pytest.approx(modularity_score(year.adjacency, labels), abs=1e-12)
        two = [found["even_by_attribute"][name] for name in ("Gender", "Special needs")]
        assert found["even"] == pytest.approx(sum(two) / 2)
        # Counted one by one.
        pairs = np.column_stack(year.wishes.nonzero()).tolist()
        same = [(i, j) for i, j in pairs if labels[i] == labels[j]]
        assert found["kept"] == len(same)
        assert kept(year, labels).tolist() == [sum(i == who for i, _ in same) for who in range(year.n_people)]


@pytest.mark.parametrize(
    ("marks", "labels", "uneven"),
    [
        # Of 14 and 13 people, 1 and 2 with a mark, then 3 and none.
        ([("x" if i in (0, 14, 15) else None) for i in range(27)], np.arange(27) // 14, []),
        ([("x" if i in (0, 1, 2) else None) for i in range(27)], np.arange(27) // 14, [0, 1]),
        # People without an entry do not count.
        ([*"aab", None, None, None, *"aaabb", None], np.arange(12) // 6, []),
    ],
)
def test_groups_are_even_if_every_count_is_beside_its_share(marks, labels, uneven):
    people = BoardPeople.of_roster(Roster(tuple(map(str, range(len(marks)))), {"need": tuple(marks)}), "x")
    found = scores(replace(first_step(people, 2), attributes=("need",), labels=labels))
    assert found["uneven"] == uneven


def test_reasons_are_what_moving_would_do(room, labelled):
    who = 4
    before = scores(labelled)
    # A link without direction is one friendship.
    assert before["wished"] == room.adjacency.nnz // 2
    assert 2 * before["kept"] == kept(room, labelled.labels).sum()
    for option in reasons(labelled, who)["options"]:
        moved = act(labelled, {"do": "move", "who": who, "to": option["cluster"]})
        after = scores(moved)
        assert option["kept"] == after["kept"] - before["kept"]
        assert option["even"] == pytest.approx(after["even"] - before["even"])


def test_history_goes_back_to_the_start_and_forward(room, labelled):
    session = Session(labelled, keep=False)
    start = session.state()
    for who in range(5):
        session.act({"do": "move", "who": who, "to": int(labelled.labels[who] + 1) % 3})
    end = session.state()
    for _ in range(5):
        session.act({"do": "undo"})
    assert session.state()["labels"] == start["labels"]
    assert not session.state()["can_undo"]
    with pytest.raises(InputError):
        session.act({"do": "undo"})
    session.act({"do": "goto", "step": 5})
    assert session.state()["labels"] == end["labels"]
    assert not session.state()["can_redo"]
    # A page that has seen one board would else take the first groups of the next for old.
    assert Session(labelled, keep=False).revision > session.revision


def test_who_is_locked_stays(room, labelled):
    locked = act(labelled, {"do": "lock", "who": 0})
    with pytest.raises(InputError, match="is locked"):
        act(locked, {"do": "move", "who": 0, "to": 1})
    other = with_labels(locked, np.full(30, 2), "point")
    assert other.labels[0] == labelled.labels[0]
    assert (other.labels[1:] == 2).all()
    assert locked.all_rules.items[-1] == Fixed(room.names[0], int(labelled.labels[0]))
    # A rule that puts them elsewhere contradicts the lock.
    ruled = replace(locked, rules=(Fixed(room.names[0], 1),))
    with pytest.raises(InputError, match="cannot all be kept"):
        run("repair", {"step": ruled}, lambda progress: None)


@pytest.mark.parametrize(
    "payload",
    [
        {"do": "fly"},
        {"do": "move", "who": 30, "to": 0},
        {"do": "move", "who": -1, "to": 0},
        {"do": "move", "who": True, "to": 0},
        {"do": "move", "who": "0", "to": 0},
        {"do": "move", "who": 0, "to": 3},
        {"do": "together", "who": 0, "other": 0},
        {"do": "rename", "cluster": 0, "name": ""},
        {"do": "rename", "cluster": 0, "name": "Group 2"},
        {"do": "rename", "cluster": 0, "name": "Gruppe 2"},
        {"do": "rename", "cluster": 0, "name": 7},
        {"do": "add-rule", "rule": {"sizes": 3}},
        {"do": "add-rule", "rule": {"apart": [["Nobody", "Ada"]]}},
        {"do": "add-rule", "rule": {"at_most": {"height": {"tall": 2}}}},
        {"do": "remove-rule", "number": 9},
        {"do": "attributes", "names": ["height"]},
        {"do": "attributes", "names": "gender"},
        {"do": "point", "number": 0},
        {"do": "goto", "step": None},
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(room, labelled, payload):
    session = Session(labelled, keep=False)
    before = session.state()
    with pytest.raises(InputError):
        session.act(payload)
    assert session.state() == before


def test_a_saved_board_opens_again(year, tmp_path):
    step = first_step(year)
    step = replace(step, labels=np.arange(year.n_people) % 3)
    step = act(step, {"do": "lock", "who": 3})
    step = act(step, {"do": "rename", "cluster": 1, "name": "Blau"})
    step = act(step, {"do": "add-rule", "rule": {"at_most": {"Gender": {"m": 20}}}})
    step = replace(step, evenness=0.5)
    path = tmp_path / "board.json"
    WRITERS["board.json"](step, path, "en")
    people, again = read_board(path)
    assert again.evenness == again.division.evenness_weight == 0.5
    assert people.mark == year.mark
    assert people.names == year.names
    assert (people.adjacency != year.adjacency).nnz == 0
    assert people.roster.friends == year.roster.friends
    assert people.rules == year.rules
    assert again.labels.tolist() == step.labels.tolist()
    assert again.search_key == step.search_key
    assert again.clusters == step.clusters


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("title", None),
        ("links", [[0, 99, 1]]),
        ("links", [[0, 1, -1]]),
        ("links", "x"),
        ("labels", [7] * 30),
        ("locked", [30]),
        ("evenness", 2),
        ("roster", {"people": ["Ada", "Ben"], "friends": [["Ada", "Nobody"]]}),
        ("roster", {"people": ["Ada"], "attributes": {"gender": ["girl"]}}),
        ("roster", {"people": ["Ada", "Ada"]}),
        ("roster", 7),
    ],
)
def test_a_damaged_board_is_refused_in_a_sentence(labelled, tmp_path, key, value):
    path = tmp_path / "x.json"
    persistence.write_board(labelled, path)
    content = json.loads(path.read_text("utf-8")) | {key: value}
    outer = ("format", "version", "kind", "checksum")
    write_record(path, "board", {name: content[name] for name in content if name not in outer})
    with pytest.raises(InputError, match=r"x\.json (is|has)") as caught:
        read_board(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("evenness", "mover"), [(0.98, "Jim"), (0.0, "Gül")])
def test_a_repair_weighs_evenness_as_the_division_did(evenness, mover):
    names = ("Fay", "Gül", "Ivo", "Jim", "Ada", "Bea", "Max", "Tom")
    friends = (("Ivo", "Fay"), ("Jim", "Max"), ("Gül", "Ada"), ("Gül", "Bea"))
    roster = Roster(names, {"sex": tuple("ffmmffmm")}, friends)
    given = roster, [1, 1, 1, 1, 0, 0, 0, 1], ["5a", "5b"], Rules(sizes=(4, 4)), {"sex": 1.0}
    step = board_of_division(Division(*given, evenness_weight=evenness), "eight")
    step = replace(step, locked=frozenset({7}))
    labels = run("repair", {"step": step}, lambda progress: None)
    assert [names[who] for who in np.flatnonzero(labels != step.labels)] == [mover]


def test_a_board_is_kept_for_its_people_and_nobody_else(room, labelled, boards):
    session = Session(labelled)
    session.act({"do": "move", "who": 0, "to": 2})
    found = persistence.stored_step(room)
    assert found is not None
    assert found.labels.tolist() == session.step.labels.tolist()
    for path in boards.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert room.mark in {one["mark"] for one in persistence.stored_boards()}
    step = persistence.stored_board(room.mark)
    assert step.people.names == room.names
    assert step.labels.tolist() == session.step.labels.tolist()
    for wrong in ("../x", "0" * 24, ""):
        with pytest.raises(InputError):
            persistence.stored_board(wrong)
    persistence.forget(room.mark)
    assert persistence.stored_step(room) is None


@pytest.mark.parametrize("values", ["01234567" * 4, ["x", None] * 16, "s" * 32, "ab" * 16])
def test_groups_of_a_graph_are_those_of_its_values(values, tmp_path):
    """Codes are groups and no numbers, a mark parts people from others, and one value for all parts nobody."""
    ring = sparse.csr_array(np.roll(np.eye(32), 1, axis=0) + np.roll(np.eye(32), -1, axis=0))
    values = np.array([*values], dtype=object)
    people = BoardPeople.of_graph(Graph(ring, None, values, "code", missing="ignore"), "ring.csv")
    step = first_step(people, 2)
    assert step.attributes == (("code",) if len(set(values)) > 1 else ())
    assert len(people.facts.codes("code")[0]) == len(set(values)) if step.attributes else not people.columns
    found = first_labels(step, lambda progress: None)
    step = with_labels(step, found["labels"], "first")
    for value in people.attributes.get("code", ())[:1]:
        step = act(step, {"do": "add-rule", "rule": {"at_most": {"code": {value: 20}}}})
    assert set(price(step, lambda progress: None)["attributes"]) == set(step.attributes)
    board, lists = tmp_path / "ring.json", tmp_path / "lists.csv"
    for path, kind in ((board, "board.json"), (lists, "lists.csv")):
        WRITERS[kind](step, path, "en")
    assert read_board(board)[0].mark == people.mark
    assert len(lists.read_text(encoding="utf-8-sig").splitlines()) == 33


def test_board_and_command_divide_alike():
    year = school(36)
    roster = year.roster
    step = first_step(year, 3)
    found = first_labels(step, lambda progress: None)
    division = divide(roster, 3)
    assert set(step.attributes) == set(division.attributes)
    assert {rule.keyword for rule in found["rules"]} == {rule.keyword for rule in division.rules.items}
    shown = replace(step, rules=found["rules"], labels=found["labels"]).division
    assert shown.friendless == division.friendless
    assert shown.wishes_kept == division.wishes_kept
    assert shown.evenness() == division.evenness()


def test_another_number_keeps_what_it_can_and_says_the_rest(year):
    labels = np.arange(year.n_people) % 3
    step = replace(first_step(year, 3), labels=labels, locked=frozenset({0, 2}))
    step = act(step, {"do": "add-rule", "rule": {"sizes": [20, 40]}})
    two = with_number(step, 2)
    assert two.locked == {0}
    assert two.changes == ({"kind": "unlocked", "name": year.names[2]},)
    assert [rule for rule in two.rules if rule.keyword == "sizes"] == [Sizes(((20, 40),))]
    four = with_number(step, 4)
    assert [change["kind"] for change in four.changes] == ["sizes"]
    assert four.locked == {0, 2}
    assert [rule for rule in four.rules if rule.keyword == "sizes"] == [Sizes(((19, 20),))]


def test_points_for_another_number_of_clusters_are_not_offered(room, labelled):
    session = Session(labelled, keep=False)
    session.take("curve", labelled, labelled, [{"labels": labelled.labels, "even": 1.0, "kept": 1}])
    four = with_number(labelled, 4)
    assert four.clusters[3] == "Group 4"  # as those that are there go on
    found = {"labels": np.arange(30) % 4, "rules": four.rules, "given_up": ()}
    session.take("first", labelled, four, found)
    assert session.state()["curve"]["points"] == []
    with pytest.raises(InputError):
        session.act({"do": "point", "number": 0})
    session.act({"do": "undo"})
    assert session.state()["curve"]["here"] == 0


def test_who_comes_gets_the_best_place_and_all_others_stay(year):
    step = replace(first_step(year, 3), labels=np.arange(year.n_people) % 3)
    session = Session(act(step, {"do": "lock", "who": 5}), keep=False)
    person = {"do": "arrival", "name": " Zoë  Neu ", "values": {"Gender": "f"}, "friends": [1, 4]}
    session.act(person)
    assert session.people.names[-1] == "Zoë Neu"
    assert session.step.labels.tolist() == [*step.labels, 1]
    assert session.step.locked == {5}
    assert session.people.attributes["Gender"][-1] == "f"
    assert next(rule for rule in session.step.rules if isinstance(rule, Sizes)).bounds == ((26, 27),)
    for wrong in ({**person}, {**person, "name": ""}, {**person, "name": "X", "friends": [999]}):
        with pytest.raises(InputError):
            session.act(wrong)
    session.act({"do": "undo"})
    assert session.people is year
    assert session.state()["mark"] == year.mark


@pytest.mark.parametrize("directed", [True, False])
def test_who_leaves_takes_their_rules_along(year, room, labelled, directed):
    people = year if directed else room
    step = first_step(people, 3)
    step = replace(step, labels=np.arange(people.n_people) % 3, locked=frozenset({2, 7}))
    step = act(step, {"do": "apart", "who": 2, "other": 3})
    session = Session(step, keep=False)
    session.act({"do": "leaver", "who": 2})
    assert session.people.names == (*people.names[:2], *people.names[3:])
    assert session.step.labels.tolist() == [*step.labels[:2], *step.labels[3:]]
    assert session.step.locked == {6}
    gone = Apart((people.names[2], people.names[3]))
    assert gone not in session.step.rules
    changes = session.state()["changes"]
    assert list(gone.nodes) in [change["rule"]["names"] for change in changes if change["kind"] == "rule"]
    assert not any(people.names[2] in rule.named_nodes for rule in session.step.rules)


@pytest.mark.parametrize(
    "action", [{"do": "arrival", "name": "Zoë", "values": {"mark": "1,2"}}, {"do": "leaver", "who": 0}]
)
def test_a_rule_about_a_range_that_is_gone_ends(action):
    marks = {"mark": tuple(f"{1 + i / 10:.1f}" for i in range(20))}
    step = first_step(BoardPeople.of_roster(Roster(tuple(map(str, range(20))), marks), "x"), 2)
    step = replace(step, labels=np.arange(20) % 2)
    given = {"do": "add-rule", "rule": {"at_most": {"mark": {step.people.attributes["mark"][0]: 5}}}}
    with pytest.raises(InputError, match="column of numbers"):
        act(step, {"do": "arrival", "name": "Zoë", "values": {"mark": "good"}})
    after = act(act(step, given), action)
    assert [rule.keyword for rule in after.rules] == ["sizes"]
    assert [one["rule"]["kind"] for one in after.changes] == ["at_most"]


def test_a_conflict_leaves_no_board_empty_and_is_said_in_words_of_people():
    names = tuple("ABCDEFGHIJKL")
    people = BoardPeople.of_roster(
        Roster(names, friends=tuple(zip(names[::2], names[1::2], strict=True))), "x"
    )
    pair = names[:2]
    step = first_step(people, 3)
    step = replace(step, rules=(*step.rules, Together(pair), Apart(pair)))
    found = first_labels(step, lambda progress: None)
    assert found["labels"].size == people.n_people
    assert found["given_up"] == (Apart(pair),)
    session = Session(step, keep=False)
    session.take("first", step, step, found)
    (change,) = session.state()["changes"]
    assert (change["kind"], change["rule"]["names"]) == ("conflict", list(pair))
    assert [rule["broken"] for rule in session.state()["rules"]].count(0) == len(step.rules) - 1
    refused = conflict(ConflictError("x", (Apart(pair), Fixed(pair[0], 1))), step)
    assert step.clusters[1] in str(refused)
    assert not re.search(r"\bnode|cluster", str(refused))
    assert [rule["kind"] for rule in refused.values["rules"]] == ["apart", "fixed"]


def test_the_files_of_a_board_speak_of_people(year, tmp_path):
    step = replace(first_step(year, 3), labels=np.arange(year.n_people) % 3, locked=frozenset({4}))
    WRITERS["classes.zip"](step, tmp_path / "board.zip", "en")
    shutil.unpack_archive(tmp_path / "board.zip", tmp_path / "out")
    again = board_of_division(load_division(tmp_path / "out"), "school")
    assert again.labels.tolist() == step.labels.tolist()
    assert again.locked == step.locked
    assert set(again.rules) == set(step.rules)
    assert set(again.people.rules) == set(year.rules)
    WRITERS["report.html"](step, tmp_path / "report.html", "en")
    pages = [(tmp_path / name).read_text("utf-8") for name in ("out/classes.html", "report.html")]
    for text in (*pages, str(rule_states(step))):
        assert not re.search(r"\bnodes?\b|\bcluster \d|\bQ\b", text)


def test_alternatives_and_points_have_the_numbers_of_the_board(room, labelled):
    turned = (labelled.labels + 1) % 3
    assert _numbered(turned, labelled).tolist() == labelled.labels.tolist()
    # Cluster 1 is bound by somebody who is locked there: only the others may trade their numbers.
    locked = act(labelled, {"do": "lock", "who": 1})
    swapped = np.array([2, 1, 0])[labelled.labels]
    assert _numbered(swapped, locked).tolist() == labelled.labels.tolist()
    assert (_numbered(turned, locked)[turned == 1] == 1).all()
