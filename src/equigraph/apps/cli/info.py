"""``equigraph methods``, ``datasets``, ``cite`` and ``warmup``."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

import click

import equigraph as eg
from equigraph._utils.text import count
from equigraph.apps.cli import options
from equigraph.apps.cli.app import FAILED, Commands
from equigraph.apps.cli.console import line, print_json, table
from equigraph.apps.cli.options import DEBUG_HELP, Command
from equigraph.apps.cli.sources import EMBEDDED, PREFIX, check_dataset
from equigraph.exceptions import DatasetError
from equigraph.methods import METHODS, get_method


@click.command("methods", cls=Command)
def methods(name: str | None, as_json: bool) -> None:
    """List the methods, or the parameters of one of them."""
    if name is None:
        known = [{"name": m.name, "summary": m.summary, "extra": m.extra} for m in METHODS.values()]
        if as_json:
            print_json(known)
            return
        heads = ("method", "what it does", "needs extra")
        table(heads, [list(one.values()) for one in known], left=heads)
        line("The parameters of one: equigraph methods NAME")
        return
    method = get_method(name)
    parameters = _parameters(method)
    if as_json:
        print_json({"name": method.name, "summary": method.summary, "parameters": parameters})
        return
    line(f"{method.name}: {method.summary} (equigraph.{method.estimator})")
    columns = ("option", "values", "default", "meaning")
    table(columns, [[row[column] for column in columns] for row in parameters], left=columns)


# Parameters that are typed in another form than their values have in Python.
_TYPED = {
    "attribute_weights": "a number after the name and a colon",
    "rules": "a .json or .toml file; or --together, --apart, --sizes, --friends, --shares",
}


def _parameters(method: Any) -> list[dict[str, Any]]:
    estimator = method.load()
    defaults = options.default_texts(estimator)
    flags = {
        one.name: ", ".join([*one.opts, *one.secondary_opts]) for one in options.parameter_options(method)
    }
    typed = {*flags, *options.OWN}
    return [
        {
            "name": name,
            "option": flags.get(name) or options.OWN.get(name) or f"(only in Python: {name})",
            "values": _TYPED.get(name)
            or (options.describe_values(constraint) if name in typed else constraint.describe()),
            "default": defaults[name],
            "meaning": constraint.help,
        }
        for name, constraint in estimator._parameters.items()
        if name != "callbacks"  # the command line has a progress bar and --time-limit instead
    ]


@click.group("datasets", cls=Commands)
@click.option("--debug", is_flag=True, expose_value=False, help=DEBUG_HELP)
def datasets() -> None:
    """List, describe and fetch the data sets."""


@datasets.command("list")
def list_command(as_json: bool) -> None:
    """List the data sets with their sizes."""
    rows = _datasets()
    if as_json:
        print_json(rows)
        return
    columns = ("name", "nodes", "edges", "attribute", "groups", "MB", "title")
    cells = [[row[column] for column in columns] for row in rows]
    table(columns, cells, left=("name", "attribute", "groups", "title"))
    line(f"Use one in place of a file: equigraph cluster {PREFIX}{EMBEDDED}")


def _datasets() -> list[dict[str, Any]]:
    room = eg.datasets.make_classroom()
    classroom = eg.datasets.DatasetInfo(
        EMBEDDED,
        "A class of students, generated (always here)",
        room.node_names.size,
        room.adjacency.nnz // 2,
        room.attribute,
        groups=tuple(sorted(Counter(room.sensitive_features.tolist()).items())),
        url="",
        files=(),
    )
    return [
        {
            "name": info.name,
            "title": info.title,
            "nodes": info.n_nodes,
            "edges": info.n_edges,
            "attribute": info.attribute,
            "groups": ", ".join(f"{size} {group}" for group, size in info.groups),
            "MB": f"{info.n_bytes / 1e6:.2f}",
        }
        for info in (classroom, *eg.datasets.list_datasets())
    ]


@datasets.command("info")
def info_command(name: str) -> None:
    """Show where a data set comes from, its licence, and how it is cleaned."""
    check_dataset(name)
    line((eg.datasets.make_classroom().DESCR if name == EMBEDDED else eg.datasets.describe(name)).rstrip())


@datasets.command("fetch")
def fetch_command(names: tuple[str, ...], raw: bool, data_home: str | None, quiet: bool) -> None:
    """Fetch data sets, check them, and print their sizes."""
    for name in names:
        check_dataset(name)
    failed = False
    for name in names:
        if name == EMBEDDED:
            line(f"{EMBEDDED}: part of equigraph, nothing to fetch; use {PREFIX}{EMBEDDED}")
            continue
        try:
            data = eg.datasets.load(
                name, raw=raw, data_home=data_home, progress=not quiet and sys.stderr.isatty()
            )
        except DatasetError as error:
            click.echo(f"Error: {error}", err=True)
            failed = True
            continue
        n_nodes, n_edges = data.adjacency.shape[0], data.adjacency.nnz // 2
        line(f"{name}: {count(n_nodes, 'node')}, {count(n_edges, 'edge')}; use {PREFIX}{name}")
    if failed:
        raise click.exceptions.Exit(FAILED)


@click.command("cite", cls=Command)
def cite() -> None:
    """Print what to cite, the paper and the software, as BibTeX."""
    from equigraph._utils.citation import cite

    line(cite().rstrip())


@click.command("warmup", cls=Command)
def warmup() -> None:
    """Compile the loops of the search; once after every upgrade."""
    import warnings

    from equigraph.search.large import make_search
    from equigraph.search.pool import Target
    from equigraph.stores.blocks import MemoryBlocks
    from equigraph.stores.rows import StreamedRows

    start = time.perf_counter()
    data = eg.datasets.make_planted_graph(600, 3, mean_degree=8, random_state=0)
    rules = eg.Rules(apart=[(0, 1)], sizes=(150, 250))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_clusters, kept in ((3, None), (3, rules), (150, None)):
            model = eg.FairPartition(n_clusters, rules=kept, effort=0.01, random_state=0)
            model.fit(data.adjacency, sensitive_features=data.sensitive_features)
        make_search(StreamedRows(MemoryBlocks.of(data.adjacency)), None, 3, effort=0.01).solve([Target()])
    eg.divide(eg.Roster(("Ada", "Ben", "Cem"), friends=(("Ada", "Ben"),)), 2, effort=0)
    line(f"All loops of the search are compiled ({time.perf_counter() - start:.0f} s).")
