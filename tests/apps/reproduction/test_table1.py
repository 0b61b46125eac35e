from equigraph.apps.reproduction.scoring import (
    COMPARED,
    DIAL,
    NETWORKS,
    Entry,
    printed,
)
from equigraph.apps.reproduction.table1 import (
    RULES,
    UNEXPLAINED,
    bar_of,
    differences,
    dominating,
    explain,
    leads,
    nearest,
)


def test_differences_lists_what_is_off_by_more_than_the_tolerance():
    near = Entry("diaries", "fair-sc", {"Q": 0.612 + 0.049, "B": 0.708 - 0.049})
    far = Entry("diaries", "fair-sc", {"Q": 0.612 + 0.051, "B": 0.708})
    assert differences([near]) == []
    assert differences([far]) == [["Diaries", "FairSC", "Q", ".663", ".612", UNEXPLAINED]]


def test_explanations_are_looked_up_from_the_special_to_the_general():
    assert "sets this balance to 0" in explain(Entry("sbm-2k", "individual-fair-sc"), "B")
    assert "low degree" in explain(Entry("sbm-5k", "individual-fair-sc"), "accuracy")
    assert "not public" in explain(Entry("nba", "dmon"), "Q")
    assert explain(Entry("nba", "scalable-fair-sc"), "Q") == UNEXPLAINED


def test_nearest_weight_is_told():
    sweep = ({"weight": 1.0, "Q": 0.7, "B": 0.1}, {"weight": 8.0, "Q": 0.58, "B": 0.13})
    entry = Entry("drugnet", "ifair-nmtf", {"Q": 0.1, "B": 0.1}, chosen=1.0, sweep=sweep)
    assert nearest(entry) == sweep[1]
    assert "weight 1 here; nearest to the print is 8" in explain(entry, "Q")


def test_printed_table_is_complete():
    values = [printed(network, method) for network in NETWORKS for method in COMPARED]
    assert sum(map(len, values)) == 2 * (6 * 5 + 3 * 3)
    assert printed("sbm-10k", "ifair-nmtf") == {"B": 1.0, "accuracy": 1.0}


def test_bar_takes_each_measure_from_any_rival():
    rivals = [
        Entry("nba", "fair-sc", {"Q": 0.2, "B": 0.1}),
        Entry("nba", "dmon", {"Q": 0.1, "B": 0.3}),
        Entry("nba", "scalable-fair-sc", {"Q": 0.1, "B": 0.1}),
    ]
    assert bar_of(rivals) == {"Q": 0.2, "B": 0.3}
    assert bar_of(rivals, with_printed=True) == {"Q": 0.2, "B": 0.323}


def test_dominating_point_reaches_both():
    sweep = [
        {"weight": 0.0, "Q": 0.9, "B": 0.1},
        {"weight": 0.1, "Q": 0.8, "B": 0.5},
        {"weight": 0.2, "Q": 0.7, "B": 0.6},
        {"weight": 0.3, "Q": 0.1, "B": 0.9},
    ]
    assert dominating(sweep, {"Q": 0.7, "B": 0.5}) == sweep[2]
    assert dominating(sweep, {"Q": 0.75, "B": 0.5}) == sweep[1]
    assert dominating(sweep, {"Q": 0.75, "B": 0.7}) is None


def test_leads_counts_strictly():
    sweep = [{"weight": DIAL, "Q": 0.5, "B": 0.5}]
    bars = [{"Q": 0.5, "B": 0.4}, {"Q": 0.4, "B": 0.4}, {"Q": 0.4, "B": 0.6}]
    assert leads(RULES["dial .15"], [(sweep, bar) for bar in bars]) == {"Q": 2, "B": 2, "both": 1}
