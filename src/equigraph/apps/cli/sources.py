"""The graph that a command works on: files, ``dataset:NAME``, folders, stored results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import equigraph as eg
from equigraph._utils.text import did_you_mean
from equigraph.apps.cli.options import Settings, is_given, parameters_of, parse_column
from equigraph.exceptions import DatasetError, GroupsError, ParameterError

PREFIX = "dataset:"
EMBEDDED = "classroom"
# Further attributes of data sets.
_FURTHER = ("house", "school_class", "gender")
_RAW = ("diaries", "facebook", "friendship", "drugnet")


READING_NAMES = tuple(str(parameter.name) for parameter in parameters_of("reading"))
_TEXT_OPTIONS = ("source", "target", "format", "header", "delimiter", "symmetrize")


def attribute_choice(options: Settings) -> Settings:
    """Take the options on attributes out of the reading options, and return them as `read_graph` takes them.

    >>> attribute_choice({"attribute": [("gender", None), ("needs", 2.0)], "bins": {}, "intersect": []})
    {'attribute': ['gender', 'needs'], 'attribute_weights': {'needs': 2.0}, 'bins': None, 'intersect': None}
    >>> attribute_choice({"attribute": [("gender", 3)], "bins": {"age": 4}, "intersect": [["gender", "age"]]})
    {'attribute': 'gender', 'attribute_weights': {'gender': 3}, 'bins': {'age': 4}, 'intersect': [['gender', 'age']]}
    """
    pairs = [(parse_column(name), weight) for name, weight in options.pop("attribute") or ()]
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"--attribute {twice} is given twice: give every attribute once.")
    weights = {name: weight for name, weight in pairs if weight is not None}
    joints = [list(map(parse_column, joint)) for joint in options.pop("intersect") or ()]
    bins = {parse_column(name): number for name, number in (options.pop("bins") or {}).items()}
    return {
        "attribute": None if not names else names[0] if len(names) == 1 else names,
        # The weight of a single attribute has no effect.
        "attribute_weights": weights if weights and (len(names) > 1 or joints) else None,
        "bins": bins or None,
        "intersect": joints or None,
    }


def read_source(edges: str, settings: Settings) -> Any:
    """Take the reading options out of the settings of a command, and return the graph.

    Names without a match are stored in the settings under ``unmatched``.
    """
    options = {name: settings.pop(name) for name in READING_NAMES}
    choice = attribute_choice(options)
    if options["delimiter"] == "\\t":
        options["delimiter"] = "\t"
    source: Any = edges
    if edges.startswith(PREFIX):
        for name in ("weight", *_TEXT_OPTIONS):
            if options[name] is not None:
                raise ParameterError(f"--{name} has no meaning for {edges}: a data set is read as it is.")
        if options["groups"] is None:
            return dataset_graph(edges.removeprefix(PREFIX), **choice)
        source = dataset_graph(edges.removeprefix(PREFIX))
    graph = eg.read_graph(source, **options, **choice)
    if options["groups"] is not None and options["unknown"] == "ignore":
        settings["unmatched"] = _unmatched(graph, options, choice)
    return graph


def _unmatched(graph: Any, options: Settings, choice: Settings) -> list[str]:
    """Return the unique names that only the groups have."""
    from equigraph.graph.attributes import take_groups
    from equigraph.graph.features import wanted_attributes
    from equigraph.graph.names import canonical, texts

    wanted = wanted_attributes(choice["attribute"], choice["intersect"])
    keys = take_groups(options["groups"], wanted, options["node_column"], graph)[0].keys
    nodes = [*texts(graph.node_names), *([] if graph.dropped is None else texts(graph.dropped))]
    known = set(map(canonical, nodes))
    return [
        name for name in dict.fromkeys([] if keys is None else texts(keys)) if canonical(name) not in known
    ]


@contextmanager
def open_source(edges: str, settings: Settings, execution: Any) -> Iterator[Any]:
    """Provide the graph of a command: in memory, or as row blocks if EDGES is a folder.

    The reading options are taken out of the settings.
    """
    from equigraph.stores.block_files import is_block_folder, temporary_blocks
    from equigraph.stores.edge_blocks import is_edge_folder

    if is_block_folder(edges):
        options = _folder_options(
            settings, ("weight", "duplicates"), "blocks, which were made with their weights"
        )
        yield _with_groups(eg.open_blocks(edges), options)
    elif is_edge_folder(edges):
        options = _folder_options(settings, (), "parquet files")
        with temporary_blocks() as folder:
            merging = {name: options[name] for name in ("weight", "duplicates")}
            yield _with_groups(eg.write_edge_blocks(edges, folder, execution=execution, **merging), options)
    else:
        yield read_source(edges, settings)


def _folder_options(settings: Settings, refused: tuple[str, ...], what: str) -> Settings:
    """Take the reading options out of the settings; raise ParameterError for those without a meaning here."""
    options = {name: settings.pop(name) for name in READING_NAMES}
    if options["groups"] is None:
        refused = (*refused, "attribute", "intersect", "node_column")
    for name in (*_TEXT_OPTIONS, *refused, "bins"):
        if options[name] not in (None, (), {}, "error"):
            raise ParameterError(
                f"--{name.replace('_', '-')} has no meaning here: EDGES is a folder of {what}."
            )
    if isinstance(options["weight"], int) and options["weight"] is not False:
        raise ParameterError(
            "--weight takes the name of a column, not its number, for a folder of parquet files."
        )
    return options


def _with_groups(graph: Any, options: Settings) -> Any:
    """Return blocks with the groups that the options name."""
    if options["groups"] is None:
        return graph
    of_groups = {name: options[name] for name in ("groups", "node_column", "missing", "unknown")}
    read = eg.read_graph(graph.without_edges(), **of_groups, **attribute_choice(options))
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


def read_again(source: Any, settings: Settings) -> tuple[Any, str | None]:
    """Return the graph of a stored result, read as recorded or as the options say, or None and the reason."""
    recorded = source or {}
    given = {name for name in ("edges", *READING_NAMES) if is_given(name)}
    options = {name: settings.pop(name) for name in READING_NAMES}
    options |= {name: value for name, value in recorded.get("options", {}).items() if name not in given}
    if options["groups"] is not None and "groups" not in given:
        options["groups"] = _found(options["groups"], recorded)
    edges = settings.pop("edges")
    if edges is not None:
        return read_source(edges, options), None
    if recorded.get("edges") is None:
        return None, "The folder does not record where the graph was read from: give --graph EDGES."
    edges = _found(recorded["edges"], recorded)
    if Path(edges).is_dir():
        reason = f"{edges} is a folder of edges on disk: give a file with the same graph as --graph EDGES."
        return None, reason
    for file in filter(None, (edges, options["groups"])):
        if not file.startswith(PREFIX) and not Path(file).exists():
            reason = f"{file}, from which the graph was read, does not exist: give its path as --graph EDGES."
            return None, reason
    try:
        return read_source(edges, options), None
    except DatasetError as error:
        return None, str(error)


def _found(name: str, recorded: Settings) -> str:
    """Return the path of a file, relative to the recorded folder or to the working directory."""
    if name.startswith(PREFIX):
        return name
    there = Path(recorded.get("folder", ".")) / name
    return str(there) if there.exists() or not Path(name).exists() else name


def dataset_graph(name: str, attribute: Any = None, **choice: Any) -> Any:
    """Return a data set as a graph, with some of its attributes as groups; by default its main one."""
    from equigraph.graph.features import wanted_attributes

    check_dataset(name)
    data = eg.datasets.make_classroom() if name == EMBEDDED else eg.datasets.load(name)
    wanted = wanted_attributes(attribute, choice.get("intersect")) or [data.attribute]
    known = _columns_of(data)
    if not set(wanted) <= set(known) and name in _RAW:
        data = eg.datasets.load(name, raw=True)  # whose files hold more than one attribute
        known = _columns_of(data)
    for one in wanted:
        if one not in known:
            raise GroupsError(
                f"The data set {name} has no attribute {one!r}{did_you_mean(one, known)}; it has {', '.join(known)}."
            )
    graph = eg.Graph(data.adjacency, data.node_names, {str(one): known[one] for one in wanted})
    kept = attribute if attribute is not None or choice.get("intersect") else data.attribute
    return eg.read_graph(graph, attribute=kept, **choice)


def _columns_of(data: Any) -> dict[str, Any]:
    """Return the attributes of a data set, the main one first."""
    return {data.attribute: data.sensitive_features, **{one: data[one] for one in _FURTHER if one in data}}


def check_dataset(name: str) -> None:
    """Raise ParameterError unless a data set has the name."""
    known = [EMBEDDED, *(info.name for info in eg.datasets.list_datasets())]
    if name not in known:
        raise ParameterError(
            f"There is no data set named {name!r}{did_you_mean(name, known)}: choose one of {', '.join(known)}."
        )
