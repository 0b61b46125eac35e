"""How long cells take: what is known of them before, and what is left of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from equigraph.reproduction.cells import Cell
from equigraph.reproduction.cost_hints import SECONDS
from equigraph.reproduction.store import stored_seconds

_UNKNOWN_SECONDS = 3.0
# The hints count as this many seconds of experience beside what the run itself has shown.
_TRUST_SECONDS = 20.0


def expected_seconds(cells: Iterable[Cell], folder: Path) -> dict[str, float]:
    """Return what each cell will take: as an earlier run in the folder tells, or by the hints of the package."""
    return {
        cell.key: stored_seconds(folder, cell) or SECONDS.get(cell.key, _UNKNOWN_SECONDS) for cell in cells
    }


class Forecast:
    """The time left, learned from the cells that are done; before that from the seconds that hints expect.

    >>> forecast = Forecast({"a": 100.0, "b": 50.0, "c": 50.0}, n_workers=2)
    >>> forecast.seconds_left(waiting=["b", "c"], running={"a": 0.0})
    100.0
    >>> forecast.learn("a", 200.0)
    >>> round(forecast.seconds_left(waiting=["b", "c"], running={}))
    92
    """

    def __init__(self, expected: Mapping[str, float], n_workers: int):
        self.expected = expected
        self.n_workers = n_workers
        self._hinted = self._taken = _TRUST_SECONDS

    def learn(self, key: str, seconds: float) -> None:
        """Take note of what a cell took."""
        self._hinted += self.expected[key]
        self._taken += seconds

    def seconds_left(self, *, waiting: Iterable[str], running: Mapping[str, float]) -> float:
        """Return the time left, given the seconds that each running cell has had."""
        pace = self._taken / self._hinted
        rest = [max(pace * self.expected[key] - had, 0.0) for key, had in running.items()]
        rest += [pace * self.expected[key] for key in waiting]
        # All workers share the rest, but one cell stays with one worker.
        return max(sum(rest) / self.n_workers, max(rest, default=0.0))
