import pytest

from equigraph.apps.reproduction import table1
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.scoring import (
    COMPARED,
    CROSSED,
    DIAL,
    LEADING,
    NETWORKS,
    SBM,
    Entry,
    entry_of,
    printed,
    score_method,
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
from tests.tables import rows_of

QUICK = Settings(quick=True)


def made_up(method, Q, B, *, accuracy=None):
    """Return the result of a cell with these scores."""
    scores = {"Q": Q, "B": B, "NB": 0.5, "rho": 0.1, "n_nonempty": 5.0}
    if accuracy is not None:
        scores["accuracy"] = accuracy
    if method != LEADING:
        sweep = [{"weight": 2.0, **scores}] if method in CROSSED else []
        return {"runs": [scores, scores], "sweep": sweep, "chosen": 2.0 if sweep else None}
    points = [{"weight": dial, **scores, "spreads": dict.fromkeys(scores, 0.0)} for dial in (0.0, DIAL, 1.0)]
    points[0]["Q"], points[2]["Q"] = Q + 0.1, Q - 0.1
    points[0]["B"], points[2]["B"] = B - 0.2, B + 0.1
    return {"n_runs": 2, "sweep": points}


def test_quick_table_with_one_real_network(data_dir, tmp_path):
    # Not the slow methods, and few values of the dial.
    fewer = {LEADING: {"n_runs": 1, "weights": [0.0, 0.15, 1.0]}}
    slow, results = ("dmon", *CROSSED), {}
    for cell in table1.cells(QUICK):
        network, method = cell.arguments["network"], cell.arguments["method"]
        if network == "drugnet" and method not in slow:
            results[cell.key] = score_method(**{**cell.arguments, **fewer.get(method, {})})
        else:
            results[cell.key] = made_up(method, 0.5, 0.25, accuracy=0.75 if network in SBM else None)
    paths = table1.finish(QUICK, results, tmp_path)
    assert [path.name for path in paths] == ["table1.md", "table1.csv"]
    rows = rows_of(paths[1])
    assert len(rows) == 49
    done = {row["method"]: row for row in rows if row["network"] == "DrugNet"}
    assert all(0 <= float(row["B"]) <= 1 for row in done.values())
    assert int(done["FairPartition"]["runs"]) == 1
    assert float(done["sFairSC"]["Q_printed"]) == 0.270
    assert float(done["sFairSC"]["Q"]) == pytest.approx(0.270, abs=0.001)
    page = paths[0].read_text(encoding="utf-8")
    assert ".270 / .052 (.270 / .052)" in page
    assert "| SBM-2K | .750 / .250 (.588 / .575) | .750 / .250 |" in page


def test_differences_lists_what_is_off_by_more_than_the_tolerance():
    near = entry_of("diaries", "fair-sc", made_up("fair-sc", 0.612 + 0.049, 0.708 - 0.049))
    far = entry_of("diaries", "fair-sc", made_up("fair-sc", 0.612 + 0.051, 0.708))
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
        entry_of("nba", "fair-sc", made_up("fair-sc", 0.2, 0.1)),
        entry_of("nba", "dmon", made_up("dmon", 0.1, 0.3)),
        entry_of("nba", "scalable-fair-sc", made_up("scalable-fair-sc", 0.1, 0.1)),
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
    rule = RULES["dial .15"]
    assert (
        leads(
            rule,
            [(sweep, {"Q": 0.5, "B": 0.4}), (sweep, {"Q": 0.4, "B": 0.4}), (sweep, {"Q": 0.4, "B": 0.6})],
        )["Q"]
        == 2
    )
    assert leads(rule, [(sweep, {"Q": 0.4, "B": 0.4}), (sweep, {"Q": 0.4, "B": 0.6})])["both"] == 1
