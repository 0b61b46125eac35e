"""``equigraph tradeoff``: compute a trade-off curve, and recommend a point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph.apps.cli import options
from equigraph.apps.cli.console import line, note, print_attributes, print_remarks, table
from equigraph.apps.cli.options import MethodCommand, Settings, constraints_of
from equigraph.apps.cli.output import PAGE, Run
from equigraph.exceptions import InfeasibleError
from equigraph.methods import METHODS, get_method

_PICTURES = ("twin.png", "front.png")
# Rules that recommend a point, the default first.
_REASONS = {
    "product": "where the product of cohesion and fairness is largest",
    "intersection": "where the scaled lines of cohesion and fairness cross",
    "knee": "where the front stands out most; past it, fairness costs more cohesion",
}


@click.command("tradeoff", cls=MethodCommand)
def command(edges: str, method: str, **settings: Any) -> None:
    """Compute what fairness costs in cohesion, and recommend a point.

    EDGES is a file (csv, tsv, txt, parquet, graphml, gml, mtx, npz, mat) or dataset:NAME, such as dataset:classroom. In
    the table NB (or the score of another --notion) is the fairness reached, Q the cohesion, links the share of the
    links that stay inside clusters, and dial the least weight of fairness at which the search prefers such clusters; k
    counts the nonempty clusters, and ARI is the mean adjusted Rand index between the restarts (1: all give the same
    clusters).
    """
    from dataclasses import replace
    from functools import partial

    from equigraph.analysis.tradeoff.contents import CURVE_FILES, KIND, contents_of, place_of

    rule = _rule(settings)
    values = settings["fairness"]
    if "fairness" not in constraints_of(method):
        known = ", ".join(name for name in METHODS if "fairness" in constraints_of(name))
        raise click.UsageError(f"The method {method} has no fairness dial; those with one are {known}.")
    if values is not None and settings["n_points"] is not None:
        raise click.UsageError("Give --fairness-values or --points, not both.")
    parameters = options.method_parameters(method, settings)
    run = Run(settings)
    with run.output((*CURVE_FILES, *_PICTURES)):
        graph = run.read(edges)
        own = {name: settings[name] for name in ("fairness", "n_points", "notion", "n_restarts", "n_jobs")}
        with run.callbacks() as callbacks:
            model = get_method(method).load()(**parameters)
            curve = eg.tradeoff_curve(graph, estimator=model, callbacks=callbacks, **own)
        curve = replace(curve, source={**run.source(), "attribute": graph.attribute})
        try:
            point = curve.at_least(rule["at_least"]) if "at_least" in rule else curve.select(**rule)
        except InfeasibleError as error:
            if not curve.stopped:
                raise
            note(f"{error} The point with the largest product is recommended instead.")
            rule = {"rule": "product"}
            point = curve.select(**rule)
        recommended = {**place_of(curve, point), "rule": rule, "sentence": recommendation(curve, point, rule)}
        contents = partial(contents_of, curve, point, recommended=recommended)
        run.write(KIND, contents, lambda folder: _write(folder, curve, point, graph, settings))

    def show() -> None:
        print_curve(curve, point, graph)
        line()
        line(recommended["sentence"])
        print_attributes(curve.attributes, point.scores)
        print_remarks(curve.attributes, point.sizes, curve.parameters)

    some = "" if values is None else f", {len(curve.points)} of {len(values)} points"
    kept = f"the curve has what was found until then{some}"
    run.finish_graph(
        kept, "curve and the labels", lambda: {**curve.summary(), "recommended": recommended}, show
    )


def _rule(settings: Settings) -> Settings:
    """Return the one rule that was given, with its value."""
    flags = {"select": "rule", "at_least": "at_least", "max_quality_loss": "max_quality_loss"}
    given = {rule: settings[flag] for flag, rule in flags.items() if settings[flag] is not None}
    if len(given) > 1:
        raise click.UsageError(
            "Give one of --select, --at-least and --max-quality-loss: each recommends one point."
        )
    return given or {"rule": "product"}


def _write(folder: Path, curve: Any, point: Any, graph: Any, settings: Settings) -> None:
    if settings["report"]:
        curve.report(folder / PAGE, graph=graph, select=point)
    for kind in ("twin", "front"):
        curve.plot(kind, select=point).save(folder / f"{kind}.png")


def print_curve(curve: Any, point: Any, graph: Any) -> None:
    """Print one row per point; the recommended one is bold with an arrow, and added if it is not among them."""
    from equigraph.metrics.quality import share_inside

    shown = curve.points_with(point)
    several = any(one.n_restarts > 1 for one in shown)
    each = curve.attribute_measures()
    links = ("links",) if graph.n_edges else ()
    rows = [
        (
            float(one.scores[curve.measure]),
            *(float(one.scores[name]) for name in each.values()),
            float(one.scores["Q"]),
            *(f"{share_inside(graph.unit_adjacency, one.labels):.0%}" for _ in links),
            f"{one.fairness:.3g}",
            int(one.scores["n_nonempty"]),
            " ".join(map(str, one.sizes.tolist())),
            *((None if one.n_restarts < 2 else one.stability,) if several else ()),
            "<-" if one is point else "",
        )
        for one in shown
    ]
    columns = (curve.measure, *each, "Q", *links, "dial", "k", "sizes", *(("ARI",) if several else ()), "")
    table(columns, rows, left=("sizes", ""), bold=next(i for i, one in enumerate(shown) if one is point))


def recommendation(curve: Any, point: Any, rule: Settings) -> str:
    """Return a sentence on the recommended point, the reason and its cost."""
    measure, first = curve.measure, curve.points[0]
    best = max(float(one.scores["Q"]) for one in curve.candidates())
    quality, fair = float(point.scores["Q"]), float(point.scores[measure])
    loss = f" ({(best - quality) / best:.0%} below)" if best - quality >= 0.005 * best > 0 else ""
    ((name, value),) = rule.items()
    if name == "rule":
        reason = _REASONS[value]
    elif name == "at_least":
        reason = f"the most cohesive clusters found with {measure} of at least {value:g}"
    else:
        reason = f"the fairest clusters found that lose at most {value:.0%} of the best Q"
    found = int(point.scores["n_nonempty"])
    few = curve.n_clusters is not None and found < curve.n_clusters
    empty = f" Only {found} of {curve.n_clusters} clusters have a node there." if few else ""
    return (
        f"Recommended: {measure} {fair:.3f} (dial {point.fairness:.3g}), {reason}. Q is {quality:.3f} where the best "
        f"found is {best:.3f}{loss}; {measure} is {float(first.scores[measure]):.3f} at dial {first.fairness:g}.{empty}"
    )
