"""``equigraph reproduce``: compute the paper's tables and figures again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equigraph._utils.text import count
from equigraph.apps.cli.app import FAILED
from equigraph.apps.cli.console import line, note, progress_bar, table
from equigraph.apps.cli.options import Command

if TYPE_CHECKING:
    from equigraph.apps.reproduction.run import Report

_LOG_SECONDS = 60.0  # between two lines of progress where there is no terminal
_SHOWN = 6


@click.command("reproduce", cls=Command)
def command(experiment: str, **given: Any) -> None:
    """Compute the tables and figures of the iFairNMTF paper again.

    EXPERIMENT is table1, table-dfnmf, fig-k, fig-lambda, fig-interaction, fig-tradeoff-toy, fig-convergence, or all.
    All results are on one page, DIR/index.html. Repeat the command to resume an interrupted run. Exit code 1 if a part
    failed; the other parts are complete.
    """
    from equigraph.apps.reproduction.cells import Settings
    from equigraph.apps.reproduction.run import get_experiments, reproduce
    from equigraph.results.persistence import OutputFolder
    from equigraph.stores.threads import available_cores

    names = get_experiments(experiment)
    settings = Settings(quick=given["quick"], seed=given["seed"])
    folder = given["output"] or ("reproduction-quick" if settings.quick else "reproduction")
    try:
        with OutputFolder(folder, patience=0), progress_bar(quiet=given["quiet"]) as bars:
            report = reproduce(
                names,
                Path(folder),
                settings,
                n_workers=given["jobs"] or available_cores(),
                watch=bars[0] if bars else None if given["quiet"] else _log_each_minute(),
                page=given["page"],
            )
    except KeyboardInterrupt:
        note(f"Finished cells are kept in {folder}: the same command goes on from there.")
        raise click.Abort from None
    _print_report(report)
    if report.failures:
        raise click.exceptions.Exit(FAILED)


def _print_report(report: Report) -> None:
    from equigraph.apps.reproduction.run import heaviest, in_words

    for files in report.files.values():
        for path in files:
            line(f"Wrote {path}")
    finished, reused = report.outcome.finished, report.outcome.reused
    cpu = sum(cell["cpu_seconds"] for key, cell in finished.items() if key not in reused)
    line(
        f"Took {in_words(report.seconds)}: {in_words(cpu)} of processor time in "
        f"{count(len(finished) - len(reused), 'cell')}; {count(len(reused), 'cell')} had been stored before."
    )
    rows = [(name, in_words(seconds)) for name, seconds in heaviest(report.outcome)[:_SHOWN]]
    table(("most time went to", "processor"), rows, left=("most time went to",))
    for key, why in sorted(report.failures.items()):
        line(f"{key} failed: {why}")
    line(f"Everything on one page: {report.page}")


def _log_each_minute() -> Any:
    """Return a callback that prints the progress of a run, at most once a minute."""
    last = time.monotonic()

    def log(progress: Any) -> None:
        nonlocal last
        if time.monotonic() - last >= _LOG_SECONDS:
            last = time.monotonic()
            note(f"{progress.step} of {progress.total} cells done")

    return log
