"""DMoN on real graphs: the modularity published with iFairNMTF, from one column of group numbers."""

import numpy as np
import pytest

from equigraph import datasets
from equigraph.community.neural import DMoN

pytest.importorskip("torch", reason="needs the extra 'neural'")


def modularity(A, labels):
    C = np.eye(labels.max() + 1)[labels]
    d = np.asarray(A.sum(axis=1)).ravel()
    return ((C * (A @ C)).sum() - ((C.T @ d) ** 2).sum() / d.sum()) / d.sum()


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.EmptyClusterWarning")
@pytest.mark.parametrize(
    ("name", "second", "first_number", "published"),
    [("friendship", "M", 1, 0.140)],
)
def test_published_modularity(data_dir, name, second, first_number, published):
    data = datasets.load(name, data_home=data_dir, download_if_missing=False)
    numbers = (data.sensitive_features == second) + first_number
    fits = [
        DMoN(5, features="ordinal", device="cpu", random_state=seed).fit(
            data.adjacency, sensitive_features=numbers
        )
        for seed in range(2)
    ]
    assert np.mean([modularity(data.adjacency, fit.labels_) for fit in fits]) == pytest.approx(
        published, abs=0.03
    )


def test_structure_beats_the_groups_by_far(data_dir):
    data = datasets.load("diaries", data_home=data_dir, download_if_missing=False)
    scores = {}
    for features in ("sensitive", "structural"):
        model = DMoN(5, features=features, device="cpu", random_state=0)
        scores[features] = modularity(
            data.adjacency, model.fit_predict(data.adjacency, sensitive_features=data.sensitive_features)
        )
    assert scores["structural"] > 0.6 > 0.4 > scores["sensitive"] > 0.15
