"""``equigraph cluster``: fit one method to one graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph.apps.cli import options
from equigraph.apps.cli.console import note, print_result
from equigraph.apps.cli.options import MethodCommand, Settings, constraints_of
from equigraph.apps.cli.output import PAGE, Run
from equigraph.apps.cli.sources import open_source

PICTURES = ("graph.png", "interaction.png", "composition.png")


@click.command("cluster", cls=MethodCommand)
def command(edges: str, method: str, **settings: Any) -> None:
    """Cluster a graph and score the clusters.

    EDGES is a file (csv, tsv, txt, parquet, graphml, gml, mtx, npz, mat) or dataset:NAME, such as
    dataset:classroom; for fair-partition and the factorisations also a folder of row blocks or of parquet
    edges, which stay on disk. The options of another method are shown by --method NAME --help.
    """
    from dataclasses import replace

    from equigraph.results.contents import KIND, POSSIBLE_FILES, contents_of

    if (settings["plot"] or settings["report"]) and Path(edges).is_dir():
        raise click.UsageError("--plot and --report need the graph in memory, and EDGES is a folder.")
    parameters = options.method_parameters(method, settings)
    if settings["price"] and "rules" not in parameters:
        raise click.UsageError(
            "--price is for rules, and there are none: give --rules FILE, --apart and so on."
        )
    stoppable = "callbacks" in constraints_of(method)
    if settings["time_limit"] is not None and not stoppable:
        raise click.UsageError(f"The method {method} cannot be stopped halfway, so it takes no --time-limit.")
    run = Run(settings)
    with (
        run.output((*POSSIBLE_FILES, *(PICTURES if settings["plot"] else ()))),
        _execution(method, parameters, settings) as parameters,
        open_source(edges, settings, parameters.get("execution")) as graph,
    ):
        run.edges, run.graph = edges, graph
        with run.callbacks() if stoppable else nullcontext() as callbacks:
            watched = {"callbacks": callbacks} if stoppable else {}
            result = eg.cluster(graph, method=method, **parameters, **watched)
        result = replace(result, source=run.source())
        if settings["price"]:
            with run.callbacks() as callbacks:
                prices = result.price(callbacks=callbacks)
            result = replace(result, rules={**(result.rules or {}), "prices": prices.to_dict()})
        run.write(
            KIND,
            lambda: contents_of(result, labels_format=settings["labels_format"]),
            lambda folder: _write(folder, result, graph, settings),
        )
    kept = "these are the best clusters until then"
    run.finish_graph(kept, "labels", result.summary, lambda: print_result(result))


@contextmanager
def _execution(method: str, parameters: Settings, settings: Settings) -> Iterator[Settings]:
    """Provide the parameters with the requested execution; a Dask cluster started for it is closed afterwards."""
    scheduler, workers = settings["scheduler"], settings["workers"]
    if scheduler is None and workers is None:
        yield parameters
        return
    if scheduler is not None and workers is not None:
        raise click.UsageError("--scheduler and --workers contradict each other: give one.")
    if "execution" not in constraints_of(method):
        raise click.UsageError(
            f"The method {method} runs in this process only: --workers and --scheduler go with fair-partition, "
            "fair-nmtf, ifair-nmtf, nmtf."
        )
    if "execution" in parameters:
        raise click.UsageError("--execution contradicts --workers and --scheduler: give one.")
    if scheduler is not None:
        yield {**parameters, "execution": scheduler}
        return
    from equigraph.stores.dask_rows import local_cluster

    with local_cluster(workers) as started:
        yield {**parameters, "execution": started.scheduler_address}


def _write(folder: Path, result: Any, graph: Any, settings: Settings) -> None:
    from equigraph.results.contents import PARQUET_LABELS

    if settings["parquet"]:
        result.to_parquet(folder / PARQUET_LABELS)
    if settings["plot"]:
        draw(result, graph, folder)
    if settings["report"]:
        result.report(folder / PAGE, graph=graph)


def draw(result: Any, graph: Any, folder: Path, *, positions: Any = None) -> None:
    """Draw the pictures of a result into a folder."""
    from equigraph.plotting.clusters import MAX_CLUSTERS

    eg.plotting.GraphDisplay.from_result(result, graph, positions=positions).save(folder / "graph.png")
    if result.n_clusters <= MAX_CLUSTERS:
        eg.plotting.InteractionDisplay.from_result(result).save(folder / "interaction.png")
    else:
        note(f"{result.n_clusters:,} clusters are too many for interaction.png, so it is not drawn.")
    if result.sensitive_features is not None:
        eg.plotting.CompositionDisplay.from_result(result).save(folder / "composition.png")
