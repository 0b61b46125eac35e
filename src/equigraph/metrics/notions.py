"""Notions of fairness, which the search optimises and the scores of the same names measure.

A notion is a score of the group counts of one cluster, with a way to average over clusters. To add one, write a
function of two rows of counts here and enter it in `NOTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import ParameterError, reason

# Tables with more entries are scored by compiled code, which takes a moment to load.
_MOST_PLAIN = 20_000
# Groups for which clusters of one and two members are tried before a search.
_MOST_PROBED = 8


@dataclass(frozen=True)
class Notion:
    """Notion of fairness N: a mean of cluster scores, 1 for fair clusters.

    The metrics call `score` as it is, and the search on labels compiles it. So it may only use numbers, ``len`` and
    loops over its two arguments.

    Parameters
    ----------
    name : str
        Name of the notion, such as "normalized".
    measure : str
        Short name of its score in tables, such as "NB".
    score : callable
        ``score(counts, population) -> float``: the fairness of one cluster, at most 1, from the whole numbers of its
        members of each group and those of the population. Clusters that are scored have a member.
    sized : bool, default=True
        Whether clusters count by their number of nodes, or all alike.
    guide : callable, optional
        A smoother surrogate of the score, of the same form, which guides the search. A notion that takes the worst
        group needs one: if two groups are short of nodes, one more node of one of them changes nothing.

    Examples
    --------
    Half of every cluster should be of the first group, whatever the population is:

    >>> def halves(counts, population):
    ...     size = 0
    ...     for count in counts:
    ...         size += count
    ...     return 1 - abs(2 * counts[0] / size - 1)
    >>> notion = Notion("halves", "H", halves)
    >>> notion.value([[2, 2], [1, 3]])
    0.75
    """

    name: str
    measure: str
    score: Callable[[Any, Any], float]
    sized: bool = True
    guide: Callable[[Any, Any], float] | None = None

    def __post_init__(self) -> None:
        for field in ("name", "measure"):
            if not isinstance(getattr(self, field), str) or not getattr(self, field):
                raise ParameterError(
                    f"The {field} of a notion must be a text, such as 'halves'; got {getattr(self, field)!r}."
                )
        for field in ("score", "guide"):
            given = getattr(self, field)
            if not callable(given) and (field == "score" or given is not None):
                raise ParameterError(
                    f"The {field} of the notion {self.name!r} must be a function of two lists of counts; got {given!r}."
                )

    def guided(self) -> Notion:
        """Return the notion with the guide as its score."""
        return self if self.guide is None else replace(self, score=self.guide, guide=None)

    def cluster_scores(
        self, table: NDArray | Sequence, population: NDArray | None = None, *, compiled: bool = False
    ) -> NDArray[np.float64]:
        """Return the score of each row of a table of counts; an empty cluster has 0.

        Parameters
        ----------
        table : array-like of shape (..., n_clusters, n_groups)
            Members of each group in each cluster; there may be many such tables.
        population : ndarray of shape (n_groups,), optional
            Members of each group in all; by default the sums of the columns.
        compiled : bool, default=False
            Whether to score a small table by compiled code too, if that is loaded already. The scores are the same.
        """
        table = np.asarray(table, dtype=np.int64)
        population = table.sum(axis=-2) if population is None else np.asarray(population, dtype=np.int64)
        rows = table.reshape(-1, table.shape[-1])
        used = rows.sum(axis=1) > 0
        if compiled or table.size > _MOST_PLAIN:
            scores = _score_rows()(self.compiled(), rows, population, used)
            wrong = np.flatnonzero(~np.isfinite(scores))
            if wrong.size:
                raise self._no_number(rows[wrong[0]].tolist(), scores[wrong[0]])
        else:
            scores, whole = np.zeros(used.size), population.tolist()
            for row in np.flatnonzero(used).tolist():
                scores[row] = self._scored(rows[row].tolist(), whole)
        return scores.reshape(table.shape[:-1])

    def _scored(self, counts: list[int], population: list[int]) -> float:
        """Return the score of one cluster; raise ParameterError unless it is a finite number."""
        try:
            score = self.score(counts, population)
        except Exception as error:
            raise ParameterError(
                f"The score of the notion {self.name!r} fails for a cluster with {counts} members of the groups: "
                f"{reason(error)}."
            ) from error
        if not isinstance(score, (int, float, np.number)) or not np.isfinite(score):
            raise self._no_number(counts, score)
        return float(score)

    def _no_number(self, counts: list[int], score: Any) -> ParameterError:
        return ParameterError(
            f"The score of the notion {self.name!r} is {score!r} for a cluster with {counts} members of the groups: "
            "expected one finite number."
        )

    def check(self, population: NDArray) -> None:
        """Check once, on clusters that a search may meet, that score and guide are finite numbers.

        Parameters
        ----------
        population : ndarray of shape (n_groups,)
            Members of each group in all.

        Raises
        ------
        ParameterError
            If they are not; the message names the cluster.
        """
        population = np.asarray(population, dtype=np.int64)
        few = np.eye(min(population.size, _MOST_PROBED), population.size, dtype=np.int64)
        clusters = np.vstack([population, (population + 1) // 2, few, np.minimum(2 * few, population)])
        for notion in dict.fromkeys((self, self.guided())):
            notion.cluster_scores(clusters, population)

    def value(
        self, table: NDArray | Sequence, population: NDArray | None = None, *, compiled: bool = False
    ) -> float:
        """Return N of a table of counts (clusters x groups), as in `cluster_scores`; empty clusters do not count."""
        table = np.asarray(table, dtype=np.int64)
        sizes = table.sum(axis=1)
        scores = self.cluster_scores(table, population, compiled=compiled)
        weights = sizes if self.sized else sizes > 0
        return float(weights @ scores / max(weights.sum(), 1))

    def compiled(self) -> Any:
        """Return the score as a compiled function that loops of any other module can call."""
        try:
            return _compiled(self.score)
        except Exception as error:  # the errors of a compiler have no class in common
            raise ParameterError(
                f"The score of the notion {self.name!r} cannot be compiled, which a search needs: expected numbers, "
                "len and loops over its two arguments, and no imports, dicts, texts or functions of others."
            ) from error


@cache
def register_shared() -> None:
    """Register the functions that scores share with numba."""
    from numba.extending import register_jitable

    register_jitable(inline="always")(totals)


@cache
def _compiled(score: Callable[..., float]) -> Any:
    from numba import cfunc, types

    register_shared()

    counts = types.Array(types.int64, 1, "A")
    signature = types.float64(counts, counts)
    function: Any
    try:
        function = cfunc(signature, cache=True)(score)
    except RuntimeError:  # a function defined at a prompt has no file, hence no cache
        function = cfunc(signature)(score)
    # With the type set, numba does not infer it at every call.
    function._numba_type_ = types.FunctionType(signature)
    return function


@cache
def _score_rows() -> Any:
    from equigraph._utils.compilation import compiled

    def score_rows(score: Any, table: Any, population: Any, used: Any) -> Any:
        scores = np.zeros(table.shape[0])
        for cluster in range(scores.size):
            if used[cluster]:
                scores[cluster] = score(table[cluster], population)
        return scores

    return compiled(score_rows)


def totals(counts: Any, population: Any) -> tuple[int, int]:
    """Return the members of a cluster and of the population."""
    size, n = 0, 0
    for s in range(len(counts)):
        size += counts[s]
        n += population[s]
    return size, n


def normalized(counts: Any, population: Any) -> float:
    """Return how close the counts are to the shares of the population, as far as whole nodes allow."""
    size, n = totals(counts, population)
    worst = 1.0
    for s in range(len(counts)):
        # Compared in whole numbers: e = share / n would be rounded, and its floor be one too low.
        count, share = counts[s], size * population[s]
        if (count + 1) * n <= share:
            worst = min(worst, count / (share // n))
        elif (count - 1) * n >= share:
            worst = min(worst, -(-share // n) / count)
    return worst


def evenness(counts: Any, population: Any) -> float:
    """Return one minus the deviation of the shares, in units of what full segregation would give on average."""
    size, n = totals(counts, population)
    apart, most = 0.0, 0.0
    for s in range(len(counts)):
        share = population[s] / n
        apart += abs(counts[s] / size - share)
        most += 2 * share * (1 - share)
    return 1.0 - apart / most if most > 0 else 1.0


def balance(counts: Any, population: Any) -> float:
    """Return the smallest count over the largest."""
    least, most = counts[0], counts[0]
    for s in range(len(counts)):
        least, most = min(least, counts[s]), max(most, counts[s])
    return least / most


def mean_balance(counts: Any, population: Any) -> float:
    """Return the mean of the other counts over the largest."""
    size, most = 0, 0
    for s in range(len(counts)):
        size += counts[s]
        most = max(most, counts[s])
    return (size - most) / (most * max(len(counts) - 1, 1))


def proportional(counts: Any, population: Any) -> float:
    """Return the smallest ratio of count and proportional count, the smaller over the larger."""
    size, n = totals(counts, population)
    worst = 1.0
    for s in range(len(counts)):
        expected = size * population[s] / n
        worst = min(worst, min(counts[s], expected) / max(counts[s], expected))
    return worst


def mouflon(counts: Any, population: Any) -> float:
    """Return (h - 1) times the smallest of h counts over the rest; 1 for a single group."""
    size, least = 0, counts[0]
    for s in range(len(counts)):
        size += counts[s]
        least = min(least, counts[s])
    if len(counts) == 1:
        return 1.0
    return (len(counts) - 1) * least / max(size - least, 1)


NORMALIZED = Notion("normalized", "NB", normalized, guide=evenness)
BALANCE = Notion("balance", "B", balance, sized=False, guide=mean_balance)
MOUFLON = Notion("mouflon", "mouflon", mouflon, guide=mean_balance)
EVENNESS = Notion("evenness", "evenness", evenness)
PROPORTIONAL = Notion(
    "proportional", "PB", proportional, sized=False
)  # scored only: whole nodes seldom reach 1
NOTIONS: dict[str, Notion] = {notion.name: notion for notion in (NORMALIZED, BALANCE, MOUFLON, EVENNESS)}


def get_notion(notion: Any) -> Notion:
    """Return a notion by its name; a `Notion` is returned as it is.

    Raises
    ------
    ParameterError
        For an unknown name; the message lists the known ones.

    Examples
    --------
    >>> get_notion("balance").measure
    'B'
    """
    if isinstance(notion, Notion):
        return notion
    if not isinstance(notion, str) or notion not in NOTIONS:
        known = ", ".join(map(repr, NOTIONS))
        raise ParameterError(f"notion={notion!r} is unknown: expected one of {known}, or a Notion.")
    return NOTIONS[notion]
