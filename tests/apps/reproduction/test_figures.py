from equigraph.apps.reproduction import figures
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.scoring import sweep_weights

QUICK = Settings(quick=True)


def test_sweep_cells_hold_every_weight_once():
    for settings in (Settings(), QUICK):
        for network in figures.SHOWN:
            held = [
                weight
                for cell in figures.lambda_cells(settings)
                if cell.key.startswith(f"weights.{network}.")
                for weight in cell.arguments["weights"]
            ]
            assert held == figures.weights_of(settings, network) == sorted(set(held))


def test_sweep_of_a_real_network(data_dir):
    found = sweep_weights(network="drugnet", n_clusters=5, weights=[0.0, 0.5], first_seed=0, n_runs=2)
    first, second = found["sweep"]
    assert [first["weight"], second["weight"]] == [0.0, 0.5]
    assert second["B"] > first["B"]
    assert second["Q"] < first["Q"]
