"""The nine networks of the paper's table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equigraph.graph import Graph, read_graph

# Name in equigraph.datasets, and name in tables.
REAL = {
    "diaries": "Diaries",
    "facebook": "Facebook",
    "friendship": "Friendship",
    "drugnet": "DrugNet",
    "nba": "NBA",
    "lastfm": "LastFM",
}
SBM = {"sbm-2k": "SBM-2K", "sbm-5k": "SBM-5K", "sbm-10k": "SBM-10K"}
TITLES = {**REAL, **SBM}
_SBM_NODES = {"sbm-2k": 2_000, "sbm-5k": 5_000, "sbm-10k": 10_000}
# Numbers of the groups in the authors' files. DMoN takes them as its only feature, and they matter to it.
_FILE_NUMBERS = {
    "F": 1, "M": 2, "other": 1, "African American": 2, "Latino": 3, "US": 0, "non-US": 1,
    **{f"country {code}": code for code in (0, 3, 6, 10, 14, 17)},
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class PrintedNetwork:
    """A graph of the table."""

    graph: Graph  # with its groups
    group_numbers: NDArray[np.int64]  # the group of each node as a number
    target: NDArray | None = None  # planted clusters, where there are any

    @property
    def balance(self) -> float:
        """Size of the smallest group over that of the largest: B of a cluster that mirrors the population."""
        sizes = np.unique(self.group_numbers, return_counts=True)[1]
        return float(sizes.min() / sizes.max())


@lru_cache(maxsize=2)
def load_network(name: str, seed: int = 0) -> PrintedNetwork:
    """Return a network; a block model is drawn anew for every seed, a real network is always the same."""
    from equigraph import datasets

    if name in SBM:
        data = datasets.make_fair_sbm(_SBM_NODES[name], 5, 5, random_state=seed)
        numbers, attribute = np.asarray(data.sensitive_features, dtype=np.int64), "group"
    else:
        data = datasets.load(name)
        attribute = data.attribute
        numbers = np.array([_FILE_NUMBERS[group] for group in data.sensitive_features.tolist()])
    graph = read_graph(data.adjacency, groups=data.sensitive_features, attribute=attribute)
    return PrintedNetwork(graph, numbers, data.get("target"))
