"""One method on one network: measured, and as the paper prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from equigraph.apps.reproduction import networks, scoring

# One row per network: FairSC, sFairSC, iFairSC, DMoN, iFairNMTF; None where the paper prints a dash.
_COLUMNS = ("fair-sc", "scalable-fair-sc", "individual-fair-sc", "dmon", "ifair-nmtf")
_ROWS: dict[str, tuple[tuple[float, float] | None, ...]] = {
    "diaries": ((0.708, 0.612), (0.809, 0.684), (0.699, 0.647), (0.263, 0.145), (0.648, 0.640)),
    "facebook": ((0.327, 0.449), (0.602, 0.500), (0.330, 0.448), (0.268, 0.048), (0.514, 0.509)),
    "friendship": ((0.391, 0.483), (0.485, 0.627), (0.374, 0.392), (0.183, 0.140), (0.631, 0.669)),
    "drugnet": ((0.052, 0.263), (0.052, 0.270), (0.061, 0.263), (0.000, 0.326), (0.124, 0.588)),
    "nba": ((0.083, 0.000), (0.323, 0.113), (0.072, 0.000), (0.036, 0.057), (0.286, 0.150)),
    "lastfm": ((0.065, 0.003), (0.056, 0.035), (0.066, 0.002), (0.000, 0.526), (0.069, 0.600)),
    "sbm-2k": ((0.575, 0.588), None, (0.0, 0.799), None, (0.953, 0.958)),
    "sbm-5k": ((0.995, 0.998), None, (0.0, 0.799), None, (0.941, 0.962)),
    "sbm-10k": ((0.999, 0.999), None, (0.0, 0.600), None, (1.0, 1.0)),
}


def printed(network: str, method: str) -> dict[str, float]:
    """Return the printed values by measure; empty where the paper has none."""
    if method not in _COLUMNS:
        return {}
    pair = _ROWS[network][_COLUMNS.index(method)]
    if pair is None:
        return {}
    return {"B": pair[0], "accuracy" if network.startswith("sbm") else "Q": pair[1]}


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
    def weight(self) -> str:
        """Value of the dial in tables."""
        return "-" if self.chosen is None else f"{self.chosen:g}"

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
