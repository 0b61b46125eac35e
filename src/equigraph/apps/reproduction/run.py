"""The experiments by name, a whole run of some of them, and the page with all their tables and figures."""

from __future__ import annotations

import importlib
import os
import re
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from equigraph._utils.templates import environment
from equigraph._utils.text import did_you_mean
from equigraph._utils.version import __version__
from equigraph.apps.reproduction.cells import CellRun, Settings, Watch, run_cells
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
_SMALL = ("diaries", "facebook", "friendship", "drugnet")
EXPERIMENTS: dict[str, Experiment] = {
    name: Experiment(name, f"{_PACKAGE}.{module}", title, networks)
    for name, module, title, networks in (
        ("table1", "table1", "Nine networks, seven methods, five clusters", (*_SMALL, "nba", "lastfm")),
        ("table-dfnmf", "independent", "Normalised FairSC as others published it", (*_SMALL, "lastfm")),
        ("fig-k", "figure_k", "Over the number of clusters", ("drugnet", "lastfm")),
        ("fig-lambda", "figure_lambda", "Over the weight of iFairNMTF", ("drugnet", "lastfm")),
        ("fig-interaction", "interaction", "Which clusters interact", ()),
        ("fig-tradeoff-toy", "tradeoff_toy", "What the weight does to a small graph", ()),
        (
            "fig-convergence",
            "convergence",
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
    # Why something is missing: by key of a cell, or by name of an experiment whose files could not be written.
    failures: dict[str, str]
    outcome: CellRun  # results of the cells
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
    in Markdown, to ``page`` if that is given. A network that is not within reach, or a package that is missing, is an
    error before anything is computed.
    """
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
        done = [cell.key for cell in cells[name] if cell.key in outcome.finished]
        results = {key: outcome.finished[key].result for key in done}
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
    for path in filter(None, (report.page, page)):
        _write_page(report, experiments, settings, path)
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


def heaviest(outcome: CellRun) -> list[tuple[str, float]]:
    """Return what took most processor time, with its seconds, the largest first.

    Cells whose keys have the same first three parts are taken together; those that were stored before count too.
    """
    seconds: defaultdict[str, float] = defaultdict(float)
    for key, finished in outcome.finished.items():
        seconds[".".join(key.split(".")[:3])] += finished.cpu_seconds
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


def _write_page(report: Report, experiments: Sequence[Experiment], settings: Settings, path: Path) -> None:
    """Write a page, in HTML or Markdown by its suffix, with this run and what earlier ones left in the folder."""
    finished, root = report.outcome.finished, report.page.parent
    shares = heaviest(report.outcome)[:3]
    parts = [
        _part(experiment, report, path.parent, experiment not in experiments)
        for experiment in EXPERIMENTS.values()
        if experiment in experiments or (root / experiment.name).is_dir()
    ]
    templates = environment("equigraph.apps.reproduction")
    templates.filters["inline"] = inline
    templates.filters["lower"] = lambda text: re.sub("^#", "##", text, flags=re.MULTILINE)
    page = templates.get_template("page.md" if path.suffix == ".md" else "index.html").render(
        version=__version__,
        settings=settings,
        n_cells=len(finished),
        codes=Counter(cell.code for cell in finished.values()).most_common(),
        cpu=in_words(sum(cell.cpu_seconds for cell in finished.values())),
        shares=[f"{name} {in_words(seconds)}" for name, seconds in shares],
        failures=sorted(report.failures.items()),
        parts=parts,
    )
    write_text(path, re.sub(r"\n{3,}", "\n\n", page) if path.suffix == ".md" else page)


def _part(experiment: Experiment, report: Report, here: Path, earlier: bool) -> dict[str, Any]:
    """Return what a page shows of an experiment: its pictures, the text of its Markdown files, and links."""
    root = report.page.parent
    files = sorted((root / experiment.name).iterdir()) if earlier else report.files[experiment.name]

    def link(path: Path) -> Path:
        return Path(os.path.relpath(path, here))

    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".md"]
    return {
        "experiment": experiment,
        "earlier": earlier,
        "pictures": [link(path) for path in files if path.suffix == ".png"],
        "texts": texts,
        "blocks": [block for text in texts for block in blocks_of(text)],
        "files": [link(path) for path in files if path.suffix != ".png"],
    }


def blocks_of(markdown: str) -> list[dict[str, Any]]:
    r"""Return the headings, paragraphs, lists and tables of the Markdown that the experiments write.

    >>> blocks_of("## Title\n\n- one\n- two")
    [{'kind': 'heading', 'text': 'Title'}, {'kind': 'list', 'rows': ['one', 'two']}]
    """
    blocks: list[dict[str, Any]] = []
    for text in re.split(r"\n\s*\n", markdown.strip()):
        if text.startswith("#"):
            blocks.append({"kind": "heading", "text": text.lstrip("# ")})
        elif text.startswith("|"):
            rows = [
                [cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()
            ]
            blocks.append({"kind": "table", "rows": rows})
        elif text.startswith("- "):
            blocks.append({"kind": "list", "rows": re.split(r"(?:^|\n)- ", text)[1:]})
        else:
            blocks.append({"kind": "paragraph", "text": text})
    return blocks


def inline(text: str) -> Markup:
    """Return a line of Markdown as markup.

    >>> inline("A **b** < `c`.")
    Markup('A <b>b</b> &lt; <code>c</code>.')
    """
    found = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(escape(text)))
    return Markup(re.sub(r"`(.+?)`", r"<code>\1</code>", found))
