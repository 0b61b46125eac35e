from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import equigraph as eg
from equigraph import methods
from equigraph._utils.callbacks import Progress
from equigraph.analysis.comparison import Comparison, ComparisonRow, compare
from equigraph.exceptions import MissingDependencyError, ParameterError
from equigraph.graph import Graph

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def room() -> Graph:
    data = eg.datasets.make_classroom()
    return Graph(data.adjacency, data.node_names, data.sensitive_features, "gender")


class Broken(eg.NMTF):
    def fit(self, *args: object, **kwargs: object) -> object:
        raise RuntimeError("the cable\n is out")


class Missing(eg.NMTF):
    def fit(self, *args: object, **kwargs: object) -> object:
        raise MissingDependencyError("DMoN needs torch: pip install 'equigraph[neural]'.")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make two methods fail that otherwise work."""
    for name, estimator in (("sym-nmf", Broken), ("dmon", Missing)):
        method = methods.METHODS[name]
        fake = type("Fake", (methods.Method,), {"load": lambda self, estimator=estimator: estimator})
        monkeypatch.setitem(methods.METHODS, name, fake(name, method.estimator, method.summary, method.extra))


def test_scores_are_means_over_the_seeds_of_cluster(room: Graph) -> None:
    comparison = compare(room, methods=["random", "nmtf"], n_clusters=3, n_seeds=3, random_state=7)
    assert comparison.seeds == (7, 8, 9)
    for row in comparison.rows:
        expected = [
            eg.cluster(room, method=row.method, n_clusters=3, random_state=seed) for seed in (7, 8, 9)
        ]
        for name in ("Q", "B", "NB", "min_balance", "rho"):
            values = [one.scores[name] for one in expected]
            assert getattr(row, name) == pytest.approx(np.mean(values))
            assert getattr(row, f"{name}_spread") == pytest.approx(np.std(values, ddof=1))
        assert row.sizes == tuple(expected[0].sizes)
        assert row.n_nonempty == 3
        assert row.error is None
        assert row.seconds > 0


@pytest.mark.usefixtures("failing")
def test_a_failure_is_a_row_and_the_others_go_on(room: Graph) -> None:
    comparison = compare(room, methods=["sym-nmf", "dmon", "random"], n_clusters=3, n_seeds=2)
    broken, missing, random = comparison.rows
    assert broken == ComparisonRow("sym-nmf", error="the cable is out")
    assert "equigraph[neural]" in missing.error
    assert random.error is None
    assert "sym-nmf: the cable is out" in comparison.markdown()


@pytest.mark.usefixtures("failing")
def test_command_with_a_failing_method(run: Run) -> None:
    answer = run("compare", "dataset:classroom", "-k", 3, "--methods", "sym-nmf,random", "--seeds", 1)
    assert answer.exit_code == 0
    assert "sym-nmf failed: the cable is out" in answer.stdout
    answer = run("compare", "dataset:classroom", "-k", 3, "--methods", "sym-nmf", "--seeds", 1)
    assert answer.exit_code == 1


def test_warnings_become_notes_of_the_row(room: Graph) -> None:
    short = eg.IFairNMTF(3, fairness=20, max_iter=5)
    (row,) = compare(room, methods=[short], n_clusters=3, n_seeds=2).rows
    assert len(row.notes) == 1
    assert row.notes[0].startswith("IFairNMTF did not converge")
    assert row.notes[0].endswith("(2 times)")


def test_fairness_goes_to_the_methods_that_have_a_dial(room: Graph) -> None:
    names = ["nmtf", "ifair-nmtf"]
    for fairness in (20, {"ifair-nmtf": 20}):
        rows = compare(room, methods=names, n_clusters=3, n_seeds=1, fairness=fairness).rows
        expected = eg.cluster(room, method="nmtf", n_clusters=3, random_state=0)
        assert abs(rows[0].Q - expected.scores["Q"]) < 1e-12
        assert rows[1].NB > rows[0].NB


@pytest.mark.parametrize(
    "wrong", [{"methods": ["magic"]}, {"n_seeds": 0}, {"n_clusters": 1}, {"fairness": {"random": 1.0}}]
)
def test_bad_requests_are_refused(room: Graph, wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        compare(room, **{"n_clusters": 3, **wrong})


def test_callbacks_are_told_and_can_stop(room: Graph) -> None:
    told: list[Progress] = []
    compare(room, methods=["random", "nmtf"], n_clusters=3, n_seeds=2, callbacks=told.append)
    steps = list(dict.fromkeys((p.stage, p.step) for p in told))
    assert steps == [(m, s) for m in ("random", "nmtf") for s in (0, 1, 2)]
    stopped = compare(
        room, methods=["random", "nmtf"], n_clusters=3, n_seeds=3, callbacks=lambda p: p.step == 1
    )
    assert [row.method for row in stopped.rows] == ["random"]
    assert stopped.stopped


def test_files(room: Graph, tmp_path: Path) -> None:
    comparison = compare(room, methods=["random"], n_clusters=3, n_seeds=2)
    assert isinstance(comparison, Comparison)
    comparison.to_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["method"] == "random"
    assert row["sizes"] == "10 10 10"
    assert float(row["Q"]) == comparison.rows[0].Q
    comparison.to_json(tmp_path / "t.json")
    told = json.loads((tmp_path / "t.json").read_text())
    assert {name: told[name] for name in comparison.summary()} == comparison.summary()
    comparison.to_markdown(tmp_path / "t.md")
    lines = (tmp_path / "t.md").read_text().splitlines()
    assert lines[2].startswith("| random | ")
    assert len({line.count("|") for line in lines}) == 1


@pytest.mark.parametrize("suffix", ["csv", "json", "md", "tex"])
def test_command_writes_and_prints(run: Run, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table.{suffix}"
    answer = run(
        "compare", "dataset:classroom", "-k", 3, "--methods", "random,nmtf", "--seeds", 2, "-o", path
    )
    assert answer.exit_code == 0, answer.stderr
    assert "random" in path.read_text()
    assert f"Wrote {path}." in answer.stdout
    assert [line.split()[0] for line in answer.stdout.splitlines()[3:5]] == ["random", "nmtf"]


def test_command_json_and_fairness_of_one_method(run: Run) -> None:
    args = ["compare", "dataset:classroom", "-k", 3, "--methods", "ifair-nmtf,dfnmf", "--seeds", 1, "--json"]
    told = json.loads(run(*args, "--fairness", 20, "--fairness", "dfnmf=0").stdout)
    plain = json.loads(run(*args, "--fairness", 0).stdout)
    assert told["n_clusters"] == 3
    assert told["rows"][0]["NB"] > plain["rows"][0]["NB"]
    assert told["rows"][1]["NB"] == plain["rows"][1]["NB"]


def test_errors_of_the_input_are_marked(room: Graph) -> None:
    (row,) = compare(room, methods=["random"], n_clusters=31, n_seeds=1).rows
    assert row.bad_input
    assert "n_clusters=31" in row.error
