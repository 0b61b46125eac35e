"""``equigraph demo``: the embedded classroom, several methods, one table, pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equigraph.apps.cli import options
from equigraph.apps.cli.cluster import PICTURES, draw
from equigraph.apps.cli.console import line, note, table
from equigraph.apps.cli.options import Command, option
from equigraph.apps.cli.output import Run
from equigraph.apps.cli.report import PAGE
from equigraph.apps.cli.sources import EMBEDDED, PREFIX, dataset_graph
from equigraph.apps.cli.summary import describe_graph, group_counts, sizes_by_group
from equigraph.exceptions import MissingDependencyError, require

N_CLUSTERS = 3
# The dial of ifair-nmtf has no natural scale: 20 was picked by trying values here, where 1 changes nothing.
METHODS: dict[str, dict[str, Any]] = {
    "nmtf": {},
    "ifair-nmtf": {"fairness": 20.0},
    "scalable-fair-sc": {},
    "fair-partition": {"fairness": 0.5},
    "random": {},
}

_PICTURES = ("methods.png", "tradeoff.png")


@click.command("demo", cls=Command)
@option("-o --output DIR", "Folder for the results and pictures.", default="equigraph-demo")
@options.seed("Seed of every method.")
@option("--force", "Replace what other runs, or other programs, wrote into the folder.")
@click.pass_context
def command(ctx: click.Context, /, output: str, seed: int, force: bool) -> None:
    """Divide a class of 30 students into 3 clusters, fairly and not."""
    from dataclasses import replace

    from equigraph.results.cluster import cluster
    from equigraph.results.contents import KIND, POSSIBLE_FILES, contents_of

    names = (*POSSIBLE_FILES, *PICTURES, *_PICTURES, PAGE)
    run = Run(ctx, {"output": output, "force": force})
    with run.output(names):
        graph, edges = dataset_graph(EMBEDDED), f"{PREFIX}{EMBEDDED}"
        line(describe_graph(graph, edges))
        results = {
            name: cluster(graph, method=name, n_clusters=N_CLUSTERS, random_state=seed, **parameters)
            for name, parameters in METHODS.items()
        }
        winner = max(results, key=lambda name: results[name].scores["Q"] + results[name].scores["NB"])
        kept = replace(results[winner], source=run.source(edges, graph))
        drawn: list[str] = []

        def further(folder: Path) -> None:
            drawn.extend(_draw(results, winner, graph, folder, seed))
            kept.report(folder / PAGE, graph=graph)

        run.write(KIND, lambda: contents_of(kept), further)
    _print(results, winner)
    _tell(Path(output), winner, drawn)


def _print(results: dict[str, Any], winner: str) -> None:
    groups = "+".join(group_counts(results[winner], results[winner].groups)[0])
    rows = [
        (name, *(result.scores[score] for score in ("Q", "B", "NB")), sizes_by_group(result, result.groups))
        for name, result in results.items()
    ]
    sizes = f"clusters ({groups})"
    table(("method", "Q", "B", "NB", sizes), rows, left=("method", sizes), bold=list(results).index(winner))
    line()
    line(
        "Q: cohesion, higher keeps more friends together. B: smallest over largest group, 1 is equal numbers."
    )
    line("NB: 1 when every cluster mirrors the class, as far as whole nodes allow.")
    dials = ", ".join(f"{name} {dial['fairness']:g}" for name, dial in METHODS.items() if dial)
    line(f"The fairness dial is set by hand, on each method's own scale: {dials}.")
    line(f"{winner} has the best mean of Q and NB; it is kept.")


def _draw(results: dict[str, Any], winner: str, graph: Any, folder: Path, seed: int) -> list[str]:
    """Draw what there is a way to draw; without matplotlib, say so."""
    from equigraph.plotting import spring_layout

    before = {file.name for file in folder.iterdir()}
    positions = spring_layout(graph, seed=0)  # one for all pictures, so that everyone is at the same place
    try:
        draw(results[winner], graph, folder, positions=positions)
        _draw_methods(results, graph, folder / "methods.png", positions)
        _draw_tradeoff(results, graph, folder / "tradeoff.png", seed)
    except MissingDependencyError as error:
        note(str(error))
    return sorted({file.name for file in folder.iterdir()} - before)


def _draw_methods(results: dict[str, Any], graph: Any, path: Path, positions: Any) -> None:
    """Draw every method's clusters side by side, each node at the same place."""
    from equigraph.plotting import GraphDisplay
    from equigraph.plotting.graph import draw_legends
    from equigraph.plotting.style import look

    figure = require("matplotlib.figure", extra="plot", purpose="Drawing a picture").Figure
    groups = graph.groups.names.tolist()
    with look():
        axes = figure(figsize=(13, 6.6), layout="constrained").subplots(2, 3).ravel()
        for ax, (name, result) in zip(axes, results.items(), strict=False):
            title = f"{name}   Q {result.scores['Q']:.2f}   NB {result.scores['NB']:.2f}"
            display = GraphDisplay(graph, result.labels, positions=positions)
            display.plot(ax, names=False, legend=False, title=title)
        axes[-1].set_axis_off()
        clusters = [str(i) for i in range(N_CLUSTERS)]
        corners = ((0.3, 0.9), (0.3, 0.2))
        draw_legends(axes[-1], clusters, groups, title=graph.attribute, corners=corners)
    display.save(path)


def _draw_tradeoff(results: dict[str, Any], graph: Any, path: Path, seed: int) -> None:
    """Draw the whole dial of fair-partition, with every other method as a point."""
    from equigraph.analysis.tradeoff import tradeoff_curve

    curve = tradeoff_curve(graph, n_clusters=N_CLUSTERS, random_state=seed)
    others = {
        name: (result.scores["Q"], result.scores["NB"])
        for name, result in results.items()
        if name != "fair-partition"
    }
    curve.plot("front", compare=others).save(path)


def _tell(output: Path, winner: str, drawn: list[str]) -> None:
    line()
    line(f"In {output.resolve()}:")
    files = {
        "labels.csv": f"who is in which cluster ({winner})",
        "membership.npz": "how strongly everyone belongs to each cluster",
        "interaction.csv": "how strongly the clusters interact",
        "result.json": "scores, seed, parameters, versions",
        "manifest.json": "checksums of the files",
        PAGE: "the clusters explained to people, for a browser or a printer",
        "graph.png": "the clusters: colour is the cluster, shape the group",
        "composition.png": "the groups in each cluster",
        "interaction.png": "the interaction as a heat map",
        "methods.png": "all methods side by side",
        "tradeoff.png": "cohesion against fairness along the dial of fair-partition, with the other methods",
    }
    for name, meaning in files.items():
        if name.endswith(".png") and name not in drawn:
            continue
        line(f"  {name:<16} {meaning}")
    line(
        "Your own graph: equigraph cluster EDGES.csv --groups PEOPLE.csv --attribute NAME -k 3 -o out/ --report"
    )
    line()
    line(f"All of it explained in one page: {(output / PAGE).resolve().as_uri()}")
