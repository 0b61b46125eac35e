"""The best labels known: long runs of everything in the box, pooled over the dial."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from numpy.typing import NDArray

import equigraph as eg
from benchmarks.unseen.fits import DEFAULT, DIAL, Scored, fit_default, fit_louvain, refine
from benchmarks.unseen.graphs import Case

LONG_EFFORT = 20.0
LONG_SEEDS, LOUVAIN_SEEDS, LEIDEN_SEEDS = 3, 5, 2
# Of the seconds for a value of the dial: what the long runs get; the rest is for searching on from the best.
LONG_SHARE = 0.8
# Runs that are to find what the measured ones did not must have other seeds.
OTHER_SEEDS = 1000


@dataclass
class Pool:
    """All labels found on a case, and by what: labels found at one value of the dial may be the best at another."""

    found: list[tuple[str, Scored]] = field(default_factory=list)

    def add(self, origin: str, scored: Scored) -> None:
        """Keep labels."""
        self.found.append((origin, scored))

    def best(self, fairness: float) -> tuple[str, Scored]:
        """Return the best labels at a value of the dial, and what found them first."""
        return max(self.found, key=lambda one: one[1].value(fairness))


def foreign(case: Case, seed: int, others: Iterable[NDArray]) -> Iterator[tuple[str, NDArray]]:
    """Give labels of methods that know neither k nor groups."""
    for number in range(LEIDEN_SEEDS):
        model = eg.Leiden(n_iterations=-1, random_state=seed + number)
        yield "Leiden", model.fit_predict(case.adjacency)
    for labels in others:
        yield "VieClus", labels


def long_runs(case: Case, fairness: float, seed: int, seconds: float) -> Iterator[tuple[str, Scored]]:
    """Run FairLouvain and then the default method at a high effort, the latter within the seconds that are left."""
    start = time.monotonic()
    for number in range(LOUVAIN_SEEDS):
        yield "FairLouvain", fit_louvain(case, fairness, seed + number)
    for number in range(LONG_SEEDS):
        left = (seconds - (time.monotonic() - start)) / (LONG_SEEDS - number)
        if left > 0:
            yield (
                f"{DEFAULT}, long",
                fit_default(case, fairness, seed + number, effort=LONG_EFFORT, limit=left),
            )


def fill(pool: Pool, case: Case, seed: int, seconds: float, others: Sequence[NDArray] = ()) -> None:
    """Add the labels of long runs, about ``seconds`` (by the clock) for each value of the dial."""
    seed += OTHER_SEEDS
    strangers = list(foreign(case, seed, others))
    for fairness in DIAL:
        for origin, labels in strangers:
            pool.add(origin, refine(case, labels, fairness))
        for origin, scored in long_runs(case, fairness, seed, LONG_SHARE * seconds):
            pool.add(origin, scored)
    # Up and down the dial, from the best found so far at each value: what one value found is carried to the next.
    way = [*DIAL, *reversed(DIAL)]
    for fairness in way:
        start = pool.best(fairness)[1].labels
        limit = (1 - LONG_SHARE) * seconds * len(DIAL) / len(way)
        pool.add("search from the best", refine(case, start, fairness, effort=1.0, limit=limit))
