"""The pool of everything found: nothing that is best anywhere is lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equigraph.search.pool import TOLERANCE, Pool, Target

# Few values, so that many are alike, and others besides; what differs differs by more than rounding.
coordinate = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 0.505, 1.0]), st.integers(-500, 1000).map(lambda i: i / 1000)
)
points = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=30)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(points=points, fairness=st.floats(0, 0.999), bound=coordinate)
def test_the_best_at_any_dial_and_under_any_bound_is_kept(points, fairness, bound):
    pool = Pool()
    for place, (q, n) in enumerate(points):
        seen = points[: place + 1]
        kept = pool.add(np.array([place]), q, n)
        assert kept == (not any(a >= q and b >= n for a, b in points[:place]))
        for value in (0.0, fairness, 0.5):
            best = max((1 - value) * a + value * b for a, b in seen)
            a, b = points[int(Target(value).best(pool)[0])]
            assert (1 - value) * a + value * b == pytest.approx(best, abs=1e-15)
        fairest = max(b for _, b in seen)
        for least in (bound, fairest, fairest - TOLERANCE):
            enough = [point for point in seen if point[1] >= least - 1e-12] or [
                p for p in seen if p[1] == fairest
            ]
            found = points[int(Target(at_least=least).best(pool)[0])]
            assert found[0] == max(a for a, _ in enough)
            assert found[1] >= min(least, fairest) - 1e-9
        # At the end of the dial the notion comes first up to the tolerance, and then Q.
        found = points[int(Target(1.0).best(pool)[0])]
        assert found[0] == max(a for a, b in seen if b >= fairest - TOLERANCE - 1e-12)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(points=points)
def test_nothing_in_the_pool_dominates_another(points):
    pool = Pool()
    for place, (q, n) in enumerate(points):
        pool.add(np.array([place]), q, n)
    for i, (q, n) in enumerate(pool.scores):
        assert points[int(pool.labels[i][0])] == (q, n)
        assert not any(a >= q and b >= n for j, (a, b) in enumerate(pool.scores) if j != i)


def test_a_bound_missed_by_rounding_is_reached():
    pool = Pool()
    pool.add(np.array([0]), 0.5, 0.9 - 1e-15)
    pool.add(np.array([1]), 0.4, 0.95)
    assert Target(at_least=0.9).best(pool).tolist() == [0]
    assert Target(at_least=0.91).best(pool).tolist() == [1]
    assert Target(at_least=0.99).best(pool).tolist() == [1]
    assert Target(0.5).best(pool).tolist() == [0]
