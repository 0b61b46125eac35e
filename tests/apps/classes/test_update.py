"""People who come and go, and what evenness and rules cost."""

import equigraph as eg
from equigraph.apps.classes.costs import find_costs
from equigraph.rules import Rules


def test_what_evenness_costs_can_be_had():
    names = tuple(f"P{i}" for i in range(12))
    team = tuple("ab"[i // 6] for i in range(12))
    friends = tuple((names[i], names[6 * (i // 6) + (i + 1) % 6]) for i in range(12))
    roster = eg.Roster(names, {"team": team}, friends=friends)
    division = eg.divide(roster, 2, effort=0.3, rules=Rules(sizes=(6, 6)), friends=0)
    costs = {cost.what: cost.wishes for cost in find_costs(division)}
    # Without the column both teams stay whole, and every wish is kept.
    assert costs["team"] == 12 - division.wishes_kept > 0
