"""Stability of clusterings by number of clusters, and the recommended number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.hooks import hook
from equigraph._utils.notebook import page_of
from equigraph._utils.parameters import Integer, check_parameters
from equigraph._utils.records import Tabular, framed, plain
from equigraph._utils.text import count, listed
from equigraph.exceptions import ParameterError

# Numbers whose agreement is at most this much below the highest one count as stable. Which nodes move for fairness is
# arbitrary, which makes the right number less stable than a smaller one.
_AS_STABLE = 0.2
# Objectives that differ by less are the same; the smaller number of clusters is then preferred.
_SAME = 1e-3
# Stable numbers whose objectives differ by less count as equally good: a few nodes of another group change as much.
_CLOSE = 3e-3
# Below the first, nothing is recommended; below the second, the answer is called unclear.
_UNSTABLE, _UNCLEAR = 0.5, 0.75

_COLUMNS = (
    "k", "seeds_ari", "removals_ari", "seeds_nmi", "removals_nmi", "stability", "Q", "fairness", "objective",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class StabilityRow:
    """Stability and scores for one number of clusters.

    Attributes
    ----------
    k : int
        The number.
    seeds_ari, seeds_nmi : float
        Mean agreement of all pairs of fits to the graph itself: adjusted Rand index, normalised mutual information.
    removals_ari, removals_nmi : float
        Mean agreement of these with the fits to copies that lack a few edges; NaN without copies.
    Q, fairness, objective : float
        Scores of the best fit; the fairness is None without groups.
    best, consensus : ndarray of shape (n_nodes,)
        Labels of the best fit, and consensus labels of all fits.
    sure : ndarray of shape (n_nodes,)
        Share of all fits that put a node where the consensus does.
    second : ndarray of shape (n_nodes,)
        The most frequent other cluster of each node.
    error : str or None
        Reason why there are no results.
    """

    k: int
    seeds_ari: float = math.nan
    seeds_nmi: float = math.nan
    removals_ari: float = math.nan
    removals_nmi: float = math.nan
    Q: float = math.nan
    fairness: float | None = None
    objective: float = math.nan
    best: Any = None
    consensus: Any = None
    sure: Any = None
    second: Any = None
    error: str | None = None

    @property
    def stability(self) -> float:
        """The smaller of the two adjusted Rand indices."""
        return float(np.fmin(self.seeds_ari, self.removals_ari))


class Recommendation(NamedTuple):
    """The recommended number of clusters, the reason in words, and the numbers that are about as good."""

    number: int | None
    reason: str
    plausible: tuple[int, ...] = ()


def recommend(rows: Sequence[StabilityRow], aim: str) -> Recommendation:
    """Return the recommended number of clusters, or None, and why.

    Of the numbers whose stability is within .2 of the best, it is the one with the largest objective; of numbers that
    differ by less than .001 it is the smallest. Those within .003 are plausible, too. Where the best stability is below
    .5 there is none.

    Examples
    --------
    >>> rows = [
    ...     StabilityRow(2, 1.0, 1.0, 0.6, 0.6, objective=0.5),
    ...     StabilityRow(3, 1.0, 1, 0.97, 1, objective=0.7),
    ... ]
    >>> recommend(rows, "Q").number
    3
    """
    complete = [row for row in rows if row.error is None]
    steady = max(complete, key=lambda row: row.stability)
    highest = _smallest_best(complete)
    if steady.stability < _UNSTABLE:
        return Recommendation(
            None,
            f"No number of clusters is stable: at best fits agree by {steady.stability:.2f} (k = {steady.k}), so the "
            f"graph does not say how many there are. {aim} is highest for k = {highest.k}.",
        )
    stable = [row for row in complete if row.stability >= steady.stability - _AS_STABLE]
    chosen = _smallest_best(stable)
    several = f"{listed(row.k for row in stable)} are about as stable as any" if len(stable) > 1 else ""
    text = f"{chosen.k} clusters, on which fits agree by {chosen.stability:.2f}: "
    text += f"{several}, and of these {aim} is highest here." if several else "no other number is as stable."
    close = [row for row in stable if row.objective >= chosen.objective - _CLOSE]
    if len(close) > 1:
        others = [row.k for row in close if row is not chosen]
        text += (
            f" It cannot be told from {listed(others)}, where {aim} differs by less than {_CLOSE:g}: whole nodes alone "
            "can make such a difference, so take the number that you can use."
        )
    if highest not in close:
        text += (
            f" {aim} alone would take {highest.k} ({highest.objective:.3f} instead of {chosen.objective:.3f}), on "
            f"which fits agree by {highest.stability:.2f}."
        )
    if chosen.stability < _UNCLEAR:
        text += " That is no clear answer: many nodes change sides from fit to fit."
    if chosen.k == complete[-1].k and len(complete) > 1:
        text += " It is the largest number tried: try larger ones."
    return Recommendation(chosen.k, text, tuple(row.k for row in close))


def _smallest_best(rows: Sequence[StabilityRow]) -> StabilityRow:
    top = max(row.objective for row in rows)
    return next(row for row in rows if row.objective >= top - _SAME)


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Tabular):
    """How stable and how good clusterings are, by number of clusters.

    Attributes
    ----------
    rows : tuple of StabilityRow
        One for each number, in order.
    node_names : ndarray of shape (n_nodes,)
        Names of the nodes.
    method : str
        Name of the estimator.
    aim : str
        The objective by which numbers are compared, as a formula.
    n_seeds, n_removals : int
        Fits to the graph itself and to copies without a few edges.
    removed : float
        Share of the edges that a copy lacks.
    seed : int
        The seed that was used.
    stopped : bool
        Whether a callback stopped it, so that numbers are missing.
    """

    rows: tuple[StabilityRow, ...]
    node_names: NDArray[Any]
    method: str
    aim: str
    n_seeds: int
    n_removals: int
    removed: float
    seed: int
    stopped: bool = False

    def __post_init__(self) -> None:
        if all(row.error is not None for row in self.rows):
            raise ParameterError(f"No number of clusters could be fitted: {self.rows[0].error}")

    @cached_property
    def _answer(self) -> Recommendation:
        return recommend(self.rows, self.aim)

    @property
    def recommended(self) -> int | None:
        """The recommended number of clusters; None where none is stable."""
        return self._answer.number

    @property
    def conclusion(self) -> str:
        """The reason for the recommendation, in words."""
        return self._answer.reason

    @property
    def plausible(self) -> tuple[int, ...]:
        """The recommended number and those as good as it; empty if none is stable."""
        return self._answer.plausible

    def row(self, k: int | None = None) -> StabilityRow:
        """Return the row of a number of clusters; by default the recommended one.

        Raises
        ------
        ParameterError
            If it was not tried, or there is none to recommend.
        """
        wanted = self.recommended if k is None else k
        if wanted is None:
            raise ParameterError("No number of clusters is recommended: say which one with k=.")
        known = {row.k: row for row in self.rows if row.error is None}
        if wanted not in known:
            raise ParameterError(f"There are no clusters for k={wanted!r}: expected one of {listed(known)}.")
        return known[wanted]

    def consensus(self, k: int | None = None) -> NDArray[np.intp]:
        """Return the cluster that most fits put each node into; by default for the recommended number."""
        return self.row(k).consensus

    def sure(self, k: int | None = None) -> NDArray[np.float64]:
        """Return the share of all fits that put a node where the consensus does, for each node."""
        return self.row(k).sure

    def unsure(self, n: int = 10, k: int | None = None) -> Any:
        """Return the nodes that change clusters most between fits, as a pandas frame or a list of dicts.

        Parameters
        ----------
        n : int, default=10
            Maximum number of nodes; those that never change clusters are not listed.
        k : int, optional
            Number of clusters; by default the recommended one.
        """
        check_parameters("Stability.unsure", {"n": Integer(low=1)}, {"n": n})
        row = self.row(k)
        nodes = np.argsort(row.sure, kind="stable")[: int(n)]
        nodes = nodes[row.sure[nodes] < 1]
        return framed(
            {
                "node": self.node_names[nodes].tolist(),
                "cluster": row.consensus[nodes].tolist(),
                "sure": row.sure[nodes].tolist(),
                "second": row.second[nodes].tolist(),
            }
        )

    def table(self) -> dict[str, NDArray]:
        """Return one row per number of clusters."""
        columns = {
            name: np.array([getattr(row, name) for row in self.rows], dtype=float) for name in _COLUMNS
        }
        recommended = np.array([row.k == self.recommended for row in self.rows])
        return {**columns, "k": columns["k"].astype(int), "recommended": recommended}

    def summary(self) -> dict[str, Any]:
        """Return everything but the per-node arrays, ready for JSON."""
        rows = [
            {
                **{name: plain(getattr(row, name)) for name in _COLUMNS},
                "recommended": row.k == self.recommended,
                "error": row.error,
            }
            for row in self.rows
        ]
        names = (
            "recommended", "plausible", "conclusion", "method", "aim",
            "n_seeds", "n_removals", "removed", "seed", "stopped",
        )  # fmt: skip
        fields = {name: plain(getattr(self, name)) for name in names}
        return {**fields, "n_nodes": int(self.node_names.size), "rows": rows}

    def plot(self, ax: Any = None) -> Any:
        """Draw agreement and objective over the number of clusters (extra ``plot``)."""
        return hook("StabilityDisplay")(self).plot(ax)

    def _repr_html_(self) -> str:
        """Return the table, for a notebook."""
        table = self.table()
        rows = zip(*(column.tolist() for column in table.values()), strict=True)
        return page_of(self.conclusion, list(table), rows)

    def __repr__(self) -> str:
        tried = f"{len(self.rows)} numbers of clusters on {count(self.node_names.size, 'node')}"
        return f"Stability({tried}, {self.method}, recommended: {self.recommended})"
