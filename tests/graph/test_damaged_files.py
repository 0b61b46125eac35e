"""Damaged and ambiguous files raise errors; none crashes, exhausts memory or gives another graph."""

import gzip
import struct

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat, mmread, mmwrite, savemat

from equigraph.exceptions import GraphError
from equigraph.graph import read_graph
from tests.reference.refusals import refused
from tests.reference.written import put

MATRIX = np.array([[0, 1, 0, 2], [1, 0, 3, 0], [0, 3, 0, 0.5], [2, 0, 0.5, 0]])


# Matrix Market

HEAD = "%%MatrixMarket matrix coordinate real symmetric\n"


def test_last_line_without_a_newline(tmp_path):
    text = HEAD + "2 2 1\n2 1 2.5 "
    assert read_graph(put(tmp_path, "a.mtx", text)).adjacency.data.tolist() == [2.5, 2.5]
    assert read_graph(put(tmp_path, "a.mtx.gz", gzip.compress(text.encode()))).n_edges == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("2 2 2\n2 1 2.5\n", "has 1 entries: expected 2, as its header says"),
        ("2 2 1\n2 1\n", "line 3: expected 3 numbers in a line"),
        ("2 2 1\n2 1 nan\n", "NaN"),
        ("2 2 1\n2 1 1 1\n", "line 3: expected 3 numbers"),
        ("2 2 1\n2 1 1\r1 1 1\n", "line"),
        ("2 3 1\n2 1 1\n", "square"),
        ("2 2 1\n3 1 1\n", "entry 1: row 3 and column 1 are not in the matrix"),
        ("2 2 1\n0 1 1\n", "entry 1: row 0 and column 1"),
        ("2 2 1\n1.5 1 1\n", "entry 1: row 1.5"),
        ("2 2\n2 1 1\n", "line 2: expected the number of rows"),
        ("", "line 2: expected the number of rows"),
    ],
)
def test_invalid_matrix_market_lines_raise(tmp_path, body, message):
    refused(GraphError, message, put(tmp_path, "a.mtx", HEAD + body))


WORDS = ["coordinate complex general", "array pattern general", "coordinate real skew-symmetric"]


@pytest.mark.parametrize("head", ["", "x", *(f"%%MatrixMarket matrix {words}" for words in WORDS)])
def test_invalid_matrix_market_headers_raise(tmp_path, head):
    refused(GraphError, r"expected|Complex", put(tmp_path, "a.mtx", head + "\n2 2 1\n2 1 1\n"))


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("what", ["real", "integer", "pattern", "array"])
def test_matrix_market_is_read_as_scipy_reads_it(tmp_path, what, symmetry):
    rng = np.random.default_rng(3)
    dense = np.triu(rng.random((9, 9)) * (rng.random((9, 9)) < 0.5), 1)
    dense += dense.T
    if what == "integer":
        dense = np.ceil(9 * dense).astype(np.int64)
    matrix = dense if what == "array" else sparse.coo_array(dense)
    path = tmp_path / "a.mtx"
    mmwrite(path, matrix, symmetry=symmetry, field=what if what != "array" else None)
    expected = mmread(path)
    expected = expected.toarray() if sparse.issparse(expected) else expected
    np.testing.assert_array_equal(read_graph(path).adjacency.toarray(), expected)


def test_matrix_market_files_may_hold_empty_lines(tmp_path):
    head = HEAD + "2 2 1\n"
    assert read_graph(put(tmp_path, "a.mtx", head + 9 * "\n" + "2 1 +2.5\n" + 20 * "\n")).n_edges == 1
    refused(GraphError, "line 4: expected 3 numbers", put(tmp_path, "a.mtx", head + "2 1 2.5\r\n2  1\r\n"))
    assert read_graph(put(tmp_path, "a.mtx", head.replace("2 2 1", "2 2 0"))).n_edges == 0


# npz


def test_npz_of_the_other_byte_order(tmp_path):
    matrix = sparse.csc_array(MATRIX)
    matrix.data, matrix.indices = matrix.data.astype(">f8"), matrix.indices.astype(">i4")
    sparse.save_npz(tmp_path / "a.npz", matrix)
    np.testing.assert_array_equal(read_graph(tmp_path / "a.npz").adjacency.toarray(), MATRIX)


# mat


@pytest.mark.parametrize("options", [{}, {"do_compression": True}], ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "i2"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_mat_file_is_read_as_scipy_reads_it(tmp_path, options, dtype, kind):
    dense = (2 * MATRIX).astype(dtype)
    matrix = dense if kind == "dense" else sparse.csc_array(dense)
    path = tmp_path / "a.mat"
    savemat(path, {"A": matrix, "text": "x", "other": np.eye(4)}, **options)
    expected = loadmat(path)["A"]
    expected = expected.toarray() if sparse.issparse(expected) else expected
    np.testing.assert_array_equal(read_graph(path).adjacency.toarray(), expected)
    packed = put(tmp_path, "a.mat.gz", gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(read_graph(packed).adjacency.toarray(), expected)


@pytest.mark.parametrize("kind", ["dense", "sparse", "logical"])
def test_a_mat_file_of_the_other_byte_order(tmp_path, kind):
    """The parts are written as the format has them: tag, flags, dimensions, name, numbers."""

    def element(code, data):
        return struct.pack(">II", code, len(data)) + data + b"\0" * (-len(data) % 8)

    matrix = sparse.csc_array(MATRIX)
    what = {"dense": 6, "sparse": 5, "logical": 9 | 0x200}[kind]
    body = element(6, struct.pack(">II", what, matrix.nnz)) + element(5, struct.pack(">ii", 4, 4))
    body += struct.pack(">HH", 1, 1) + b"A\0\0\0"
    if kind == "sparse":
        body += element(5, matrix.indices.astype(">i4").tobytes())
        body += element(5, matrix.indptr.astype(">i4").tobytes())
        body += element(9, matrix.data.astype(">f8").tobytes())
    elif kind == "dense":
        body += element(9, MATRIX.astype(">f8").tobytes(order="F"))
    else:
        body += element(2, (MATRIX > 0).astype("u1").tobytes(order="F"))
    head = b"made by hand".ljust(124) + b"\x01\x00MI"
    path = put(tmp_path, "a.mat", head + element(14, body))
    expected = MATRIX > 0 if kind == "logical" else MATRIX
    np.testing.assert_array_equal(read_graph(path).adjacency.toarray(), expected)


def test_mat_variables_that_are_no_real_matrix_raise(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"A": MATRIX * 1j})
    refused(GraphError, "'A' holds no numbers, expected a real matrix", path)
    savemat(path, {"cell": np.array([[MATRIX, "x"]], dtype=object), "s": {"field": 1}})
    refused(GraphError, "holds 0 square matrices", path)
    savemat(path, {"A": MATRIX}, format="4")
    refused(GraphError, "no header of a MATLAB file of version 5: save it with -v6 or -v7", path)
    newer = put(tmp_path, "b.mat", b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    refused(GraphError, r"version 7\.3: save it with -v7", newer)


# GraphML


GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="w" for="{scope}" attr.name="weight" attr.type="double"><default>3</default></key>
<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
<edge source="a" target="b"/><edge source="b" target="c"><data key="w">2</data></edge></graph></graphml>"""


@pytest.mark.parametrize("scope", ["edge", "all"])
def test_default_weight_of_a_graphml_file(tmp_path, scope):
    pytest.importorskip("networkx")
    path = put(tmp_path, "a.graphml", GRAPHML.format(scope=scope))
    assert read_graph(path).adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 2], [0, 2, 0]]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('<node id="b"/>', '<node id="b"><graph/></node>', "holds several graphs"),
        ("</graphml>", '<graph edgedefault="undirected"/></graphml>', "holds several graphs"),
        ('<edge source="a" ', "<edge ", "an edge that does not say its 'source'"),
    ],
)
def test_invalid_graphml_raises(tmp_path, old, new, words):
    pytest.importorskip("networkx")
    text = GRAPHML.format(scope="edge").replace(old, new)
    refused(GraphError, words, put(tmp_path, "a.graphml", text))


# text


def test_carriage_return_inside_a_comment(tmp_path):
    path = put(tmp_path, "a.csv", "# exported\r\r\nsource,target\r\nann,bob\r\nbob,cem\r\n")
    assert read_graph(path).node_names.tolist() == ["ann", "bob", "cem"]


def test_a_byte_order_mark_below_a_comment_is_part_of_a_name(tmp_path):
    path = put(tmp_path, "a.txt", "% made by hand\n\ufeffx y\ny z\nz x\n")
    assert read_graph(path).node_names.tolist() == ["x", "y", "z", "\ufeffx"]
    assert read_graph(put(tmp_path, "b.txt", "\ufeffx y\ny z\nz x\n")).node_names.tolist() == ["x", "y", "z"]


def test_comment_mark_inside_a_quoted_field(tmp_path):
    path = put(tmp_path, "a.csv", 'source,target\n"x\n#1",b\n"x\n#2",c\n# a comment\nb,c\n')
    assert read_graph(path).node_names.tolist() == ["b", "c", "x\n#1", "x\n#2"]


@pytest.mark.parametrize("separator", [",", " "])
def test_field_beyond_the_limit_of_the_csv_module_raises(tmp_path, separator):
    long = "x" * 131_073
    path = put(tmp_path, "a.csv", f'a{separator}b\nb{separator}"{long}"\n')
    refused(GraphError, "line 2: field larger than field limit", path, header=False)


def test_a_line_that_is_too_long_is_not_read_to_its_end(tmp_path, monkeypatch):
    from equigraph.graph import delimited

    monkeypatch.setattr(delimited, "LONGEST_LINE", 10)
    path = put(tmp_path, "a.csv", "a,b\nb,cccccccccccc\n")
    refused(GraphError, "line 2: expected at most 10 characters in a line", path)


@pytest.mark.parametrize("text", ["i,j\na,b\ni,c\n", "i,j\nx,y\ny,z\n"])
def test_first_line_that_may_be_an_edge_raises(tmp_path, text):
    path = put(tmp_path, "a.csv", text)
    refused(GraphError, "line 1: .*may be an edge.*say with the option header", path)
    assert read_graph(path, header=False).n_edges == len(text.splitlines())
    assert read_graph(path, header=True).n_edges == len(text.splitlines()) - 1


def test_header_above_numbers_or_beside_a_weight_is_detected(tmp_path):
    assert read_graph(put(tmp_path, "a.csv", "i,j\n1,2\n2,3\n")).n_edges == 2
    assert read_graph(put(tmp_path, "a.csv", "i,j,weight\na,b,1\ni,b,2\n")).n_edges == 2
    assert read_graph(put(tmp_path, "a.csv", "source,target\na,source\n")).n_edges == 1


@pytest.mark.parametrize("text", ["0,1,0\n1,0,1\n0,1,0\n", "a,0,1\nb,1,0\n", "0 1 1\n1 0 0\n2 1 0\n"])
def test_ambiguous_matrix_of_three_nodes_raises(tmp_path, text):
    path = put(tmp_path, "a.csv", text)
    refused(GraphError, "say format='matrix' or format='edges'", path)
    assert read_graph(path, format="matrix", symmetrize="max").n_nodes == len(text.splitlines())
    read_graph(path, format="edges", duplicates="max")


@pytest.mark.parametrize(
    "text", ["1,0,1\n2,1,3\n", "1,2,1\n2,3,1\n3,1,1\n", "0,1\n1,0\n", "a,b,1\nb,c,2\nc,a,3\n"]
)
def test_short_edge_lists_are_still_edge_lists(tmp_path, text):
    assert not read_graph(put(tmp_path, "a.csv", text)).positional


def test_a_table_of_three_numbered_columns_may_be_a_matrix():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    refused(GraphError, "may be a matrix or three weighted edges", frame)
    assert read_graph(pl.DataFrame(np.array([[0, 1, 2], [1, 2, 1], [3, 1, 7]]))).n_edges == 3


def test_two_columns_called_weight_raise(tmp_path):
    path = put(tmp_path, "a.csv", "source,target,weight,weight\na,b,1,2\nb,c,1,2\n")
    for weight in (None, "weight"):
        refused(GraphError, "2 columns called 'weight', with the numbers 2, 3 counting", path, weight=weight)
    assert read_graph(path, weight=3).adjacency.data.max() == 2
    path = put(tmp_path, "b.csv", "source,target,target\na,b,c\n")
    refused(GraphError, "2 columns called 'target'", path, weight=False)
