"""Tables of pyarrow and Parquet files against the reader of any table."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equigraph.exceptions import EquigraphError
from equigraph.graph import names, read_graph, tables
from equigraph.graph.edges import graph_from_rows

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXT = st.sampled_from(["a", "b", " c", "7", "07", "é", "x\0", "", None])
PLAIN = st.sampled_from(["a", "b", "c", "Ünal"])
IDS = {
    pa.string(): PLAIN,
    pa.large_string(): TEXT,
    pa.dictionary(pa.int8(), pa.string()): TEXT,
    pa.int32(): st.integers(-2, 3),
    pa.int64(): st.sampled_from([1, 2**40, -5, None]),
    pa.uint64(): st.sampled_from([1, 2**63 + 5]),
    pa.float64(): st.sampled_from([1.0, 2.0, 2.5]),
}
WEIGHTS = {
    pa.float64(): st.sampled_from([1.0, 2.5, 0.0, None]),
    pa.float32(): st.sampled_from([1.0, 2.5]),
    pa.int16(): st.sampled_from([1, 2, -1]),
    pa.string(): st.sampled_from(["1", "x"]),
}


@st.composite
def edge_tables(draw):
    size = draw(st.integers(0, 8))
    one, other = draw(st.sampled_from(list(IDS))), draw(st.sampled_from(list(IDS)))
    if draw(st.booleans()):
        other = one
    weight = draw(st.sampled_from([None, *WEIGHTS]))

    def column(kind, values):
        return pa.array([draw(values) for _ in range(size)], type=kind)

    columns = {"source": column(one, IDS[one]), "target": column(other, IDS[other])}
    if weight is not None:
        columns[draw(st.sampled_from(["weight", "hours"]))] = column(weight, WEIGHTS[weight])
    return pa.table(columns)


def outcome(read):
    try:
        graph = read()
    except EquigraphError as error:
        return type(error), str(error)
    names = graph.node_names
    return names.dtype.kind, names.tolist(), graph.adjacency.toarray().tolist(), graph.adjacency.dtype


def careful(table, weight):
    rows = tables.edge_rows(tables.read_table(table), weight)
    return graph_from_rows(rows, duplicates="max")


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.SelfLoopWarning")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(edge_tables(), st.sampled_from([None, False, "hours", "weight"]))
def test_both_readers_agree(tmp_path, table, weight):
    expected = outcome(lambda: careful(table, weight))
    assert outcome(lambda: read_graph(table, weight=weight, duplicates="max")) == expected
    parquet.write_table(table, tmp_path / "e.parquet", row_group_size=3)
    found = outcome(lambda: read_graph(tmp_path / "e.parquet", weight=weight, duplicates="max"))
    assert found == expected


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.int32()]
)
def test_ordinary_tables_never_become_objects(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(tables, "read_table", None)  # calling it would fail
    text = pa.array(["3", "1", "2"])
    table = pa.table(
        {"source": text.cast(kind), "target": pa.array(["1", "2", "3"]).cast(kind), "weight": [1, 2, 3]}
    )
    parquet.write_table(table, tmp_path / "e.parquet")
    for source in (table, tmp_path / "e.parquet"):
        graph = read_graph(source)
        assert graph.node_names.tolist() == ([1, 2, 3] if kind == pa.int32() else ["1", "2", "3"])
        np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2, 1], [2, 0, 3], [1, 3, 0]])


def test_only_the_needed_columns_are_read(tmp_path):
    table = pa.table({"source": ["a"], "target": ["b"], "weight": [2.0], "nested": [{"x": [1, 2]}]})
    parquet.write_table(table, tmp_path / "e.parquet")
    assert read_graph(tmp_path / "e.parquet").adjacency[0, 1] == 2
    rows = tables.parquet_rows(tmp_path / "e.parquet", None)
    assert rows is not None
    assert rows.where(0) == "row 0 of the edge table (counting from 0)"


@given(
    st.lists(st.lists(st.tuples(st.text("ab", max_size=2), st.text("ab", max_size=2))), min_size=1),
    st.sampled_from([0, 3, 1000]),
)
def test_codes_stand_for_their_texts(batches, pending):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names, "PENDING", pending)
        arrays = [
            [pa.array([row[k] for row in batch], type=pa.string()) for k in (0, 1)] for batch in batches
        ]
        encoded = ([column.dictionary_encode() for column in columns] for columns in arrays)
        columns, distinct, _ = names.encode_batches(encoded, 2)
    texts = distinct.to_pylist()
    assert len(set(texts)) == len(texts)
    assert set(texts) == {text for batch in batches for row in batch for text in row}
    for k in (0, 1):
        assert columns[k].dtype.name == "int32"
        assert [texts[code] for code in columns[k]] == [row[k] for batch in batches for row in batch]
