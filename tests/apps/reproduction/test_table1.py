from equigraph.apps.reproduction.scoring import DIAL
from equigraph.apps.reproduction.table1 import RULES, dominating, leads


def test_dominating_point_reaches_both():
    pairs = [(0.9, 0.1), (0.8, 0.5), (0.7, 0.6), (0.1, 0.9)]
    sweep = [{"weight": i / 10, "Q": q, "B": b} for i, (q, b) in enumerate(pairs)]
    assert dominating(sweep, {"Q": 0.7, "B": 0.5}) == sweep[2]
    assert dominating(sweep, {"Q": 0.75, "B": 0.5}) == sweep[1]
    assert dominating(sweep, {"Q": 0.75, "B": 0.7}) is None


def test_leads_counts_strictly():
    sweep = [{"weight": DIAL, "Q": 0.5, "B": 0.5}]
    bars = [{"Q": 0.5, "B": 0.4}, {"Q": 0.4, "B": 0.4}, {"Q": 0.4, "B": 0.6}]
    assert leads(RULES["dial .15"], [(sweep, bar) for bar in bars]) == {"Q": 2, "B": 2, "both": 1}
