"""One method on one network: measured, and as the paper prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from equigraph.reproduction import networks, scoring
from equigraph.reproduction.printed import printed

# FairPartition: one value of its dial for all real networks. Where clusters are planted they are fair, while Q is
# higher for the groups themselves, so there all of the dial is asked for.
DIAL, PLANTED_DIAL = 0.15, 1.0


@dataclass(frozen=True)
class Entry:
    """A place in the table."""

    network: str
    method: str
    # Over the runs, by measure; empty where the cell failed.
    means: Mapping[str, float] = field(default_factory=dict)
    spreads: Mapping[str, float] = field(default_factory=dict)
    n_runs: int = 0
    chosen: float | None = None  # value of the dial, for a method that has one
    sweep: tuple[dict[str, Any], ...] = ()  # means at every value of the dial

    @property
    def title(self) -> str:
        """Name of the method in tables."""
        return scoring.TITLES[self.method]

    @property
    def network_title(self) -> str:
        """Name of the network in tables."""
        return networks.TITLES[self.network]

    @property
    def failed(self) -> bool:
        """Whether there is no result."""
        return not self.means

    @property
    def quality(self) -> str:
        """Name of the measure of quality: accuracy where clusters are planted, Q elsewhere."""
        return "accuracy" if self.network in networks.SBM else "Q"

    @property
    def printed(self) -> dict[str, float]:
        """What the paper prints, by measure."""
        return printed(self.network, self.method)


def entry_of(network: str, method: str, result: Mapping[str, Any] | None) -> Entry:
    """Return the entry of what a cell gave, or of a cell that failed."""
    if result is None:
        return Entry(network, method)
    sweep = tuple(result.get("sweep", ()))
    if method == scoring.LEADING:
        dial = PLANTED_DIAL if network in networks.SBM else DIAL
        point = next(point for point in sweep if point["weight"] == dial)
        means = {name: point[name] for name in scoring.MEASURES if name in point}
        return Entry(network, method, means, point["spreads"], result["n_runs"], dial, sweep)
    runs = result["runs"]
    return Entry(
        network,
        method,
        means=scoring.means(runs),
        spreads=scoring.spreads(runs),
        n_runs=len(runs),
        chosen=result.get("chosen"),
        sweep=sweep,
    )
