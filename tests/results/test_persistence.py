"""Folders of results: round trips, damaged and changed content, and files of others."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equigraph as eg
from equigraph._utils.records import as_given, harmless
from equigraph.exceptions import InputError, ParameterError
from equigraph.graph import Graph
from equigraph.results.contents import RESULT_FILES
from equigraph.results.features import stored_features
from equigraph.results.persistence import MANIFEST, OutputFolder, checksum_of, record
from tests.optional import optional
from tests.tables import rows_of

nx = optional("networkx")

SMALL = pytest.mark.filterwarnings("ignore::equigraph.exceptions.EquigraphWarning")


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["a", "b", "c", "d"], ["x", "y", "x", "y"]),
        ([7, -1, 9, 10**15], [1, 2, 1, 2]),
        (["007", "7", " x ", "ä\n\r"], [True, False, True, False]),
        (["=1+1", "'=1+1", "''@x", "-5"], ["+a", "@b", "+a", "@b"]),
        (["1.5", "nan", "", '"'], [0.1, 1 / 3, 0.1, 1 / 3]),
        (["\x1b[31m", "\ud800", "a,b", "a;b"], ["x", "y", "x", "y"]),
        (["a", "b", "c", "d"], ["a", "=b", None, "a"]),
        (["a", "b", "c", "d"], [1, 2, None, 1]),
        (["a", "b", "c", "d"], [1.5, 2.5, None, 1.5]),
        (["a", "b", "c", "d"], [True, False, None, True]),
    ],
)
@SMALL
@pytest.mark.parametrize("raw", [False, True])
def test_result_round_trip(tmp_path, names, groups, raw):
    path = nx.to_scipy_sparse_array(nx.path_graph(4))
    kind = object if None in groups else None
    graph = Graph(path, np.array(names), np.array(groups, kind), attribute="what", missing="ignore")
    result = eg.cluster(graph, method="nmtf", n_clusters=2, random_state=0)
    result.save(tmp_path, raw=raw)
    back = eg.ClusteringResult.load(tmp_path)
    assert back.summary() == result.summary()
    for name in ("labels", "membership", "interaction", "node_names", "sensitive_features"):
        before, after = getattr(result, name), getattr(back, name)
        assert after.dtype == before.dtype
        assert after.tolist() == before.tolist()
    again = Graph(graph.adjacency, back.node_names, back.sensitive_features, missing="ignore")
    assert again.fingerprint() == back.input_hash
    curve = eg.tradeoff_curve(graph, estimator=eg.FairLouvain(2), fairness=[0, 1], random_state=0)
    curve.save(tmp_path / "curve")
    assert eg.TradeoffCurve.load(tmp_path / "curve").sensitive_features.tolist() == groups


def test_comparison_round_trip(room, tmp_path):
    comparison = eg.compare(room, methods=["random", "nmtf"], n_clusters=3, n_seeds=2)
    path = tmp_path / "t.json"
    comparison.to_json(path)
    assert eg.Comparison.load(path) == comparison
    text = path.read_text(encoding="utf-8")
    unknown = {**comparison.content(), "rows": [{"method": "x", "colour": "red"}]}
    for wrong, part in [
        (text[:-30], "is no JSON"),
        (text.replace('"n_nodes": 30', '"n_nodes": 31'), "has changed since"),
        ("{}", "is no comparison"),
        (json.dumps(record("curve", comparison.content())), "is no comparison"),
        (json.dumps(record("comparison", unknown)), "unknown entry 'colour'"),
    ]:
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(InputError, match=part):
            eg.Comparison.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        eg.Comparison.load(tmp_path / "nowhere.json")


def test_notebook_tables_are_escaped(room, result):
    nasty = "<script>alert(1)</script>"
    graph = Graph(room.adjacency, None, np.array([nasty, "b"] * 15), nasty)
    curve = eg.tradeoff_curve(graph, estimator=eg.FairLouvain(n_clusters=3), fairness=[0, 1], random_state=0)
    options = {"method": "random", "n_clusters": 3, "random_state": 0}
    shown = [eg.cluster(graph, **options), eg.cluster(room.adjacency, **options), curve]
    shown += [graph, Graph(room.adjacency), eg.compare(graph, methods=["random"], n_clusters=3, n_seeds=1)]
    html = pytest.importorskip("justhtml")
    for one in shown:
        text = one._repr_html_()
        assert "<script" not in text
        page = html.JustHTML(f"<!doctype html><html><body>{text}</body></html>", sanitize=False, strict=True)
        assert page.query("table tbody tr")
    assert "10" in shown[0]._repr_html_()


def test_damaged_files_raise(result, tmp_path):
    result.save(tmp_path)
    rng = np.random.default_rng(0)
    for path in [tmp_path / name for name in RESULT_FILES]:
        content = path.read_bytes()
        places = rng.integers(0, len(content), 10)
        damaged = [content[:place] for place in places]
        damaged += [content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :] for at in places]
        for data in [None, *damaged, content + b"\n1", b"", content[: len(content) // 2] * 2]:
            path.unlink()
            if data is not None:
                path.write_bytes(data)
            with pytest.raises(InputError, match=re.escape(str(tmp_path))) as caught:
                eg.ClusteringResult.load(tmp_path)
            assert len(str(caught.value).splitlines()) == 1
            path.write_bytes(content)
        assert eg.ClusteringResult.load(tmp_path).n_clusters == 3


def test_changed_labels_raise(result, tmp_path):
    result.save(tmp_path)
    lines = (tmp_path / "labels.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    name, cluster, rest = lines[1].split(",", 2)
    lines[1] = f"{name},{(int(cluster) + 1) % 3},{rest}"
    (tmp_path / "labels.csv").write_text("".join(lines))
    with pytest.raises(InputError, match=r"labels\.csv has changed since equigraph wrote it"):
        eg.ClusteringResult.load(tmp_path)
    # Also if the checksums fit the changed file.
    with OutputFolder(tmp_path) as out:
        out.add("labels.csv")
    with pytest.raises(InputError, match="disagree"):
        eg.ClusteringResult.load(tmp_path)


def test_other_manifests_raise(result, tmp_path):
    result.save(tmp_path)
    with pytest.raises(InputError, match=r"holds no curve\.json.*another kind"):
        eg.TradeoffCurve.load(tmp_path)
    told = json.loads((tmp_path / MANIFEST).read_text())
    told.pop("checksum")
    outside = {"../labels.csv": {"bytes": 1, "sha256": ""}, "labels.csv": {"bytes": 1, "sha256": ""}}
    for content, part in [
        ({}, MANIFEST),
        ([], MANIFEST),
        ({"format": "equigraph", "version": 2, "files": {}}, MANIFEST),
        ({**told, "version": 3, "checksum": checksum_of({**told, "version": 3})}, "version 3 of the format"),
        (
            {**told, "files": outside, "checksum": checksum_of({**told, "files": outside})},
            "has changed since",
        ),
    ]:
        (tmp_path / MANIFEST).write_text(json.dumps(content))
        with pytest.raises(InputError, match=part):
            eg.ClusteringResult.load(tmp_path)


def test_files_of_others_are_neither_deleted_nor_overwritten(result, tmp_path):
    theirs = {name: f"theirs: {name}" for name in ("result.json", "graph.png", "curve.csv")}
    for name, text in theirs.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ParameterError, match=r"result\.json was not written by equigraph.*option force"):
        result.save(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == theirs
    result.save(tmp_path, force=True)
    assert eg.ClusteringResult.load(tmp_path).n_clusters == 3
    for name in set(theirs) - {"result.json"}:
        assert (tmp_path / name).read_text() == theirs[name]


def test_changed_files_of_equigraph_are_kept(result, tmp_path):
    result.save(tmp_path)
    (tmp_path / "labels.csv").write_text("edited by hand")
    with pytest.raises(ParameterError, match=r"labels\.csv was not written by equigraph, or was changed"):
        result.save(tmp_path)
    assert (tmp_path / "labels.csv").read_text() == "edited by hand"
    with OutputFolder(tmp_path) as out:
        out.write("other", {}, further=lambda folder: (folder / "a.txt").write_text("new"), force=True)
    # Of files that this run does not write, those of equigraph are removed and those of the user kept.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "labels.csv", MANIFEST]


@pytest.mark.parametrize("place", ["file/out", "/proc/nowhere/out", "x" * 300, "nul\0", "."])
def test_invalid_output_folders_raise(result, tmp_path, place):
    (tmp_path / "file").write_text("here")
    (tmp_path / "labels.csv").mkdir()
    reason = (
        "is a folder where a file is to be written" if place == "." else r"The output .* cannot be written \("
    )
    for force in (False, True):
        with pytest.raises(ParameterError, match=reason):
            result.save(tmp_path / place, force=force)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "labels.csv"]


def test_new_empty_folders_are_removed(tmp_path):
    with pytest.raises(ZeroDivisionError), OutputFolder(tmp_path / "a" / "b" / "c"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_formulas_are_harmless_in_csv_and_raw_on_request(room, tmp_path):
    names = ["=1+1", "+1-1", "-a", "@SUM(A1)", "\t=1", "-5", "+49 30", *room.node_names.tolist()[7:]]
    graph = Graph(room.adjacency, np.array(names), np.array(["=a", "b"] * 15))
    result = eg.cluster(graph, method="random", n_clusters=3, random_state=0)
    result.save(tmp_path)
    result.to_csv(tmp_path / "t.csv")
    for file in ("labels.csv", "t.csv"):
        rows = rows_of(tmp_path / file)
        assert [row["node"] for row in rows][:5] == [f"'{name}" for name in names[:5]]
        assert [row["node"] for row in rows][5:7] == ["-5", "'+49 30"]
        assert rows[0]["group"] == "'=a"
    result.save(tmp_path, raw=True, force=True)
    assert [row["node"] for row in rows_of(tmp_path / "labels.csv")] == names


@given(st.text(alphabet="'=+-@\t\r\n019.eEa ", max_size=8))
def test_as_given_is_the_inverse_of_harmless(text):
    cell = harmless(text)
    assert as_given(cell) == text or cell == text
    assert as_given(harmless(text)) == text
    if cell[:1] and cell[0] in "=+-@\t\r\n":
        float(cell)  # what still begins like one is a number


def with_attributes(*names):
    room = eg.datasets.make_classroom()
    house = room.house.astype(object)
    house[[3, 8]] = None
    age = np.random.default_rng(0).integers(9, 13, 30)
    columns = {"gender": room.sensitive_features, "house": house, "age": age}
    weights = {"house": 2} if "house" in names else None
    options = {"missing": "ignore", "attribute_weights": weights, "bins": {"age": 2}}
    graph = eg.Graph(room.adjacency, room.node_names)
    return eg.read_graph(graph, {name: columns[name] for name in names}, **options)


@pytest.fixture(scope="module")
def several():
    return with_attributes("gender", "house", "age")


@SMALL
@pytest.mark.parametrize(
    ("names", "weights", "shares"),
    [
        (("gender", "house", "age"), None, [0.25, 0.5, 0.25]),
        (("gender", "house", "age"), {"age": 5}, [1 / 7, 1 / 7, 5 / 7]),
        (("age",), None, [1]),
    ],
)
def test_attributes_round_trip(tmp_path, names, weights, shares):
    graph = with_attributes(*names)
    result = eg.cluster(graph, n_clusters=3, effort=0, attribute_weights=weights, random_state=0)
    result.save(tmp_path / "out")
    loaded = eg.ClusteringResult.load(tmp_path / "out")
    assert loaded.summary() == result.summary()
    assert loaded.attribute == ", ".join(names)
    assert "mean_gap[age]" in loaded.scores
    assert ("NB[age]" in loaded.scores) == (len(names) > 1)
    assert replace(loaded, status=None).attributes.weights.tolist() == pytest.approx(shares)
    assert loaded.attributes["age"].names.tolist() == graph.attributes["age"].names.tolist()
    assert loaded.attributes.codes.tolist() == graph.attributes.codes.tolist()
    for name, column in graph.features.items():
        assert loaded.features[name].tolist() == column.tolist()


@SMALL
def test_curve_round_trip_with_several_attributes(several, tmp_path):
    model = {"estimator": eg.FairLouvain(n_clusters=3), "notion": "evenness", "random_state": 0}
    eg.tradeoff_curve(several, fairness=[0, 1], **model).save(tmp_path / "curve")
    loaded = eg.TradeoffCurve.load(tmp_path / "curve")
    assert loaded.attribute == "gender, house, age"
    assert loaded.attributes.weights.tolist() == [0.25, 0.5, 0.25]
    scores = loaded.points[-1].scores
    each = [scores[name] for name in loaded.attribute_measures().values()]
    assert scores[loaded.measure] == pytest.approx(np.average(each, weights=[1, 2, 1]))
    assert list(scores)[:7] == ["Q", "B", "NB", "min_balance", "rho", loaded.measure, "n_nonempty"]


@SMALL
def test_comparisons_have_the_scores_of_every_attribute(several, tmp_path):
    table = eg.compare(several, methods=["random"], n_clusters=3, n_seeds=1)
    each = [table.rows[0].by_attribute[f"NB[{name}]"] for name in several.features]
    assert np.average(each, weights=[1, 2, 1]) == pytest.approx(table.rows[0].NB)
    table.to_json(tmp_path / "table.json")
    assert eg.Comparison.load(tmp_path / "table.json") == table
    table.to_csv(tmp_path / "table.csv")
    assert "NB[house]" in (tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "NB[house]" in table.markdown()


def test_missing_column_raises(tmp_path):
    entries = [{"name": name, "weight": 1, "bins": None, "n_ungrouped": 0} for name in "ab"]
    with pytest.raises(InputError, match="missing in the labels"):
        stored_features(entries, {"group[a]": np.array(["x"])}, tmp_path)
