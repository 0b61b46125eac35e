from __future__ import annotations

from equigraph.search import plans


def test_parts_of_huge_graphs_are_fewer_so_that_their_graph_fits():
    large, huge = (plans.plan_for(10**7, entries, 10, 1.0).n_parts for entries in (10**7, 10**8))
    assert huge**2 <= plans._MOST_PAIRS < large**2
    assert plans.plan_for(10**7, 10**8, 1_000, 1.0).n_parts == 20_000  # clusters come first
