"""People who come and go, and what evenness and rules cost."""

import equigraph as eg
from equigraph.apps.classes.costs import find_costs
from equigraph.apps.classes.update import with_people
from equigraph.rules import Rules


def test_those_who_stay_stay_and_a_newcomer_gets_the_best_place():
    people = tuple("ABCDEFGH")
    gender = tuple("fmfmfmfm")
    old = eg.Roster(people, {"gender": gender}, friends=(("A", "B"), ("C", "D")), apart=(("A", "H"),))
    division = eg.divide(old, 2, effort=0.1)
    friends = (("A", "B"), ("C", "D"), ("New", "C"))
    newer = eg.Roster(("New", *people[:7]), {"gender": ("m", *gender[:7])}, friends=friends)
    after = with_people(division, newer)
    for name in people[:7]:
        assert after.lists.class_of(name) == division.lists.class_of(name)
    assert after.broken == () or after.repaired(after).broken == ()
    assert {rule.keyword for rule in after.rules.items} == {"sizes", "friends"}


def test_what_evenness_costs_can_be_had():
    names = tuple(f"P{i}" for i in range(12))
    team = tuple("ab"[i // 6] for i in range(12))
    friends = tuple((names[i], names[6 * (i // 6) + (i + 1) % 6]) for i in range(12))
    roster = eg.Roster(names, {"team": team}, friends=friends)
    division = eg.divide(roster, 2, effort=0.3, rules=Rules(sizes=(6, 6)), friends=0)
    costs = {cost.what: cost.wishes for cost in find_costs(division)}
    # Without the column both teams stay whole, and every wish is kept.
    assert costs["team"] == 12 - division.wishes_kept > 0
