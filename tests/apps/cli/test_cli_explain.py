"""``equigraph explain``."""

import json

import pytest

import equigraph as eg


@pytest.fixture(scope="module")
def out(run, source, tmp_path_factory):
    """Return a folder with a clustering of the classroom."""
    folder = tmp_path_factory.mktemp("explained") / "out"
    run("cluster", *source, "-k", 3, "--effort", 0.1, "-o", folder)
    return folder


def test_a_node_is_explained_as_in_python(run, out, graph):
    answer = run("explain", out, "Naledi")
    assert answer.stdout.strip() == str(eg.ClusteringResult.load(out).explain("Naledi", graph=graph))


def test_json_has_everything(run, out, files, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"sizes": [1, 2]}), encoding="utf-8")
    told = json.loads(
        run("explain", out, "Naledi", "--json", "--rules", rules, "--graph", files / "friends.csv").stdout
    )
    assert told["node"] == "Naledi"
    assert len(told["moves"]) == 2
    assert len(told["broken"]) == 3
