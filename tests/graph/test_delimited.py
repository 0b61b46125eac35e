"""The fast reader of text files agrees with the csv module, or leaves the file to it."""

import gzip
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from equigraph.exceptions import EquigraphError
from equigraph.graph import delimited, read_graph, text_files

pytest.importorskip("pyarrow")

SETTINGS = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
# Whatever makes two readers of text differ: quotes in all places, blanks, comments, ends of lines, Unicode.
PIECES = [*'ab7é#% \t"\u3000', "07", '""', '"a"', '"a,b"', '"7"', "1.5", "-1"]
FIELD = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)
PLAIN = st.sampled_from(["a", "b", "c", "7", "8", "1", "2.5", '"a"', '"b c"', "é", " a", "b "])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n# a comment\n", "\n \n"])


def lines(fields):
    return st.lists(st.tuples(st.lists(fields, min_size=1, max_size=4), ENDS), min_size=1, max_size=8)


def outcome(path, **options):
    """Return everything about a graph that can be seen, or the sentence of the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            graph = read_graph(path, format="edges", **options)
        except EquigraphError as error:
            return str(error)
    names, adjacency = graph.node_names, graph.adjacency
    said = [str(one.message) for one in caught]
    return names.dtype.kind, names.tolist(), adjacency.toarray().tolist(), adjacency.data.dtype, said


def both(monkeypatch, path, **options):
    """Return the outcome of the exact reader, then of the fast one, which may hand over."""
    with monkeypatch.context() as patch:
        patch.setattr(delimited, "FAST_BYTES", 1 << 40)
        exact = outcome(path, **options)
        patch.setattr(delimited, "FAST_BYTES", -1)
        return exact, outcome(path, **options)


def save(tmp_path, text, zipped=False):
    path = tmp_path / ("edges.csv.gz" if zipped else "edges.csv")
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    return path


TOPS = ["", "\ufeff", "# top\n", "sep=,\n", "source,target\n", "id,source,target,weight\n"]
DELIMITERS = st.sampled_from([",", "\t", ";", " "])


@SETTINGS
@given(
    st.one_of(lines(FIELD), lines(PLAIN)),
    DELIMITERS,
    st.sampled_from([None, True, False]),
    st.sampled_from([None, False, 2]),
    st.sampled_from(TOPS),
    st.booleans(),
)
@example([(["x", "y"], "\r"), (["a", "b"], "\n"), (["c", "d"], "\n")], ",", True, None, "", False)
def test_both_readers_agree(tmp_path, monkeypatch, listed, delimiter, header, weight, top, zipped):
    text = top + "".join(delimiter.join(fields) + end for fields, end in listed)
    path = save(tmp_path, text, zipped)
    for given_delimiter in (None, delimiter):
        exact, fast = both(monkeypatch, path, delimiter=given_delimiter, header=header, weight=weight)
        assert fast == exact


@SETTINGS
@given(
    st.lists(
        st.tuples(st.lists(st.one_of(FIELD, PLAIN), min_size=4, max_size=4), ENDS), min_size=1, max_size=3
    ),
    DELIMITERS,
    st.sampled_from([2, 3, 4]),
    st.booleans(),
)
@example([(['"a"x', "b", "", ""], "\n")], ",", 2, True)
@example([(["a", "b", '"1"5', ""], "\n")], ",", 3, True)
@example([(["a", '",x"b', "", ""], "\n")], ",", 2, True)
@example([(["a", "b", '"a,"b', ""], "\n"), (["a", "b", 'x",y"', ""], "\n")], ",", 3, False)
@example([(["a", "b", '",x"b', ""], "\n")], ",", 3, False)
@example([(["a", "b", '"x\n""y"', ""], "\n")], ",", 3, False)
@example([(["a", "b", '"x\ny"', ""], "\n")], ",", 3, False)
@example([(["#a", "b", "1", "2"], "\n")], ",", 4, False)
@example([(["a", "b", "", ""], "\n")], " ", 3, False)
@example([(["a", "b", '""', ""], "\n")], " ", 3, False)
@example([(["a", "b", "x\u3000y", ""], "\n")], " ", 3, False)
@example([(["a", "b", "x\ty", ""], "\n")], " ", 3, False)
def test_both_readers_agree_beyond_the_first_lines(tmp_path, monkeypatch, listed, delimiter, width, weighted):
    # The first lines are looked at before any reader starts, so what is odd must come later.
    usual = delimiter.join(["a", "c", "2", "1"][:width]) + "\n"
    text = 60 * usual + "".join(delimiter.join(fields[:width]) + end for fields, end in listed) + usual
    path = save(tmp_path, text)
    weight = width - 1 if weighted and width > 2 else False
    exact, fast = both(monkeypatch, path, delimiter=delimiter, header=False, weight=weight, duplicates="max")
    assert fast == exact


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("source,target\nann,bob\nbob,cem\n", {}),
        ("ann,bob,1\nbob,cem,2.5\nbob,ann,1\n", {}),
        ('"","source","target","weight"\n"1","ann","bob",2\n"2","bob","Lee, Cem",3\n', {}),
        ("ann\tbob\r\n\r\nbob\tÜnal\r\n", {}),
        (" ann , bob\nbob,  cem \n", {"header": False}),
        ("1 2 900\n2 3 901\n", {"weight": False}),
        ("10,9\n9,-1\n", {}),
        ("# top\nann,bob,,\nbob,ann,,\n", {}),
    ],
)
@pytest.mark.parametrize("batch", [64, 1 << 20])
def test_the_fast_reader_takes_ordinary_files(tmp_path, monkeypatch, text, options, batch):
    path = save(tmp_path, text)
    exact, _ = both(monkeypatch, path, **options)
    monkeypatch.setattr(delimited, "FAST_BYTES", -1)
    monkeypatch.setattr(delimited, "BATCH", batch)
    monkeypatch.setattr(text_files, "exact_rows", None)  # calling it would fail
    assert outcome(path, **options) == exact


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3"])
def test_columns_that_are_not_read_are_still_text(tmp_path, monkeypatch, bad):
    path = tmp_path / "edges.csv"
    path.write_bytes(b"source,target,note\n" + b"ann,bob,x\n" * 60 + b"cem,bob," + bad + b"\n")
    exact, fast = both(monkeypatch, path, weight=False)
    assert "is not UTF-8 text" in exact
    assert fast == exact


@pytest.mark.parametrize(
    ("block", "plain"),
    [
        (b'a,"x y"\r\n\r\nb,c', True),
        (b'"a","",""\n', True),
        (b'a,"x\ny"\n', False),
        (b'a,"x y"\nb,"c', False),
        (b'a,"x""y"\n', False),
        (b'a, "x"\n', False),
        (b"a,b\n#c,d\n", False),
        (b"\xef\xbb\xbfa,b\n", False),
        (b"a," + b"b" * 131_073 + b"\n", False),
    ],
)
def test_blocks_that_only_the_csv_module_reads(block, plain):
    assert delimited._is_plain(block, ",") is plain


def test_a_large_file_in_many_batches(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 3000, size=(40_000, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    path = save(tmp_path, "".join(f"n{i},n{j},{1 + (i + j) % 5}\n" for i, j in ends.tolist()))
    monkeypatch.setattr(delimited, "BATCH", 1 << 14)
    monkeypatch.setattr(text_files, "exact_rows", None)
    monkeypatch.setattr(delimited, "FAST_BYTES", -1)
    graph = read_graph(path, header=False)
    place = {name: k for k, name in enumerate(sorted({f"n{i}" for i in ends.ravel().tolist()}))}
    assert graph.node_names.tolist() == list(place)
    expected = {}
    for i, j in ends.tolist():
        a, b = place[f"n{i}"], place[f"n{j}"]
        expected[a, b] = expected[b, a] = 1 + (i + j) % 5
    coo = graph.adjacency.tocoo()
    found = zip(zip(coo.row.tolist(), coo.col.tolist(), strict=True), coo.data.tolist(), strict=True)
    assert dict(found) == expected
