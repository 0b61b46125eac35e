"""Rules on the command line."""

import json

import equigraph as eg

FAST = ["dataset:classroom", "-k", "3", "--effort", "0.02"]
RULES = ["--together", "Naledi,Beatriz", "--apart", "Anton,Fatima", "--sizes", "9,11", "--friends", "1"]


def rules_of(folder):
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))["rules"]


def test_rules_are_kept_recorded_and_priced(run, tmp_path):
    out = tmp_path / "out"
    found = run("cluster", *FAST, *RULES, "--price", "--report", "-o", out)
    assert "Rules kept (4):" in found.output
    assert "without any rule" in found.output
    told = rules_of(out)
    assert told["kept"][:2] == ["Naledi and Beatriz together", "Anton and Fatima apart"]
    assert len(told["prices"]["rows"]) == 6
    result = eg.ClusteringResult.load(out)
    assert result.rules == told
    rules = eg.Rules.from_dict(result.parameters["rules"])
    room = eg.datasets.make_classroom()
    assert rules.check(eg.Graph(room.adjacency, room.node_names), result.labels) == []
    assert "What each rule costs" in (out / "report.html").read_text(encoding="utf-8")
    assert run("check", out).stdout.endswith("3 clusters.\nEvery rule holds.\n")
    assert "--people are for class lists" in run("check", out, "--people", out, code=2).stderr


def test_a_file_comes_first_and_conflicts_are_named(run, tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text('together = [["Naledi", "Beatriz"]]\n', encoding="utf-8")
    conflict = [*FAST, "--rules", path, "--apart", "Beatriz,Naledi"]
    found = run("cluster", *conflict, code=2)
    assert "cannot all be kept in 3 clusters: Naledi and Beatriz together, Beatriz and" in found.output
    found = run("cluster", *conflict, "--on-conflict", "relax", "-o", tmp_path / "out")
    assert "Given up: Beatriz and Naledi apart" in found.output
    assert rules_of(tmp_path / "out")["given_up"] == ["Beatriz and Naledi apart"]


def test_labels_are_repaired_with_few_moves(run, tmp_path):
    run("cluster", *FAST, "-o", tmp_path / "first")
    labels = tmp_path / "first" / "labels.csv"
    lines = labels.read_text(encoding="utf-8").splitlines()
    edited = tmp_path / "edited.csv"
    # One has left, and one is new.
    edited.write_text("\n".join([*lines[:-1], "Gone,0,girl,1.0"]) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    asked = [*RULES[2:4], "--shares", "gender=0.1", "--max-moves", "6"]
    found = run("refine", "dataset:classroom", edited, *asked, "-o", out)
    assert "1 node of edited.csv left the graph, first 'Gone'" in found.output
    assert "New: 1 node, first" in found.output
    assert "Q changes by" in found.output
    # Who is new has not moved.
    run("report", out)
    assert "Nobody is in another cluster than before." in (out / "report.html").read_text(encoding="utf-8")
    assert len(rules_of(out)["kept"]) == 2
    run("refine", "dataset:classroom", edited, code=2)
    # Where no rule is asked for, nothing is said of any.
    assert "No rule" not in run("refine", FAST[0], edited, "--max-moves", "2", "-o", out, "--force").output
    assert rules_of(out) is None
    run("report", out)
    assert ">Rules<" not in (out / "report.html").read_text(encoding="utf-8")
