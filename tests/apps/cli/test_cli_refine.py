import json

import numpy as np
import pytest

import equigraph as eg
from equigraph.results.contents import RESULT_FILES
from tests.tables import rows_of

ROOM = "dataset:classroom"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def start(room):
    return np.asarray(eg.SpectralClustering(3, random_state=0).fit(room).labels_)


def lines_of(room, labels):
    return [f"{name},{label}" for name, label in zip(room.node_names, labels, strict=True)]


@pytest.fixture
def labels(room, start, tmp_path):
    return write(tmp_path / "labels.csv", "\n".join(["node,cluster", *lines_of(room, start)]))


def refined(path, column="cluster"):
    return {row["node"]: int(row[column]) for row in rows_of(path)}


def expected(room, start, **settings):
    model = eg.FairPartition(**{"n_clusters": None, "effort": 0.0, **settings}, random_state=0)
    return dict(zip(room.node_names.tolist(), model.refine(room, start).labels_.tolist(), strict=True))


def test_labels_in_labels_out(run, room, start, labels, tmp_path):
    out = tmp_path / "deep" / "out"
    run("refine", ROOM, labels, "--fairness", 0.3, "-o", out)
    assert sorted(file.name for file in out.iterdir()) == sorted(RESULT_FILES)
    found = expected(room, start, fairness=0.3)
    assert refined(out / "labels.csv") == found
    told = json.loads((out / "result.json").read_text(encoding="utf-8"))
    values = np.array(list(found.values()))
    for scores, labelled in ((told["scores"], values), (told["before"]["scores"], start)):
        assert scores == pytest.approx(dict(eg.metrics.evaluate(room, labelled)))
    assert told["before"]["sizes"] == sorted(np.bincount(start).tolist(), reverse=True)
    assert told["n_moved"] == round(30 * (1 - eg.metrics.clustering_accuracy(start, values)))
    assert 0 < told["n_moved"] < 30
    assert told["parameters"]["fairness"] == 0.3
    assert told["input_hash"] == room.fingerprint()


def test_what_cluster_wrote_goes_in_and_what_came_out_goes_in_again(run, source, tmp_path):
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    run("cluster", *source, "-m", "sc", "-k", 3, "-o", first)
    run("refine", source[0], first / "labels.csv", *source[1:], "-o", second)
    again = run("refine", source[0], second / "labels.csv", *source[1:], "-o", third)
    # A local maximum stays where it is.
    assert refined(third / "labels.csv") == refined(second / "labels.csv")
    assert "0 of 30 nodes change their cluster" in again.stdout
    assert refined(second / "labels.csv", "before") == refined(first / "labels.csv")
    run("report", second)
    n_moved = json.loads((second / "result.json").read_text(encoding="utf-8"))["n_moved"]
    assert f"{n_moved} of 30 nodes are in another cluster" in (second / "report.html").read_text("utf-8")


def test_json_and_bounds_on_sizes(run, labels):
    options = ["--json", "--seed", 4, "--effort", 0.1, "--notion", "balance"]
    for bounds, sizes in ((["--size-min", 9, "--size-max", 11], [9, 11]), (["--size-max", 10], [None, 10])):
        told = json.loads(run("refine", ROOM, labels, *options, *bounds).stdout)
        assert (told["method"], told["seed"]) == ("refine_labels", 4)
        some = {"n_clusters": 3, "notion": "balance", "size_bounds": sizes, "effort": 0.1}
        assert some.items() <= told["parameters"].items()
        assert all((sizes[0] or 10) <= size <= sizes[1] for size in told["sizes"])
        assert set(told["before"]) == {"n_clusters", "sizes", "scores"}


def test_tables_of_many_kinds(run, room, start, tmp_path):
    found = expected(room, start)
    rows = lines_of(room, start)
    pairs = [row.split(",") for row in rows]
    texts = {
        "no-header.csv": "\n".join(rows),
        "other-names.csv": "\n".join(["who,team", *rows]),
        "swapped.csv": "\n".join(["cluster,group,node", *(f"{b},x,{a}" for a, b in pairs)]),
        "reversed.csv": "\n".join(["Node,Cluster", *reversed(rows)]),
        "tabs.tsv": "\n".join(["node\tcluster", *("\t".join(pair) for pair in pairs)]),
        "words.csv": "\n".join(["node,cluster", *(f"{a},team {b}" for a, b in pairs)]),
        "twice.csv": "\n".join(["node,cluster", *rows, rows[0]]),
        "column.txt": "\n".join(b for _, b in pairs),
        "column-with-name.csv": "\n".join(["cluster", *(b for _, b in pairs)]),
    }
    for name, text in texts.items():
        out = tmp_path / name.replace(".", "-")
        run("refine", ROOM, write(tmp_path / name, text), "-o", out, "-q")
        assert refined(out / "labels.csv") == found, name


def test_without_groups_there_is_a_note(run, files, labels):
    answer = run("refine", files / "friends.csv", labels)
    assert "no fairness term" in answer.stderr
    assert "NB" not in answer.stdout
    silent = run("refine", files / "friends.csv", labels, "--fairness", 0)
    assert "no fairness term" not in silent.stderr


def test_labels_that_cannot_be_used(run, room, start, files, tmp_path):
    rows = lines_of(room, start)
    name = str(room.node_names[0])

    def refuse(text, part, *options, edges=ROOM):
        out = tmp_path / "never"
        answer = run("refine", edges, write(tmp_path / "bad.csv", text), "-o", out, *options, code=2)
        assert part in answer.stderr
        assert answer.stderr.startswith("Error: ")
        assert answer.stderr.count("\n") == 1
        assert not out.exists()

    head = "node,cluster"
    refuse("\n".join([head, *rows, "Stranger,1"]), "name 1 node that the graph lacks, first 'Stranger'")
    refuse("\n".join([head, *rows[1:]]), "1 of 30 labels of bad.csv are missing")
    refuse("\n".join([head, *rows[1:], f"{name},"]), f"are missing, first that of node {name!r}")
    refuse("\n".join([head, *rows, f"{name},elsewhere"]), f"give node {name!r} two values")
    refuse("\n".join([head, *rows, "a,b,c"]), "line 32: expected 2 fields as before, got 3")
    refuse("\n".join("12"), "2 labels of bad.csv for 30 nodes")
    refuse("1\n" * 30, "one column, and the nodes of an edge list", edges=files / "friends.csv")
    refuse("\n".join([head, *(f"{node},0" for node in room.node_names)]), "say how many clusters you want")
    refuse("\n".join([head, *rows]), "3 clusters of at least 11 nodes need 33", "--size-min", 11)
    refuse("\n".join([head, *rows]), "at least as many nodes", "-k", 31)
