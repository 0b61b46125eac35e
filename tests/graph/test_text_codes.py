"""TextCodes: the same codes whatever the batches, against a dictionary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equigraph.graph.arrow_tables import TextCodes

pa = pytest.importorskip("pyarrow")


@given(
    st.lists(st.lists(st.tuples(st.text("ab", max_size=2), st.text("ab", max_size=2))), min_size=1),
    st.sampled_from([0, 3, 1000]),
    st.booleans(),
)
def test_codes_stand_for_their_texts(batches, pending, encoded):
    codes = TextCodes(2, pending=pending)
    for batch in batches:
        columns = [pa.array([row[k] for row in batch], type=pa.string()) for k in (0, 1)]
        codes.add([column.dictionary_encode() if encoded else column for column in columns])
    columns, names = codes.finish()
    texts = names.to_pylist()
    assert len(set(texts)) == len(texts)
    assert set(texts) == {text for batch in batches for row in batch for text in row}
    for k in (0, 1):
        assert columns[k].dtype.name == "int32"
        assert [texts[code] for code in columns[k]] == [row[k] for batch in batches for row in batch]
