"""Registry of the scores of a clustering: functions, names and meanings.

`evaluate`, the tables of the command line, the report and the plots use it: a new score is one more entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray
from scipy import sparse

from equigraph.metrics._table import Labels
from equigraph.metrics.balance import averaged
from equigraph.metrics.individual import individual_balance
from equigraph.metrics.notions import BALANCE, EVENNESS, MOUFLON, NORMALIZED, PROPORTIONAL
from equigraph.metrics.quality import _conductance, _modularity, _normalized_cut


@dataclass(frozen=True)
class Score:
    """One score."""

    name: str  # in results, tables and files, such as "min_balance"
    head: str = ""  # short head of its column
    words: str = ""  # for axes and rows
    short: str = ""  # its meaning, in half a line
    meaning: str = ""  # its meaning and its limits, in a sentence
    # `of_graph` needs no groups. `of_groups` takes the counts and group sizes of one attribute, and the number of
    # clusters if empty ones count as 0. There may be many tables of counts: the last two axes are clusters and groups.
    of_graph: Callable[[sparse.csr_array, Labels], float] | None = None
    of_groups: Callable[[NDArray, NDArray, int | None], Any] | None = None
    # Aggregation of the values of several attributes.
    over_attributes: Literal["mean", "min"] = "mean"
    larger_is_better: bool | None = True  # None if neither is

    def over(self, attributes: Any, values: list[float]) -> float:
        """Aggregate the values of several attributes."""
        return min(values) if self.over_attributes == "min" else attributes.mean(values)


def _by_name(*scores: Score) -> dict[str, Score]:
    return {score.name: score for score in scores}


# In the order of `evaluate` and of all tables.
SCORES: dict[str, Score] = _by_name(
    Score(
        "Q",
        "Q",
        "modularity Q",
        "modularity: edges within clusters beyond what chance gives; higher is more cohesive",
        "Modularity: how many more links stay inside clusters than chance would keep there; 0 is chance, 1 is "
        "never reached, and higher is more cohesive.",
        of_graph=lambda adjacency, labels: _modularity(adjacency, labels.codes, labels.n_clusters),
    ),
    Score(
        "B",
        "B",
        "balance B",
        "balance: smallest group over largest, averaged over clusters; 1 is equal numbers",
        "Balance: smallest group over largest group, averaged over the clusters; 1 is equal numbers, which groups "
        "of different size cannot reach.",
        of_groups=lambda counts, sizes, k: averaged(BALANCE, counts, sizes, "mean", k),
    ),
    Score(
        "NB",
        "NB",
        "normalised balance NB",
        "normalised balance: 1 when every cluster mirrors the population, as far as whole nodes allow",
        "Normalised balance: 1 if every cluster mirrors the population as far as whole nodes allow, 0 if every "
        "cluster lacks some group.",
        of_groups=lambda counts, sizes, k: averaged(NORMALIZED, counts, sizes, "weighted"),
    ),
    Score(
        "min_balance",
        "min B",
        "minimum balance",
        "balance of the worst cluster",
        "Balance of the worst cluster: smallest group over largest group there.",
        of_groups=lambda counts, sizes, k: averaged(BALANCE, counts, sizes, "min", k),
        over_attributes="min",
    ),
    Score(
        "rho",
        "rho",
        "individual balance rho",
        "individual balance: fewest over most of one's own group, oneself left out, in any two clusters; below 1",
        "Individual balance: the cluster with the fewest others of one's own group over that with the most, "
        "averaged over all nodes. Nobody counts as one of the others, so 1 is out of reach: 4 of a group in every "
        "cluster score 0.75, and clusters of different size less, however fair they are.",
        of_groups=lambda counts, sizes, k: individual_balance(counts),
    ),
    Score(
        "n_nonempty",
        "k",
        "clusters with nodes",
        meaning="Clusters that have at least one node.",
        of_graph=lambda adjacency, labels: labels.n_clusters,
        larger_is_better=None,
    ),
)
# Scores that other papers report; `evaluate` computes them on request, and no page explains them.
FURTHER: dict[str, Score] = _by_name(
    Score("conductance", of_graph=_conductance, larger_is_better=False),
    Score("ncut", of_graph=_normalized_cut, larger_is_better=False),
    Score("PB", of_groups=lambda counts, sizes, k: averaged(PROPORTIONAL, counts, sizes)),
    Score(
        "min_PB",
        of_groups=lambda counts, sizes, k: averaged(PROPORTIONAL, counts, sizes, "min"),
        over_attributes="min",
    ),
)
# Further scores of a curve, for the notions of the same names.
OF_NOTIONS: dict[str, Score] = _by_name(
    Score(
        "mouflon",
        words="MOUFLON balance",
        meaning="Balance as MOUFLON defines it: 1 if all groups are equally many in every cluster, large "
        "clusters counting more.",
        of_groups=lambda counts, sizes, k: averaged(MOUFLON, counts, sizes, "weighted"),
    ),
    Score(
        "evenness",
        words="evenness",
        meaning="One minus the index of dissimilarity: 1 if every cluster has exactly the shares of the population, "
        "0 if no cluster holds two groups.",
        of_groups=lambda counts, sizes, k: averaged(EVENNESS, counts, sizes, "weighted"),
    ),
)
# Scores that compare clusterings: all but the number of clusters.
COMPARED = tuple(name for name, score in SCORES.items() if score.larger_is_better is not None)
# Scores of single attributes.
OF_GROUPS = tuple(name for name, score in SCORES.items() if score.of_groups is not None)
ALL_SCORES = {**SCORES, **FURTHER, **OF_NOTIONS}


def words_of(name: str) -> str:
    """Return a short description of a score, or its name if it has none."""
    return (name in ALL_SCORES and ALL_SCORES[name].words) or name
