"""Run the scale benchmark: see `benchmarks.scale`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import benchmarks.scale
from benchmarks.scale import picture, report
from benchmarks.scale.graphs import POKEC, planted_name
from benchmarks.scale.machine import machine, versions
from benchmarks.scale.methods import METHODS
from benchmarks.scale.rows import ROOT, GraphFolder, Settings, collect, prepare_graph

LARGEST = 10_000_000
# A planted cluster must be able to hold the inner degree.
LEAST_CLUSTER = 20


def size(text: str) -> int:
    """Read a number of nodes such as ``10K`` or ``1M``.

    Examples
    --------
    >>> size("10K"), size("1.5M"), size("300")
    (10000, 1500000, 300)
    """
    unit = {"K": 1e3, "M": 1e6}.get(text[-1:].upper(), 1)
    try:
        value = float(text if unit == 1 else text[:-1]) * unit
    except ValueError:
        value = float("nan")
    if not (value >= 1 and value.is_integer()):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number of nodes: give a whole number, such as 5000, 10K or 1M."
        )
    return int(value)


def sizes(text: str) -> list[int]:
    """Read numbers of nodes between commas; they are sorted."""
    return sorted({size(part.strip()) for part in text.split(",")})


def parse(arguments: list[str] | None) -> argparse.Namespace:
    defaults = Settings()
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale", description=benchmarks.scale.__doc__)
    parser.add_argument("--sizes", type=sizes, default="10K,100K,1M", help="nodes of the planted graphs")
    parser.add_argument("--largest", action="store_true", help="10M nodes too")
    parser.add_argument("--no-pokec", action="store_true", help="leave Pokec-n out")
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=METHODS,
        default=list(METHODS),
        metavar="NAME",
        help=f"some of {', '.join(METHODS)}; all by default",
    )
    parser.add_argument("--limit", type=float, default=defaults.limit, help="seconds of a process")
    parser.add_argument("--memory", type=float, default=defaults.memory_gib, help="GiB of a process")
    parser.add_argument("--threads", type=int, default=defaults.threads)
    parser.add_argument("--clusters", type=int, default=defaults.n_clusters)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results" / "scale")
    parser.add_argument("--fresh", action="store_true", help="measure everything anew")
    options = parser.parse_args(arguments)
    if options.largest:
        options.sizes = sorted({*options.sizes, LARGEST})
    if options.limit <= 0 or options.memory <= 0:
        parser.error("--limit and --memory must be above 0.")
    if options.threads < 1 or options.clusters < 2 or options.seed < 0:
        parser.error("--threads must be at least 1, --clusters at least 2, --seed at least 0.")
    if options.threads > machine()["cores"]:
        parser.error(f"--threads is {options.threads}, and there are {machine()['cores']} cores.")
    if options.sizes[0] < LEAST_CLUSTER * options.clusters:
        parser.error(f"--sizes must be at least {LEAST_CLUSTER} nodes for each of --clusters.")
    return options


def graph_folders(options: argparse.Namespace, settings: Settings) -> Iterator[GraphFolder]:
    """Give the graphs, each made just before it is needed; one that cannot be made is told and left out."""
    for n_nodes in [*([] if options.no_pokec else [None]), *options.sizes]:
        try:
            yield prepare_graph(n_nodes, options.results, settings, fresh=options.fresh)
        except RuntimeError as error:
            print(f"{POKEC if n_nodes is None else planted_name(n_nodes)} is left out: {error}", flush=True)


def facts_of(options: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    return {
        "machine": machine(),
        "versions": versions(),
        "settings": asdict(settings),
        "sizes": options.sizes,
    }


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    settings = Settings(options.clusters, options.seed, options.threads, options.limit, options.memory)
    facts = facts_of(options, settings)
    where = facts["machine"]
    print(f"{where['cpu']}, {where['cores']} cores, {where['memory_gib']} GiB, {where['system']}")
    print(", ".join(f"{name} {version or 'not installed'}" for name, version in facts["versions"].items()))
    print(
        f"{settings.threads} threads, {settings.n_clusters} clusters, seed {settings.seed}; at most "
        f"{settings.limit:g} s and {settings.memory_gib:g} GiB of address space for a method on a graph"
    )
    if os.getloadavg()[0] > 0.5:
        print(f"The machine is not idle (load {os.getloadavg()[0]:.1f}): times below are too long.")
    rows = []
    for row in collect(
        options.methods, graph_folders(options, settings), options.results, settings, fresh=options.fresh
    ):
        rows.append(row)
        told = report.number(row.get("seconds"))
        print(f"  {row['graph']:14s} {row['label']:42s} {told:>8s} s  {report.remark(row)}", flush=True)
    if not rows:
        sys.exit("No graph could be made: nothing was measured.")
    show(rows, facts, options.results)


def show(rows: list[report.Row], facts: dict[str, Any], results: Path) -> None:
    """Print the tables and write the files."""
    rows = report.with_ratios(rows)
    for graph in dict.fromkeys(row["graph"] for row in rows):
        report.print_graph([row for row in rows if row["graph"] == graph])
    report.print_floor(rows)
    report.print_growth(rows)
    report.write(results, rows, facts)
    settings, where = facts["settings"], facts["machine"]
    picture.draw(
        rows,
        results / "scale.png",
        limit=settings["limit"],
        memory_gib=settings["memory_gib"],
        title=f"{settings['n_clusters']} clusters, {settings['threads']} threads, {where['cpu']}",
    )
    print(f"\nWritten: {', '.join(str(results / f'scale.{kind}') for kind in ('csv', 'json', 'png'))}")


if __name__ == "__main__":
    # By an exception, so that the process that is being measured ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
