import numpy as np
import pytest

from equigraph.exceptions import InfeasibleError
from equigraph.search.exact_k import exactly_k


@pytest.mark.parametrize("start", [np.zeros(12, dtype=int), np.arange(12), np.arange(12) // 3 * 7])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_exactly_k_from_any_labels(tiny, start, k):
    labels = exactly_k(tiny, start, k)
    assert sorted(set(labels.tolist())) == list(range(k))


def test_exactly_k_beyond_the_pairwise_limit(monkeypatch, make_graph):
    monkeypatch.setattr("equigraph.search.merge._MOST_PAIRED", 16)
    adjacency = make_graph(150, 0, density=0.01)
    assert (np.diff(adjacency.indptr) == 0).sum() > 5
    for k in (3, 16, 40):
        labels = exactly_k(adjacency, np.arange(150), k)
        assert np.bincount(labels).size == k
        assert np.bincount(labels).min() >= 1


def test_exactly_k_refuses_what_cannot_be(tiny):
    with pytest.raises(InfeasibleError, match="13 non-empty clusters"):
        exactly_k(tiny, np.zeros(12, dtype=int), 13)
