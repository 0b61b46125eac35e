"""Sorting and merging of pairs, and the graph built on them, against dictionaries."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equigraph.exceptions import GraphError
from equigraph.graph.edges import EdgeRows, graph_from_rows, sorted_pairs

N = 5
ROWS = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.sampled_from([0.0, 0.1, 1.0, 3.0])),
    max_size=25,
)
MERGE = {"sum": sum, "max": max, "min": min, "mean": lambda w: sum(w) / len(w), "first": lambda w: w[0]}


def edge_rows(listed, weighted=True, dtype=np.float64):
    source, target, weight = (np.array([row[k] for row in listed]) for k in range(3))
    names = np.array([f"n{k}" for k in range(N)])
    weights = weight.astype(dtype) if weighted else None
    return EdgeRows(source.astype("i4"), target.astype("i4"), weights, names, lambda row: f"row {row}")


@given(ROWS)
def test_pairs_are_sorted_and_rows_of_a_pair_keep_their_order(listed):
    rows = edge_rows(listed)
    pairs = sorted_pairs(rows.source, rows.target, rows.weight, N)
    first = np.repeat(np.arange(N), np.diff(pairs.indptr))
    found = list(zip(first.tolist(), pairs.indices.tolist(), pairs.data.tolist(), strict=True))
    assert found == sorted(listed, key=lambda row: row[:2])  # Python's sort is stable


@given(ROWS, st.sampled_from(["error", *MERGE]), st.booleans(), st.booleans())
def test_graphs_match_a_dictionary(listed, duplicates, directed, weighted):
    listed_of = {}
    for i, j, w in listed:
        pair = (i, j) if directed else (min(i, j), max(i, j))
        listed_of.setdefault(pair, []).append(w if weighted else 1.0)
    options = {"duplicates": duplicates, "symmetrize": "max" if directed else None}

    def build():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return graph_from_rows(edge_rows(listed, weighted), **options)

    if duplicates == "error" and any(len(set(w)) > 1 for w in listed_of.values()):
        with pytest.raises(GraphError, match="say how to combine them"):
            build()
        return
    dense = np.zeros((N, N))
    merge = MERGE.get(duplicates, max) if weighted or duplicates == "sum" else max
    for (i, j), weights in listed_of.items():
        if i != j:
            value = merge(sorted(weights) if duplicates in ("sum", "mean") else weights)
            dense[i, j] = max(dense[i, j], value)
            dense[j, i] = max(dense[j, i], value)
    adjacency = build().adjacency
    assert adjacency.has_canonical_format
    assert adjacency.indices.dtype == np.int32
    assert (adjacency.data > 0).all()
    np.testing.assert_allclose(adjacency.toarray(), dense, rtol=1e-15)


def test_the_first_conflict_names_both_rows():
    listed = [(3, 4, 1.0), (0, 2, 2.0), (4, 3, 5.0), (2, 0, 2.0), (2, 0, 7.0)]
    sentence = r"^row 4: the pair \('n0', 'n2'\) has the weight 7 here and 2 in row 1; say how"
    with pytest.raises(GraphError, match=sentence):
        graph_from_rows(edge_rows(listed))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("duplicates", ["sum", "mean"])
def test_sums_do_not_depend_on_the_order_of_the_rows(dtype, duplicates):
    rng = np.random.default_rng(0)
    listed = [(0, 1, w) for w in rng.random(50)] + [(2, 3, 1.0)] + [(1, 3, w) for w in rng.random(7)]
    shuffled = [listed[k] for k in rng.permutation(len(listed))]
    rows = [edge_rows(order, dtype=dtype) for order in (listed, shuffled)]
    one, other = (graph_from_rows(order, duplicates=duplicates) for order in rows)
    assert one.fingerprint() == other.fingerprint()
    assert one.adjacency.dtype == dtype
