"""Registry of the scores of a clustering: functions, names and meanings.

`evaluate`, the tables of the command line, the report and the plots use it: a new score is one more entry.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Literal

from numpy.typing import NDArray
from scipy import sparse

from equigraph.metrics._table import Labels
from equigraph.metrics.balance import Average, averaged
from equigraph.metrics.individual import individual_balance
from equigraph.metrics.notions import BALANCE, EVENNESS, MOUFLON, NORMALIZED, PROPORTIONAL, Notion
from equigraph.metrics.quality import _conductance, _normalized_cut, modularity_of


@dataclass(frozen=True)
class Score:
    """One score; its texts are in ``scores.toml``."""

    name: str  # in results, tables and files, such as "min_balance"
    # `of_graph` needs no groups. `of_groups` takes the counts and group sizes of one attribute, and the number of
    # clusters if empty ones count as 0. There may be many tables of counts: the last two axes are clusters and groups.
    of_graph: Callable[[sparse.csr_array, Labels], float] | None = None
    of_groups: Callable[[NDArray, NDArray, int | None], Any] | None = None
    # Aggregation of the values of several attributes.
    over_attributes: Literal["mean", "min"] = "mean"
    larger_is_better: bool | None = True  # None if neither is
    head: str = ""  # short head of its column
    words: str = ""  # for axes and rows
    short: str = ""  # its meaning, in half a line
    meaning: str = ""  # its meaning and its limits, in a sentence

    def over(self, attributes: Any, values: list[float]) -> float:
        """Aggregate the values of several attributes."""
        return min(values) if self.over_attributes == "min" else attributes.mean(values)


_TEXTS = tomllib.loads(resources.files(__package__).joinpath("scores.toml").read_text("utf-8"))


def _by_name(*scores: Score) -> dict[str, Score]:
    return {score.name: replace(score, **_TEXTS.get(score.name, {})) for score in scores}


def _averaged(
    notion: Notion, average: Average, *, counts_empty: bool = False
) -> Callable[[NDArray, NDArray, int | None], Any]:
    """Return the function of counts that averages a notion over the clusters."""
    return lambda counts, sizes, k: averaged(notion, counts, sizes, average, k if counts_empty else None)


# In the order of `evaluate` and of all tables.
SCORES: dict[str, Score] = _by_name(
    Score("Q", lambda adjacency, labels: modularity_of(adjacency, labels.codes)),
    Score("B", of_groups=_averaged(BALANCE, "mean", counts_empty=True)),
    Score("NB", of_groups=_averaged(NORMALIZED, "weighted")),
    Score("min_balance", None, _averaged(BALANCE, "min", counts_empty=True), "min"),
    Score("rho", of_groups=lambda counts, sizes, k: individual_balance(counts)),
    Score("n_nonempty", lambda adjacency, labels: labels.n_clusters, larger_is_better=None),
)
# Scores that other papers report; `evaluate` computes them on request, and no page explains them.
FURTHER: dict[str, Score] = _by_name(
    Score("conductance", _conductance, larger_is_better=False),
    Score("ncut", _normalized_cut, larger_is_better=False),
    Score("PB", of_groups=_averaged(PROPORTIONAL, "mean")),
    Score("min_PB", None, _averaged(PROPORTIONAL, "min"), "min"),
)
# Further scores of a curve, for the notions of the same names.
OF_NOTIONS: dict[str, Score] = _by_name(
    Score("mouflon", of_groups=_averaged(MOUFLON, "weighted")),
    Score("evenness", of_groups=_averaged(EVENNESS, "weighted")),
)
# Scores that compare clusterings: all but the number of clusters.
COMPARED = tuple(name for name, score in SCORES.items() if score.larger_is_better is not None)
# Scores of single attributes.
OF_GROUPS = tuple(name for name, score in SCORES.items() if score.of_groups is not None)
ALL_SCORES = {**SCORES, **FURTHER, **OF_NOTIONS}


def words_of(name: str) -> str:
    """Return a short description of a score, or its name if it has none."""
    return (name in ALL_SCORES and ALL_SCORES[name].words) or name
