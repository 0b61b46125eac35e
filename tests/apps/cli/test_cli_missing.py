"""Nodes without a group on the command line: ignored, dropped and named, and told about."""

import json
from html import unescape

import pytest

from tests.tables import rows_of

QUICK = ["-k", 3, "--effort", 0.02]
SENTENCE = "3 nodes without a group: they count for cohesion and sizes, for no group's share."


@pytest.fixture
def room(files, tmp_path):
    """Return the arguments for a class where three pupils have no gender, and their names."""
    lines = (files / "people.csv").read_text(encoding="utf-8").splitlines()
    names = []
    for i in (1, 8, 20):
        name, _, house = lines[i].split(",")
        lines[i] = f"{name},,{house}"
        names.append(name)
    people = tmp_path / "people.csv"
    people.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(files / "friends.csv"), "--groups", str(people), "--attribute", "gender"], sorted(names)


def test_ignored_nodes_are_clustered_and_told_about(run, room, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    answer = run("cluster", *room[0], "--missing", "ignore", *QUICK, "-o", out, "--report", "--plot")
    assert answer.exit_code == 0, answer.output
    assert answer.stderr == ""
    assert SENTENCE in answer.stdout
    table = rows_of(out / "labels.csv")
    assert sorted(row["node"] for row in table if row["group"] == "") == room[1]
    assert len(table) == 30
    assert json.loads((out / "result.json").read_text())["n_ungrouped"] == 3
    assert not (out / "dropped.csv").exists()
    assert SENTENCE in unescape((out / "report.html").read_text(encoding="utf-8"))


def test_dropped_nodes_are_named_in_a_file(run, room, tmp_path):
    out = tmp_path / "out"
    answer = run("cluster", *room[0], "--missing", "drop", *QUICK, "-o", out, "--report")
    assert answer.exit_code == 0, answer.output
    assert "27 nodes" in answer.stdout
    assert [row["node"] for row in rows_of(out / "dropped.csv")] == room[1]
    assert len(rows_of(out / "labels.csv")) == 27
    assert json.loads((out / "result.json").read_text())["source"]["n_dropped"] == 3
    assert "3 nodes without a group were left out before" in (out / "report.html").read_text(encoding="utf-8")
