from dataclasses import replace

import numpy as np
import pytest

from equigraph.analysis.tradeoff import TradeoffCurve, TradeoffPoint
from equigraph.analysis.tradeoff.points import nondominated
from equigraph.metrics.notions import get_notion


@pytest.fixture(scope="session")
def make_curve():
    """Return a function that makes a curve of given scores."""

    def make(
        quality,
        fair,
        *,
        found=None,
        fairness=None,
        means=None,
        spread=float("nan"),
        notion="normalized",
        more=(),
    ):
        n, measure = len(quality), get_notion(notion).measure
        fairness = np.linspace(0, 1, n).tolist() if fairness is None else fairness
        found = [3] * n if found is None else found
        restarts = 1 if np.isnan(spread) else 3
        points = []
        for i in range(n):
            scores = {"Q": quality[i], **dict.fromkeys(("B", "NB", measure), fair[i]), "n_nonempty": found[i]}
            average = scores if means is None else {**scores, "Q": means[0][i], "NB": means[1][i]}
            labels = np.arange(6) % found[i]
            points.append(
                TradeoffPoint(
                    fairness=fairness[i],
                    labels=labels,
                    sizes=np.bincount(labels, minlength=3),
                    scores=scores,
                    means=average,
                    spreads=dict.fromkeys(scores, spread),
                    stability=float("nan"),
                    seed=0,
                    n_restarts=restarts,
                )
            )
        others = [
            replace(points[0], fairness=0.5, scores={**points[0].scores, "Q": x, "B": y, "NB": y})
            for x, y in more
        ]
        return TradeoffCurve(
            points=tuple(points),
            front=nondominated([*points, *others], measure),
            spacing="dial",
            node_names=np.array(list("abcdef")),
            sensitive_features=np.array(list("xyxyxy")),
            method="Hand",
            parameters={},
            n_clusters=3,
            notion=notion,
            seeds=tuple(range(restarts)),
            seconds=0.0,
            stopped=False,
            versions={},
            input_hash="",
        )

    return make
