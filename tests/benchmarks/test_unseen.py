from __future__ import annotations

import doctest
import json

import numpy as np
import pytest

pytest.importorskip("networkx")

from benchmarks.unseen import __main__ as command
from benchmarks.unseen import configuration, families, graphs, measure, report, rival


def draw(family, size, seed=0):
    rng = np.random.default_rng(seed)
    return families.shuffled(families.FAMILIES[family](rng, size), rng)


@pytest.mark.parametrize("size", [50, 137, 1200])
@pytest.mark.parametrize("family", families.FAMILIES)
def test_every_family_gives_simple_graphs(family, size):
    for seed in range(3):
        adjacency, communities = draw(family, size, seed)
        n = adjacency.shape[0]
        assert abs(n - size) <= 14 or family == families.MISERABLES
        assert (adjacency != adjacency.T).nnz == 0
        assert adjacency.has_canonical_format
        assert not adjacency.diagonal().any()
        assert adjacency.nnz > 0
        assert adjacency.data.min() > 0
        assert np.array_equal(np.unique(adjacency.data), [1.0]) == (
            family not in ("lognormal", families.MISERABLES)
        )
        assert communities is None or communities.shape == (n,)


@pytest.fixture(scope="module")
def suites():
    return {seed: graphs.suite(seed) for seed in (3, 4)}


@pytest.fixture
def drawn(suites, monkeypatch):
    """Let the command take graphs that were drawn before."""
    monkeypatch.setattr(command, "suite", suites.__getitem__)


@pytest.fixture
def cold(monkeypatch):
    """Measure in this process without running everything once before: here nobody reads the seconds."""
    monkeypatch.setattr(measure, "warm_up", lambda: None)


class TestSuite:
    def test_sizes_clusters_and_groups(self, suites):
        for cases in suites.values():
            nodes = np.array([case.n_nodes for case in cases])
            assert len(cases) == 14
            assert 3 <= np.count_nonzero(nodes > 4900) <= 4
            assert np.count_nonzero(nodes < 220) >= 4
            assert nodes.min() >= 45
            assert nodes.max() <= 20_010
            for case in cases:
                assert 2 <= case.k <= min(60, case.n_nodes // 8)
                counts = np.bincount(case.groups)
                assert 2 <= counts.size <= 6
                assert counts.min() >= 0.01 * case.n_nodes
                assert case.groups.shape == (case.n_nodes,)

    def test_seed_decides(self, suites):
        again = graphs.suite(3)
        for one, two in zip(suites[3], again, strict=True):
            assert (one.name, one.k) == (two.name, two.k)
            assert (one.adjacency != two.adjacency).nnz == 0
            assert np.array_equal(one.groups, two.groups)
        assert {case.name for case in suites[3]} & {case.name for case in suites[4]} <= {"14-miserables-77"}


class TestCommand:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "--seeds"),
            (["--seeds", "3", "--jobs", "0"], "--jobs at least 1"),
            (["--seeds", "3", "--long", "0"], "--quick and --no-vieclus leave them out"),
            (["--seeds", "3", "--cases", "nothing"], "no case has nothing in its name"),
            (["--seeds", "3", "--quick", "--resume"], "give the file of the run with --json"),
        ],
    )
    def test_bad_options(self, drawn, arguments, message, capsys):
        with pytest.raises(SystemExit) as ended:
            command.main(arguments)
        assert ended.value.code == 2
        assert message in capsys.readouterr().err

    def test_whole_run_and_resume(self, drawn, cold, tmp_path, capsys):
        pytest.importorskip("vieclus")
        pytest.importorskip("igraph")
        path = tmp_path / "run.json"
        options = ["--long", "0.1", "--vieclus", "0.2", "--json", str(path), "--cases", "miserables"]
        assert command.main(["--seeds", "3", *options]) == 0
        stored = json.loads(path.read_text(encoding="utf-8"))
        (outcome,) = stored["outcomes"]
        assert [point["fairness"] for point in outcome["points"]] == [0, 0.2, 0.5, 0.8]
        for point in outcome["points"]:
            assert point["best"] >= max(point["ours"], point["louvain"])
            assert point["seconds"] > 0
        # The highest modularity of this graph.
        assert outcome["duel"]["vieclus"] == pytest.approx(0.5667, abs=1e-4)
        assert "4 points" in capsys.readouterr().out
        assert command.main(["--seeds", "3", *options, "--resume"]) == 0
        assert "1 of 1" not in capsys.readouterr().err
        assert json.loads(path.read_text(encoding="utf-8"))["outcomes"][0] == outcome

    def test_case_that_fails_is_told_and_others_go_on(self, suites, cold, capsys):
        whole = suites[3][-1]
        broken = graphs.Case("broken", whole.adjacency, whole.groups, 1000)
        settings = measure.Settings(long=0, vieclus=0)
        outcomes = list(command.run([(3, broken), (3, whole)], settings, 1))
        assert [outcome.error is None for outcome in outcomes] == [False, True]
        report.print_run(outcomes)
        assert "broken failed: " in capsys.readouterr().out


@pytest.mark.parametrize("module", [configuration, graphs, report, rival])
def test_examples_of_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
