"""One case: every point of the dial, and the point at VieClus's number of clusters."""

from __future__ import annotations

import traceback
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks.unseen.best import Pool, fill
from benchmarks.unseen.fits import DEFAULT, DIAL, fit_default, fit_louvain, score, warm_up
from benchmarks.unseen.graphs import Case
from benchmarks.unseen.rival import vieclus_labels


@dataclass(frozen=True)
class Settings:
    """How long is searched for the best known labels (seconds per point; 0: not at all), and VieClus (0: not run)."""

    long: float = 60.0
    vieclus: float = 20.0


@dataclass(frozen=True)
class Point:
    """The objectives of one case at one value of the dial, and the seconds of the processor."""

    seed: int
    case: str
    k: int
    n_groups: int
    fairness: float
    ours: float
    louvain: float
    seconds: float
    louvain_seconds: float
    best: float | None = None
    best_by: str | None = None

    @property
    def ahead(self) -> float:
        """How far the default method is ahead of FairLouvain."""
        return self.ours - self.louvain

    @property
    def behind_best(self) -> float | None:
        """How far the default method is behind the best known labels."""
        return None if self.best is None else self.best - self.ours


@dataclass(frozen=True)
class Duel:
    """Modularity of the default method at dial 0 and of VieClus, with VieClus's number of clusters."""

    seed: int
    case: str
    k: int
    ours: float
    vieclus: float
    seconds: float

    @property
    def ahead(self) -> float:
        """How far the default method is ahead."""
        return self.ours - self.vieclus


@dataclass
class Outcome:
    """What was measured on one case; ``error`` says why nothing was."""

    seed: int
    case: str
    points: list[Point] = field(default_factory=list)
    duel: Duel | None = None
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Outcome:
        """Return what `as_dict` gave."""
        points = [Point(**point) for point in stored["points"]]
        return cls(**{**stored, "points": points, "duel": stored["duel"] and Duel(**stored["duel"])})


def measure(seed: int, case: Case, settings: Settings) -> Outcome:
    """Measure one case; what goes wrong is told and ends this case alone."""
    outcome = Outcome(seed, case.name)
    try:
        warm_up()
        _measure(outcome, case, settings)
    except Exception as error:  # a run of an hour goes on, and says at its end which cases failed
        traceback.print_exc()
        outcome.error = f"{type(error).__name__}: {error}"
    return outcome


def _measure(outcome: Outcome, case: Case, settings: Settings) -> None:
    seed, pool = outcome.seed, Pool()
    runs = [
        (fairness, fit_default(case, fairness, seed), fit_louvain(case, fairness, seed)) for fairness in DIAL
    ]
    for _, ours, louvain in runs:
        pool.add(f"{DEFAULT}, default", ours)
        pool.add("FairLouvain", louvain)
    others = []
    if settings.vieclus > 0:
        others.append(vieclus_labels(case.adjacency, settings.vieclus, seed))
        outcome.duel = duel(seed, case, others[0])
    if settings.long > 0:
        fill(pool, case, seed, settings.long, others)
    for fairness, ours, louvain in runs:
        origin, best = pool.best(fairness)
        known = {"best": best.value(fairness), "best_by": origin} if settings.long > 0 else {}
        outcome.points.append(
            Point(
                seed,
                case.name,
                case.k,
                int(np.unique(case.groups).size),
                fairness,
                ours.value(fairness),
                louvain.value(fairness),
                ours.seconds,
                louvain.seconds,
                **known,
            )
        )


def duel(seed: int, case: Case, labels: np.ndarray) -> Duel | None:
    """Fit the default method with as many clusters as VieClus found; None where that is a single one."""
    k = np.unique(labels).size
    if k < 2:
        return None
    theirs, ours = score(case, labels, k), fit_default(case, 0.0, seed, k=k)
    return Duel(seed, case.name, k, ours.modularity, theirs.modularity, ours.seconds)
