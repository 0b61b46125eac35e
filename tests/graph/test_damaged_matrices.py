"""Inconsistent sparse arrays raise errors instead of crashing or giving another graph."""

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.exceptions import GraphError, GroupsError
from equigraph.graph import as_graph, read_graph
from equigraph.graph.sparse_arrays import as_weights, check_sparse, to_csr
from tests.reference.refusals import refused

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def changed(name, shape, *, style="array", **parts):
    """Return an empty matrix with some of its arrays replaced."""
    matrix = getattr(sparse, f"{name}_{style}")(shape)
    for part, value in parts.items():
        setattr(matrix, part, np.asarray(value) if part != "coords" else value)
    return matrix


ONE, TWO, WHOLE, FLOAT = np.ones(1), np.ones(2), np.array([0, 1]), np.array([0.0, 1.0])
THREE = {"data": np.ones(3), "indices": [1, 0, 1]}


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (changed("bsr", (4, 4), data=np.ones((1, 3, 2))), "blocks"),
        (changed("bsr", (4, 4), data=np.ones((1, 2, 3))), "blocks"),
        (changed("bsr", (4, 4), data=np.ones((1, 0, 2))), "blocks"),
        (changed("bsr", (4, 4), data=np.ones((1, 2, 0))), "blocks"),
        (changed("bsr", (4, 4), data=np.ones((4, 2))), "blocks"),
        (changed("csr", (2, 2), indptr=[0, 1]), "2 pointers .* expected 3"),
        (changed("csr", (2, 2), indptr=[0, 1, 1]), "at most 0"),
        (changed("csr", (2, 2), indptr=[1, 1, 1], data=ONE, indices=[0]), "start at 1"),
        (changed("csr", (2, 2), indptr=[[0, 1, 1]]), "list of whole numbers"),
        (changed("csr", (2, 2), indices=WHOLE, data=ONE), "2 indices and 1 values"),
        (changed("csr", (2, 2), indices=[0.0], data=ONE, indptr=[0, 1, 1]), "list of whole numbers"),
        (changed("csr", (2, 2), indices=[0, 2], data=TWO, indptr=[0, 1, 2]), r"index 2: .* 0 to 1"),
        (changed("csc", (2, 2), indices=[0, 2], data=TWO, indptr=[0, 1, 2], style="matrix"), r"index 2: "),
        (changed("csr", (3, 3), **THREE, indptr=[0, 10**8, 3, 3], style="matrix"), "pointer 2"),
        (
            changed("csc", (3, 3), **THREE, indptr=[0, 1, 2, 7]),
            "is 7 after 2, expected no decrease from 0 to",
        ),
        (
            changed("csr", (3, 3), **THREE, indptr=[0, 10**8, 10**8, 0]),
            "pointer 3",
        ),  # scipy's check passes it
        (changed("csr", (1, 1), indices=[0], data=[[1.0]], indptr=[0, 1]), r"values have shape \(1, 1\)"),
        (changed("csr", (3, 3), indices=WHOLE, data=TWO, indptr=[0, 2, 1, 1]), "pointer 2 is 1 after 2"),
        (changed("coo", (2, 2), coords=(FLOAT, WHOLE), data=TWO), "row numbers"),
        (changed("coo", (2, 2), coords=(WHOLE, FLOAT), data=TWO), "column numbers"),
        (changed("coo", (2, 2), coords=(WHOLE, WHOLE), data=np.ones(3)), "and 3 values, expected one size"),
        (changed("coo", (2, 2), coords=(WHOLE, WHOLE), data=np.ones((2, 1))), "expected one size"),
        (changed("coo", (2, 2), coords=(WHOLE, WHOLE + 1), data=TWO), "index 2"),
        (changed("coo", (2, 2), coords=(WHOLE - 1, WHOLE), data=TWO), "index -1"),
        (changed("dia", (2, 2), offsets=[0, 0], data=np.ones((2, 2))), "2 offsets"),
        (changed("dia", (2, 2), offsets=[0.0], data=np.ones((1, 2))), "offsets"),
    ],
)
def test_inconsistent_arrays_raise(matrix, words):
    refused(GraphError, rf"^The adjacency matrix (is damaged: |of shape ).*{words}", matrix)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("style", ["array", "matrix"])
@pytest.mark.parametrize("dtype", ["f4", ">f8", "i8", "bool"])
def test_every_format_and_type_gives_the_same_graph(name, style, dtype):
    dense = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
    matrix = getattr(sparse, f"{name}_{style}")(dense.astype(np.dtype(dtype).newbyteorder("=")))
    if matrix.format in ("csr", "csc", "coo", "bsr", "dia"):
        matrix.data = matrix.data.astype(dtype)
    np.testing.assert_array_equal(to_csr(matrix).toarray(), dense)
    assert as_graph(matrix).n_edges == 3


def test_unused_space_after_the_entries_is_ignored():
    matrix = changed("csr", (3, 3), data=[1.0, 1.0, 99.0], indices=[1, 0, 77], indptr=[0, 1, 2, 2])
    assert as_graph(matrix).adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(("dtype", "total"), [(np.uint8, 300), (np.int8, 200), (bool, 2)])
def test_repeated_entries_do_not_overflow_in_their_own_type(dtype, total):
    """As uint8, 150 + 150 is 44."""
    values = np.full(4, total / 2).astype(dtype)
    matrix = sparse.coo_array((values, ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    assert as_graph(matrix).adjacency.toarray().tolist() == [[0, total], [total, 0]]


def test_mean_of_two_large_weights_is_finite():
    large = np.array([[0, 1.5e308], [1.5e308, 0]])
    assert as_graph(large, symmetrize="mean").adjacency.data.tolist() == [1.5e308, 1.5e308]
    refused(GraphError, r"infinity, first at \(0, 1\)", large, symmetrize="sum")
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"source": [0, 0], "target": [1, 1], "weight": [1.5e308, 1.4e308]})
    assert as_graph(table, duplicates="mean").adjacency.data == pytest.approx([1.45e308] * 2)
    refused(GraphError, "add up to more than float64 holds", table, duplicates="sum")
    weights = [1e308, 1.5e308, 5e-324, 1e-323]
    small = pd.DataFrame({"source": [0] * 4, "target": [1, 1, 2, 2], "weight": weights})
    assert as_graph(small, duplicates="mean").adjacency[0, 2] > 0


def test_masked_arrays_raise():
    dense = np.ma.masked_equal(np.array([[0, 1], [1, 0]]), 1)
    refused(GraphError, "masks 2 of its entries", dense)
    assert as_graph(np.ma.asarray(np.array([[0, 1], [1, 0]]))).n_edges == 1


def test_weights_that_float32_cannot_hold():
    assert as_weights(np.array([3, 0]), np.dtype("f4")).tolist() == [3, 0]
    assert as_weights(values := np.array([1e-300]), np.dtype("f8")) is values
    tiny = np.array([[0, 1e-300], [1e-300, 0]])
    for make in (np.asarray, sparse.csr_array):
        refused(GraphError, "1e-300 is zero in float32", make(tiny), dtype="float32")
        refused(GraphError, "contains infinity", make(1 / np.where(tiny, tiny, np.inf)), dtype="float32")
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [1.0, 1e-300]})
    refused(GraphError, r"row 1 .*1e-300 is zero in float32", table, dtype="float32")
    assert read_graph(table).n_edges == 2


@pytest.mark.parametrize("weight", [10**400, -(10**400)])
def test_number_of_four_hundred_digits_raises(weight):
    nx, pd = pytest.importorskip("networkx"), pytest.importorskip("pandas")
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=weight)
    table = pd.DataFrame({"source": ["a"], "target": ["b"], "weight": pd.Series([weight], dtype=object)})
    matrix = np.array([[0, weight], [weight, 0]], dtype=object)
    for source in (graph, table, matrix):
        refused(GraphError, "beyond float64", source)


def test_name_of_five_thousand_digits_raises():
    nx = pytest.importorskip("networkx")
    refused(GraphError, "name or group of type int has no text", nx.Graph([(10**5000, 1)]))


def test_a_shape_without_entries_is_bounded():
    matrix = sparse.coo_array((np.ones(2), ([0, 1], [1, 0])), shape=(2**31, 2**31))
    refused(GraphError, "2,147,483,648 nodes in 48 bytes", matrix)
    isolated = sparse.coo_array((np.ones(2), ([0, 1], [1, 0])), shape=(10**6, 10**6))
    assert as_graph(isolated).n_nodes == 10**6


def test_text_that_is_no_utf8_in_an_arrow_table():
    pa = pytest.importorskip("pyarrow")
    ends = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes())
    broken = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"a\xff")])
    for target in (["b", "c"], [1, 2]):
        refused(GraphError, r"cannot be read|can be read", pa.table({"source": broken, "target": target}))
    refused(GroupsError, "The groups cannot be read", np.array([[0, 1], [1, 0]]), groups=broken)


def test_a_dense_matrix_is_read_in_parts(monkeypatch):
    from equigraph.graph import sparse_arrays

    rng = np.random.default_rng(0)
    dense = np.triu(rng.integers(0, 3, size=(20, 20)), 1)
    dense = dense + dense.T
    whole = to_csr(dense)
    monkeypatch.setattr(sparse_arrays, "_CHUNK", 50)
    parts = to_csr(dense)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
        assert getattr(parts, name).dtype == getattr(whole, name).dtype
    dense[17, 4] = -1
    refused(GraphError, r"first -1 at \(17, 4\)", dense)
    broken = dense.astype(float)
    broken[17, 4] = np.nan
    refused(GraphError, r"NaN, first at \(17, 4\)", broken)


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_matrix_beside_the_graph_is_refused_too(name):
    """Representations, memberships and similarities go through the same compiled code."""
    square = sparse.csr_array(np.ones((4, 4)))
    for shape in ((4, 4), (4, 2), (2, 4)):
        check_sparse(sparse.csr_array(np.ones(shape)).asformat(name), "The membership")
    broken = square.asformat(name)
    if name == "coo":
        broken.coords = (broken.coords[0] + 10**8, broken.coords[1])
    elif name == "dia":
        broken.offsets = broken.offsets[:1]
    elif name == "dok":
        broken._dict[10**8, 0] = 1.0
    elif name == "lil":
        broken.rows[0][0] = 10**8
    else:
        broken.indices[0] = 10**8
    adjacency = np.ones((4, 4)) - np.eye(4)
    for use in (
        lambda: eg.penalties.GraphPenalty(broken),
        lambda: eg.IndividualFairSC(2, representation=broken).fit(adjacency),
        lambda: eg.metrics.individual_balance_score([0, 0, 1, 1], representation=broken),
        lambda: eg.metrics.consistency_score(broken, adjacency=adjacency),
    ):
        with pytest.raises(GraphError, match=r"^The (representation|membership|similarity of a Gr.*ty) "):
            use()
