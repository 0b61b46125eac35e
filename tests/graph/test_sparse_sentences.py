"""What is wrong with a matrix, in whole sentences; rectangles tell rows from columns."""

# ruff: noqa: E501 - a sentence stands on its line
import numpy as np
import pytest
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.sparse_arrays import as_weights, check_sparse, lost_weights, to_csr

DAMAGED = "The adjacency matrix is damaged: "
HALF, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def changed(name, shape, **parts):
    """Return an empty matrix with other parts than scipy would give it."""
    matrix = getattr(sparse, f"{name}_array")(shape)
    for part, value in parts.items():
        setattr(matrix, part, value)
    return matrix


def ones(*shape):
    return np.ones(shape)


WHOLE = np.array([0, 1])


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (changed("bsr", (4, 4), data=ones(1, 3, 2)), f"{DAMAGED}its blocks have shape (1, 3, 2), expected blocks that divide a matrix of shape (4, 4)."),
        (changed("bsr", (4, 4), data=ones(1, 2, 3)), f"{DAMAGED}its blocks have shape (1, 2, 3), expected blocks that divide a matrix of shape (4, 4)."),
        (changed("bsr", (4, 4), data=ones(1, 0, 2)), f"{DAMAGED}its blocks have shape (1, 0, 2), expected blocks that divide a matrix of shape (4, 4)."),
        (changed("bsr", (4, 4), data=ones(1, 2, 0)), f"{DAMAGED}its blocks have shape (1, 2, 0), expected blocks that divide a matrix of shape (4, 4)."),
        (changed("bsr", (4, 4), data=ones(4, 2)), f"{DAMAGED}its blocks have shape (4, 2), expected blocks that divide a matrix of shape (4, 4)."),
        (changed("csr", (2, 2), indptr=np.array([0, 1])), f"{DAMAGED}it has 2 pointers (indptr) for 2 rows, expected 3."),
        (changed("csr", (2, 2), indptr=np.array([0, 1, 1])), f"{DAMAGED}its pointers (indptr) run from 0 to 1, expected 0 to at most the 0 entries there are."),
        (changed("csr", (2, 2), indptr=np.array([[0, 1, 1]])), f"{DAMAGED}its pointers (indptr) have shape (1, 3) and dtype int64, expected a list of whole numbers."),
        (changed("csr", (2, 2), indices=np.array([0, 1]), data=ones(1)), f"{DAMAGED}it has 2 indices and 1 values, expected as many of both."),
        (changed("csr", (2, 2), indices=np.array([0.0]), data=ones(1), indptr=np.array([0, 1, 1])), f"{DAMAGED}its indices have shape (1,) and dtype float64, expected a list of whole numbers."),
        (changed("csr", (2, 2), indices=np.array([0, 2]), data=ones(2), indptr=np.array([0, 1, 2])), "The adjacency matrix of shape (2, 2) has an index 2: expected indices from 0 to 1."),
        (changed("csr", (3, 3), indices=WHOLE, data=ones(2), indptr=np.array([0, 2, 1, 1])), f"{DAMAGED}pointer 2 (indptr) is 1 after 2, expected no decrease."),
        (changed("coo", (2, 2), coords=(ones(2), WHOLE), data=ones(2)), f"{DAMAGED}its row numbers have shape (2,) and dtype float64, expected a list of whole numbers."),
        (changed("coo", (2, 2), coords=(WHOLE, ones(2)), data=ones(2)), f"{DAMAGED}its column numbers have shape (2,) and dtype float64, expected a list of whole numbers."),
        (changed("coo", (2, 2), coords=(WHOLE, WHOLE), data=ones(3)), f"{DAMAGED}it has 2 row numbers, 2 column numbers and 3 values, expected one size."),
        (changed("coo", (2, 2), coords=(WHOLE, WHOLE), data=ones(2, 1)), f"{DAMAGED}it has 2 row numbers, 2 column numbers and 2 values, expected one size."),
        (changed("dia", (2, 2), offsets=np.array([0, 0]), data=ones(2, 2)), f"{DAMAGED}it has 2 offsets and diagonals of shape (2, 2), expected one for each offset."),
        (changed("dia", (2, 2), offsets=np.array([0.0]), data=ones(1, 2)), f"{DAMAGED}its offsets have shape (1,) and dtype float64, expected a list of whole numbers."),
        (sparse.csr_array((2, 3)), "The adjacency matrix has shape (2, 3): expected a square matrix, one row and one column per node; an edge list is given as a table or a file."),
        (sparse.csr_array((2, 2), dtype=complex), "Complex data not supported: the weights of a graph are real numbers."),
    ],
)  # fmt: skip
def test_sentences(matrix, sentence):
    with pytest.raises(GraphError) as caught:
        to_csr(matrix)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
@pytest.mark.parametrize("shape", [(2, 5), (5, 2)])
def test_rectangles_that_are_whole_pass_and_others_are_told_by_their_name(name, shape):
    matrix = sparse.csr_array(np.eye(*shape)[::-1]).asformat(name)
    check_sparse(matrix, "The membership")
    if name in ("csr", "csc", "bsr"):
        matrix.indices[0] = 6
    elif name == "coo":
        matrix.coords = tuple(np.where(end == end.max(), 6, end) for end in matrix.coords)
    else:
        return
    with pytest.raises(
        GraphError, match=rf"^The membership of shape \({shape[0]}, {shape[1]}\) has an index 6: "
    ):
        check_sparse(matrix, "The membership")


def test_what_is_not_sparse_passes():
    for other in (None, [[1]], np.ones((2, 2)), sparse.coo_array(np.ones(3))):
        check_sparse(other, "It")


def test_weights_that_a_type_cannot_hold():
    values = np.array([[1.0, 0.0], [1e-300, 2.0]])
    with pytest.raises(GraphError) as caught:
        as_weights(values, HALF)
    assert str(caught.value) == (
        "The weight 1e-300 is zero in float32, which would drop the edge: expected weights that the type can hold; "
        "take float64, or give the weights in a smaller unit."
    )
    assert as_weights(values, DOUBLE) is values
    assert as_weights(np.array([1e300]), HALF).tolist() == [np.inf]
    assert as_weights(np.array([3, 0], dtype=np.int64), HALF).tolist() == [3, 0]
    assert lost_weights(np.array([0.0, 1e-300, 1.0]), np.array([0, 0, 1], HALF)).tolist() == [1]
    assert lost_weights(np.array([0, 7]), np.array([0, 0], HALF)).size == 0  # whole numbers are not lost
    exact = as_weights(np.array([1, "2.5"], dtype=object), DOUBLE)
    assert (exact.tolist(), exact.dtype) == ([1, 2.5], DOUBLE)
