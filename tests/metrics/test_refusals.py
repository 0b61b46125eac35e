"""Arguments that do not fit: one sentence that names them."""

import numpy as np
import pytest

from equigraph import metrics as m
from equigraph.exceptions import GroupsError, ParameterError

LABELS, GROUPS = [0, 0, 1, 1], [0, 1, 0, 1]
PATH = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
OF_PAIRS = (m.balance_score, m.normalized_balance_score)
OF_LABELS = (m.clustering_accuracy, m.normalized_mutual_info_score, m.adjusted_rand_score)


def given(score, *arguments, groups=None, **options):
    """Return a call, with groups under their long name."""
    return score, arguments, options if groups is None else {"sensitive_features": groups, **options}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (given(m.balance_score, LABELS, groups=GROUPS, empty="zero"), "needs n_clusters"),
        (given(m.balance_score, LABELS, groups=GROUPS, n_clusters=1), "less than the 2 clusters"),
        (given(m.balance_score, LABELS, groups=GROUPS, n_clusters=2.5), "must be an integer"),
        (given(m.balance_score, LABELS, groups=GROUPS, empty="drop"), "expected 'ignore' or 'zero'"),
        (given(m.population_balance, []), "empty"),
        *((given(one, LABELS, groups=GROUPS, average="median"), "'mean', 'min' or") for one in OF_PAIRS),
        *((given(one, LABELS, groups=GROUPS[:3]), "3 values") for one in OF_PAIRS),
        *((given(one, LABELS, groups=[0, 1, None, 1]), "missing") for one in OF_PAIRS),
        *((given(one, [0, None, 1, 1], groups=GROUPS), "missing") for one in OF_PAIRS),
        *((given(one, [], groups=[]), "empty") for one in OF_PAIRS),
        *((given(one, [0, 1, 1], [0, 1]), "labels_pred has 2 values where 3") for one in OF_LABELS),
        *((given(one, [0, None, 1], [0, 1, 1]), "labels_true are missing") for one in OF_LABELS),
        (given(m.modularity_score, PATH, LABELS[1:]), "3 labels for 4 nodes"),
        (given(m.modularity_score, PATH, LABELS, resolution=-1), "resolution"),
        (given(m.modularity_score, PATH, np.full(4, np.nan)), "missing"),
        (given(m.modularity_score, PATH, np.zeros((4, 2))), "one-dimensional"),
        (given(m.evaluate, PATH, LABELS, empty="no"), "is unknown: expected 'ignore' or 'zero'"),
        (given(m.evaluate, PATH, LABELS, target=LABELS[1:]), "3 labels of the target for 4 nodes"),
        (given(m.evaluate, PATH, LABELS, n_clusters=1), "n_clusters=1 is less"),
        (given(m.individual_balance_score, LABELS), "either the representation graph or sensitive_features"),
        (given(m.representation_violation, PATH, LABELS, groups=GROUPS), "either the representation"),
        (given(m.representation_violation, PATH, LABELS[1:]), r"shape \(4, 4\) where 3 labels"),
        (given(m.representation_violation, np.full((4, 4), np.nan), LABELS), "not finite"),
    ],
)
def test_wrong_arguments_are_named(call, words):
    score, arguments, options = call
    with pytest.raises((ParameterError, GroupsError), match=words):
        score(*arguments, **options)
