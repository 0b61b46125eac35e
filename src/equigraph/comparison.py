"""Every method on one graph, one row each: quality, fairness, stability over seeds, time and memory."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph.callbacks import Callbacks, Notifier
from equigraph.exceptions import InputError, ParameterError
from equigraph.files import atomic_path
from equigraph.graph import Graph, read_graph
from equigraph.methods import METHODS, Method, get_method
from equigraph.parameters import Integer, check_parameters
from equigraph.randomness import RandomState, as_seed
from equigraph.results import ClusteringResult

_SAMPLING_SECONDS = 0.004


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
    notes : tuple of str
        Warnings; of each kind the first.
    error : str or None
        Why there is no result.
    bad_input : bool
        Whether the error is one of the input, such as too many clusters, rather than of the method.
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
    notes: tuple[str, ...] = ()
    error: str | None = None
    bad_input: bool = False


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
    """

    rows: tuple[ComparisonRow, ...]
    n_nodes: int
    n_edges: int
    n_clusters: int
    seeds: tuple[int, ...]

    def table(self) -> list[dict[str, Any]]:
        """Return the rows as plain dicts."""
        return [asdict(row) for row in self.rows]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per method; sizes and notes are joined by a blank and by "; "."""
        buffer = io.StringIO(newline="")
        table = self.table()
        writer = csv.DictWriter(buffer, fieldnames=list(asdict(ComparisonRow(""))))
        writer.writeheader()
        for row in table:
            writer.writerow(
                {**row, "sizes": " ".join(map(str, row["sizes"])), "notes": "; ".join(row["notes"])}
            )
        _write(path, buffer.getvalue())

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write everything as JSON."""
        _write(path, json.dumps(self.summary(), indent=2, ensure_ascii=False) + "\n")

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
            "rows": [
                {**row, "sizes": list(row["sizes"]), "notes": list(row["notes"])} for row in self.table()
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
            "peak_mib",
        )
        lines = [f"| method | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        for row in self.table():
            cells = [_cell(name, row[name]) for name in names]
            lines.append(f"| {row['method']} | {' | '.join(cells)} |")
        remarks = [f"- {row.method}: {row.error}" for row in self.rows if row.error]
        remarks += [f"- {row.method}: {note}" for row in self.rows for note in row.notes]
        return "\n".join([*lines, *(["", *remarks] if remarks else [])]) + "\n"


class PeakMemory:
    """Sample the memory of this process while a block runs, in a thread of its own.

    The peak is the largest resident set that was seen minus the one at the start. It includes what the block
    imports and compiles for the first time, leaves out what it takes from memory that the process had already
    been given, and may miss a peak shorter than the 4 ms between two samples. Where there is no ``/proc``,
    the growth of the process's own high-water mark is used; where there is neither, the peak is None.

    Attributes
    ----------
    mib : float or None
        The peak in MiB, set at the end of the block.
    """

    mib: float | None = None

    def __enter__(self) -> Self:
        self._sample = _memory_probe()
        if self._sample is not None:
            self._start = self._peak = self._sample()
            self._done = threading.Event()
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def _watch(self) -> None:
        assert self._sample is not None
        while not self._done.wait(_SAMPLING_SECONDS):
            self._peak = max(self._peak, self._sample())

    def __exit__(self, *exc: object) -> None:
        if self._sample is None:
            return
        self._done.set()
        self._thread.join()
        self._peak = max(self._peak, self._sample())
        self.mib = (self._peak - self._start) / 2**20


def compare(
    graph: Any,
    *,
    methods: Iterable[str] | None = None,
    n_clusters: int,
    fairness: float | Mapping[str, float] | None = None,
    n_seeds: int = 3,
    random_state: RandomState = 0,
    sensitive_features: ArrayLike | None = None,
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
    sensitive_features : array-like of shape (n_nodes,), optional
        Group of each node; by default the groups that came with the graph.
    callbacks : callable or list of callables, optional
        Told after every fit, the stage being the name of the method; one that returns True ends the
        comparison with the methods done so far.

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
    graph = read_graph(graph, groups=sensitive_features)
    first = as_seed(random_state)
    seeds = tuple(range(first, first + n_seeds))
    notify = Notifier(callbacks)
    rows = []
    for method in chosen:
        row, stop = _run(method, graph, n_clusters, dials.get(method.name), seeds, notify)
        rows.append(row)
        if stop:
            break
    return Comparison(tuple(rows), graph.n_nodes, graph.n_edges, n_clusters, seeds)


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
                result, peak = _fit(method, graph, n_clusters, fairness, seed)
                results.append(result)
                peaks += [] if peak is None else [peak]
                stop = notify(method.name, step, len(seeds))
                if stop:
                    break
            row = _row(method, results, peaks)
        # One method's failure, whatever it is, must not lose the rows of the others.
        except Exception as error:
            row = replace(row, error=_one_line(error), bad_input=isinstance(error, InputError))
            stop = notify(method.name, len(seeds), len(seeds))
    return replace(row, notes=_notes(caught)), stop


def _notes(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return the first message of every kind of warning, with how often that kind came."""
    kinds: dict[type[Warning], list[str]] = {}
    for warning in caught:
        kinds.setdefault(warning.category, []).append(" ".join(str(warning.message).split()))
    return tuple(
        texts[0] if len(texts) == 1 else f"{texts[0]} ({len(texts)} times)" for texts in kinds.values()
    )


def _fit(
    method: Method, graph: Graph, n_clusters: int, fairness: float | None, seed: int
) -> tuple[ClusteringResult, float | None]:
    estimator = method.load()
    wanted = {"n_clusters": n_clusters, "fairness": fairness, "random_state": seed}
    known = estimator._get_param_names()
    model = estimator(
        **{name: value for name, value in wanted.items() if name in known and value is not None}
    )
    with PeakMemory() as memory:
        start = time.perf_counter()
        model.fit(graph)
        seconds = time.perf_counter() - start
    return ClusteringResult.from_estimator(model, graph, seconds=seconds), memory.mib


def _row(method: Method, results: list[ClusteringResult], peaks: list[float]) -> ComparisonRow:
    first = results[0]
    scores: dict[str, Any] = {
        name: _finite(first.scores.get(name)) for name in ("Q", "B", "NB", "min_balance", "rho")
    }
    return ComparisonRow(
        method=method.name,
        **scores,
        n_nonempty=int(first.scores["n_nonempty"]),
        sizes=tuple(first.sizes.tolist()),
        stability=seed_stability([result.labels for result in results]),
        seconds=float(np.median([result.seconds for result in results])),
        peak_mib=float(np.median(peaks)) if peaks else None,
    )


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


def _memory_probe() -> Any:
    """Return a function that tells the memory of this process in bytes, or None where there is no way."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        with open("/proc/self/statm", encoding="ascii") as file:
            file.read()
    except (OSError, ValueError, AttributeError):
        return _high_water_probe()

    def resident() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * page

    return resident


def _high_water_probe() -> Any:
    import sys

    try:
        import resource
    except ImportError:
        return None
    # macOS counts bytes, the others KiB.
    unit = 1 if sys.platform == "darwin" else 1024
    return lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


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
        partial.write_bytes(text.encode("utf-8"))
