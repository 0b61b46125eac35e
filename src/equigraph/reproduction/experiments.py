"""The experiments by name."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from equigraph.exceptions import ParameterError
from equigraph.words import did_you_mean

ALL = "all"


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper."""

    name: str  # name on the command line, and of its folder
    module: str  # module with ``cells(settings)`` and ``finish(settings, results, folder)``
    title: str  # heading of its part of the page
    networks: tuple[str, ...] = ()  # real networks that it needs

    def load(self) -> Any:
        """Import and return the module."""
        return importlib.import_module(self.module)


_PACKAGE = "equigraph.reproduction"
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "table1",
            f"{_PACKAGE}.table1",
            "Nine networks, seven methods, five clusters",
            ("diaries", "facebook", "friendship", "drugnet", "nba", "lastfm"),
        ),
        Experiment("fig-k", f"{_PACKAGE}.figure_k", "Over the number of clusters", ("drugnet", "lastfm")),
        Experiment(
            "fig-lambda", f"{_PACKAGE}.figure_lambda", "Over the weight of iFairNMTF", ("drugnet", "lastfm")
        ),
        Experiment("fig-interaction", f"{_PACKAGE}.interaction", "Which clusters interact"),
        Experiment("fig-tradeoff-toy", f"{_PACKAGE}.tradeoff_toy", "What the weight does to a small graph"),
        Experiment(
            "fig-convergence",
            f"{_PACKAGE}.convergence",
            "The loss, iteration by iteration",
            ("diaries", "drugnet", "facebook"),
        ),
    )
}


def get_experiments(name: str) -> list[Experiment]:
    """Return one experiment, or all of them.

    >>> [experiment.name for experiment in get_experiments("fig-k")], len(get_experiments("all"))
    (['fig-k'], 6)
    """
    if name == ALL:
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise ParameterError(
            f"There is no experiment {name!r}{did_you_mean(name, EXPERIMENTS)}; the "
            f"experiments are {', '.join(EXPERIMENTS)}, or {ALL}."
        )
    return [EXPERIMENTS[name]]
