"""Fits and rows of a comparison (a row is a method on a graph with all its seeds), and paired tests of methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from equigraph.metrics.scores import COMPARED

FACTS = ("n_nonempty", "sizes", "stability", "seconds", "fairness", "status")
CONFIDENCE = 0.95
# Statuses of fits, from best to worst; an unknown status of a user's estimator is worse than all of these.
_SEVERITY = {None: 0, "converged": 1, "max_iter": 2, "stopped": 3, "diverged": 4}

# Differences that are equal up to rounding are ties.
_DIGITS = 12
# Up to this many differences all signs are enumerated, since scipy has no exact p-value with ties.
_MOST_SIGNS = 12

Spread = Literal["sd", "interval"] | None


@dataclass(frozen=True)
class Fit:
    """Result of a method with one seed.

    Attributes
    ----------
    seed : int
        The seed.
    scores : dict
        Score by name; None if it is not a finite number.
    sizes : tuple of int
        Nodes of each cluster.
    seconds : float
        Time of the fit.
    status : str or None
        How it ended; see `ClusteringResult`.
    """

    seed: int
    scores: Mapping[str, float | None]
    sizes: tuple[int, ...] = ()
    seconds: float = 0.0
    status: str | None = None


@dataclass(frozen=True)
class ComparisonRow:
    """Results of one method on one graph.

    Every score is also an attribute: ``row.Q`` is its mean over the seeds, ``row.Q_spread`` the standard deviation.

    Attributes
    ----------
    method : str
        Name of the method.
    graph : str
        Name of the graph; empty if there is only one.
    fits : tuple of Fit
        One per seed; none if the method failed.
    stability : float or None
        Mean adjusted Rand index over all pairs of seeds: 1 when every seed gives the same clusters. None for
        a single seed.
    fairness : float or None
        The dial that was set, by ``fairness=`` or ``tune=``; None if the method kept its own, or has none.
    notes : tuple of str
        Warnings, of each kind the first.
    error : str or None
        Reason why there is no result.
    bad_input : bool
        Whether the error is one of the input, such as too many clusters, rather than of the method.
    """

    method: str
    graph: str = ""
    fits: tuple[Fit, ...] = ()
    stability: float | None = None
    fairness: float | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None
    bad_input: bool = False

    def by_seed(self, name: str) -> dict[int, float]:
        """Return a score of every seed that has it, by seed."""
        found = {fit.seed: fit.scores.get(name) for fit in self.fits}
        return {seed: value for seed, value in found.items() if value is not None}

    def values(self, name: str) -> list[float]:
        """Return a score of every seed that has it."""
        return list(self.by_seed(name).values())

    def mean(self, name: str) -> float | None:
        """Return the mean of a score over the seeds; None if a seed lacks it."""
        values = self.values(name)
        return float(np.mean(values)) if values and len(values) == len(self.fits) else None

    def spread(self, name: str) -> float | None:
        """Return the standard deviation of a score over the seeds (of a sample, so with n - 1); None for one seed."""
        values = self.values(name)
        return float(np.std(values, ddof=1)) if len(values) > 1 and len(values) == len(self.fits) else None

    def __getattr__(self, name: str) -> float | None:
        base = name.removesuffix("_spread")
        if name.startswith("_") or not (base in COMPARED or any(base in fit.scores for fit in self.fits)):
            raise AttributeError(f"ComparisonRow has no attribute and no score {name!r}.")
        return self.mean(name) if base == name else self.spread(base)

    @property
    def n_nonempty(self) -> int | None:
        """Clusters that have a node, of the first seed."""
        return sum(size > 0 for size in self.sizes) if self.fits else None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Nodes of each cluster, first seed."""
        return self.fits[0].sizes if self.fits else ()

    @property
    def seconds(self) -> float | None:
        """Median time of a fit."""
        return float(np.median([fit.seconds for fit in self.fits])) if self.fits else None

    @property
    def status(self) -> str | None:
        """How the fits ended; of several the worst: "diverged", "stopped", "max_iter", "converged"."""
        endings = [fit.status for fit in self.fits]
        return max(endings, key=lambda one: _SEVERITY.get(one, len(_SEVERITY)), default=None)

    @property
    def by_attribute(self) -> dict[str, float | None]:
        """Scores of every attribute if there are several, such as ``NB[gender]``; B, NB and rho are their means."""
        names = self.fits[0].scores if self.fits else ()
        return {name: self.mean(name) for name in names if "[" in name}

    def shown(self, name: str, spread: Spread = "sd") -> str:
        """Return one value as text for a table; scores with their spread."""
        if name in FACTS:
            value = getattr(self, name)
            if isinstance(value, tuple):
                return " ".join(map(str, value))
            digits = ".3g" if name == "fairness" else ".3f"
            return "" if value is None else format(value, digits) if isinstance(value, float) else str(value)
        mean = self.mean(name)
        if mean is None:
            return ""
        around = self.spread(name) if spread == "sd" and "[" not in name else None
        if spread == "interval" and len(self.fits) > 1:
            around = interval(self.values(name), CONFIDENCE)[1] - mean
        return f"{mean:.3f}" if around is None else f"{mean:.3f} ± {around:.3f}"


@dataclass(frozen=True)
class ComparedGraph:
    """Name and size of a graph of a comparison, and the clusters asked for."""

    name: str
    n_nodes: int
    n_edges: int
    n_clusters: int


def interval(values: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the interval of Student's t for a mean; NaN for fewer than two values.

    >>> low, high = interval([1.0, 2.0, 3.0], 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    if len(values) < 2:
        return np.nan, np.nan
    half = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1) * stats.sem(values))
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for several tests by the method of Holm; NaN stays, and is not counted as a test.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found = np.asarray(p_values, dtype=float)
    corrected = np.full(found.size, np.nan)
    n_tests = np.count_nonzero(~np.isnan(found))
    order = np.argsort(found)[:n_tests]  # NaN comes last
    corrected[order] = np.minimum(np.maximum.accumulate(found[order] * np.arange(n_tests, 0, -1)), 1.0)
    return corrected.tolist()


def wilcoxon(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of the signed-rank test; exact, also with ties, for few differences.

    Differences of zero are left out; without any other, p is 1.

    >>> wilcoxon(np.array([0.1, 0.2, 0.3, 0.0]))
    0.25
    """
    differences = np.round(differences, _DIGITS)
    differences = differences[differences != 0]
    if not differences.size:
        return 1.0
    if differences.size > _MOST_SIGNS:
        return float(stats.wilcoxon(differences).pvalue)
    ranks = stats.rankdata(np.abs(differences))
    signs = (np.arange(2**differences.size)[:, None] >> np.arange(differences.size)) & 1
    sums = signs @ ranks - ranks.sum() / 2
    observed = abs(ranks[differences > 0].sum() - ranks.sum() / 2)
    return float(np.mean(np.abs(sums) >= observed - 1e-9))


def paired_tests(
    rows: Sequence[ComparisonRow], metric: str, pairs: Iterable[tuple[str, str]], over: str
) -> dict[str, list[Any]]:
    """Return one row for each pair of methods, as columns."""
    scores = {(row.graph, row.method): row.by_seed(metric) for row in rows}
    graphs = dict.fromkeys(row.graph for row in rows)
    columns: dict[str, list[Any]] = {
        name: [] for name in ("method", "other", "n", "difference", "wins", "ties", "losses", "p")
    }
    for one, other in pairs:
        found: list[float] = []
        for graph in graphs:
            first, second = scores.get((graph, one), {}), scores.get((graph, other), {})
            each = np.round([first[seed] - second[seed] for seed in first if seed in second], _DIGITS)
            # If results do not depend on the seed there is one observation, for any number of seeds.
            constant = len(set(first.values())) == len(set(second.values())) == 1
            found += [float(each.mean())] if each.size and (over == "graphs" or constant) else each.tolist()
        differences = np.round(found, _DIGITS)
        known = bool(found)
        row = [one, other, len(found), float(np.mean(found)) if known else np.nan]
        row += [int(np.count_nonzero(np.sign(differences) == sign)) for sign in (1, 0, -1)]
        row += [wilcoxon(differences) if known else np.nan]
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return {**columns, "p_holm": holm(columns["p"])}
