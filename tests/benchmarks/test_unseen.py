from __future__ import annotations

import doctest
import json

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

pytest.importorskip("networkx")

from benchmarks.__main__ import names
from benchmarks.unseen import __main__ as command
from benchmarks.unseen import configuration, families, fits, graphs, measure, report, rival
from benchmarks.unseen.best import Pool

SEEDS = range(12)


def draw(family, size, seed=0):
    rng = np.random.default_rng(seed)
    return families.shuffled(families.FAMILIES[family](rng, size), rng)


def degrees(adjacency):
    return np.diff(adjacency.indptr)


def transitivity(adjacency):
    ones = sparse.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), adjacency.shape)
    wedges = (degrees(adjacency) * (degrees(adjacency) - 1)).sum()
    return ((ones @ ones) * ones).sum() / wedges


def mixing(adjacency, communities):
    rows = np.repeat(np.arange(adjacency.shape[0]), degrees(adjacency))
    return float(np.mean(communities[rows] != communities[adjacency.indices]))


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


class TestFamilies:
    def test_edges_that_come_twice_would_count_once(self):
        edges = np.array([[1, 0], [0, 1], [2, 2], [1, 2]])
        assert families.simple(edges, 3).tolist() == [[0, 1], [1, 2]]

    def test_nodes_keep_their_communities_when_shuffled(self):
        edges = np.array([[0, 1], [2, 3], [1, 4]])
        drawn = families.Drawn(edges, 5, np.array([1.0, 2.0, 3.0]), np.array([7, 7, 8, 8, 9]))
        adjacency, communities = families.shuffled(drawn, np.random.default_rng(1))
        upper = sparse.triu(adjacency)
        pairs = np.sort(communities[np.column_stack(upper.coords)], axis=1)
        kept = {(*pair, weight) for pair, weight in zip(pairs.tolist(), upper.data.tolist(), strict=True)}
        assert kept == {(7, 7, 1), (8, 8, 2), (7, 9, 3)}
        assert communities.tolist() != [7, 7, 8, 8, 9]

    def test_geometric_neighbours_know_each_other(self):
        adjacency, _ = draw("geometric", 2000)
        # In the plane two neighbours of a node are neighbours with probability 1 - 3 sqrt(3) / (4 pi) = .587.
        assert transitivity(adjacency) == pytest.approx(0.587, abs=0.03)

    def test_holme_kim_has_hubs_and_no_parts(self):
        adjacency, _ = draw("holme-kim", 3000)
        assert connected_components(adjacency)[0] == 1
        assert degrees(adjacency).max() > 20 * np.median(degrees(adjacency))

    def test_blocks_have_even_degrees_and_corrected_blocks_hubs(self):
        even, hubs = degrees(draw("blocks", 3000)[0]), degrees(draw("corrected-blocks", 3000)[0])
        assert even.var() == pytest.approx(even.mean(), rel=0.25)
        assert hubs.var() > 5 * hubs.mean()

    @pytest.mark.parametrize("family", ["blocks", "corrected-blocks"])
    def test_block_edges_keep_inside_as_often_as_told(self, family):
        rng = np.random.default_rng(2)
        communities = np.repeat([0, 1, 2, 3], [400, 800, 200, 600])
        propensity = np.full(2000, 12.0)
        if family == "corrected-blocks":
            propensity = configuration.power_law(rng, 2000, 2.5, 4, 100).astype(float)
        edges = families.block_edges(rng, communities, propensity, 0.6)
        inside = np.mean(communities[edges[:, 0]] == communities[edges[:, 1]])
        share = np.bincount(communities, weights=propensity) / propensity.sum()
        assert inside == pytest.approx(0.6 + 0.4 * (share**2).sum(), abs=0.03)
        found = np.bincount(edges.ravel(), minlength=2000)
        # Edges that were drawn twice are there once, which costs hubs in small communities most.
        assert found.sum() == pytest.approx(propensity.sum(), rel=0.1)
        if family == "corrected-blocks":
            assert np.corrcoef(found, propensity)[0, 1] > 0.9

    def test_caves_are_cliques_in_part(self):
        adjacency, communities = draw("caveman", 1000)
        sizes = np.bincount(communities)
        assert sizes.min() == sizes.max()
        assert 0.05 < mixing(adjacency, communities) < 0.4
        assert adjacency.nnz == pytest.approx(communities.size * (sizes[0] - 1), rel=0.05)

    def test_small_world_keeps_the_number_of_edges(self):
        adjacency, _ = draw("small-world", 1000)
        degree = adjacency.nnz / 1000
        assert degree in (6, 8, 10, 12)
        assert transitivity(adjacency) > 5 * degree / 1000

    def test_neighbours_are_mostly_of_the_same_blob(self):
        adjacency, communities = draw("blobs", 1000)
        assert degrees(adjacency).min() >= 5
        assert mixing(adjacency, communities) < 0.5

    def test_scattered_has_many_parts_and_leaves(self):
        for seed in range(5):
            adjacency, _ = draw("scattered", 2000, seed)
            n_parts, part = connected_components(adjacency)
            assert n_parts > 40
            assert np.bincount(part).max() > 100
            assert (degrees(adjacency) == 1).mean() > 0.3

    def test_lognormal_weights(self):
        logs = np.log(draw("lognormal", 3000)[0].data)
        assert abs(logs.mean()) < 0.1
        assert 0.45 < logs.std() < 1.6

    def test_miserables(self):
        adjacency, _ = draw("miserables", 77)
        assert (adjacency.shape[0], adjacency.nnz // 2, adjacency.sum() / 2) == (77, 254, 820)


class TestPowerLawCommunities:
    def test_power_law_has_its_density(self):
        drawn = configuration.power_law(np.random.default_rng(0), 200_000, 2.5, 4, 60)
        edges = np.arange(4, 62) ** -1.5
        expected = -np.diff(edges) / (edges[0] - edges[-1])
        found = np.bincount(drawn, minlength=61)[4:] / drawn.size
        assert np.abs(found - expected).max() < 0.005

    def test_sizes_sum_to_the_nodes(self):
        for seed in SEEDS:
            sizes = configuration.community_sizes(np.random.default_rng(seed), 500 + seed, 20, 100)
            assert sizes.sum() == 500 + seed
            assert 20 <= sizes.min() <= sizes.max() < 120

    def test_nodes_get_communities_that_are_large_enough(self):
        rng = np.random.default_rng(3)
        sizes = np.array([10, 20, 70])
        inner = np.concatenate([rng.integers(30, 60, 20), rng.integers(1, 9, 80)])
        communities = configuration.place(rng, inner, sizes)
        assert np.bincount(communities).tolist() == sizes.tolist()
        assert (inner < sizes[communities]).all()
        # Small degrees are everywhere, also where the large ones must be.
        assert set(communities[20:]) == {0, 1, 2}

    def test_degrees_are_kept(self):
        rng = np.random.default_rng(4)
        communities = np.repeat([0, 1, 2], 40)
        inner, outer = np.full(120, 6), np.full(120, 3)
        edges = configuration.pair_ends(rng, inner, outer, communities)
        own = communities[edges[:, 0]] == communities[edges[:, 1]]
        assert families.simple(edges, 120).shape == edges.shape
        assert np.array_equal(np.bincount(edges[own].ravel()), inner)
        assert np.array_equal(np.bincount(edges[~own].ravel()), outer)

    @pytest.mark.parametrize("share", [0.3, 0.4])
    @pytest.mark.parametrize("n", [300, 2000, 6000])
    def test_mixing(self, n, share):
        edges, communities = configuration.power_law_communities(np.random.default_rng(n), n, share)
        found = np.bincount(edges.ravel(), minlength=n)
        assert np.mean(communities[edges[:, 0]] != communities[edges[:, 1]]) == pytest.approx(share, abs=0.02)
        assert found.max() > 5 * np.median(found)
        sizes = np.bincount(communities)
        assert n == 300 or sizes.max() > 4 * sizes.min()


class TestGroups:
    def test_shares(self):
        drawn = [graphs.draw_shares(np.random.default_rng(seed)) for seed in range(300)]
        assert {shares.size for shares in drawn} == {2, 3, 4, 5, 6}
        assert all(shares.sum() == pytest.approx(1) for shares in drawn)
        smallest = np.array([shares.min() for shares in drawn])
        assert 0.01 <= smallest.min() < 0.015
        assert smallest.max() > 0.3

    def test_groups_have_their_sizes_and_are_related_to_communities_or_not(self):
        communities = np.arange(1000) // 50
        counts = np.array([500, 490, 10])
        related = []
        for seed in range(60):
            groups = graphs.draw_groups(np.random.default_rng(seed), communities, counts)
            assert sorted(np.bincount(groups)) == sorted(counts)
            table = np.zeros((20, 3))
            np.add.at(table, (communities, groups), 1)
            # Mean share of the largest group of a community: .5 by chance and a bit.
            related.append(table.max(axis=1).mean() / 50)
        unrelated = np.mean(np.array(related) < 0.58)
        assert 0.15 < unrelated < 0.6
        assert max(related) > 0.9

    def test_regions_are_connected_and_nearest(self):
        path = sparse.diags_array([np.ones(299), np.ones(299)], offsets=[-1, 1]).tocsr()
        found = graphs.regions(np.random.default_rng(0), path)
        assert np.unique(found).size == 6
        assert np.count_nonzero(np.diff(found)) == 5
        assert all(found[centre] == centre for centre in np.unique(found))

    def test_what_no_centre_reaches_is_alone(self):
        lonely = sparse.csr_array((50, 50))
        assert np.unique(graphs.regions(np.random.default_rng(0), lonely)).size == 50


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

    def test_every_family_is_there(self, suites):
        for cases in suites.values():
            there = {case.name.split("-", 1)[1].rsplit("-", 1)[0] for case in cases}
            assert there == set(families.FAMILIES)

    def test_seed_decides(self, suites):
        again = graphs.suite(3)
        for one, two in zip(suites[3], again, strict=True):
            assert (one.name, one.k) == (two.name, two.k)
            assert (one.adjacency != two.adjacency).nnz == 0
            assert np.array_equal(one.groups, two.groups)
        assert {case.name for case in suites[3]} & {case.name for case in suites[4]} <= {"14-miserables-77"}


class TestRival:
    def test_whole_weights_are_left_as_they_are(self):
        assert rival.whole_weights(np.array([2.0, 5.0])).tolist() == [2, 5]
        scaled = rival.whole_weights(np.array([0.5, 1.25, 1e-12]))
        assert scaled[2] == 1
        assert scaled[1] / scaled[0] == pytest.approx(2.5)

    def test_two_cliques(self, capfd):
        pytest.importorskip("vieclus")
        clique = np.ones((5, 5)) - np.eye(5)
        adjacency = sparse.csr_array(sparse.block_diag([clique, clique]))
        labels = rival.vieclus_labels(adjacency, 0.2, 1)
        assert labels.tolist() in ([0] * 5 + [1] * 5, [1] * 5 + [0] * 5)
        assert capfd.readouterr().out == ""

    def test_its_end_is_told(self):
        pytest.importorskip("vieclus")
        broken = sparse.csr_array((3, 3))
        with pytest.raises(RuntimeError, match="VieClus ended with code"):
            rival.vieclus_labels(broken, float("nan"), "no seed")


class TestScores:
    def test_wrong_number_of_clusters_is_refused(self, suites):
        case = suites[3][-1]
        with pytest.raises(RuntimeError, match="labels have 1 clusters, 2 were asked for"):
            fits.score(case, np.zeros(77, dtype=int), 2)

    def test_pool_gives_the_best_of_each_dial(self):
        pool = Pool()
        pool.add("fair", fits.Scored(np.zeros(1, dtype=np.intp), 0.2, 1.0))
        pool.add("cohesive", fits.Scored(np.zeros(1, dtype=np.intp), 0.6, 0.1))
        assert [pool.best(fairness)[0] for fairness in (0.0, 0.2, 0.8)] == ["cohesive", "cohesive", "fair"]

    def test_totals(self):
        points = [
            measure.Point(1, "a", 2, 2, 0.0, 0.5000, 0.5004, 1.0, 2.0, 0.5010, "x"),
            measure.Point(1, "a", 2, 2, 0.5, 0.5000, 0.5006, 1.0, 2.0, 0.5030, "x"),
        ]
        duels = [measure.Duel(1, "a", 3, 0.4, 0.4004, 1.0), measure.Duel(1, "b", 3, 0.4, 0.4006, 1.0)]
        outcomes = [
            measure.Outcome(1, "a", points, duels[0]),
            measure.Outcome(1, "b", [], duels[1]),
            measure.Outcome(1, "c", error="broke"),
        ]
        found = report.totals(outcomes)
        assert (found["behind_louvain"], found["points"], found["failed"]) == (1, 2, 1)
        assert found["worst_behind_louvain"] == pytest.approx(0.0006)
        assert found["mean_behind_best"] == pytest.approx(0.002)
        assert found["worst_behind_best"] == pytest.approx(0.003)
        assert (found["seconds"], found["louvain_seconds"]) == (2, 4)
        assert (found["vieclus_reached"], found["vieclus_graphs"]) == (1, 2)

    def test_stored_outcomes_come_back(self):
        point = measure.Point(1, "a", 2, 2, 0.0, 0.5, 0.5, 1.0, 2.0)
        outcome = measure.Outcome(1, "a", [point], measure.Duel(1, "a", 3, 0.4, 0.4, 1.0))
        assert measure.Outcome.from_dict(json.loads(json.dumps(outcome.as_dict()))) == outcome
        alone = measure.Outcome(1, "b", error="broke")
        assert measure.Outcome.from_dict(alone.as_dict()) == alone


class TestCommand:
    def test_listed(self):
        assert "unseen" in names()

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
        assert command.main(["--seeds", "3", "4", *options, "--resume", "--jobs", "2"]) == 0
        told = capsys.readouterr()
        assert "1 of 2" not in told.err
        assert "2 of 2: seed 4" in told.err
        assert "All: behind FairLouvain" in told.out
        assert json.loads(path.read_text(encoding="utf-8"))["outcomes"][0] == outcome

    def test_other_options_do_not_go_on(self, drawn, cold, tmp_path, capsys):
        path = tmp_path / "run.json"
        quick = ["--seeds", "3", "--cases", "miserables", "--quick", "--json", str(path)]
        assert command.main(quick) == 0
        assert "best known" not in capsys.readouterr().out
        stored = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**stored, "code": "other"}), encoding="utf-8")
        with pytest.raises(SystemExit):
            command.main([*quick, "--resume"])
        assert "other options or other code" in capsys.readouterr().err

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
