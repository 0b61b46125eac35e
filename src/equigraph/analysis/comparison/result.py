"""The `Comparison` class: fits by graph and method, with tables, confidence intervals and tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from equigraph._utils.files import write_text
from equigraph._utils.notebook import page_of, text_table
from equigraph._utils.parameters import Real, check_known, check_parameters
from equigraph._utils.records import frame_of, framed, plain, write_csv
from equigraph._utils.text import count, did_you_mean, latex, listed
from equigraph.analysis.comparison.rows import (
    CONFIDENCE,
    FACTS,
    ComparedGraph,
    ComparisonRow,
    Spread,
    interval,
    paired_tests,
)
from equigraph.exceptions import ParameterError
from equigraph.graph.names import object_array
from equigraph.metrics.scores import ALL_SCORES, COMPARED
from equigraph.results.persistence import read_record, write_record

KIND = "comparison"
_LATEX_HEADS = {"Q": "$Q$", "B": "$B$", "NB": "$N\\!B$", "rho": r"$\rho$", "min_balance": r"$\min B$"}


@dataclass(frozen=True, repr=False)
class Comparison:
    """The fits of a comparison, with what is needed to repeat it.

    Attributes
    ----------
    rows : tuple of ComparisonRow
        One per graph and method, in the order asked for, each with its fits.
    graphs : tuple of ComparedGraph
        Names and sizes of the graphs; the name of a single graph is empty.
    seeds : tuple of int
        The seeds.
    metrics : tuple of str
        The scores that tables show.
    stopped : bool
        Whether a callback ended the comparison, so that methods or seeds are missing.
    """

    rows: tuple[ComparisonRow, ...]
    graphs: tuple[ComparedGraph, ...]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...] = COMPARED
    stopped: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the first graph."""
        return self.graphs[0].n_nodes

    @property
    def n_edges(self) -> int:
        """Number of edges of the first graph."""
        return self.graphs[0].n_edges

    @property
    def n_clusters(self) -> int:
        """Number of clusters asked for in the first graph."""
        return self.graphs[0].n_clusters

    def attribute_scores(self) -> list[str]:
        """Return the names of the scores of every attribute, such as ``NB[gender]``; none for a single one."""
        return list(dict.fromkeys(name for row in self.rows for name in row.by_attribute))

    def table(self, *, per_seed: bool = False) -> list[dict[str, Any]]:
        """Return one dict per graph and method, or per graph, method and seed.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> comparison = eg.compare(room.adjacency, methods=["nmtf"], n_clusters=3, n_seeds=2, metrics=["Q"])
        >>> [(row["method"], row["seed"]) for row in comparison.table(per_seed=True)]
        [('nmtf', 0), ('nmtf', 1)]
        """
        names = list(dict.fromkeys([*self._scores(), *self.attribute_scores()]))
        rows = []
        for row in self.rows:
            first = {"graph": row.graph} if self._several else {}
            first["method"] = row.method
            if per_seed:
                rows += [
                    {
                        **first,
                        "seed": fit.seed,
                        **{name: fit.scores.get(name) for name in names},
                        "n_nonempty": sum(size > 0 for size in fit.sizes),
                        "sizes": fit.sizes,
                        "seconds": fit.seconds,
                        "status": fit.status,
                    }
                    for fit in row.fits
                ]
                continue
            spreads = {f"{name}_spread": row.spread(name) for name in self._scores()}
            facts = {name: getattr(row, name) for name in (*FACTS, "notes", "error", "bad_input")}
            rows.append({**first, **{name: row.mean(name) for name in names}, **spreads, **facts})
        return rows

    def to_frame(
        self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas", *, per_seed: bool = False
    ) -> Any:
        """Return the rows of `table` as a pandas, polars or pyarrow frame; sizes and notes are texts.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> comparison = eg.compare(room.adjacency, methods=["nmtf", "sc"], n_clusters=3, n_seeds=2)
        >>> comparison.to_frame()["method"].tolist()
        ['nmtf', 'sc']
        """
        return frame_of(self._columns(per_seed), backend)

    def to_csv(self, path: str | os.PathLike[str], *, per_seed: bool = False, raw: bool = False) -> None:
        """Write the rows of `table`; sizes and notes are joined by a blank and by "; ".

        Texts that a spreadsheet would run as a formula get an apostrophe in front, unless ``raw``.
        """
        columns = {
            name: object_array(
                ["" if value is None or value != value else value for value in column.tolist()]
            )
            for name, column in self._columns(per_seed).items()
        }
        write_csv(path, columns, raw=raw)

    def intervals(self, metric: str, *, confidence: float = CONFIDENCE) -> Any:
        """Return the mean of a score over the seeds with its confidence interval, for every graph and method.

        The interval is that of Student's t. It covers the variation of the mean over seeds, not over graphs.

        Parameters
        ----------
        metric : str
            Name of a score.
        confidence : float, default=0.95
            Share of such intervals that contain the true mean.

        Returns
        -------
        DataFrame or list of dict
            Rows by graph and method with ``n``, ``mean``, ``low`` and ``high``; a list without pandas.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> comparison = eg.compare(room.adjacency, methods=["random"], n_clusters=3, n_seeds=5)
        >>> comparison.intervals("Q").round(2).loc["random"].tolist()
        [5.0, -0.03, -0.1, 0.03]
        """
        self._check(metric)
        constraint = {"confidence": Real(low=0, high=1, open_low=True)}
        check_parameters("Comparison.intervals", constraint, {"confidence": confidence})
        keys = ("graph", "method") if self._several else ("method",)
        values = [row.values(metric) for row in self.rows]
        bounds = [interval(one, confidence) for one in values]
        return framed(
            {
                **{key: [getattr(row, key) for row in self.rows] for key in keys},
                "n": [len(one) for one in values],
                "mean": [float(np.mean(one)) if one else np.nan for one in values],
                "low": [low for low, _ in bounds],
                "high": [high for _, high in bounds],
            },
            len(keys),
        )

    def tests(
        self, metric: str, *, baseline: str | None = None, over: Literal["graphs", "seeds"] | None = None
    ) -> Any:
        """Return paired tests between the methods: Wilcoxon's signed-rank test, two-sided, corrected by Holm.

        Parameters
        ----------
        metric : str
            Name of a score.
        baseline : str, optional
            The method that all others are tested against; by default every pair of methods is tested.
        over : {"graphs", "seeds"}, optional
            What the pairs are: graphs, each with its mean over the seeds, or seeds. By default graphs if there are
            several. Seeds of one graph are no independent observations of how methods compare on graphs in general;
            two methods that do not depend on the seed make one pair.

        Returns
        -------
        DataFrame or list of dict
            Rows by ``method`` and ``other`` with ``n`` pairs, the mean ``difference``, ``wins``, ``ties`` and
            ``losses`` (a win is a larger score), ``p``, and ``p_holm``, corrected for the number of rows. With n
            pairs no p below ``2 ** (1 - n)`` is possible, so that 5 pairs never reach 0.05.

        Raises
        ------
        ParameterError
            If there is no such score or method.

        References
        ----------
        J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> comparison = eg.compare(room.adjacency, methods=["nmtf", "random"], n_clusters=3, n_seeds=6)
        >>> comparison.tests("Q")[["n", "wins", "p_holm"]].loc[("nmtf", "random")].tolist()
        [6.0, 6.0, 0.03125]
        """
        return framed(self.paired(metric, baseline, over), 2)

    def paired(
        self, metric: str, baseline: str | None = None, over: Literal["graphs", "seeds"] | None = None
    ) -> dict[str, list[Any]]:
        """Return the columns of `tests`."""
        self._check(metric)
        over = ("graphs" if self._several else "seeds") if over is None else over
        check_known("over", over, ("graphs", "seeds"))
        if baseline is not None and baseline not in self.methods:
            raise ParameterError(
                f"There is no method {baseline!r}: baseline must be one of {listed(self.methods)}."
            )
        pairs: Iterable[tuple[str, str]] = combinations(self.methods, 2)
        if baseline is not None:
            pairs = ((one, baseline) for one in self.methods if one != baseline)
        return paired_tests(self.rows, metric, pairs, over)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write everything as JSON, with a checksum; `load` reads it again."""
        write_record(Path(path), KIND, self.content())

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

    def content(self) -> dict[str, Any]:
        """Return the content that `to_json` writes."""
        content: dict[str, Any] = plain(asdict(self))
        return content

    def summary(self) -> dict[str, Any]:
        """Return graphs, seeds, the rows of `table` and those per seed, ready for JSON."""
        content = {name: value for name, value in self.content().items() if name != "rows"}
        return {**content, "rows": plain(self.table()), "fits": plain(self.table(per_seed=True))}

    def to_markdown(self, path: str | os.PathLike[str]) -> None:
        """Write a Markdown table; errors and notes are listed below it."""
        write_text(path, self.markdown())

    def markdown(self) -> str:
        """Return the Markdown table as text."""
        heads, cells = self._shown((*self.metrics, *FACTS, *self.attribute_scores()))
        lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        lines += [f"| {' | '.join(one.replace('|', chr(92) + '|') for one in row)} |" for row in cells]
        remarks = [f"- {_row_name(row)}: {row.error}" for row in self.rows if row.error]
        remarks += [f"- {_row_name(row)}: {note}" for row in self.rows for note in row.notes]
        return "\n".join([*lines, *(["", *remarks] if remarks else [])]) + "\n"

    def to_latex(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the table of `latex`, which takes the same options."""
        write_text(path, self.latex(**options))

    def latex(
        self, columns: Iterable[str] | None = None, *, spread: Spread = "sd", bold: bool = False
    ) -> str:
        r"""Return a LaTeX table for the package booktabs, with one row per method; graphs stand side by side.

        Parameters
        ----------
        columns : iterable of str, optional
            Scores and other values of the rows. By default those of ``metrics``, stability and seconds for one graph;
            for several graphs those of ``metrics``, if given, or Q and NB.
        spread : {"sd", "interval", None}, default="sd"
            What follows the mean: the standard deviation, half of the 95 % confidence interval, or nothing.
        bold : bool, default=False
            Whether the best mean of every graph is bold, for the scores of equigraph.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> comparison = eg.compare(
        ...     {"A": room.adjacency, "B": room.adjacency}, methods=["nmtf"], n_clusters=3, n_seeds=1
        ... )
        >>> print(comparison.latex(["Q"]))
        \begin{tabular}{lrr}
        \toprule
         & A & B \\
        method & $Q$ & $Q$ \\
        \midrule
        nmtf & 0.474 & 0.474 \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        check_known("spread", spread, ("sd", "interval", None))
        names = list(self._latex_columns() if columns is None else columns)
        for name in names:
            self._check(name, FACTS)
        graphs = [one.name for one in self.graphs]
        lines = [rf"\begin{{tabular}}{{l{'r' * len(names) * len(graphs)}}}", r"\toprule"]
        if self._several:
            wide = len(names) > 1
            spans = [
                rf"\multicolumn{{{len(names)}}}{{c}}{{{latex(one)}}}" if wide else latex(one)
                for one in graphs
            ]
            lines.append(" & ".join(["", *spans]) + r" \\")
            ends = [(2 + i * len(names), 1 + (i + 1) * len(names)) for i in range(len(graphs))]
            lines += [" ".join(rf"\cmidrule(lr){{{first}-{last}}}" for first, last in ends)] if wide else []
        heads = [_LATEX_HEADS.get(name, latex(name)) for name in names] * len(graphs)
        lines += [" & ".join(["method", *heads]) + r" \\", r"\midrule"]
        found = {(row.graph, row.method): row for row in self.rows}
        for method in self.methods:
            cells = [latex(method)]
            for graph in graphs:
                row = found.get((graph, method), ComparisonRow(method, graph))
                for name in names:
                    text = latex(row.shown(name, spread))
                    top = self._best(graph, name) if bold else None
                    is_best = top is not None and text and f"{row.mean(name):.3f}" == f"{top:.3f}"
                    cells.append(rf"\textbf{{{text}}}" if is_best else text)
            lines.append(" & ".join(cells) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def _latex_columns(self) -> Sequence[str]:
        if self.metrics != COMPARED:
            return self.metrics
        return ("Q", "NB") if self._several else ("Q", "B", "NB", "stability", "seconds")

    def _best(self, graph: str, name: str) -> float | None:
        """Return the best mean of a score on a graph; None if it is not known which is better."""
        larger = ALL_SCORES[name].larger_is_better if name in ALL_SCORES else None
        means = [row.mean(name) for row in self.rows if row.graph == graph]
        known = [mean for mean in means if mean is not None]
        if larger is None or not known:
            return None
        return max(known) if larger else min(known)

    @property
    def _several(self) -> bool:
        return len(self.graphs) > 1 or bool(self.graphs and self.graphs[0].name)

    def _scores(self) -> tuple[str, ...]:
        """Return the usual scores and those that were asked for."""
        return tuple(dict.fromkeys((*COMPARED, *self.metrics)))

    def _check(self, name: str, further: Sequence[str] = ()) -> None:
        known = (*self._scores(), *further, *self.attribute_scores())
        if name not in known:
            raise ParameterError(
                f"There is no column {name!r}{did_you_mean(name, known)}: expected some of {', '.join(known)}."
            )

    def _columns(self, per_seed: bool) -> dict[str, Any]:
        rows = self.table(per_seed=per_seed)
        joined = {"sizes": " ", "notes": "; "}
        columns: dict[str, Any] = {}
        for name in rows[0] if rows else ():
            values = [row[name] for row in rows]
            if name in joined:
                values = [joined[name].join(map(str, value)) for value in values]
            known = {type(value) for value in values if value is not None}
            numeric = known == {float} or (not known and name not in ("status", "error"))
            columns[name] = np.asarray(values, dtype=float) if numeric else object_array(values)
        return columns

    def _shown(self, names: Iterable[str]) -> tuple[list[str], list[list[str]]]:
        """Return the heads and the cells of a table of texts."""
        names = list(names)
        first = ["graph", "method"] if self._several else ["method"]
        cells = [[*(getattr(row, one) for one in first), *map(row.shown, names)] for row in self.rows]
        return [*first, *names], cells

    def _page(self) -> tuple[str, list[str], list[list[str]]]:
        """Return caption, heads and cells of the displayed table."""
        shown = ("Q", "B", "NB", "rho") if self.metrics == COMPARED else self.metrics
        heads, cells = self._shown((*shown, "sizes", "stability", "seconds", "status"))
        if any(row.error for row in self.rows):
            heads = [*heads, "error"]
            cells = [[*cell, row.error or ""] for cell, row in zip(cells, self.rows, strict=True)]
        where = count(len(self.graphs), "graph")
        if len(self.graphs) == 1:
            where = f"{count(self.graphs[0].n_nodes, 'node')}, {count(self.graphs[0].n_edges, 'edge')}"
        return (
            f"{count(len(self.methods), 'method')} on {where}, {count(len(self.seeds), 'seed')}",
            heads,
            cells,
        )

    def __repr__(self) -> str:
        return text_table(*self._page())

    def _repr_html_(self) -> str:
        """Return the table, for a notebook."""
        return page_of(*self._page())


def _row_name(row: ComparisonRow) -> str:
    return f"{row.graph}, {row.method}" if row.graph else row.method
