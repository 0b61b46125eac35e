"""The experiments by name, and a whole run of some: check what is needed, compute the cells, write what follows."""

from __future__ import annotations

import importlib
import time
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equigraph._utils.text import did_you_mean
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.engine import CellResults, Watch, run_cells
from equigraph.apps.reproduction.tables import write_text
from equigraph.exceptions import DatasetError, ParameterError, require

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


_PACKAGE = "equigraph.apps.reproduction"
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "table1",
            f"{_PACKAGE}.table1",
            "Nine networks, seven methods, five clusters",
            ("diaries", "facebook", "friendship", "drugnet", "nba", "lastfm"),
        ),
        Experiment(
            "table-dfnmf",
            f"{_PACKAGE}.independent",
            "Normalised FairSC as others published it",
            ("diaries", "facebook", "friendship", "drugnet", "lastfm"),
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
    """Return one experiment, or all of them."""
    if name == ALL:
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise ParameterError(
            f"There is no experiment {name!r}{did_you_mean(name, EXPERIMENTS)}; the "
            f"experiments are {', '.join(EXPERIMENTS)}, or {ALL}."
        )
    return [EXPERIMENTS[name]]


@dataclass(frozen=True)
class Report:
    """What a run gave."""

    files: dict[str, list[Path]]  # files written, by name of the experiment
    # Why something is missing: by key of a cell, or by name of an experiment whose files could not be
    # written.
    failures: dict[str, str]
    outcome: CellResults  # results of the cells
    seconds: float  # time of this run on the clock
    page: Path  # the page that shows everything


def reproduce(
    experiments: Sequence[Experiment],
    folder: Path,
    settings: Settings,
    *,
    n_workers: int,
    watch: Watch | None = None,
    page: Path | None = None,
) -> Report:
    """Run experiments into a folder; what is already stored there is not computed again.

    Results of cells go to ``cells``, tables and figures to a folder per experiment, all of them to ``index.html`` and,
    in Markdown, to ``page`` if that is given. A
    network that is not within reach, or a package that is missing, is an error before anything is computed.
    """
    from equigraph.apps.reproduction.page import write_page

    start = time.perf_counter()
    require("matplotlib", extra="plot", purpose="Drawing the figures")
    _fetch(experiments)
    folder.mkdir(parents=True, exist_ok=True)
    modules = {experiment.name: experiment.load() for experiment in experiments}
    cells = {name: module.cells(settings) for name, module in modules.items()}
    if any(cell.arguments.get("method") == "dmon" for own in cells.values() for cell in own):
        require("torch", extra="neural", purpose="DMoN, one of the rivals,")
    outcome = run_cells(
        (cell for own in cells.values() for cell in own), folder, n_workers=n_workers, watch=watch
    )
    files: dict[str, list[Path]] = {}
    failures = dict(outcome.failures)
    for name, module in modules.items():
        results = {
            cell.key: outcome.finished[cell.key].result
            for cell in cells[name]
            if cell.key in outcome.finished
        }
        trace = folder / f"{name}.failed.txt"
        trace.unlink(missing_ok=True)
        try:
            files[name] = module.finish(settings, results, folder / name)
        # One experiment must not take the others' files with it; with a failed cell any error may follow.
        except Exception as error:
            files[name] = []
            failures[name] = f"The files could not be written: {type(error).__name__}: {error}"
            write_text(trace, traceback.format_exc())
    seconds = time.perf_counter() - start
    report = Report(files, failures, outcome, seconds, folder / "index.html")
    write_page(report, experiments, settings)
    if page is not None:
        write_page(report, experiments, settings, page)
    return report


def _fetch(experiments: Iterable[Experiment]) -> None:
    """Make sure that all networks can be read, here and not in several processes at once."""
    from equigraph.datasets import load

    users: dict[str, str] = {}
    for experiment in experiments:
        for network in experiment.networks:
            users.setdefault(network, experiment.name)
    for network, user in users.items():
        try:
            load(network)
        except DatasetError as error:
            raise DatasetError(
                f"{user} needs the network {network!r}, and nothing was computed: {error}"
            ) from error


def heaviest(outcome: CellResults, *, parts: int) -> list[tuple[str, float]]:
    """Return what took most processor time: the first parts of the keys with their seconds, the largest first.

    So many parts of a key, which are separated by dots, are taken together; cells that were stored before count too.
    """
    seconds: dict[str, float] = {}
    for key, finished in outcome.finished.items():
        name = ".".join(key.split(".")[:parts])
        seconds[name] = seconds.get(name, 0.0) + finished.cpu_seconds
    return sorted(seconds.items(), key=lambda item: (-item[1], item[0]))


def in_words(seconds: float) -> str:
    """Return a time as people say it.

    >>> in_words(42.3), in_words(750), in_words(7000)
    ('42 s', '12 min 30 s', '1 h 56 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
