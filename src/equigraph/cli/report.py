"""``equigraph report``: one page about a clustering or a curve."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from equigraph.cli.console import line, note, warnings_as_notes
from equigraph.cli.options import MethodCommand, SectionOption
from equigraph.cli.sources import PREFIX, READING_NAMES, READING_OPTIONS, read_source

PAGE = "report.html"


class Sections(MethodCommand):
    """Options in sections, without those of a method."""

    parse_args = click.Command.parse_args


def graph_options(function: Any) -> Any:
    """Add the options on how to read the graph, which is itself an option here."""
    for option in reversed(READING_OPTIONS):
        function = option(function)
    return click.option(
        "--graph",
        "edges",
        metavar="EDGES",
        cls=SectionOption,
        section="Reading the graph",
        help="The graph that was clustered: a file or dataset:NAME. By default, and with the options below, it is "
        "read as the folder tells.",
    )(function)


@click.command("report", cls=Sections)
@click.argument("folder", metavar="OUT")
@click.option("-o", "--output", metavar="FILE", help=f"The page.  [default: OUT/{PAGE}]")
@click.option(
    "--baseline/--no-baseline",
    default=True,
    help="Whether to fit the method with its dial at 0, to compare with.  [default: yes]",
)
@click.option("--force", is_flag=True, help="Replace a file of that name that is no page of this folder.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@graph_options
@click.pass_context
def command(ctx: click.Context, /, folder: str, output: str | None, **settings: Any) -> None:
    """Explain a clustering or a curve in one page (HTML) that needs no network.

    OUT is a folder that `equigraph cluster`, `tradeoff`, `refine` or `demo` wrote. The page draws the graph, which
    is read again from where it was; it must be the same, and without it the page says what is left out.
    """
    from equigraph.cli.output import check_file
    from equigraph.folders import OutputFolder
    from equigraph.report import write_report
    from equigraph.report.stored import labels_before, read_folder
    from equigraph.tradeoff import TradeoffCurve

    path = Path(folder) / PAGE if output is None else Path(output)
    if output is not None:
        check_file(output, (".html", ".htm"), force=settings["force"])
    with warnings_as_notes(), ExitStack() as stack:
        subject, point, kept = read_folder(Path(folder))
        if output is None:
            out = stack.enter_context(OutputFolder(folder, patience=0))
            out.refuse_others([PAGE], force=settings["force"])
        graph, reason = read_again(ctx, subject.source, settings)
        if isinstance(subject, TradeoffCurve):
            if not settings["baseline"]:
                raise click.UsageError(
                    "--no-baseline has no meaning for a curve, which begins at fairness 0.", ctx
                )
            left_out = write_report(subject, path, graph=graph, select=point or "product")
        else:
            before = labels_before(kept, subject, graph)
            baseline = settings["baseline"] if before is None else before
            left_out = write_report(subject, path, graph=graph, baseline=baseline)
        if output is None:
            out.add(PAGE)
    if not settings["quiet"]:
        if reason:
            note(reason)
        for sentence in left_out:
            note(sentence)
        line(f"Wrote {path.resolve()}.")


def read_again(ctx: click.Context, source: Any, settings: dict[str, Any]) -> tuple[Any, str | None]:
    """Return the graph as the folder and the options say, or None and why there is none."""
    from equigraph.exceptions import DatasetError

    recorded = source or {}
    given = {
        name
        for name in ("edges", *READING_NAMES)
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    options = {name: settings.pop(name) for name in READING_NAMES}
    options |= {name: value for name, value in recorded.get("options", {}).items() if name not in given}
    edges = settings.pop("edges")
    if edges is None:
        edges = recorded.get("edges")
        if edges is None:
            return None, "The folder does not tell where the graph was read from: --graph EDGES does."
        edges = _found(edges, recorded)
    if options["groups"] is not None and "groups" not in given:
        options["groups"] = _found(options["groups"], recorded)
    if "edges" in given or edges.startswith(PREFIX):
        try:
            return read_source(edges, options), None
        except DatasetError as error:
            if "edges" in given:
                raise
            return None, str(error)
    if Path(edges).is_dir():
        return (
            None,
            f"{edges} is a folder of edges on disk: --graph EDGES tells of a file with the same graph.",
        )
    for file in filter(None, (edges, options["groups"])):
        if not Path(file).exists():
            return (
                None,
                f"{file}, which the graph was read from, is not there any more: --graph EDGES tells where it is.",
            )
    return read_source(edges, options), None


def _found(name: str, recorded: dict[str, Any]) -> str:
    """Return a file where the command that made the folder found it, or as seen from here."""
    if name.startswith(PREFIX):
        return name
    there = Path(recorded.get("folder", ".")) / name
    return str(there) if there.exists() or not Path(name).exists() else name
