"""Graphs beyond memory on the command line: folders of row blocks, partitioned edge sets, Dask workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.sources import READING_NAMES, attribute_choice, column_of, read_source
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.methods import METHODS, get_method

# Reading options that say how text is read; a folder of blocks or parquet files has none.
_TEXT_OPTIONS = ("source", "target", "format", "header", "delimiter", "symmetrize")


scale_options = shared.together(
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Share the work among so many Dask workers, started on this machine for the run.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Share the work among the workers of a Dask scheduler, such as tcp://10.0.0.1:8786.",
    ),
)


@contextmanager
def execution_of(
    ctx: click.Context, method: str, parameters: dict[str, Any], settings: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Give the parameters with the execution that was asked for; a cluster that was started for it ends with it."""
    scheduler, workers = settings.pop("scheduler"), settings.pop("workers")
    if scheduler is None and workers is None:
        yield parameters
        return
    if scheduler is not None and workers is not None:
        raise click.UsageError("--scheduler and --workers contradict each other: give one.", ctx)
    if "execution" not in get_method(method).load()._parameters:
        able = [name for name in ("fair-partition", "fair-nmtf", "ifair-nmtf", "nmtf") if name in METHODS]
        raise click.UsageError(
            f"The method {method} runs in this process only: --workers and --scheduler go with {', '.join(able)}.",
            ctx,
        )
    if "execution" in parameters:
        raise click.UsageError("--execution contradicts --workers and --scheduler: give one.", ctx)
    if scheduler is not None:
        yield {**parameters, "execution": scheduler}
        return
    from equigraph.stores.dask_rows import local_cluster

    with local_cluster(workers) as cluster:
        yield {**parameters, "execution": cluster.scheduler_address}


@contextmanager
def open_source(edges: str, settings: dict[str, Any], execution: Any) -> Iterator[Any]:
    """Give the graph of a command: in memory, or as row blocks where EDGES is a folder.

    The reading options are taken out of the settings.
    """
    from equigraph.stores.block_files import is_block_folder, temporary_blocks
    from equigraph.stores.blocks import open_blocks
    from equigraph.stores.edge_blocks import is_edge_folder, write_edge_blocks

    if is_block_folder(edges):
        options = _options(settings, ("weight", "duplicates"), "blocks, which were made with their weights")
        yield _with_groups(open_blocks(edges), options)
    elif is_edge_folder(edges):
        options = _options(settings, (), "parquet files")
        with temporary_blocks() as folder:
            graph = write_edge_blocks(
                edges,
                folder,
                weight=False if options["weight"] == "none" else options["weight"],
                duplicates=options["duplicates"],
                execution=execution,
            )
            yield _with_groups(graph, options)
    else:
        yield read_source(edges, settings)


def _options(settings: dict[str, Any], refused: tuple[str, ...], what: str) -> dict[str, Any]:
    """Take the reading options out of the settings; those without a meaning here are refused, not ignored."""
    options = {name: settings.pop(name) for name in READING_NAMES}
    if options["groups"] is None:
        refused = (*refused, "attribute", "intersect", "node_column")
    for name in (*_TEXT_OPTIONS, *refused, "bins"):
        if options[name] not in (None, (), "error"):
            raise ParameterError(
                f"--{name.replace('_', '-')} has no meaning here: EDGES is a folder of {what}."
            )
    if isinstance(column_of(options["weight"]), int):
        raise ParameterError(
            "--weight takes the name of a column, not its number, for a folder of parquet files."
        )
    return options


def _with_groups(graph: Any, options: dict[str, Any]) -> Any:
    """Return blocks with the groups that the options name."""
    from equigraph.graph import read_graph

    if options["groups"] is None:
        return graph
    read = read_graph(
        graph.without_edges(),
        groups=options["groups"],
        **attribute_choice(options),
        node_column=column_of(options["node_column"]),
        missing=options["missing"],
        unknown=options["unknown"],
    )
    if isinstance(read.sensitive_features, dict):
        raise GroupsError(
            "Several attributes need the graph in memory, and EDGES is a folder: give one --attribute or --intersect."
        )
    if read.n_nodes != graph.n_nodes:
        raise GroupsError(
            "Nodes of a graph on disk can neither be dropped nor added: say --missing ignore or own-group, --unknown "
            "ignore."
        )
    return graph.with_features_of(read)
