"""How many clusters, where nobody has said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.search.coarsen import coarsen
from equigraph.search.exact_k import merge_clusters
from equigraph.search.levels import scores_of
from equigraph.search.multilevel import climb
from equigraph.search.search import Search, Target
from equigraph.stores.distributed import RowStore

# Parts of a large graph that are clustered in place of its nodes.
_PARTS = 50_000


def best_number(
    graph: sparse.csr_array | RowStore, codes: NDArray | None, target: Target, **options: Any
) -> int:
    """Return the number of clusters, at least two, that local moves find best for a target.

    Cohesive clusters, as many as come out, are raised along the dial while their number is free, and then merged pair
    by pair as long as that pays. On a large graph it is parts that are clustered.
    """
    search = Search(graph, codes, 2, **options)
    if search.ground is not None:
        n_parts = max(min(_PARTS, search.ground.n_nodes // 2), 2)
        _, level = coarsen(search.ground, None, n_parts, search.objective)
        search = Search.on_level(level, search.objective, 2, effort=search.effort, seed=search.seed)
    rng, objective = search.rng(0), target.of(search.objective)
    labels = search.steps.cohesive(search.objective, rng)
    for value in (0.1, 0.2, 0.35, 0.5, 0.8):
        if value < objective.fairness:
            labels, _ = climb(search.level, labels, search.guide.at(value), rng, max_cycles=1, exact=False)
    labels, _ = climb(search.level, labels, objective, rng, exact=False)
    candidates = [labels]
    if int(labels.max()) > 1:
        candidates.append(merge_clusters(search.level, labels, 2, int(labels.max()) + 1, objective))

    def value_of(labels: NDArray) -> float:
        modularity, notion = scores_of(search.level, labels, objective)
        return objective.value(modularity, min(notion, objective.cap))

    best = max(candidates, key=value_of)
    return max(int(np.unique(best).size), 2)
