"""A score for scikit-learn's searches."""

from __future__ import annotations

from typing import Any

from equigraph.exceptions import ParameterError
from equigraph.metrics.summary import evaluate


class ClusteringScorer:
    """Score a fitted clusterer by ``(1 - fairness) * Q + fairness * NB``, for ``GridSearchCV(scoring=...)``.

    Clusterers of graphs have no ``predict``: they are scored on the nodes they were fitted to. Give the search one
    split of all nodes, ``cv=[(all_nodes, all_nodes)]``.

    Parameters
    ----------
    sensitive_features : array-like, dict of columns, frame, optional
        The groups, as for ``fit``; by default those of the graph.
    fairness : float, default=0.5
        How much fairness counts, in [0, 1]. It belongs to the score and not to the method: whatever dials are searched,
        all are measured by the same.

    Examples
    --------
    >>> import numpy as np
    >>> import equigraph as eg
    >>> from sklearn.model_selection import GridSearchCV
    >>> room = eg.datasets.make_classroom()
    >>> search = GridSearchCV(
    ...     eg.FairPartition(3, random_state=0),
    ...     {"fairness": [0.0, 0.5]},
    ...     scoring=ClusteringScorer(room.sensitive_features),
    ...     cv=[(np.arange(30), np.arange(30))],
    ... )
    >>> search.fit(room.adjacency, sensitive_features=room.sensitive_features).best_params_
    {'fairness': 0.5}
    """

    def __init__(self, sensitive_features: Any = None, *, fairness: float = 0.5):
        if not 0 <= fairness <= 1:
            raise ParameterError(f"fairness={fairness!r} is not in [0, 1].")
        self.sensitive_features = sensitive_features
        self.fairness = fairness

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the score of a fitted estimator, or of a pipeline that ends in one, on what it was fitted to."""
        if hasattr(estimator, "steps"):
            X, estimator = estimator[:-1].transform(X), estimator[-1]
        labels = estimator.labels_
        n = getattr(X, "n_nodes", None) or getattr(X, "shape", (labels.size,))[0]
        if n != labels.size:
            raise ParameterError(
                f"The score is asked for {n} nodes and {labels.size} were clustered: a graph is scored as a whole, "
                "with cv=[(all_nodes, all_nodes)]."
            )
        scores = evaluate(X, labels, sensitive_features=self.sensitive_features)
        if self.fairness and "NB" not in scores:
            raise ParameterError("The score needs groups: give ClusteringScorer(sensitive_features).")
        return (1 - self.fairness) * scores["Q"] + self.fairness * scores.get("NB", 0.0)
