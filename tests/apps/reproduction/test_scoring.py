import numpy as np
import pytest

import equigraph as eg
from equigraph.apps.reproduction import figures, scoring
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.scoring import REAL, crossing, load_network, score_method, sweep_weights


@pytest.fixture
def small_blocks(monkeypatch):
    """Let the smallest block model have 200 nodes, in this process."""
    monkeypatch.setitem(scoring.SBM, "sbm-2k", 200)
    load_network.cache_clear()
    yield
    load_network.cache_clear()


@pytest.mark.usefixtures("small_blocks")
def test_scores_are_those_of_the_estimator():
    result = score_method(network="sbm-2k", method="scalable-fair-sc", n_clusters=5, first_seed=3, n_runs=2)
    for seed, run in zip((3, 4), result["runs"], strict=True):
        data = eg.datasets.make_fair_sbm(200, 5, 5, random_state=seed)
        model = eg.ScalableFairSC(5, random_state=seed)
        labels = model.fit_predict(data.adjacency, sensitive_features=data.sensitive_features)
        given = {"sensitive_features": data.sensitive_features, "target": data.target}
        expected = eg.metrics.evaluate(data.adjacency, labels, **given)
        assert run == {name: pytest.approx(expected[name]) for name in scoring.MEASURES}


@pytest.mark.usefixtures("small_blocks")
def test_weight_is_chosen_on_the_sweep_and_then_run():
    weights = [0.0, 200.0, 3500.0]
    options = {"n_clusters": 5, "first_seed": 0, "n_runs": 2, "n_sweep_runs": 1}
    result = score_method(network="sbm-2k", method="ifair-nmtf", weights=weights, **options)
    Q = np.array([point["Q"] for point in result["sweep"]])
    B = np.array([point["B"] for point in result["sweep"]])
    gap = (Q - Q.min()) / np.ptp(Q) - (B - B.min()) / np.ptp(B)
    assert gap[0] == 1  # without fairness the groups are found: highest Q, lowest B
    first = int(np.flatnonzero(gap < 0)[0])
    assert result["chosen"] == weights[min((first - 1, first), key=lambda i: abs(gap[i]))]
    assert len(result["runs"]) == 2
    # The first run is the one of the sweep.
    chosen = result["sweep"][weights.index(result["chosen"])]
    assert result["runs"][0]["Q"] == pytest.approx(chosen["Q"])


@pytest.mark.usefixtures("small_blocks")
def test_curve_has_means_and_spreads_of_all_runs():
    result = score_method(
        network="sbm-2k", method="fair-partition", n_clusters=5, first_seed=0, n_runs=2, weights=[0.0, 1.0]
    )
    assert result["n_runs"] == 2
    assert [point["weight"] for point in result["sweep"]] == [0.0, 1.0]
    values = []
    for seed in (0, 1):
        graph = load_network("sbm-2k", seed).graph
        options = {"n_clusters": 5, "notion": "balance", "fairness": [0.0, 1.0]}
        curve = eg.tradeoff_curve(graph, **options, random_state=seed)
        values.append([point.scores["B"] for point in curve.points])
    for i, point in enumerate(result["sweep"]):
        column = [values[0][i], values[1][i]]
        assert point["B"] == pytest.approx(np.mean(column))
        assert point["spreads"]["B"] == pytest.approx(np.std(column, ddof=1))


def test_crossing_between_two_values_takes_the_nearer():
    sweep = [{"Q": 1.0, "B": 0.0}, {"Q": 0.9, "B": 0.2}, {"Q": 0.55, "B": 0.6}, {"Q": 0.0, "B": 1.0}]
    assert crossing(sweep) == 2


def test_block_models_differ_by_seed_and_real_networks_do_not(data_dir):
    first, second = load_network("sbm-2k", 0).graph, load_network("sbm-2k", 1).graph
    assert first.n_edges != second.n_edges
    assert load_network("diaries", 0).graph.n_edges == load_network("diaries", 1).graph.n_edges == 348


@pytest.mark.parametrize("name", REAL)
def test_groups_have_the_numbers_of_the_files(data_dir, name):
    network = load_network(name)
    pairs = set(zip(network.graph.sensitive_features.tolist(), network.group_numbers.tolist(), strict=True))
    assert len(pairs) == len({group for group, _ in pairs}) == len({number for _, number in pairs})
    wanted = {"drugnet": {1, 2, 3}, "nba": {0, 1}, "lastfm": {0, 3, 6, 10, 14, 17}}
    assert {number for _, number in pairs} == wanted.get(name, {1, 2})


def test_sweep_cells_hold_every_weight_once():
    for settings in (Settings(), Settings(quick=True)):
        cells = figures.lambda_cells(settings)
        for network in figures.SHOWN:
            own = [cell.arguments for cell in cells if cell.key.startswith(f"weights.{network}.")]
            held = [weight for arguments in own for weight in arguments["weights"]]
            assert held == figures.weights_of(settings, network) == sorted(set(held))


def test_sweep_of_a_real_network(data_dir):
    found = sweep_weights(network="drugnet", n_clusters=5, weights=[0.0, 0.5], first_seed=0, n_runs=2)
    first, second = found["sweep"]
    assert [first["weight"], second["weight"]] == [0.0, 0.5]
    assert second["B"] > first["B"]
    assert second["Q"] < first["Q"]
