from equigraph.apps.reproduction import figure_k, figure_lambda
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.scoring import CROSSED, DIAL, LEADING, sweep_weights
from tests.tables import rows_of

QUICK = Settings(quick=True)


def scores(Q, B):
    return {"Q": Q, "B": B, "NB": 0.5, "rho": 0.1, "n_nonempty": 5.0}


def point(weight, Q, B):
    return {"weight": weight, **scores(Q, B), "spreads": scores(0.01, 0.01)}


def made_up(cell):
    """Return a result that a cell could have given."""
    arguments = cell.arguments
    if cell.function.endswith("sweep_weights"):
        return {"sweep": [point(w, 1 / (1 + w), w / (1 + w)) for w in arguments["weights"]]}
    if arguments["method"] == LEADING:
        return {"n_runs": 3, "sweep": [point(DIAL, 0.6, 0.3)]}
    result = {"runs": [scores(0.4, 0.2), scores(0.5, 0.2)]}
    return {**result, "chosen": 2.5} if arguments["method"] in CROSSED else result


def test_chart_over_k(data_dir, tmp_path):
    cells = figure_k.cells(QUICK)
    results = {cell.key: made_up(cell) for cell in cells}
    png, page, table = figure_k.finish(QUICK, results, tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    rows = rows_of(table)
    assert len(rows) == len(cells)
    assert {row["n_clusters"] for row in rows} == {"2", "5", "8"}
    text = page.read_text(encoding="utf-8")
    assert "| DMoN | .450 / .200 | .450 / .200 | .450 / .200 |" in text
    assert "| weight of iFairNMTF | 2.5 | 2.5 | 2.5 |\n| weight of FairNMTF | 2.5 | 2.5 | 2.5 |" in text
    assert "largest): .138." in text  # 15 over 109


def test_sweep_cells_hold_every_weight_once():
    for settings in (Settings(), QUICK):
        for network in figure_lambda.SHOWN:
            held = [
                weight
                for cell in figure_lambda.cells(settings)
                if cell.key.startswith(f"weights.{network}.")
                for weight in cell.arguments["weights"]
            ]
            assert held == figure_lambda.weights_of(settings, network) == sorted(set(held))


def test_chart_over_the_weight(tmp_path):
    results = {cell.key: made_up(cell) for cell in figure_lambda.cells(QUICK)}
    paths = figure_lambda.finish(QUICK, results, tmp_path)
    names = [f"fig-lambda-{network}.{ending}" for network in figure_lambda.SHOWN for ending in ("png", "csv")]
    assert [path.name for path in paths] == [*names, "fig-lambda.md"]
    text = paths[-1].read_text(encoding="utf-8")
    assert "| iFairNMTF, weight 0 (highest Q) | 1.000 | .000 | 5.0 |" in text
    assert text.count("| DMoN | .450 | .200 | 5.0 |") == 2


def test_sweep_of_a_real_network(data_dir):
    found = sweep_weights(network="drugnet", n_clusters=5, weights=[0.0, 0.5], first_seed=0, n_runs=2)
    first, second = found["sweep"]
    assert [first["weight"], second["weight"]] == [0.0, 0.5]
    assert second["B"] > first["B"]
    assert second["Q"] < first["Q"]
