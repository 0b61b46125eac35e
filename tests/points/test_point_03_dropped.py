"""Point 3: nodes that are left out are told about, everywhere."""

import csv
import json

import pytest
from click.testing import CliRunner

import equigraph as eg
from equigraph.apps.cli.app import app


@pytest.fixture
def files(tmp_path):
    """Return a class where two pupils have no gender."""
    room = eg.datasets.make_classroom()
    names = room.node_names.tolist()
    rows, columns = room.adjacency.nonzero()
    edges = [f"{names[i]},{names[j]}" for i, j in zip(rows, columns, strict=True) if i < j]
    people = [f"{name},{'' if i < 2 else room.sensitive_features[i]}" for i, name in enumerate(names)]
    (tmp_path / "friends.csv").write_text("\n".join(["source,target", *edges]) + "\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text("\n".join(["name,gender", *people]) + "\n", encoding="utf-8")
    return tmp_path, sorted(names[:2])


def test_point_03_the_command_names_who_was_dropped(files):
    folder, lost = files
    source = [
        str(folder / "friends.csv"),
        "--groups",
        str(folder / "people.csv"),
        "--missing",
        "drop",
        "-k",
        "3",
    ]
    out = folder / "out"
    answer = CliRunner().invoke(app, ["cluster", *source, "-o", str(out), "--report"])
    assert answer.exit_code == 0, answer.output
    assert "2 nodes without a group left out" in answer.output
    with (out / "dropped.csv").open(encoding="utf-8", newline="") as file:
        assert sorted(row["node"] for row in csv.DictReader(file)) == lost
    assert json.loads((out / "result.json").read_text())["source"]["n_dropped"] == 2
    assert "2 nodes without a group were left out" in (out / "report.html").read_text(encoding="utf-8")
    answer = CliRunner().invoke(app, ["compare", *source, "--methods", "random", "--seeds", "1"])
    assert "2 nodes without a group left out" in answer.output


def test_point_03_a_graph_tells_who_was_dropped(files):
    folder, lost = files
    graph = eg.read_graph(folder / "friends.csv", groups=folder / "people.csv", missing="drop")
    assert sorted(graph.dropped.tolist()) == lost
    assert repr(graph).endswith("'gender': 2 groups, 2 left out)")
    kept = eg.read_graph(folder / "friends.csv", groups=folder / "people.csv", missing="ignore")
    assert "left out" not in repr(kept)
