"""The sentence about fairness agrees with the score."""

from types import SimpleNamespace

import numpy as np

from equigraph.apps.report.wording import TOLERANCE, fairness_sentence
from equigraph.metrics import composition, normalized_balance_score


def test_the_sentence_agrees_with_nb():
    rng = np.random.default_rng(0)
    seen = set()
    for trial in range(300):
        n, k, m = rng.integers(4, 60), rng.integers(2, 6), rng.choice([2, 3, 10, 40])
        groups = rng.integers(m, size=n)
        labels = np.arange(n) % k if trial % 2 else rng.integers(k, size=n)
        if trial % 3 == 0:
            groups = np.sort(groups)  # dealt out in turn, so that many of these are fair
        if np.unique(labels).size == 1:
            continue
        what = composition(labels, sensitive_features=groups)
        told = fairness_sentence(SimpleNamespace(compositions=lambda: [(None, None, what)], attribute=None))  # noqa: B023
        lowest = normalized_balance_score(labels, sensitive_features=groups, average="min")
        mirrors = told.startswith("Every cluster")
        seen.add(mirrors)
        assert mirrors == (lowest >= 1 - TOLERANCE - 1e-12), (told, lowest)
        assert told.startswith("None") <= (lowest < 1)
    assert seen == {True, False}
