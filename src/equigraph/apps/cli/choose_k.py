"""``equigraph choose-k``: recommend a number of clusters."""

from __future__ import annotations

from typing import Any

import click

import equigraph as eg
from equigraph._utils.text import count
from equigraph.apps.cli import options
from equigraph.apps.cli.console import line, table
from equigraph.apps.cli.options import MethodCommand
from equigraph.apps.cli.output import Run
from equigraph.methods import get_method

KIND = "stability"
TABLE, NODES, SUMMARY, PICTURE = "stability.csv", "nodes.csv", "stability.json", "stability.png"
_COLUMNS = {
    "k": "clusters",
    "seeds_ari": "between seeds",
    "removals_ari": "without links",
    "Q": "Q",
    "fairness": "fairness",
    "objective": "objective",
}
_UNSURE = 5


@click.command("choose-k", cls=MethodCommand)
def command(edges: str, method: str, **settings: Any) -> None:
    """Recommend a number of clusters that are good and stable.

    For every number, the method is fitted with several seeds and to copies of the graph that lack some links.
    EDGES is a file (csv, tsv, txt, parquet, graphml, gml, mtx, npz, mat) or dataset:NAME, such as dataset:classroom.
    """
    parameters = options.method_parameters(method, settings)
    if settings["least"] > settings["most"]:
        raise click.UsageError(f"--from {settings['least']} is above --to {settings['most']}.")
    estimator = get_method(method).load()
    if "effort" in estimator._parameters:
        parameters["effort"] = settings["effort"]
    elif options.is_given("effort"):
        raise click.UsageError(f"The method {method} has no effort to set: leave --effort out.")
    run = Run(settings)
    with run.output((TABLE, NODES, SUMMARY, PICTURE)):
        graph = run.read(edges)
        for flag, name in (("--from", "least"), ("--to", "most")):
            if settings[name] > graph.n_nodes and (name == "least" or options.is_given(name)):
                raise click.UsageError(
                    f"{flag} {settings[name]} is above the number of nodes, {graph.n_nodes}."
                )
        if graph.attributes is None and "fairness" in estimator._parameters:
            parameters.setdefault("fairness", 0.0)
        with run.callbacks() as callbacks:
            found = eg.stability(
                graph,
                range(settings["least"], min(settings["most"], graph.n_nodes) + 1),
                estimator=estimator(**parameters),
                random_state=settings["seed"],
                callbacks=callbacks,
                **{name: settings[name] for name in ("n_seeds", "n_removals", "removed")},
            )
        run.write(KIND, lambda: _contents(found), lambda folder: found.plot().save(folder / PICTURE))
    kept = f"the table has {count(len(found.rows), 'number')} of clusters"
    run.finish_graph(kept, "table and the consensus", found.summary, lambda: _print(found))


def _contents(found: Any) -> dict[str, Any]:
    nodes = {"node": found.node_names}
    for row in found.rows:
        if row.error is None:
            nodes |= {f"cluster of {row.k}": row.consensus, f"sure of {row.k}": row.sure}
    return {TABLE: found.table(), NODES: nodes, SUMMARY: found.summary()}


def _print(found: Any) -> None:
    heads, rows = [*_COLUMNS.values()], []
    for row in found.rows:
        cells = [getattr(row, name) for name in _COLUMNS]
        rows.append([None if cell != cell else cell for cell in cells])  # NaN where it is not known
    if any(row.error for row in found.rows):
        heads.append("remark")
        rows = [[*cells, row.error or ""] for cells, row in zip(rows, found.rows, strict=True)]
    chosen = next((i for i, row in enumerate(found.rows) if row.k == found.recommended), -1)
    table(heads, rows, left=("remark",), bold=chosen)
    line()
    line(found.conclusion)
    if found.recommended is not None:
        row = found.row()
        doubtful = [i for i in row.sure.argsort(kind="stable")[:_UNSURE].tolist() if row.sure[i] < 1]
        if doubtful:
            unsure = ", ".join(f"{found.node_names[i]} ({row.sure[i]:.0%})" for i in doubtful)
            line(f"Least sure of their cluster: {unsure}.")
