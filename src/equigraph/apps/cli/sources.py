"""The graph that a command works on: reading options, files, and ``dataset:NAME``."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from typing import Any

import click

from equigraph._utils.text import count, did_you_mean
from equigraph.apps.cli import shared
from equigraph.apps.cli.console import note
from equigraph.exceptions import GroupsError, ParameterError


def column_of(name: str | None) -> str | int | None:
    """Return a number as one, so that it may be a position; the reader looks for a column of that name first."""
    return int(name) if name is not None and name.isdecimal() and str(int(name)) == name else name


def attribute_choice(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options on attributes out of the reading options, and return them as `read_graph` takes them.

    >>> attribute_choice({"attribute": ("gender", "needs:2"), "bins": None, "intersect": None})
    {'attribute': ['gender', 'needs'], 'attribute_weights': {'needs': 2.0}, 'bins': None, 'intersect': None}
    >>> attribute_choice({"attribute": "gender", "bins": ("age=4",), "intersect": ("gender,age",)})
    {'attribute': 'gender', 'attribute_weights': None, 'bins': {'age': 4}, 'intersect': [['gender', 'age']]}
    """
    pairs = [_weighed(text) for text in _texts(options.pop("attribute"))]
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"--attribute {twice} is given twice: give every attribute once.")
    weights = {name: weight for name, weight in pairs if weight is not None}
    bins = dict(_binned(text) for text in _texts(options.pop("bins"))) or None
    joints = [_joined(text) for text in _texts(options.pop("intersect"))] or None
    return {
        "attribute": None if not names else names[0] if len(names) == 1 else names,
        # The weight of a single attribute says nothing.
        "attribute_weights": weights if weights and (len(names) > 1 or joints) else None,
        "bins": bins,
        "intersect": joints,
    }


def _texts(given: str | Iterable[str] | None) -> list[str]:
    """Return what was typed for an option that may be repeated; folders keep a single value as it is."""
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _weighed(text: str) -> tuple[Any, float | None]:
    """Return an attribute and its weight; a colon before what is no number belongs to the name."""
    name, colon, weight = text.rpartition(":")
    try:
        number = float(weight)
    except ValueError:
        return column_of(text), None
    if not colon or not name:
        return column_of(text), None
    if not math.isfinite(number) or number < 0:
        raise ParameterError(f"--attribute {text} has the weight {weight}: expected a number of at least 0.")
    return column_of(name), number


def _binned(text: str) -> tuple[Any, int]:
    name, _, number = text.rpartition("=")
    if not name or not number.isdecimal() or int(number) < 2:
        raise ParameterError(
            f"--bins {text} is not NAME=NUMBER: expected such as age=4, with two bins or more."
        )
    return column_of(name), int(number)


def _joined(text: str) -> list[Any]:
    """Return the attributes of joint groups; one whose name has a comma is put between double quotes."""
    names = [column_of(name.strip()) for name in next(csv.reader([text], skipinitialspace=True), [])]
    if len(names) < 2 or "" in names:
        raise ParameterError(f"--intersect {text} names no two attributes: expected such as gender,needs.")
    return names


PREFIX = "dataset:"
EMBEDDED = "classroom"
# Attributes of data sets beside those that they are known for.
_FURTHER = ("house", "school_class", "gender")
_RAW = ("diaries", "facebook", "friendship", "drugnet")
# Names that only the groups have, and nodes without a group: what the reading options left out.
UNMATCHED, DROPPED = LEFT_OUT = ("unmatched.csv", "dropped.csv")

_COMBINE = ("max", "min", "mean", "sum")


reading_option = shared.of_section("Reading the graph")

READING_OPTIONS = shared.together(
    reading_option("--groups", metavar="FILE", help="Table of nodes with their groups."),
    reading_option(
        "--attribute",
        metavar="NAME[:WEIGHT]",
        multiple=True,
        help="Column (or node attribute) that holds the groups, by name or else by number from 0. Repeat it to balance "
        "several attributes together; a number after a colon weighs one. (A column named a:2 is written a:2:1.)",
    ),
    reading_option(
        "--intersect",
        metavar="A,B",
        multiple=True,
        help="Attributes whose joint groups, such as 'girl, yes', are an attribute of their own.",
    ),
    reading_option(
        "--bins",
        metavar="NAME=NUMBER",
        multiple=True,
        help="Attribute of numbers that are put into so many bins of about equal size, such as age=4.",
    ),
    reading_option(
        "--node-column",
        metavar="NAME",
        help="Column of the groups' file that names the node, by name or else by number from 0; by default the first.",
    ),
    reading_option(
        "--source",
        metavar="NAME",
        help="Column of an edge list with one end of the edges, by name or else by number from 0; with --target.",
    ),
    reading_option("--target", metavar="NAME", help="Column of an edge list with the other end."),
    reading_option(
        "--weight",
        metavar="NAME",
        help="Column of the weights, by name or else by number from 0; 'none' ignores weights.",
    ),
    reading_option(
        "--format",
        metavar="NAME",
        help="Format of the file where its suffix does not tell, such as edges or matrix.",
    ),
    reading_option(
        "--header/--no-header",
        default=None,
        help="Whether the first line names the columns; by default it is looked at.",
    ),
    reading_option(
        "--delimiter", metavar="TEXT", help="Separator of a text file; ' ' is any white space, '\\t' a tab."
    ),
    reading_option(
        "--symmetrize", type=click.Choice(_COMBINE), help="How to combine the directions of a directed graph."
    ),
    reading_option(
        "--missing",
        type=click.Choice(("error", "ignore", "drop", "own-group")),
        default="error",
        show_default=True,
        help="What to do with nodes without a group; ignored ones count for cohesion and sizes, for no group's share.",
    ),
    reading_option(
        "--duplicates",
        type=click.Choice(("error", "sum", "max", "min", "mean", "first")),
        default="error",
        show_default=True,
        help="What to do with edges listed twice with different weights.",
    ),
    reading_option(
        "--unknown",
        type=click.Choice(("error", "add", "ignore")),
        default="error",
        show_default=True,
        help="What to do with nodes that only the groups' file names.",
    ),
)
reading_options = shared.together(click.argument("edges", metavar="EDGES"), READING_OPTIONS)
READING_NAMES = (
    "groups", "attribute", "intersect", "bins", "node_column", "source", "target", "weight", "format", "header",
    "delimiter", "symmetrize", "missing", "duplicates", "unknown",
)  # fmt: skip


_OF_EDGES = ("source", "target", "weight", "format", "header", "delimiter", "symmetrize", "duplicates")


def read_source(edges: str, settings: dict[str, Any]) -> Any:
    """Take the reading options out of the settings of a command, and return the graph.

    Names that found no match come into the settings under ``unmatched``.
    """
    from equigraph.graph import read_graph

    options = {name: settings.pop(name) for name in READING_NAMES}
    choice = attribute_choice(options)
    for name in ("node_column", "source", "target", "weight"):
        options[name] = column_of(options[name])
    if options["weight"] == "none":
        options["weight"] = False
    if options["delimiter"] == "\\t":
        options["delimiter"] = "\t"
    if not edges.startswith(PREFIX):
        if options["groups"] is None:
            return read_graph(edges, **options, **choice)
        bare = read_graph(edges, **{name: options[name] for name in _OF_EDGES})
        return _matched(bare, options, choice, settings)
    for name in ("source", "target", "weight", "format", "header", "delimiter", "symmetrize"):
        if options[name] is not None:
            raise ParameterError(f"--{name} has no meaning for {edges}: a data set is read as it is.")
    if options["groups"] is not None:
        return _matched(dataset_graph(edges.removeprefix(PREFIX)), options, choice, settings)
    return dataset_graph(edges.removeprefix(PREFIX), **choice)


def _matched(bare: Any, options: dict[str, Any], choice: dict[str, Any], settings: dict[str, Any]) -> Any:
    """Return a graph with groups, and tell the settings who found no match."""
    from equigraph.graph.attributes import take_groups
    from equigraph.graph.features import AttributeChoice

    wanted = AttributeChoice.of(
        choice["attribute"], choice["intersect"], choice["attribute_weights"], choice["bins"]
    )
    given = take_groups(options["groups"], wanted.wanted, options["node_column"], bare)
    unknown = options["unknown"]
    keys = next((one.keys for one in given if one.keys is not None), None)
    if unknown == "ignore" and keys is not None:
        settings["unmatched"] = _strangers(bare.node_names, keys)
    return wanted.attach(
        bare, given, missing=options["missing"], unknown=unknown, order_known=bare.positional
    )


def _strangers(nodes: Any, keys: Any) -> list[str]:
    """Return the names, each of them once, that only the groups have."""
    from equigraph.graph.names import canonical, texts

    known = set(map(canonical, texts(nodes)))
    return [name for name in dict.fromkeys(texts(keys)) if canonical(name) not in known]


def write_left_out(folder: Any, graph: Any, settings: dict[str, Any]) -> None:
    """Write the names that were left out beside the labels, and say so; there is no file without any."""
    import numpy as np

    from equigraph._utils.records import write_csv

    unmatched = settings.get("unmatched")
    if unmatched:
        write_csv(folder / UNMATCHED, {"name": np.array(unmatched, dtype=object)}, raw=settings["raw"])
        note(f"{count(len(unmatched), 'name')} without a match left out: see {UNMATCHED}.")
    dropped = n_dropped(graph)
    if dropped:
        write_csv(folder / DROPPED, {"node": graph.dropped}, raw=settings["raw"])
        note(f"{count(dropped, 'node')} without a group left out: see {DROPPED}.")


def dataset_graph(name: str, attribute: Any = None, **choice: Any) -> Any:
    """Return a data set as a graph, with some of its attributes as groups; by default the one it is known for."""
    from equigraph import datasets
    from equigraph.graph import Graph, read_graph
    from equigraph.graph.features import AttributeChoice

    check_dataset(name)
    data = datasets.make_classroom() if name == EMBEDDED else datasets.load(name)
    wanted = AttributeChoice.of(attribute, choice.get("intersect")).wanted or [data.attribute]
    known = _columns_of(data)
    if not set(wanted) <= set(known) and name in _RAW:
        data = datasets.load(name, raw=True)  # whose files hold more than one attribute
        known = _columns_of(data)
    for one in wanted:
        if one not in known:
            raise GroupsError(
                f"The data set {name} has no attribute {one!r}{did_you_mean(one, known)}; it has {', '.join(known)}."
            )
    graph = Graph(data.adjacency, data.node_names, {str(one): known[one] for one in wanted})
    kept = attribute if attribute is not None or choice.get("intersect") else data.attribute
    return read_graph(graph, attribute=kept, **choice)


def _columns_of(data: Any) -> dict[str, Any]:
    """Return the attributes of a data set, the one that it is known for first."""
    return {data.attribute: data.sensitive_features, **{one: data[one] for one in _FURTHER if one in data}}


def check_dataset(name: str) -> None:
    """Refuse a name that is no data set's."""
    from equigraph.datasets import list_datasets

    known = [EMBEDDED, *(info.name for info in list_datasets())]
    if name not in known:
        raise ParameterError(
            f"There is no data set named {name!r}{did_you_mean(name, known)}: choose one of {', '.join(known)}."
        )


def describe_graph(graph: Any, edges: str) -> str:
    """Return one line on what was read."""
    kind = "weighted edge" if graph.is_weighted else "edge"
    text = f"{edges}: {count(graph.n_nodes, 'node')}, {count(graph.n_edges, kind)}"
    dropped = n_dropped(graph)
    if dropped:
        text += f" ({count(dropped, 'node')} without a group left out)"
    attributes = graph.attributes
    if attributes is None:
        return f"{text}, no groups"
    several = attributes.are_several
    return "; ".join(
        [text]
        + [
            f"{name if several else graph.attribute or 'groups'}: {_sizes_of(groups)}"
            for name, groups in attributes.groups.items()
        ]
    )


def _sizes_of(groups: Any) -> str:
    """Return the first groups with their sizes."""
    pairs = list(zip(groups.names.tolist(), groups.sizes.tolist(), strict=True))
    shown = ", ".join(f"{size:,} {name}" for name, size in pairs[:6]) + (", ..." if len(pairs) > 6 else "")
    return f"{shown}, {groups.n_ungrouped:,} without" if groups.n_ungrouped else shown


def n_dropped(graph: Any) -> int:
    """Return how many nodes ``--missing drop`` left out; a graph on disk has all of its nodes."""
    dropped = getattr(graph, "dropped", None)
    return 0 if dropped is None else int(dropped.size)
