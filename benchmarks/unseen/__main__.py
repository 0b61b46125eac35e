"""Run the benchmark: see `benchmarks.unseen`."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

import benchmarks.unseen
import equigraph as eg
from benchmarks.scale.machine import PACKAGES, machine, source_digest, versions
from benchmarks.unseen import report
from benchmarks.unseen.fits import DEFAULT
from benchmarks.unseen.graphs import Case, suite
from benchmarks.unseen.measure import Outcome, Settings, measure
from benchmarks.unseen.rival import check_vieclus
from equigraph._utils.records import write_json
from equigraph.exceptions import MissingDependencyError

Task = tuple[int, Case]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    defaults = Settings()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks unseen", description=benchmarks.unseen.__doc__
    )
    parser.add_argument("--seeds", type=int, nargs="+", required=True, help="each gives 14 graphs")
    parser.add_argument(
        "--cases", nargs="+", metavar="WORD", help="only cases whose name contains one of these"
    )
    parser.add_argument("--long", type=float, default=defaults.long, help="seconds of long runs per point")
    parser.add_argument(
        "--vieclus", type=float, default=defaults.vieclus, help="seconds of VieClus per graph"
    )
    parser.add_argument("--no-vieclus", action="store_true", help="leave VieClus out")
    parser.add_argument("--quick", action="store_true", help="FairLouvain only: no long runs, no VieClus")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", type=Path, help="file for all numbers; written anew after every case")
    parser.add_argument("--resume", action="store_true", help="keep what --json holds of this run, and go on")
    options = parser.parse_args(arguments)
    if min(options.seeds) < 0 or options.jobs < 1:
        parser.error("--seeds must be at least 0, --jobs at least 1.")
    if options.long <= 0 or options.vieclus <= 0:
        parser.error("--long and --vieclus must be above 0; --quick and --no-vieclus leave them out.")
    options.settings = Settings(
        0.0 if options.quick else options.long,
        0.0 if options.quick or options.no_vieclus else options.vieclus,
    )
    options.tasks = tasks(options.seeds, options.cases)
    if not options.tasks:
        parser.error(f"--cases: no case has {' or '.join(options.cases)} in its name.")
    try:
        if options.settings.vieclus > 0:
            check_vieclus()
    except MissingDependencyError as error:
        parser.error(f"{error} Or leave it out with --no-vieclus.")
    options.facts = facts(options.settings)
    try:
        options.done = earlier(options) if options.resume else []
    except (OSError, ValueError) as error:
        parser.error(f"--resume: {error}")
    return options


def facts(settings: Settings) -> dict[str, Any]:
    """Return what numbers of one run have in common: how and by what code they were measured."""
    return {
        "method": DEFAULT,
        "settings": asdict(settings),
        "code": source_digest(Path(eg.__file__).parent, Path(benchmarks.unseen.__file__).parent),
    }


def earlier(options: argparse.Namespace) -> list[Outcome]:
    """Read the cases that were measured without an error before the run was interrupted."""
    if options.json is None:
        raise ValueError("give the file of the run with --json.")
    if not options.json.exists():
        return []
    stored = json.loads(options.json.read_text(encoding="utf-8"))
    if any(stored.get(name) != value for name, value in options.facts.items()):
        raise ValueError(f"{options.json} was measured with other options or other code; name another file.")
    wanted = {(seed, case.name) for seed, case in options.tasks}
    found = map(Outcome.from_dict, stored["outcomes"])
    return [one for one in found if one.error is None and (one.seed, one.case) in wanted]


def tasks(seeds: Sequence[int], words: Sequence[str] | None) -> list[Task]:
    """Return the cases of all seeds, or those whose name contains a word."""
    found = [(seed, case) for seed in dict.fromkeys(seeds) for case in suite(seed)]
    return [task for task in found if words is None or any(word in task[1].name for word in words)]


def run(todo: Sequence[Task], settings: Settings, jobs: int) -> Iterator[Outcome]:
    """Give the outcomes as they come."""
    if jobs == 1:
        for seed, case in todo:
            yield measure(seed, case, settings)
        return
    # Forked threads of compiled loops would hang.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        # Large graphs first, so that none of them is left alone at the end.
        ordered = sorted(todo, key=lambda task: -task[1].adjacency.nnz)
        for future in as_completed([pool.submit(measure, seed, case, settings) for seed, case in ordered]):
            yield future.result()


def write(path: Path, outcomes: Sequence[Outcome], common: dict[str, Any]) -> None:
    """Write all numbers so far."""
    content = {
        **common,
        "machine": machine(),
        "versions": versions((*PACKAGES, "networkx", "vieclus")),
        "totals": report.totals(outcomes),
        "outcomes": [outcome.as_dict() for outcome in outcomes],
    }
    write_json(path, content)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    outcomes: list[Outcome] = list(options.done)
    known = {(one.seed, one.case) for one in outcomes}
    todo = [(seed, case) for seed, case in options.tasks if (seed, case.name) not in known]
    for outcome in run(todo, options.settings, options.jobs):
        outcomes.append(outcome)
        print(
            f"{len(outcomes)} of {len(options.tasks)}: seed {outcome.seed}, {outcome.case}", file=sys.stderr
        )
        outcomes.sort(key=lambda one: (one.seed, one.case))
        if options.json is not None:
            write(options.json, outcomes, options.facts)
    report.print_run(outcomes)
    return int(any(outcome.error is not None for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
