"""``equigraph demo``: compare methods on the embedded classroom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph.apps.cli.cluster import PICTURES, draw
from equigraph.apps.cli.console import group_counts, line, sizes_by_group, table
from equigraph.apps.cli.options import Command
from equigraph.apps.cli.output import PAGE, Run
from equigraph.apps.cli.sources import EMBEDDED, PREFIX, dataset_graph
from equigraph.exceptions import require

N_CLUSTERS = 3
# The fairness weight of ifair-nmtf has no natural scale; 20 was chosen on this graph, where 1 has no effect.
METHODS: dict[str, dict[str, Any]] = {
    "nmtf": {},
    "ifair-nmtf": {"fairness": 20.0},
    "scalable-fair-sc": {},
    "fair-partition": {"fairness": 0.5},
    "random": {},
}

_PICTURES = ("methods.png", "tradeoff.png")


@click.command("demo", cls=Command)
def command(**settings: Any) -> None:
    """Cluster a made-up class of 30 students by several methods."""
    from dataclasses import replace

    from equigraph.results.contents import KIND, POSSIBLE_FILES, contents_of

    run, seed = Run({**settings, "as_json": False, "quiet": False, "report": True}), settings["seed"]
    with run.output((*POSSIBLE_FILES, *PICTURES, *_PICTURES)):
        graph = dataset_graph(EMBEDDED)
        run.edges, run.graph = f"{PREFIX}{EMBEDDED}", graph
        results = {
            name: eg.cluster(graph, method=name, n_clusters=N_CLUSTERS, random_state=seed, **parameters)
            for name, parameters in METHODS.items()
        }
        winner = max(results, key=lambda name: results[name].scores["Q"] + results[name].scores["NB"])
        kept = replace(results[winner], source=run.source())

        def further(folder: Path) -> None:
            kept.report(folder / PAGE, graph=graph)
            _draw(results, winner, graph, folder, seed)

        run.write(KIND, lambda: contents_of(kept), further)
    run.finish_graph("", "results", dict, lambda: _print(results, winner))
    line(
        "Your own graph: equigraph cluster EDGES.csv --groups PEOPLE.csv --attribute NAME -k 3 -o out/ --report"
    )
    line()
    page = (Path(settings["output"]) / PAGE).resolve()
    line(f"The clusters explained to people, for a browser or a printer: {page.as_uri()}")


def _print(results: dict[str, Any], winner: str) -> None:
    groups = "+".join(group_counts(results[winner], results[winner].groups)[0])
    rows = [
        (name, *(result.scores[score] for score in ("Q", "B", "NB")), sizes_by_group(result, result.groups))
        for name, result in results.items()
    ]
    sizes = f"clusters ({groups})"
    table(("method", "Q", "B", "NB", sizes), rows, left=("method", sizes), bold=list(results).index(winner))
    dials = ", ".join(f"{name} {dial['fairness']:g}" for name, dial in METHODS.items() if dial)
    line(f"""
Q: cohesion, higher keeps more friends together. B: smallest over largest group, 1 is equal numbers.
NB: 1 when every cluster mirrors the class, as far as whole nodes allow.
The fairness dial is set by hand, on each method's own scale: {dials}.
{winner} has the best mean of Q and NB; it is kept.
""")


def _draw(results: dict[str, Any], winner: str, graph: Any, folder: Path, seed: int) -> None:
    """Draw the best clustering, all methods side by side with one layout, and the trade-off curve."""
    from equigraph.plotting.graph import draw_legends
    from equigraph.plotting.style import look

    positions = eg.plotting.spring_layout(graph, seed=0)
    draw(results[winner], graph, folder, positions=positions)
    figure = require("matplotlib.figure", extra="plot", purpose="Drawing a picture").Figure
    with look():
        axes = figure(figsize=(13, 6.6), layout="constrained").subplots(2, 3).ravel()
        for ax, (name, result) in zip(axes, results.items(), strict=False):
            title = f"{name}   Q {result.scores['Q']:.2f}   NB {result.scores['NB']:.2f}"
            display = eg.plotting.GraphDisplay(graph, result.labels, positions=positions)
            display.plot(ax, names=False, legend=False, title=title)
        axes[-1].set_axis_off()
        clusters = [str(i) for i in range(N_CLUSTERS)]
        corners = ((0.3, 0.9), (0.3, 0.2))
        draw_legends(axes[-1], clusters, graph.groups.names.tolist(), title=graph.attribute, corners=corners)
    display.save(folder / "methods.png")
    curve = eg.tradeoff_curve(graph, n_clusters=N_CLUSTERS, random_state=seed)
    others = {name: (one.scores["Q"], one.scores["NB"]) for name, one in results.items()}
    del others["fair-partition"]
    curve.plot("front", compare=others).save(folder / "tradeoff.png")
