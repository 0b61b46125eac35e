"""Every method on one graph, one row each: quality, fairness, stability over seeds, time and memory."""

from __future__ import annotations

import csv
import io
import itertools
import os
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from equigraph.callbacks import Callbacks, Notifier, Progress, Watched
from equigraph.exceptions import InputError, ParameterError
from equigraph.files import atomic_path
from equigraph.folders import digest_of, parse_json
from equigraph.graph import Graph
from equigraph.graph.features import with_features
from equigraph.loading import check_entries
from equigraph.methods import METHODS, Method, get_method
from equigraph.notebook import page_of
from equigraph.parameters import Integer, check_parameters
from equigraph.peak_memory import PeakMemory
from equigraph.randomness import RandomState, as_seed
from equigraph.records import harmless, write_json
from equigraph.results import ClusteringResult
from equigraph.words import count

FORMAT, VERSION = "equigraph comparison", 1
# How a fit can end, from the best to the worst.
_SEVERITY = (None, "converged", "max_iter", "stopped", "diverged")
_ENTRIES: dict[str, tuple[type, ...]] = {
    "n_nodes": (int,),
    "n_edges": (int,),
    "n_clusters": (int,),
    "seeds": (list,),
    "stopped": (bool,),
    "rows": (list,),
}


@dataclass(frozen=True)
class ComparisonRow:
    """What one method did on the graph; scores are None where it failed or has no such score.

    Attributes
    ----------
    method : str
        Name of the method.
    Q, B, NB, min_balance, rho : float or None
        Scores of the first seed; the fairness scores need groups.
    n_nonempty : int or None
        Clusters that have a node, first seed.
    sizes : tuple of int
        Nodes of each cluster, first seed.
    stability : float or None
        Mean adjusted Rand index over all pairs of seeds: 1 when every seed gives the same clusters. None for
        a single seed.
    seconds : float or None
        Median time of a fit.
    peak_mib : float or None
        Median over the seeds of the growth of the process's memory in a fit, in MiB; see `PeakMemory`. What the
        first fit imports and compiles is in it only if there are fewer than three seeds.
    status : str or None
        How the fits ended; see `ClusteringResult`. Of several seeds the worst: "diverged" before "stopped" before
        "max_iter" before "converged".
    notes : tuple of str
        Warnings; of each kind the first.
    error : str or None
        Why there is no result.
    bad_input : bool
        Whether the error is one of the input, such as too many clusters, rather than of the method.
    by_attribute : dict
        Scores of every attribute where there are several, such as ``NB[gender]``; B, NB and rho are then their means.
    """

    method: str
    Q: float | None = None
    B: float | None = None
    NB: float | None = None
    min_balance: float | None = None
    rho: float | None = None
    n_nonempty: int | None = None
    sizes: tuple[int, ...] = ()
    stability: float | None = None
    seconds: float | None = None
    peak_mib: float | None = None
    status: str | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None
    bad_input: bool = False
    by_attribute: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """The rows of a comparison, with what is needed to repeat it.

    Attributes
    ----------
    rows : tuple of ComparisonRow
        One per method, in the order asked for.
    n_nodes, n_edges, n_clusters : int
        Size of the graph, and the clusters asked for.
    seeds : tuple of int
        The seeds.
    stopped : bool
        Whether a callback ended the comparison, so that methods or seeds are missing.
    """

    rows: tuple[ComparisonRow, ...]
    n_nodes: int
    n_edges: int
    n_clusters: int
    seeds: tuple[int, ...]
    stopped: bool = False

    def table(self) -> list[dict[str, Any]]:
        """Return the rows as plain dicts; the scores of every attribute, where there are several, stand beside."""
        rows = [asdict(row) for row in self.rows]
        return [{**row, **row.pop("by_attribute")} for row in rows]

    def attribute_scores(self) -> list[str]:
        """Return the names of the scores of every attribute, such as ``NB[gender]``; none where there is one."""
        return list(dict.fromkeys(name for row in self.rows for name in row.by_attribute))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the comparison that `to_json` wrote.

        Raises
        ------
        InputError
            If there is no such file, or it is damaged or not one of ours.

        Examples
        --------
        >>> import tempfile
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> comparison = eg.compare(room.adjacency, methods=["nmtf"], n_clusters=3, n_seeds=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     comparison.to_json(f"{folder}/table.json")
        ...     eg.Comparison.load(f"{folder}/table.json") == comparison
        True
        """
        return cls(**comparison_parts(Path(path)))

    def to_csv(self, path: str | os.PathLike[str], *, raw: bool = False) -> None:
        """Write one line per method; sizes and notes are joined by a blank and by "; ".

        Texts that a spreadsheet would run as a formula get an apostrophe in front, unless ``raw``.
        """
        buffer = io.StringIO(newline="")
        names = [name for name in asdict(ComparisonRow("")) if name != "by_attribute"]
        writer = csv.DictWriter(buffer, fieldnames=[*names, *self.attribute_scores()])
        writer.writeheader()
        for row in self.table():
            cells = {**row, "sizes": " ".join(map(str, row["sizes"])), "notes": "; ".join(row["notes"])}
            writer.writerow(cells if raw else {name: harmless(cell) for name, cell in cells.items()})
        _write(path, buffer.getvalue())

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write everything as JSON, with a checksum; `load` reads it again."""
        content = {"format": FORMAT, "version": VERSION, **self.summary()}
        write_json(path, {**content, "checksum": digest_of(content)})

    def _repr_html_(self) -> str:
        """Return the table, for a notebook."""
        names = ("method", "Q", "B", "NB", "rho", "sizes", "stability", "seconds", "status")
        rows = [[getattr(row, name) for name in names] for row in self.rows]
        caption = f"{count(len(self.rows), 'method')} on {count(self.n_nodes, 'node')}, {count(self.n_edges, 'edge')}"
        return page_of(
            caption, [*names, "error"], [[*row, one.error] for row, one in zip(rows, self.rows, strict=True)]
        )

    def to_markdown(self, path: str | os.PathLike[str]) -> None:
        """Write a Markdown table; errors and notes are listed below it."""
        _write(path, self.markdown())

    def summary(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "n_nodes": self.n_nodes,
            "n_edges": self.n_edges,
            "n_clusters": self.n_clusters,
            "seeds": list(self.seeds),
            "stopped": self.stopped,
            "rows": [
                _told({**asdict(row), "sizes": list(row.sizes), "notes": list(row.notes)})
                for row in self.rows
            ],
        }

    def markdown(self) -> str:
        """Return the Markdown table as text."""
        names = (
            "Q",
            "B",
            "NB",
            "min_balance",
            "rho",
            "n_nonempty",
            "sizes",
            "stability",
            "seconds",
            "status",
            "peak_mib",
            *self.attribute_scores(),
        )
        lines = [f"| method | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        for row in self.table():
            cells = [_cell(name, row.get(name)) for name in names]
            lines.append(f"| {row['method']} | {' | '.join(cells)} |")
        remarks = [f"- {row.method}: {row.error}" for row in self.rows if row.error]
        remarks += [f"- {row.method}: {note}" for row in self.rows for note in row.notes]
        return "\n".join([*lines, *(["", *remarks] if remarks else [])]) + "\n"


def compare(
    graph: Any,
    *,
    methods: Iterable[str] | None = None,
    n_clusters: int,
    fairness: float | Mapping[str, float] | None = None,
    n_seeds: int = 3,
    random_state: RandomState = 0,
    sensitive_features: Any = None,
    callbacks: Callbacks = None,
) -> Comparison:
    """Run several methods on one graph, each with several seeds.

    A method that fails is a row that says why; the others go on. The scores are those of the first seed, so
    that ``cluster`` with that seed gives the same ones.

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.graph.as_graph` takes.
    methods : iterable of str, optional
        Names from `equigraph.methods.METHODS`; by default all.
    n_clusters : int
        Number of clusters, for the methods that take one.
    fairness : float or mapping from method to float, optional
        The dial of the methods that have one. Its scale differs between methods, hence the mapping. By
        default each method's own default.
    n_seeds : int, default=3
        Number of seeds: ``random_state``, ``random_state + 1``, ...
    random_state : int, Generator, RandomState or None, default=0
        The first seed.
    sensitive_features : array-like of shape (n_nodes,), dict of columns, frame or 2-D array, optional
        Group of each node by one attribute or several, as for ``fit``; by default those that came with the graph.
    callbacks : callable or list of callables, optional
        Told before, during and after every fit, the stage being the name of the method and the step the number of
        fits that are done; one that returns True ends the comparison with what there is, also in the middle of a
        fit, where the method can be stopped.

    Returns
    -------
    Comparison
        One row per method.

    Raises
    ------
    ParameterError
        If a method is unknown or a number out of range.
    GraphError, GroupsError
        If the graph or the groups are not usable.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> comparison = compare(room.adjacency, methods=["nmtf"], n_clusters=3, n_seeds=1)
    >>> comparison.rows[0].method, len(comparison.rows[0].sizes)
    ('nmtf', 3)
    """
    chosen = [get_method(name) for name in (METHODS if methods is None else methods)]
    constraints = {"n_clusters": Integer(low=2), "n_seeds": Integer(low=1)}
    check_parameters("compare", constraints, {"n_clusters": n_clusters, "n_seeds": n_seeds})
    dials = _dials(chosen, fairness)
    graph = with_features(graph, sensitive_features)
    first = as_seed(random_state)
    seeds = tuple(range(first, first + n_seeds))
    notify = Notifier(callbacks)
    rows = []
    stop = False
    for method in chosen:
        row, stop = _run(method, graph, n_clusters, dials.get(method.name), seeds, notify)
        rows.append(row)
        if stop:
            break
    return Comparison(tuple(rows), graph.n_nodes, graph.n_edges, n_clusters, seeds, stop)


def _dials(methods: list[Method], fairness: float | Mapping[str, float] | None) -> dict[str, float]:
    names = [method.name for method in methods]
    if not isinstance(fairness, Mapping):
        return {} if fairness is None else dict.fromkeys(names, fairness)
    for name in fairness:
        if name not in names:
            raise ParameterError(
                f"fairness names {name!r}, which is not compared; the methods are {', '.join(names)}."
            )
        if not _has_dial(get_method(name)):
            raise ParameterError(f"fairness names {name!r}, which has no such dial: leave it out.")
    return dict(fairness)


def _has_dial(method: Method) -> bool:
    try:
        return "fairness" in method.load()._get_param_names()
    except ImportError:
        return True  # its row will tell that it cannot be imported


def _run(
    method: Method,
    graph: Graph,
    n_clusters: int,
    fairness: float | None,
    seeds: tuple[int, ...],
    notify: Notifier,
) -> tuple[ComparisonRow, bool]:
    """Return the row of a method, and whether a callback wants to stop."""
    results: list[ClusteringResult] = []
    peaks: list[float] = []
    row, stop = ComparisonRow(method.name), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            notify(method.name, 0, len(seeds))
            for step, seed in enumerate(seeds, start=1):
                watch = _watch(notify, method.name, step - 1, len(seeds))
                result, peak = _fit(method, graph, n_clusters, fairness, seed, watch)
                results.append(result)
                peaks += [] if peak is None else [peak]
                stop = notify(method.name, step, len(seeds)) or result.status == "stopped"
                if stop:
                    break
            row = _row(method, results, peaks)
        # One method's failure, whatever it is, must not lose the rows of the others.
        except Exception as error:
            row = replace(row, error=_one_line(error), bad_input=isinstance(error, InputError))
            stop = notify(method.name, len(seeds), len(seeds))
    return replace(row, notes=_notes(caught)), stop


def _watch(notify: Notifier, name: str, done: int, total: int) -> Watched | None:
    """Return what lets the callbacks stop a fit halfway; of its own stages they are not told."""

    def tell(progress: Progress) -> bool:
        return notify(name, done, total)

    return Watched(tell) if notify.callbacks else None


def _notes(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return the first message of every kind of warning, with how often that kind came."""
    kinds: dict[type[Warning], list[str]] = {}
    for warning in caught:
        kinds.setdefault(warning.category, []).append(" ".join(str(warning.message).split()))
    return tuple(
        texts[0] if len(texts) == 1 else f"{texts[0]} ({len(texts)} times)" for texts in kinds.values()
    )


def _fit(
    method: Method, graph: Graph, n_clusters: int, fairness: float | None, seed: int, watch: Watched | None
) -> tuple[ClusteringResult, float | None]:
    estimator = method.load()
    wanted: dict[str, Any] = {"n_clusters": n_clusters, "fairness": fairness, "random_state": seed}
    if watch is not None:
        wanted["callbacks"] = watch
    known = estimator._get_param_names()
    model = estimator(
        **{name: value for name, value in wanted.items() if name in known and value is not None}
    )
    with PeakMemory() as memory:
        start = time.perf_counter()
        model.fit(graph)
        seconds = time.perf_counter() - start
    result = ClusteringResult.from_estimator(model, graph, seconds=seconds)
    return (replace(result, status="stopped") if watch and watch.stopped else result), memory.mib


def _row(method: Method, results: list[ClusteringResult], peaks: list[float]) -> ComparisonRow:
    first = results[0]
    scores: dict[str, Any] = {
        name: _finite(first.scores.get(name)) for name in ("Q", "B", "NB", "min_balance", "rho")
    }
    return ComparisonRow(
        method=method.name,
        **scores,
        by_attribute={name: _finite(value) for name, value in first.scores.items() if "[" in name},
        n_nonempty=int(first.scores["n_nonempty"]),
        sizes=tuple(first.sizes.tolist()),
        stability=seed_stability([result.labels for result in results]),
        seconds=float(np.median([result.seconds for result in results])),
        peak_mib=float(np.median(peaks)) if peaks else None,
        status=max((result.status for result in results), key=_SEVERITY.index),
    )


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without scores of every attribute where there are none."""
    return row if row["by_attribute"] else {name: row[name] for name in row if name != "by_attribute"}


def seed_stability(labelings: list[NDArray]) -> float | None:
    """Return the mean adjusted Rand index over all pairs of labelings, or None for fewer than two.

    Examples
    --------
    >>> seed_stability([np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])])
    1.0
    """
    from equigraph.metrics import adjusted_rand_score

    pairs = [adjusted_rand_score(one, two) for one, two in itertools.combinations(labelings, 2)]
    return float(np.mean(pairs)) if pairs else None


def _finite(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _cell(name: str, value: Any) -> str:
    if value is None or value == ():
        return ""
    if name == "sizes":
        return " ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.1f}" if name == "peak_mib" else f"{value:.3f}"
    return str(value)


def _write(path: str | os.PathLike[str], text: str) -> None:
    with atomic_path(path) as partial:
        partial.write_bytes(text.encode("utf-8", "surrogatepass"))


def comparison_parts(path: Path) -> dict[str, Any]:
    """Return the parts of a `Comparison` from the file that `to_json` wrote."""
    try:
        told = parse_json(path.read_bytes(), path)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}): expected a comparison as JSON."
        ) from None
    if told.get("format") != FORMAT or told.get("version") != VERSION:
        raise InputError(
            f"{path} is no comparison of version {VERSION}: expected the file that to_json wrote."
        )
    if told.pop("checksum", None) != digest_of(told):
        raise InputError(f"{path} has changed since equigraph wrote it: make the comparison again.")
    check_entries(told, _ENTRIES, path)
    try:
        rows = tuple(
            ComparisonRow(**{**row, "sizes": tuple(row["sizes"]), "notes": tuple(row["notes"])})
            for row in told["rows"]
        )
    except (TypeError, KeyError):
        raise InputError(f"{path} has a row that is none: expected the file that to_json wrote.") from None
    return {**{name: told[name] for name in _ENTRIES}, "rows": rows, "seeds": tuple(told["seeds"])}
