"""Individual fairness by representation, against loops over nodes and clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from equigraph.metrics import individual_balance_score, representation_violation
from tests.optional import optional

nx = optional("networkx")

FAST = settings(max_examples=40, deadline=None)


def naive(R, labels, normalize=False):
    """Violation and balance of every node, straight from the definitions."""
    labels, n = np.asarray(labels), len(labels)
    violations, balances = [], []
    for i in range(n):
        representatives = {j for j in range(n) if R[i, j] != 0}
        seen, gaps = [], []
        for cluster in sorted(set(labels.tolist())):
            inside = set(np.flatnonzero(labels == cluster).tolist())
            count = len(representatives & inside)
            seen.append(count / len(inside) if normalize else count)
            gaps.append(abs(count / len(inside) - len(representatives) / n))
        violations.append(max(gaps))
        balances.append(1.0 if not representatives else min(seen) / max(seen))
    return np.array(violations), np.array(balances)


@FAST
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans(), st.booleans(), st.floats(0, 1))
def test_sparse_representation_is_the_definition(seed, k, self_pairs, normalize, density):
    rng = np.random.default_rng(seed)
    n = 12
    R = (rng.random((n, n)) < density) * rng.uniform(0.5, 2.0, (n, n))  # directed, weighted, with self-loops
    labels = rng.integers(0, k, n) * 3
    pattern = R.copy()
    np.fill_diagonal(pattern, float(self_pairs))
    violations, balances = naive(pattern, labels, normalize)
    options = {"self_pairs": self_pairs, "normalize": normalize}
    for container in (R, sparse.csr_array(R), sparse.csc_matrix(R)):
        found = representation_violation(container, labels, self_pairs=self_pairs)
        np.testing.assert_allclose(found, violations, atol=1e-12)
        found = individual_balance_score(labels, representation=container, per_node=True, **options)
        np.testing.assert_allclose(found, balances, atol=1e-12)
        mean = individual_balance_score(labels, representation=container, **options)
        assert mean == pytest.approx(balances.mean(), abs=1e-12)


def test_explicit_zeros_duplicates_and_other_libraries():
    rows, columns = np.array([0, 0, 1, 2]), np.array([1, 1, 0, 1])
    data = np.array([1.0, 1.0, 1.0, 0.0])
    R = sparse.coo_array((data, (rows, columns)), shape=(3, 3))
    before = R.nnz
    assert individual_balance_score([0, 0, 1], representation=R, per_node=True).tolist() == [0.0, 0.0, 1.0]
    assert R.nnz == before, "the caller's matrix must not change"
    # Row 0 names node 1 twice and out of order with node 2: a CSR that is not canonical.
    loose = sparse.csr_array((np.ones(3), np.array([2, 1, 1]), np.array([0, 3, 3, 3])), shape=(3, 3))
    assert individual_balance_score([0, 1, 2], representation=loose, per_node=True).tolist() == [0, 1, 1]
    assert representation_violation(loose, [0, 1, 1])[0] == pytest.approx(2 / 3)
    assert loose.nnz == 3, "the caller's matrix must not change"
    graph = nx.path_graph(4)
    A = nx.to_numpy_array(graph)
    expected = representation_violation(A, [0, 0, 1, 1])
    np.testing.assert_array_equal(representation_violation(graph, [0, 0, 1, 1]), expected)
