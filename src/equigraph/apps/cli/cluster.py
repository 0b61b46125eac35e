"""``equigraph cluster``: one method on one graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.console import line, note
from equigraph.apps.cli.options import MethodCommand, check_n_clusters, check_one_dial, method_parameters
from equigraph.apps.cli.output import Run, output_options, source_of, source_with_dropped
from equigraph.apps.cli.report import PAGE
from equigraph.apps.cli.rules import method_rules, rule_option, rule_options
from equigraph.apps.cli.scale import execution_of, open_source, scale_options
from equigraph.apps.cli.shared import Settings
from equigraph.apps.cli.sources import LEFT_OUT, describe_graph, reading_options, write_left_out
from equigraph.apps.cli.stopping import TIME_LIMIT
from equigraph.apps.cli.summary import print_result
from equigraph.methods import get_method

PICTURES = ("graph.png", "interaction.png", "composition.png")


@click.command("cluster", cls=MethodCommand)
@reading_options
@shared.METHOD
@shared.GENERIC
@TIME_LIMIT
@shared.folder("Folder for labels.csv, membership.npz, interaction.csv, result.json and manifest.json.")
@output_options
@shared.flag("--parquet", "Also write labels.parquet into the folder.")
@click.option(
    "--labels-format",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    help="Whether the labels go to labels.csv, or to labels.parquet in its place.",
)
@shared.flag("--plot", "Also draw graph.png, interaction.png and composition.png into the folder.")
@shared.flag("--report", "Also write report.html, which explains the clusters, into the folder.")
@rule_options
@rule_option(
    "--price", is_flag=True, help="Also find out what the clusters would be without each rule in turn."
)
@scale_options
@shared.PRINTING
@click.pass_context
def command(
    ctx: click.Context, /, edges: str, method: str, generic: tuple[str, ...], **settings: Any
) -> None:
    """Cluster a graph and score the clusters.

    EDGES is a file (csv, tsv, txt, parquet, graphml, gml, mtx, npz, mat) or dataset:NAME, such as
    dataset:classroom; for fair-partition and the factorisations also a folder of row blocks or of parquet
    edges, which stay on disk. The options of another method are shown by --method NAME --help.
    """
    from dataclasses import replace

    from equigraph.results.contents import KIND, contents_of

    for flag, what in {"plot": "the pictures", "report": "the page", "parquet": "the table"}.items():
        if settings[flag] and settings["output"] is None:
            raise click.UsageError(f"--{flag} needs a folder for {what}: give -o DIR.", ctx)
    if (settings["plot"] or settings["report"]) and Path(edges).is_dir():
        raise click.UsageError("--plot and --report need the graph in memory, and EDGES is a folder.", ctx)
    parameters = method_parameters(get_method(method), ctx, generic)
    check_one_dial(ctx, parameters)
    parameters |= method_rules(method, settings, ctx)
    if settings["price"] and "rules" not in parameters:
        raise click.UsageError(
            "--price is for rules, and there are none: give --rules FILE, --apart and so on.", ctx
        )
    check_n_clusters(ctx, get_method(method), parameters)
    run = Run(ctx, settings)
    with (
        run.output(_names(settings)),
        execution_of(ctx, method, parameters, settings) as parameters,
        open_source(edges, settings, parameters.get("execution")) as graph,
    ):
        source = source_with_dropped(source_of(ctx, edges), graph)
        result = replace(_fit(graph, method, parameters, run), source=source)
        if settings["price"]:
            with run.callbacks() as callbacks:
                prices = result.price(callbacks=callbacks)
            result = replace(result, rules={**result.rules, "prices": prices.to_dict()})
        run.write(
            KIND,
            lambda: contents_of(result, labels_format=settings["labels_format"]),
            lambda folder: _write(folder, result, graph, settings),
        )

    def show() -> None:
        line(describe_graph(graph, edges))
        print_result(result)

    run.finish("these are the best clusters until then", "labels", result.summary, show)


def _names(settings: Settings) -> list[str]:
    """Return the files that the command will write."""
    from equigraph.results.contents import POSSIBLE_FILES

    names = {"plot": PICTURES, "report": (PAGE,)}
    return [*POSSIBLE_FILES, *LEFT_OUT, *(name for flag in names if settings[flag] for name in names[flag])]


def _fit(graph: Any, method: str, parameters: Settings, run: Run) -> Any:
    from equigraph.results.cluster import cluster

    estimator = get_method(method).load()
    if "callbacks" in estimator._get_param_names():
        with run.callbacks() as callbacks:
            return cluster(graph, method=method, **parameters, callbacks=callbacks)
    if run.settings["time_limit"] is not None:
        raise click.UsageError(
            f"The method {method} cannot be stopped halfway, so it takes no --time-limit.", run.ctx
        )
    return cluster(graph, method=method, **parameters)


def _write(folder: Path, result: Any, graph: Any, settings: Settings) -> None:
    from equigraph.results.contents import PARQUET_LABELS

    write_left_out(folder, graph, settings)
    if settings["parquet"]:
        result.to_parquet(folder / PARQUET_LABELS)
    if settings["plot"]:
        draw(result, graph, folder)
    if settings["report"]:
        result.report(folder / PAGE, graph=graph)


def draw(result: Any, graph: Any, folder: Any, *, positions: Any = None) -> None:
    """Draw the pictures of a result into a folder."""
    from equigraph.plotting import CompositionDisplay, GraphDisplay, InteractionDisplay
    from equigraph.plotting.clusters import MAX_CLUSTERS

    GraphDisplay.from_result(result, graph, positions=positions).save(folder / "graph.png")
    if result.n_clusters <= MAX_CLUSTERS:
        InteractionDisplay.from_result(result).save(folder / "interaction.png")
    else:
        note(f"{result.n_clusters:,} clusters are too many for interaction.png, so it is not drawn.")
    if result.sensitive_features is not None:
        CompositionDisplay.from_result(result).save(folder / "composition.png")
