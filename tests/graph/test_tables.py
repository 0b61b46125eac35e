"""Tables of pyarrow and Parquet files against frames of Python objects."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equigraph.graph import read_graph, tables
from tests.reference.refusals import outcome

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")

TEXT = st.sampled_from(["a", "b", " c", "7", "07", "é", "x\0", "", None])
IDS = {
    pa.string(): st.sampled_from(["a", "b", "c", "Ünal"]),
    pa.large_string(): TEXT,
    pa.dictionary(pa.int8(), pa.string()): TEXT,
    pa.dictionary(pa.int8(), pa.int64()): st.integers(-2, 3),
    pa.int32(): st.integers(-2, 3),
    pa.int64(): st.sampled_from([1, 2**40, -5, None]),
    pa.uint64(): st.sampled_from([1, 2**63 + 5]),
}
WEIGHTS = {
    pa.float64(): st.sampled_from([1.0, 2.5, 0.0, None]),
    pa.int16(): st.sampled_from([1, 2, -1]),
    pa.string(): st.sampled_from(["1", "x"]),
}


@st.composite
def edge_tables(draw):
    size = draw(st.integers(0, 8))
    one, other = draw(st.sampled_from(list(IDS))), draw(st.sampled_from(list(IDS)))
    weight = draw(st.sampled_from([None, *WEIGHTS]))

    def column(kind, values):
        return pa.array([draw(values) for _ in range(size)], type=kind)

    columns = {"source": column(one, IDS[one]), "target": column(other, IDS[other])}
    if weight is not None:
        columns[draw(st.sampled_from(["weight", "hours"]))] = column(weight, WEIGHTS[weight])
    return pa.table(columns)


def test_parts_with_dictionaries_of_their_own():
    codes = [pa.array(range(128), pa.int8()), pa.array([5, 4, None], pa.int8())]
    words = [[f"n{k + j}" for j in range(128)] for k in (0, 100)]
    parts = [pa.DictionaryArray.from_arrays(*one) for one in zip(codes, words, strict=True)]
    table = pa.table({"source": pa.chunked_array(parts), "target": pa.chunked_array(parts[::-1])})
    assert tables.read_table(table).column(0).tolist() == [*words[0], "n105", "n104", None]
    assert read_graph(table.slice(3, 125)).n_nodes == 128


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.SelfLoopWarning")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(edge_tables(), st.sampled_from([None, False, "hours", "weight"]))
def test_tables_of_every_kind_agree(tmp_path, table, weight):
    options = {"weight": weight, "duplicates": "max"}
    expected = outcome(pd.DataFrame(table.to_pydict(), dtype=object), **options)
    assert outcome(table, **options) == expected
    parquet.write_table(table, tmp_path / "e.parquet", row_group_size=3)
    assert outcome(tmp_path / "e.parquet", **options) == expected
