"""Runs of experiments by name, and the page with all tables and figures."""

from __future__ import annotations

import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from equigraph._utils.callbacks import Progress
from equigraph._utils.templates import environment
from equigraph._utils.text import count, did_you_mean
from equigraph._utils.version import __version__
from equigraph.apps.reproduction import convergence, figures, independent, table1, toys
from equigraph.apps.reproduction.cells import Cell, CellRun, Settings, run_cells
from equigraph.apps.reproduction.experiment import Experiment, write_output, write_text
from equigraph.apps.reproduction.scoring import REAL
from equigraph.exceptions import DatasetError, ParameterError, require

ALL = "all"
# By name on the command line, which is also that of the folder.
EXPERIMENTS: dict[str, Experiment] = {
    "table1": table1.EXPERIMENT,
    "table-dfnmf": independent.EXPERIMENT,
    "fig-k": figures.OVER_K,
    "fig-lambda": figures.OVER_WEIGHT,
    "fig-interaction": toys.INTERACTION,
    "fig-tradeoff-toy": toys.TRADEOFF,
    "fig-convergence": convergence.EXPERIMENT,
}


def get_experiments(name: str) -> list[str]:
    """Return the name of one experiment, or all names."""
    if name == ALL:
        return list(EXPERIMENTS)
    if name not in EXPERIMENTS:
        raise ParameterError(
            f"There is no experiment {name!r}{did_you_mean(name, EXPERIMENTS)}; the "
            f"experiments are {', '.join(EXPERIMENTS)}, or {ALL}."
        )
    return [name]


@dataclass(frozen=True)
class Report:
    """Report on a run."""

    files: dict[str, list[Path]]  # files written, by name of the experiment
    # Errors by key of a cell, or by name of an incomplete experiment.
    failures: dict[str, str]
    outcome: CellRun  # results of the cells
    seconds: float  # wall time of this run
    page: Path  # the page with all results


def reproduce(
    names: Sequence[str],
    folder: Path,
    settings: Settings,
    *,
    n_workers: int,
    watch: Callable[[Progress], Any] | None = None,
    page: Path | None = None,
) -> Report:
    """Run experiments, given by name, into a folder; cells stored there are not computed again.

    Results of cells go to ``cells``, tables and figures to a folder per experiment, all of them to ``index.html`` and,
    in Markdown, to ``page`` if that is given. An unavailable network or a missing package raises an error before
    anything is computed.
    """
    start = time.perf_counter()
    cells = {name: EXPERIMENTS[name].cells(settings) for name in names}
    _check_needs(cells)
    folder.mkdir(parents=True, exist_ok=True)
    outcome = run_cells(chain.from_iterable(cells.values()), folder, n_workers=n_workers, watch=watch)
    files: dict[str, list[Path]] = {}
    failures = dict(outcome.failures)
    for name, own in cells.items():
        failed = sum(cell.key in failures for cell in own)
        if failed:
            failures[name], files[name] = f"{failed} of {count(len(own), 'cell')} failed.", []
            continue
        done = [(cell, outcome.finished[cell.key]["result"]) for cell in own]
        files[name] = write_output(folder / name, name, EXPERIMENTS[name].output(done))
    seconds = time.perf_counter() - start
    report = Report(files, failures, outcome, seconds, folder / "index.html")
    for path in filter(None, (report.page, page)):
        _write_page(report, settings, path)
    return report


def _check_needs(cells: dict[str, list[Cell]]) -> None:
    """Raise an error for a missing package or network; networks are read here once, before the workers do."""
    from equigraph.datasets import load

    require("matplotlib", extra="plot", purpose="Drawing the figures")
    for name, own in cells.items():
        arguments = [cell.arguments for cell in own]
        if any(given.get("method") == "dmon" for given in arguments):
            require("torch", extra="neural", purpose="DMoN, one of the rivals,")
        for network in dict.fromkeys(given.get("network") for given in arguments):
            try:
                if network in REAL:
                    load(network)
            except DatasetError as error:
                raise DatasetError(
                    f"{name} needs the network {network!r}, and nothing was computed: {error}"
                ) from error


def heaviest(outcome: CellRun) -> list[tuple[str, float]]:
    """Return processor seconds by group of cells, largest first.

    Cells with the same first three parts of their keys form a group; cells stored before count too.
    """
    seconds: defaultdict[str, float] = defaultdict(float)
    for key, finished in outcome.finished.items():
        seconds[".".join(key.split(".")[:3])] += finished["cpu_seconds"]
    return sorted(seconds.items(), key=lambda item: (-item[1], item[0]))


def in_words(seconds: float) -> str:
    """Return a time in hours, minutes and seconds.

    >>> in_words(42.3), in_words(750), in_words(7000)
    ('42 s', '12 min 30 s', '1 h 56 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _write_page(report: Report, settings: Settings, path: Path) -> None:
    """Write a page, in HTML or Markdown by its suffix, with this run and results of earlier runs in the folder."""
    finished, root = report.outcome.finished, report.page.parent
    shares = heaviest(report.outcome)[:3]
    parts = []
    for name, experiment in EXPERIMENTS.items():
        earlier = name not in report.files
        if earlier and not (root / name).is_dir():
            continue
        files = sorted((root / name).iterdir()) if earlier else report.files[name]
        links = [Path(os.path.relpath(file, path.parent)).as_posix() for file in files]
        texts = [file.read_text(encoding="utf-8") for file in files if file.suffix == ".md"]
        parts.append(
            {"name": name, "title": experiment.title, "earlier": earlier, "links": links, "texts": texts}
        )
    templates = environment("equigraph.apps.reproduction")
    templates.filters["inline"] = inline
    templates.filters["lower"] = lambda text: re.sub("^#", "##", text, flags=re.MULTILINE)
    page = templates.get_template("page.md" if path.suffix == ".md" else "index.html").render(
        version=__version__,
        settings=settings,
        n_cells=len(finished),
        codes=Counter(cell["code"] for cell in finished.values()).most_common(),
        cpu=in_words(sum(cell["cpu_seconds"] for cell in finished.values())),
        shares=[f"{name} {in_words(seconds)}" for name, seconds in shares],
        failures=sorted(report.failures.items()),
        parts=parts,
    )
    write_text(path, page)


def inline(text: str) -> Markup:
    """Return a line of Markdown as markup.

    >>> inline("A **b** < `c`.")
    Markup('A <b>b</b> &lt; <code>c</code>.')
    """
    found = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(escape(text)))
    return Markup(re.sub(r"`(.+?)`", r"<code>\1</code>", found))
