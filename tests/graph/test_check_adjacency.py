"""check_adjacency: what it accepts, what it returns, and every error message."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from equigraph.exceptions import GraphError, ParameterError, SelfLoopWarning
from equigraph.graph import check_adjacency, validate

PATH = [[0, 1, 0], [1, 0, 2], [0, 2, 0]]
FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


def is_canonical(adjacency):
    fresh = sparse.csr_array((adjacency.data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    return (
        isinstance(adjacency, sparse.csr_array)
        and bool(fresh.has_canonical_format)
        and bool((adjacency.data > 0).all())
        and not adjacency.diagonal().any()
        and adjacency.indices.dtype == adjacency.indptr.dtype == np.int32
    )


TYPES = [object, np.int8, np.uint16, np.int64, np.float16, np.float64, np.longdouble]


@pytest.mark.parametrize("source", [tuple(map(tuple, PATH)), *(np.array(PATH, kind) for kind in TYPES)])
def test_other_types_become_double(source):
    adjacency = check_adjacency(source)
    assert is_canonical(adjacency)
    assert adjacency.dtype == np.float64
    np.testing.assert_array_equal(adjacency.toarray(), PATH)


def test_float32_is_kept_and_dtype_is_used():
    single = np.asarray(PATH, dtype=np.float32)
    assert check_adjacency(single).dtype == np.float32
    assert check_adjacency(sparse.csc_array(single)).dtype == np.float32
    assert check_adjacency(single, dtype=np.float64).dtype == np.float64
    assert check_adjacency(PATH, dtype="float32").dtype == np.float32


def test_int64_indices_become_int32():
    source = sparse.csr_array(np.asarray(PATH, dtype=float))
    source.indices, source.indptr = source.indices.astype(np.int64), source.indptr.astype(np.int64)
    adjacency = check_adjacency(source)
    assert is_canonical(adjacency)
    assert source.indices.dtype == np.int64


def test_the_callers_arrays_are_never_changed():
    # Unsorted indices, a duplicate, a stored zero and a self-loop: everything that needs a repair.
    data = np.array([2.0, 1.0, 1.0, 0.0, 3.0, 5.0])
    indices = np.array([1, 0, 0, 2, 0, 2], dtype=np.int32)
    indptr = np.array([0, 1, 5, 6], dtype=np.int32)
    source = sparse.csr_array((data, indices, indptr), shape=(3, 3))
    before = [array.copy() for array in (source.data, source.indices, source.indptr)]
    with pytest.warns(SelfLoopWarning, match="1 self-loop was dropped"):
        adjacency = check_adjacency(source, symmetrize="max")
    assert is_canonical(adjacency)
    assert adjacency.toarray().tolist() == [[0, 5, 0], [5, 0, 0], [0, 0, 0]]
    for old, new in zip(before, (source.data, source.indices, source.indptr), strict=True):
        np.testing.assert_array_equal(old, new)


def test_rounding_is_not_asymmetry():
    weights = np.random.default_rng(0).random((6, 6))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    check_adjacency(weights * np.where(np.tri(6), 1, 1 + 1e-13))
    check_adjacency((weights * np.where(np.tri(6), 1, 1 + 1e-6)).astype(np.float32))
    with pytest.raises(GraphError, match="not symmetric"):
        check_adjacency(weights * np.where(np.tri(6), 1, 1 + 1e-6))
    # Relative to the pair, not to the largest weight of the graph.
    weights[0, 1] = weights[1, 0] = 1e12
    weights[2, 3] += 0.01
    with pytest.raises(GraphError, match=re.escape("(2, 3)")):
        check_adjacency(weights)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ([1, 2], "shape (2,): expected a square matrix"),
        ([[1, 2, 3], [4, 5, 6]], "shape (2, 3): expected a square matrix"),
        ([[0, 1], [1]], "rows of different lengths"),
        (np.empty((0, 0)), "is empty"),
        (np.empty((12, 0)), "0 feature(s) (shape=(12, 0)) while a minimum of 1 is required."),
        (sparse.csr_array((0, 0)), "is empty"),
        ([[0, -1], [-1, 0]], "negative weights, first -1 at (0, 1)"),
        ([[0, np.nan], [np.nan, 0]], "contains NaN, first at (0, 1)"),
        ([[0, 1], [np.inf, 0]], "contains infinity, first at (1, 0)"),
        (sparse.csc_array([[0, np.nan], [1, 0]]), "contains NaN"),
        (np.array([[0, 1j], [1j, 0]], dtype=object), "Complex data not supported"),
        ([["a", "b"], ["c", "d"]], "expected numbers"),
        (np.array([[0, "b"], [1, 0]], dtype=object), "not numbers"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "expected numbers"),
        ([[0, 1, 0], [1, 0, 5], [0, 0, 0]], "entry (1, 2) is 5 and entry (2, 1) is 0"),
        ([[0, 1], [0, 0]], "symmetrize='max', 'min', 'mean' or 'sum'"),
        ([[0, 1], [1.0000001, 0]], "entry (0, 1) is 1.0 and entry (1, 0) is 1.0000001;"),
    ],
)
def test_refusals(source, sentence):
    with pytest.raises(GraphError, match=re.escape(sentence)):
        check_adjacency(source)


WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 3.0])
MATRICES = st.integers(1, 7).flatmap(lambda n: arrays(float, (n, n), elements=WEIGHTS))
COMBINE = {"max": np.maximum, "min": np.minimum, "mean": lambda a, b: (a + b) / 2, "sum": np.add}


@given(MATRICES, st.sampled_from(list(COMBINE)), st.sampled_from(FORMATS))
def test_symmetrized_matches_dense_arithmetic(dense, how, kind):
    np.fill_diagonal(dense, 0)
    adjacency = check_adjacency(sparse.coo_array(dense).asformat(kind), symmetrize=how)
    assert is_canonical(adjacency)
    np.testing.assert_array_equal(adjacency.toarray(), COMBINE[how](dense, dense.T))


@given(MATRICES, st.sampled_from([0.0, 1.0, 2.0]))
@example(np.roll(np.eye(3), 1, axis=1), 1.0)
@example(np.zeros((3, 3)), 1.0)
def test_symmetry_is_that_of_the_dense_matrix(dense, factor):
    mirrored = dense + dense.T
    mirrored[0, -1] *= factor
    for one in (dense, mirrored, mirrored.T):
        assert validate.is_symmetric(sparse.csr_array(one), 1e-10) == np.array_equal(one, one.T)


@pytest.mark.parametrize("tolerance", [1e-10, 0.5])
def test_the_tolerance_is_a_share_of_the_larger_weight(tolerance):
    for factor, expected in ((0.99, True), (1.01, False)):
        weight = 1 - tolerance * factor
        for pair in ([1, weight], [weight, 1]):
            matrix = sparse.csr_array(np.array([[0, pair[0]], [pair[1], 0]]))
            assert validate.is_symmetric(matrix, tolerance) == expected


def test_equal_loops_at_every_node_are_dropped_without_a_warning():
    assert check_adjacency([[3, 1], [1, 3]]).toarray().tolist() == [[0, 1], [1, 0]]
    for loops in ([[0, 1], [1, 3]], [[3]]):
        with pytest.warns(SelfLoopWarning, match=r"^1 self-loop was dropped: clustering needs none\.$"):
            check_adjacency(loops)


def test_stored_zeros_are_dropped_from_the_arrays():
    matrix = sparse.csr_array(([0.0, 2.0, 2.0, 0.0], [1, 2, 0, 1], [0, 2, 2, 4]), shape=(3, 3))
    found = check_adjacency(matrix)
    assert (found.indices.tolist(), found.indptr.tolist()) == ([2, 0], [0, 1, 1, 2])
    combined = check_adjacency(np.triu(np.ones((4, 4)), 1), symmetrize="max")
    assert combined.data.base is None or combined.data.base.nbytes == combined.data.nbytes
    assert combined.indices.dtype == np.int32


def test_an_unknown_option_raises():
    with pytest.raises(ParameterError, match="symmetrize"):
        check_adjacency(PATH, symmetrize="average")
