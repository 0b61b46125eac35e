"""Normalised FairSC as the authors of DFNMF published it: Q and B of single runs, for k = 3, 5, 8 and 10.

Their runs end in a local optimum of k-means. Up to k = 5 ours is the same one; beyond, one of a few single starts is.
"""

from __future__ import annotations

import pytest

import equigraph as eg

PRINTED = {
    "diaries": {5: (0.684, 0.809), 8: (0.686, 0.527), 10: (0.698, 0.494)},
    "facebook": {3: (0.485, 0.596), 5: (0.500, 0.602), 8: (0.517, 0.493), 10: (0.512, 0.436)},
    "friendship": {3: (0.571, 0.664), 5: (0.627, 0.485), 8: (0.672, 0.577), 10: (0.665, 0.399)},
    "drugnet": {3: (0.211, 0.087), 5: (0.270, 0.052), 8: (0.407, 0.027), 10: (0.526, 0.026)},
}
CELLS = [(name, k, *cell) for name, row in PRINTED.items() for k, cell in row.items()]


def distance(data, k, cell, **options):
    model = eg.ScalableFairSC(k, **options).fit(data.adjacency, sensitive_features=data.sensitive_features)
    scores = eg.metrics.evaluate(data.adjacency, model.labels_, sensitive_features=data.sensitive_features)
    return max(abs(scores["Q"] - cell[0]), abs(scores["B"] - cell[1]))


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")
@pytest.mark.parametrize(("name", "k", "Q", "B"), CELLS)
def test_scalable_fair_sc_is_where_others_found_it(data_dir, name, k, Q, B):
    data = eg.datasets.load(name)
    found = distance(data, k, (Q, B), random_state=0)
    if k > 5:
        found = min(found, *(distance(data, k, (Q, B), n_init=1, random_state=seed) for seed in range(25)))
    assert found < 0.02
