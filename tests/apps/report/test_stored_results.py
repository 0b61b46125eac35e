"""Folders of the commands come back as they were, and broken ones are refused in one sentence."""

import json

import pytest

import equigraph as eg
from equigraph.apps.report.stored_results import read_folder
from equigraph.exceptions import InputError
from equigraph.results.persistence import OutputFolder
from tests.optional import optional

nx = optional("networkx")


def test_a_curve_comes_back_with_its_point(curve, tmp_path):
    curve.save(tmp_path, select=curve.points[2])
    back, point, _ = read_folder(tmp_path)
    assert isinstance(back, eg.TradeoffCurve)
    assert back.summary() == curve.summary()
    assert point is back.points[2]
    for one, other in zip(back.points, curve.points, strict=True):
        assert one.labels.tolist() == other.labels.tolist()


def rewrite(folder, name, text):
    """Change a file, and have the manifest say that it is right: what remains is that the files must agree."""
    (folder / name).write_text(text, encoding="utf-8")
    with OutputFolder(folder) as out:
        out.add(name)


def edit(folder, **changes):
    told = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    for key, value in changes.items():
        told.pop(key) if value is None else told.update({key: value})
    rewrite(folder, "result.json", json.dumps(told))


@pytest.mark.parametrize(
    ("break_it", "part"),
    [
        (lambda f: rewrite(f, "result.json", "[" * 100_000), "is no JSON"),
        (lambda f: edit(f, seed=None), "has no entry 'seed'"),
        (lambda f: edit(f, seed="7"), "an entry 'seed' of the wrong kind"),
        (lambda f: edit(f, n_nodes=31), "30 rows for 31 nodes"),
        (lambda f: edit(f, n_clusters=2), "no number below 2"),
        (lambda f: edit(f, sizes=[28, 1, 1]), "disagree on the sizes"),
        (lambda f: rewrite(f, "labels.csv", "a,b\n1,2\n"), "no table with the columns node"),
        (
            lambda f: rewrite(f, "labels.csv", "node,cluster\n" + "a,x\n" * 30),
            "no table with the columns",
        ),
        (lambda f: rewrite(f, "interaction.csv", "1,2\n3,4\n"), "expected a matrix of"),
        (lambda f: rewrite(f, "membership.npz", "no zip"), "membership.npz cannot be read"),
    ],
)
def test_files_that_contradict_each_other(result, tmp_path, break_it, part):
    result.save(tmp_path)
    break_it(tmp_path)
    for load in (read_folder, eg.ClusteringResult.load):
        with pytest.raises(InputError, match=part):
            load(tmp_path)


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="is no folder"):
        read_folder(tmp_path / "nowhere")
