"""People divided into classes, lists edited by hand, and what is told about both."""

from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest

import equigraph as eg
from benchmarks._class_sheets import made_up
from equigraph.apps.classes.anneal import _placement, _units, anneal, lacking_friends
from equigraph.apps.classes.attributes import group_columns
from equigraph.apps.classes.costs import costs_sentence, find_costs
from equigraph.apps.classes.divide import company_changed
from equigraph.apps.classes.division import own_friends, what_got_worse
from equigraph.apps.classes.kernels import LACKING, SHORT, UNEVEN, VALUE, anneal_steps
from equigraph.apps.classes.measure import measure_of
from equigraph.apps.classes.persistence import load_division, save_division
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.scoring import rule_states
from equigraph.apps.explore.steps import Step
from equigraph.exceptions import ConflictError, InputError, ParameterError, RosterError
from equigraph.rules import Facts, Fixed, Friends, Rules, compile_rules, keeps, settle_rules, violations
from tests.apps.classes.roster.sheets import write_csv


def pupils(names, friends="", **parts):
    """Return a roster from names, and pairs of names such as `Ada-Ben`."""
    people = names.split()
    pairs = {key: _pairs(parts.pop(key)) for key in ("apart", "together") if key in parts}
    return eg.Roster(tuple(people), friends=_pairs(friends), **pairs, **parts)


def _pairs(text):
    return tuple(tuple(pair.split("-")) for pair in text.split())


def numbered(n, friends, **parts):
    """Return a roster of P0, P1, ... whose wishes are given by number."""
    people = tuple(f"P{i}" for i in range(n))
    return eg.Roster(people, friends=tuple((people[i], people[j]) for i, j in friends), **parts)


@pytest.fixture(scope="module")
def roster(tmp_path_factory):
    rows = eg.datasets.make_school_roster(random_state=3).rows
    return eg.read_roster(write_csv(tmp_path_factory.mktemp("school") / "school.csv", rows))


@pytest.fixture(scope="module")
def division(roster):
    return eg.divide(roster, 3, names=["5a", "5b", "5c"], sizes=(25, 27), alternatives=2, effort=0.2)


def test_the_school_is_divided_as_asked(roster, division):
    place = dict(zip(roster.people, division.labels.tolist(), strict=True))
    assert all(25 <= size <= 27 for size in division.sizes)
    assert all(place[one] != place[other] for one, other in roster.apart)
    assert all(place[one] == place[other] for one, other in roster.together)
    assert all(division.class_names[place[name]] == fixed for name, fixed in roster.fixed.items())
    assert division.broken == ()
    assert division.proven
    assert any(sentence.startswith("Everybody with a wish has") for sentence, _ in division.lists.rules)
    # Everybody who asked for anybody has one of them in class.
    assert all(place[name] in map(place.get, wished) for name, wished in roster.wished.items())


def test_every_attribute_is_spread_evenly_among_those_whose_value_is_known(roster, division):
    even = division.evenness()
    assert set(even) == set(division.attributes)
    assert min(even.values()) > 0.9
    assert min(even["Gender"], even["Special needs"]) >= 0.98
    values = np.array([value or "" for value in roster.attributes["Primary school"]])
    known = values != ""
    assert not known.all()
    expected = eg.metrics.normalized_balance_score(division.labels[known], sensitive_features=values[known])
    assert even["Primary school"] == pytest.approx(expected, abs=1e-12)
    # Marks make a group of those without.
    assert set(group_columns(roster)["Special needs"]) == {"yes", "(blank)"}


def test_alternatives_keep_the_rules_and_differ(division):
    (other,) = division.others
    assert other.broken == ()
    pairs = [
        {pair for pair in combinations(range(len(labels)), 2) if labels[pair[0]] == labels[pair[1]]}
        for labels in (division.labels, other.labels)
    ]
    expected = 1 - len(pairs[0] & pairs[1]) / len(pairs[0] | pairs[1])
    assert company_changed(division, other) == pytest.approx(expected)
    assert expected > 0.05


def test_a_saved_division_comes_back(division, tmp_path):
    save_division(division, tmp_path / "out")
    again = load_division(tmp_path / "out")
    assert again.labels.tolist() == division.labels.tolist()
    assert again.rules == division.rules
    assert again.lists.facts() == division.lists.facts()
    assert [one.labels.tolist() for one in again.others] == [one.labels.tolist() for one in division.others]
    (tmp_path / "out" / "division.json").write_text("{}")
    with pytest.raises(InputError):
        load_division(tmp_path / "out")


def test_what_got_worse_and_the_repair(roster, division):
    one, other = roster.apart[0]
    labels = division.labels.copy()
    place = {name: number for number, name in enumerate(roster.people)}
    labels[place[one]] = labels[place[other]]
    edited = division.with_labels(labels)
    told = what_got_worse(division, edited)
    assert any("are to be apart" in sentence for sentence in told)
    mended = edited.repaired(division)
    assert mended.broken == ()
    assert mended.labels[place[one]] == labels[place[one]]  # what was done by hand stays
    held = Rules.of([*division.rules.items, Fixed(one, int(labels[place[one]]))])
    fewest = settle_rules(held, roster.graph(), n_clusters=3, start=labels)
    assert fewest.fewest
    assert len(edited.moved(mended)) == (fewest.labels != labels).sum()


def test_contradictions_are_told_in_the_words_of_a_school():
    roster = pupils("Ada Ben Cem Dora", together="Ada-Ben", apart="Ada-Ben")
    with pytest.raises(ConflictError, match=r"in 2 classes: Ada and Ben are in one class\. Ada and Ben are"):
        eg.divide(roster, 2)


def test_who_cannot_have_a_friend_is_named_and_all_others_have_one():
    division = eg.divide(pupils("Ada Ben Cem Dora", "Ada-Ben Ben-Cem", apart="Ada-Ben"), 2, effort=0.1)
    assert division.rules.items[-1] == Friends(1, but={"Ada": 0}, of={"Ada": ["Ben"], "Ben": ["Cem"]})
    assert division.broken == ()
    told = "Without a friend they wished for: Ada (more cannot, within these rules)."
    assert division.friend_facts() == [told]
    assert division.lists.class_of("Ben") == division.lists.class_of("Cem")


def test_friends_fall_back_person_by_person():
    # Ada can have both of hers, Cem one of two; Dora none.
    wishes = "Ada-Ben Ada-Eli Cem-Dora Cem-Ada Dora-Ada"
    roster = pupils("Ada Ben Cem Dora Eli Fay", wishes, apart="Ada-Cem Ada-Dora")
    division = eg.divide(roster, 2, friends=2, effort=0.1)
    kept = {name: len(division.lists.friends_here(name)) for name in roster.wished}
    assert kept == {"Ada": 2, "Cem": 1, "Dora": 0}
    assert division.proven
    assert division.friendless == ("Dora",)


@pytest.mark.parametrize(("evenness", "towns"), [(0.98, [1, 1]), (0.3, [0, 2])])
def test_wishes_do_not_pay_for_a_class_with_one_too_many(evenness, towns):
    """Five friends hold on to each other, and two of them are the only ones of a town: eight wishes part them."""
    roster = numbered(12, permutations(range(5), 2), attributes={"town": tuple("AABBCDCBCDDD")})
    division = eg.divide(roster, 2, attributes=["town"], evenness=evenness)
    assert sorted(np.bincount(division.labels[:2], minlength=2).tolist()) == towns
    assert division.sizes.tolist() == [6, 6]


def test_who_cannot_have_a_friend_is_proven_without_the_solver_among_many():
    friends = [(i, i + 1) for i in range(0, 210, 2)]
    division = eg.divide(numbered(210, friends, apart=(("P0", "P1"), ("P4", "P5"))), 3, effort=0.01)
    assert division.friendless == ("P0", "P4")
    assert division.proven


def test_the_search_for_friends_goes_on_where_somebody_lacks_one():
    """141 people with one or two wishes each, or none, mostly for others of their gender; one search leaves three."""
    roster, n_classes = made_up("few", 232)[1:]
    division = eg.divide(roster, n_classes, effort=0.3)
    place = dict(zip(roster.people, division.labels.tolist(), strict=True))
    alone = [one for one, wished in roster.wished.items() if place[one] not in map(place.get, wished)]
    assert len(alone) <= 2
    assert not division.broken


def test_numbers_are_spread_as_numbers():
    rng = np.random.default_rng(0)
    marks = rng.uniform(1, 6, 60).round(1)
    roster = numbered(60, [], attributes={"mark": tuple(map(str, marks))})
    thirds = np.unique(group_columns(roster)["mark"].astype(str), return_counts=True)[1]
    assert sorted(thirds) == pytest.approx([20] * 3, abs=2)
    division = eg.divide(roster, 4, effort=0.3)
    means = [marks[division.labels == number].mean() for number in range(4)]
    assert max(means) - min(means) < 0.5 * marks.std()
    finer = eg.Roster(roster.people, roster.attributes, bins={"mark": 5})
    assert len(set(group_columns(finer)["mark"])) == 5
    with pytest.raises(ParameterError, match="bins names 'age'"):
        eg.Roster(roster.people, roster.attributes, bins={"age": 5})


def test_blank_cells_that_rules_speak_of_are_no_group():
    gender = ("f", None, "m", "f", "m", None, "f", "m", "f")
    roster = eg.Roster(tuple("ABCDEFGHI"), {"Gender": gender})
    rules = Rules(at_most={"Gender": {"f": 2}}, not_alone={"Gender": 2}, shares={"Gender": 0.5})
    division = eg.divide(roster, 2, rules=rules, effort=0.1)
    assert division.broken == ()
    for label in (0, 1):
        found = [gender[i] for i in np.flatnonzero(division.labels == label)]
        assert found.count("f") == 2
        assert found.count("m") != 1
    people = BoardPeople.of_roster(roster, "nine")
    step = Step(people, division.labels, ("1", "2"), rules.items)
    assert not any(rule["broken"] for rule in rule_states(step))


def test_first_wishes_count_most_where_they_are_ranked():
    ranked = pupils("Ada Ben Cem Dora", "Ada-Ben Ada-Cem Ben-Ada Ada-Dora", wishes="ranked")
    assert ranked.wish_matrix().toarray()[0].tolist() == [0, 3, 2, 1]
    division = eg.divide(ranked, 2, sizes=(2, 2), effort=0.1)
    assert division.lists.friends_here("Ada") == ("Ben",)


@pytest.mark.parametrize("seed", range(2))
def test_annealing_finds_the_best_of_all_divisions(seed):
    rng = np.random.default_rng(seed)
    friends = sorted({tuple(rng.choice(8, 2, replace=False).tolist()) for _ in range(14)})
    pairs = {"apart": (("P0", "P1"),), "together": (("P2", "P3"),)}
    roster = numbered(8, friends, attributes={"g": tuple(rng.choice(["a", "b"], 8))}, **pairs)
    rules = Rules(sizes=(3, 5), at_most={"g": {"a": 3}}, **pairs)
    compiled = compile_rules(rules, roster.graph(), group_columns(roster), 2)
    measure = measure_of(roster, {"g": 1.0}, 2)
    every = [np.array(labels) for labels in product(range(2), repeat=8)]
    allowed = [labels for labels in every if keeps(compiled, labels)]
    found = anneal(measure, compiled, allowed[0], 4000, seed)
    assert keeps(compiled, found)
    assert measure.value(found) == pytest.approx(max(map(measure.value, allowed)))


def test_what_annealing_counts_is_what_a_new_count_finds():
    rng = np.random.default_rng(5)
    friends = sorted({tuple(rng.choice(30, 2, replace=False).tolist()) for _ in range(80)})
    roster = numbered(30, friends, attributes={"g": tuple(rng.choice(["a", "b", "c"], 30))})
    without = Rules(sizes=(9, 11), apart=[("P0", "P1")], together=[("P2", "P3")], at_most={"g": {"a": 5}})
    asked = own_friends(roster, 1)
    facts = Facts(roster.graph(), group_columns(roster))
    compiled = compile_rules([*without.items, asked], facts, None, 3)
    measure = measure_of(roster, {"g": 1.0}, 3, friends=2)
    labels = settle_rules(without, facts, n_clusters=3).labels
    units = _units(measure, compiled)
    placed = _placement(units, measure, compiled, labels, seed=1)
    anneal_steps(units, placed, 20_000, (2.0, 3.0, 2.0))
    now = placed.at[compiled.unit]
    assert (now != labels).any()
    for name, value in _placement(units, measure, compiled, now, seed=1)._asdict().items():
        if name not in ("best", "random", "chain", "members", "place", "tally", "worse"):
            np.testing.assert_allclose(getattr(placed, name), value, atol=1e-9, err_msg=name)
    counted = placed.tally[VALUE] - placed.tally[SHORT], placed.tally[UNEVEN]
    assert counted == pytest.approx(measure.parts(now))
    assert placed.tally[LACKING] == lacking_friends(compiled, now)
    for where, number in enumerate(placed.n_members):
        members = placed.members[where, :number]
        assert sorted(members) == [unit for unit in units.rules.free if placed.at[unit] == where]
        assert placed.place[members].tolist() == list(range(number))
    assert not violations(without.items, facts, now, None, 3)


def test_the_same_seed_divides_in_the_same_way(roster):
    one, again, other = (eg.divide(roster, 3, effort=0.02, random_state=seed) for seed in (1, 1, 2))
    assert one.labels.tolist() == again.labels.tolist()
    assert one.labels.tolist() != other.labels.tolist()


def test_several_friends_fall_back_person_by_person_and_stay_even(roster):
    one, three = (eg.divide(roster, 3, friends=number, effort=0.3) for number in (1, 3))
    kept = {name: len(three.lists.friends_here(name)) for name in roster.wished}
    fewer = {name: number for name, number in kept.items() if number < min(3, len(roster.friends_of(name)))}
    assert dict(three.rules.items[-1].but) == fewer
    assert three.broken == ()
    assert min(kept.values()) >= 1
    assert sum(kept.values()) >= 0.95 * one.wishes_kept
    assert min(three.evenness().values()) >= min(one.evenness().values()) - 0.05
    assert "not proven" in three.friend_facts()[0]


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
def test_what_cannot_be_asked(options, error, pattern):
    attributes = {"gender": tuple("fmmf"), "town": tuple("AAAA")}
    roster = pupils("Ada Ben Cem Dora", attributes=attributes, fixed={"Ada": "5a"})
    with pytest.raises(error, match=pattern):
        eg.divide(roster, 2, **options)


@pytest.mark.parametrize(
    ("fixed", "names"),
    [
        (["5b"], ("5a", "5b", "5c")),
        (["1ºA"], ("1ºA", "1ºB", "1ºC")),
        (["Team 10"], ("Team 10", "Team 11", "Team 12")),
        (["5A", "5b"], ("5A", "5C", "5b")),
        (["Owls"], ("Class 1", "Class 2", "Owls")),
        (["5a", "6a"], ("5a", "6a", "Class 1")),
    ],
)
def test_classes_are_called_as_the_sheet_calls_some(fixed, names):
    people = ("Ada", "Ben", "Cem", "Dora", "Eli", "Fay")
    roster = eg.Roster(people, fixed=dict(zip(people, fixed, strict=False)))
    division = eg.divide(roster, 3, effort=0.1)
    assert division.class_names == names
    assert division.class_names[division.lists.class_of("Ada")] == fixed[0]


def test_ranges_of_numbers_are_told_from_the_least_on():
    roster = numbered(12, [], attributes={"mark": tuple(f"{9.5 + i}" for i in range(12))})
    division = eg.Division(roster, [0, 1] * 6, ["5a", "5b"], attributes={"mark": 1.0})
    told = "mark: 2 of 9.5 to 12.5, 2 of 13.5 to 16.5 and 2 of 17.5 to 20.5 in a class."
    assert division.spread() == [told]


@pytest.mark.parametrize(("evenness", "mover"), [(0.98, "Jim"), (0, "Gül")])
def test_a_repair_moves_whom_evenness_and_wishes_can_spare(evenness, mover):
    """A boy was moved to 5b, and one of there has to go: a boy, and of the boys the one whose wish is not there."""
    sex = {"sex": tuple("ffmmffmm")}
    roster = pupils("Fay Gül Ivo Jim Ada Bea Max Tom", "Ivo-Fay Jim-Max Gül-Ada Gül-Bea", attributes=sex)
    before = eg.Division(roster, [1] * 4 + [0] * 4, ["5a", "5b"], Rules(sizes=(4, 4)), {"sex": 1.0})
    before = replace(before, evenness_weight=evenness)
    edited = before.with_labels([1, 1, 1, 1, 0, 0, 0, 1])
    mended = edited.repaired(before)
    assert edited.moved(mended) == (mover,)


@pytest.mark.parametrize(
    ("evenness", "apart", "what"),
    [(0.98, [], "team"), (0, [("P0", "P1")], "P0 and P1 are in different classes.")],
)
def test_what_evenness_and_rules_cost_can_be_had(tmp_path, evenness, apart, what):
    """Without the column, or the rule where nothing is spread, both teams stay whole: every wish is kept."""
    friends = [(i, 6 * (i // 6) + (i + 1) % 6) for i in range(12)]
    roster = numbered(12, friends, attributes={"team": tuple("aaaaaabbbbbb")})
    options = {"rules": Rules(sizes=(6, 6), apart=apart), "friends": 0, "evenness": evenness}
    save_division(eg.divide(roster, 2, effort=0.3, **options), tmp_path / "out")
    division = load_division(tmp_path / "out")
    costs = {cost.what: cost.wishes for cost in find_costs(division)}
    assert costs[what] == 12 - division.wishes_kept > 0


def test_costs_are_those_that_a_long_search_finds_nearly_and_are_said_as_a_minimum(division):
    costs = find_costs(division)
    found = {cost.what: cost.wishes for cost in costs}
    # Found by ten searches of length 1 each.
    assert found["Wiebke Müller and Liam De Vries are in different classes."] == 3
    (told,) = costs_sentence(costs)
    assert "without spreading Primary school: at least " in told
    assert told.endswith("; a short search found no more wishes without any one of the others.")
