"""How many clusters, where nobody has said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.search.large import LargeSearch, coarsen, make_search
from equigraph.search.merge import merge
from equigraph.search.moves import climb
from equigraph.search.partition import scores_of
from equigraph.search.plans import LADDER
from equigraph.search.targets import Target

# Parts of a large graph that are clustered in place of its nodes.
_PARTS = 50_000


def best_number(graph: Any, codes: NDArray | None, target: Target, *, seed: int = 0, **options: Any) -> int:
    """Return the number of clusters, at least two, that local moves find best for a target.

    Cohesive clusters, as many as come out, are raised along the dial while their number is free, and then merged pair
    by pair as long as that pays. On a large graph it is parts that are clustered.
    """
    search = make_search(graph, codes, 2, seed=seed, **options)
    if isinstance(search, LargeSearch):
        _, level = coarsen(search.rows, None, max(min(_PARTS, search.rows.n_nodes // 2), 2))
    else:
        level = search.level
    free = search.objective.free()
    objective, rng = free.for_target(target), np.random.default_rng([seed, 0])
    labels, _ = climb(level, np.arange(level.n_sites, dtype=np.int32), free, rng, tol=1e-3)
    for value in LADDER:
        if value < objective.fairness:
            labels, _ = climb(level, labels, free.guided().at(value), rng, max_cycles=1)
    labels, _ = climb(level, labels, objective, rng)
    candidates = [labels]
    if int(labels.max()) > 1:
        candidates.append(merge(level, labels, 2, int(labels.max()) + 1, objective))
    best = max(candidates, key=lambda found: objective.value(*scores_of(level, found, objective)))
    return max(int(np.unique(best).size), 2)
