"""Every method on one graph, one row each: quality and fairness over seeds, stability and time."""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from equigraph._utils.callbacks import Callbacks, Notifier, Watched
from equigraph._utils.files import write_text
from equigraph._utils.notebook import page_of
from equigraph._utils.parameters import Integer, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.records import frame_of, harmless
from equigraph._utils.text import GIVE_GROUPS, count, counted, latex, one_line
from equigraph.analysis.candidates import (
    Candidate,
    ComparisonRow,
    Outcome,
    candidates_of,
    fit,
    row_of,
    same_without_fairness,
    tuned,
)
from equigraph.exceptions import InputError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.features import with_features
from equigraph.graph.names import object_array
from equigraph.methods import METHODS
from equigraph.metrics.scores import COMPARED
from equigraph.results.persistence import read_record, write_record

KIND = "comparison"
_SHOWN = (*COMPARED, "n_nonempty", "sizes", "stability", "seconds", "fairness", "status")
_WORDS = ("method", "n_nonempty", "sizes", "status", "notes", "error", "bad_input")
_LATEX_HEADS = {"Q": "$Q$", "B": "$B$", "NB": "$N\\!B$", "rho": r"$\rho$", "min_balance": r"$\min B$"}


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
        each = [row.pop("by_attribute") for row in rows]
        return [{**row, **scores} for row, scores in zip(rows, each, strict=True)]

    def attribute_scores(self) -> list[str]:
        """Return the names of the scores of every attribute, such as ``NB[gender]``; none where there is one."""
        return list(dict.fromkeys(name for row in self.rows for name in row.by_attribute))

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the rows as a pandas, polars or pyarrow frame; sizes and notes are texts.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> comparison = eg.compare(room.adjacency, methods=["nmtf", "sc"], n_clusters=3, n_seeds=2)
        >>> comparison.to_frame()["method"].tolist()
        ['nmtf', 'sc']
        """
        rows = self._cells()
        columns: dict[str, Any] = {}
        for name in rows[0] if rows else ():
            values = [row.get(name) for row in rows]
            known = [value for value in values if value is not None]
            numeric = all(isinstance(value, float) for value in known) and name not in _WORDS
            columns[name] = np.asarray(values, dtype=float) if numeric else object_array(values)
        return frame_of(columns, backend)

    def _cells(self) -> list[dict[str, Any]]:
        """Return the rows with sizes and notes as texts."""
        return [
            {**row, "sizes": " ".join(map(str, row["sizes"])), "notes": "; ".join(row["notes"])}
            for row in self.table()
        ]

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
        found: Self = read_record(path, KIND, cls)
        return found

    def to_csv(self, path: str | os.PathLike[str], *, raw: bool = False) -> None:
        """Write one line per method; sizes and notes are joined by a blank and by "; ".

        Texts that a spreadsheet would run as a formula get an apostrophe in front, unless ``raw``.
        """
        buffer = io.StringIO(newline="")
        names = [name for name in asdict(ComparisonRow("")) if name != "by_attribute"]
        writer = csv.DictWriter(buffer, fieldnames=[*names, *self.attribute_scores()])
        writer.writeheader()
        for cells in self._cells():
            writer.writerow(cells if raw else {name: harmless(cell) for name, cell in cells.items()})
        write_text(path, buffer.getvalue())

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write everything as JSON, with a checksum; `load` reads it again."""
        write_record(Path(path), KIND, self.summary())

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
        write_text(path, self.markdown())

    def to_latex(self, path: str | os.PathLike[str]) -> None:
        """Write the table of `latex`."""
        write_text(path, self.latex())

    def latex(self, columns: Iterable[str] = ("Q", "B", "NB", "stability", "seconds")) -> str:
        r"""Return a LaTeX table, for the package booktabs.

        Parameters
        ----------
        columns : iterable of str
            Which values of the rows.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> comparison = eg.compare(room.adjacency, methods=["nmtf"], n_clusters=3, n_seeds=1)
        >>> print(comparison.latex(["Q"]).splitlines()[2])
        method & $Q$ \\
        """
        names = list(columns)
        unknown = [name for name in names if name not in _SHOWN]
        if unknown:
            raise ParameterError(f"There is no column {unknown[0]!r}: expected some of {', '.join(_SHOWN)}.")
        heads = [_LATEX_HEADS.get(name, latex(name)) for name in names]
        lines = [rf"\begin{{tabular}}{{l{'r' * len(names)}}}", r"\toprule"]
        lines += [" & ".join(["method", *heads]) + r" \\", r"\midrule"]
        for row in self.rows:
            lines.append(" & ".join(map(latex, [row.method, *(row.shown(name) for name in names)])) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def summary(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "n_nodes": self.n_nodes,
            "n_edges": self.n_edges,
            "n_clusters": self.n_clusters,
            "seeds": list(self.seeds),
            "stopped": self.stopped,
            "rows": [
                {
                    name: list(value) if isinstance(value, tuple) else value
                    for name, value in asdict(row).items()
                    if name != "by_attribute" or value
                }
                for row in self.rows
            ],
        }

    def markdown(self) -> str:
        """Return the Markdown table as text."""
        names = (*_SHOWN, *self.attribute_scores())
        lines = [f"| method | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        for row in self.rows:
            cells = [row.method, *(row.shown(name) for name in names)]
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        remarks = [f"- {row.method}: {row.error}" for row in self.rows if row.error]
        remarks += [f"- {row.method}: {note}" for row in self.rows for note in row.notes]
        return "\n".join([*lines, *(["", *remarks] if remarks else [])]) + "\n"


def compare(
    graph: Any,
    *,
    methods: str | Iterable[Any] | None = None,
    n_clusters: int,
    fairness: float | Mapping[str, float] | None = None,
    tune: bool = False,
    n_seeds: int = 3,
    random_state: RandomState = 0,
    sensitive_features: Any = None,
    callbacks: Callbacks = None,
) -> Comparison:
    """Run several methods on one graph, each with several seeds.

    A method that fails is a row that says why; the others go on. Scores are means over the seeds, with their spread. A
    row whose clusters are the same without fairness says so, for which the method is fitted once more.

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.graph.as_graph` takes.
    methods : str, or iterable of str and estimators, optional
        Names from `equigraph.methods.METHODS`, by default all; and estimators of one's own, whose rows have the name of
        their class: anything with ``fit``, ``get_params`` and ``labels_``. Those of `GraphClusterer` are fitted to the
        graph, others to its adjacency, with ``sensitive_features`` where their ``fit`` takes them. Parameters called
        ``n_clusters`` and ``random_state`` are set, the others are as they come.
    n_clusters : int
        Number of clusters, for the methods that take one.
    fairness : float or mapping from method to float, optional
        The dial of the methods that have one. Its scale differs between methods, hence the mapping. By
        default each method's own default.
    tune : bool, default=False
        Whether every dial that ``fairness`` does not set is chosen first: of eleven values in [0, 1], or of powers of
        ten where it has no upper end, the one whose Q times NB is largest with the first seed. Rows tell it.
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
    >>> [row.method for row in compare(room.adjacency, methods=["sc", eg.NMTF(tol=1e-3)], n_clusters=3).rows]
    ['sc', 'NMTF']
    """
    constraints = {"n_clusters": Integer(low=2), "n_seeds": Integer(low=1)}
    check_parameters("compare", constraints, {"n_clusters": n_clusters, "n_seeds": n_seeds})
    chosen = candidates_of(
        METHODS if methods is None else [methods] if isinstance(methods, str) else methods, fairness
    )
    graph = with_features(graph, sensitive_features)
    if tune and graph.sensitive_features is None:
        raise ParameterError(f"tune=True needs groups: {GIVE_GROUPS}.")
    first = as_seed(random_state)
    seeds = tuple(range(first, first + n_seeds))
    notify = Notifier(callbacks)
    rows = []
    stop = False
    for entry in chosen:
        row, stop = _run(entry, graph, n_clusters, seeds, notify, tune)
        rows.append(row)
        if stop:
            break
    return Comparison(tuple(rows), graph.n_nodes, graph.n_edges, n_clusters, seeds, stop)


def _run(
    entry: Candidate, graph: Graph, n_clusters: int, seeds: tuple[int, ...], notify: Notifier, tune: bool
) -> tuple[ComparisonRow, bool]:
    """Return the row of a method, and whether a callback wants to stop."""
    row, stop = ComparisonRow(entry.name), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        remark = ""
        try:
            notify(entry.name, 0, len(seeds))
            if tune and entry.fairness is None:
                entry = tuned(entry, graph, n_clusters, seeds[0])
            outcomes, stop = _fits(entry, graph, n_clusters, seeds, notify)
            row = row_of(entry, outcomes)
            if not stop:
                remark = same_without_fairness(entry, graph, n_clusters, seeds[0], outcomes[0])
        # One method's failure, whatever it is, must not lose the rows of the others.
        except Exception as error:
            row = replace(row, error=one_line(error), bad_input=isinstance(error, InputError))
            stop = notify(entry.name, len(seeds), len(seeds))
    notes = [text for _, text in counted((one.category, one_line(one.message)) for one in caught)]
    return replace(row, notes=(*notes, *([remark] if remark else []))), stop


def _fits(
    entry: Candidate, graph: Graph, n_clusters: int, seeds: tuple[int, ...], notify: Notifier
) -> tuple[list[Outcome], bool]:
    """Fit with one seed after the other; also return whether a callback wants to stop."""
    outcomes: list[Outcome] = []
    for step, seed in enumerate(seeds, start=1):
        watch = _watch(notify, entry.name, step - 1, len(seeds))
        outcomes.append(fit(entry, graph, n_clusters, seed, watch))
        if notify(entry.name, step, len(seeds)) or outcomes[-1].status == "stopped":
            return outcomes, True
    return outcomes, False


def _watch(notify: Notifier, name: str, done: int, total: int) -> Watched | None:
    """Return what lets the callbacks stop a fit halfway; they are not called for stages of the fit itself."""
    return Watched(lambda progress: notify(name, done, total)) if notify.callbacks else None
