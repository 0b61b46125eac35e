"""Folders of row blocks and of parquet files on the command line, here and on workers."""

import json

import numpy as np
import pytest

import equigraph as eg
from equigraph.stores.blocks import write_blocks


@pytest.fixture(scope="module")
def graph():
    data = eg.datasets.make_fair_sbm(300, 3, 2, random_state=0)
    return eg.Graph(data.adjacency, None, data.sensitive_features, "g")


@pytest.fixture
def folder(graph, tmp_path):
    """Return a folder with blocks/, edges/ and groups.csv of one graph."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    write_blocks(graph, tmp_path / "blocks", rows_per_block=60)
    entries = graph.adjacency.tocoo()
    upper = entries.row < entries.col
    (tmp_path / "edges").mkdir()
    for part in range(2):
        ends = {"source": entries.row[upper][part::2], "target": entries.col[upper][part::2]}
        parquet.write_table(pyarrow.table(ends), tmp_path / "edges" / f"{part}.parquet")
    rows = [f"{node},{group}" for node, group in enumerate(graph.sensitive_features)]
    (tmp_path / "groups.csv").write_text("\n".join(["node,g", *rows]), encoding="utf-8")
    return tmp_path


def test_blocks_and_edges_give_what_the_graph_gives(run, graph, folder):
    settings = ["-m", "ifair-nmtf", "-k", 3, "--fairness", 2, "--max-iter", 20, "--tol", 0]
    model = {"method": "ifair-nmtf", "fairness": 2.0, "max_iter": 20, "tol": 0.0}
    expected = eg.cluster(graph, n_clusters=3, random_state=0, **model)
    groups = ["--groups", folder / "groups.csv", "--attribute", "g"]
    # The last one on a worker.
    for source, extra in (("blocks", []), ("edges", groups), ("blocks", [*groups, "--workers", 1])):
        out = folder / f"out-{source}-{len(extra)}"
        answer = run("cluster", folder / source, *extra, *settings, "-o", out)
        told = json.loads((out / "result.json").read_text(encoding="utf-8"))
        assert told["scores"] == pytest.approx(dict(expected.scores))
        assert told["input_hash"] == expected.input_hash
        with np.load(out / "membership.npz") as stored:
            np.testing.assert_allclose(stored["membership"], expected.membership, atol=1e-8)
        assert "300 nodes" in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("blocks -m sc", "this method needs the graph in memory"),
        ("blocks -m sc --workers 2", "runs in this process only"),
        ("blocks --workers 2 --scheduler tcp://127.0.0.1:1", "contradict each other"),
        ("blocks --execution dask --workers 2", "--execution contradicts"),
        ("blocks --header", "--header has no meaning here"),
        ("blocks --attribute g", "--attribute has no meaning here"),
        ("blocks --scheduler tcp://127.0.0.1:1", "No Dask scheduler answers"),
        ("blocks --plot -o out", "need the graph in memory"),
        ("blocks --groups few.csv --missing drop --node-column node", "can neither be dropped nor added"),
        ("edges --weight 2", "not its number"),
    ],
)
def test_errors_are_one_sentence_and_exit_code_2(run, folder, monkeypatch, arguments, message):
    if "Dask" in message:
        pytest.importorskip("distributed")
    monkeypatch.setattr("equigraph.stores.dask_rows.TIMEOUT", 1.0)
    monkeypatch.chdir(folder)
    (folder / "few.csv").write_text("node,g\n0,a\n1,b\n", encoding="utf-8")
    answer = run("cluster", *arguments.split(), "-k", 3, code=2)
    assert message in answer.stderr
    assert not (folder / "out").exists()


def test_a_page_about_blocks_says_what_it_leaves_out(run, folder):
    run("cluster", folder / "blocks", "-k", 3, "--effort", 0.1, "-q", "-o", folder / "out")
    answer = run("report", folder / "out")
    assert "is a folder of edges on disk" in answer.stderr
    assert (folder / "out" / "report.html").is_file()


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")
def test_labels_as_parquet_and_as_csv(run, graph, folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    out = folder / "out"
    settings = [folder / "blocks", "-k", 3, "--effort", 0.1, "-q", "-o", out]
    run("cluster", *settings, "--labels-format", "parquet")
    assert not (out / "labels.csv").exists()
    expected = eg.cluster(graph, n_clusters=3, effort=0.1, random_state=0)
    assert parquet.read_table(out / "labels.parquet").to_pydict()["cluster"] == expected.labels.tolist()
    loaded = eg.ClusteringResult.load(out)
    np.testing.assert_array_equal(loaded.labels, expected.labels)
    np.testing.assert_array_equal(loaded.sensitive_features, graph.sensitive_features)
    # Written once more as csv, the folder holds one kind of labels only, unless both are asked for.
    for further, there in (([], False), (["--parquet"], True)):
        run("cluster", *settings, "--force", *further)
        assert (out / "labels.csv").exists()
        assert (out / "labels.parquet").exists() == there
