"""Tables of the rows: times as ratios to ours, an iteration beside the floor of memory, and how time grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scale.graphs import POKEC
from benchmarks.scale.methods import METHODS
from benchmarks.scale.rows import OK
from equigraph._utils.records import write_csv, write_json
from equigraph.apps.cli.console import line, table

Row = dict[str, Any]
# The methods of ours that others are compared with, and the heads of these columns.
REFERENCES = {
    "fair-partition-0": "/ FairPartition 0",
    "fair-partition-0.5": "/ FairPartition .5",
    "ifair-nmtf-500": "/ IFairNMTF",
}
# Below this many stored entries much of a time is not growth: caches, fixed costs, threads that do not pay.
LARGE = 10_000_000
COLUMNS = (
    "graph",
    "n_nodes",
    "n_stored",
    "method",
    "status",
    "seconds",
    "slowest_seconds",
    "runs",
    "cpu_seconds",
    "build_seconds",
    "peak_gib",
    "loaded_gib",
    "Q",
    "NB",
    "n_clusters",
    *(f"ratio_to_{name}" for name in REFERENCES),
    "note",
    "measured",
    "reused",
)


def with_ratios(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with their seconds over those of ours on the same graph; None where one of the two is missing."""
    seconds = {(row["graph"], row["method"]): row.get("seconds") for row in rows}
    out = []
    for row in rows:
        ours = {name: seconds.get((row["graph"], name)) for name in REFERENCES}
        known = METHODS[row["method"]].kind != "part" and row.get("seconds") is not None
        ratios = {
            f"ratio_to_{name}": row["seconds"] / value if known and value else None
            for name, value in ours.items()
        }
        out.append({**row, **ratios})
    return out


def growth_exponent(stored: ArrayLike, seconds: ArrayLike) -> float | None:
    """Return the slope of log seconds over log stored entries, by least squares; None for fewer than two sizes.

    Examples
    --------
    >>> round(growth_exponent([1e5, 1e6, 1e7], [1, 8, 64]), 3)
    0.903
    """
    x, y = np.log(np.asarray(stored, dtype=float)), np.log(np.asarray(seconds, dtype=float))
    if np.unique(x).size < 2:
        return None
    x = x - x.mean()
    return float(x @ y / (x @ x))


def exponents(rows: Sequence[Row]) -> list[Row]:
    """Return how the time of each method grows on the planted graphs: over all sizes, and over the large ones."""
    out = []
    for method in dict.fromkeys(row["method"] for row in rows):
        done = [
            row for row in rows if row["method"] == method and row["graph"] != POKEC and row["status"] == OK
        ]
        large = [row for row in done if row["n_stored"] >= LARGE]
        out.append(
            {
                "method": method,
                "label": METHODS[method].label,
                "sizes": len(done),
                "exponent": _exponent(done, "seconds"),
                "cpu_exponent": _exponent(done, "cpu_seconds"),
                "large_sizes": len(large),
                "large_exponent": _exponent(large, "seconds"),
            }
        )
    return out


def _exponent(rows: Sequence[Row], clock: str) -> float | None:
    timed = [row for row in rows if row.get(clock)]
    return growth_exponent([row["n_stored"] for row in timed], [row[clock] for row in timed])


def above_floor(rows: Sequence[Row]) -> list[Row]:
    """Return one iteration of IFairNMTF beside the floor of memory, on each graph and in both precisions."""
    found = {(row["graph"], row["method"]): row for row in rows if row["status"] == OK}
    out = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        for dtype in ("float64", "float32"):
            iteration = found.get((graph, f"ifair-nmtf-1-{dtype}"))
            floor = found.get((graph, f"floor-{dtype}"))
            if iteration and floor:
                out.append(
                    {
                        "graph": graph,
                        "n_stored": floor["n_stored"],
                        "dtype": dtype,
                        "floor_seconds": floor["seconds"],
                        "iteration_seconds": iteration["seconds"],
                        "ratio": iteration["seconds"] / floor["seconds"],
                        "stream_gib_per_s": floor["stream_gib_per_s"],
                        "gather_lines_per_s": floor["gather_lines_per_s"],
                    }
                )
    return out


def number(value: float | None) -> str:
    """Return a number with about three digits.

    Examples
    --------
    >>> number(0.012345), number(12.345), number(1234.5), number(None)
    ('0.0123', '12.3', '1234', '-')
    """
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def print_graph(rows: Sequence[Row]) -> None:
    """Print the rows of one graph."""
    first = rows[0]
    line(f"\n{first['graph']}: {first['n_nodes']:,} nodes, {first['n_stored']:,} stored entries")
    heads = [
        "method",
        "seconds",
        *REFERENCES.values(),
        "CPU s",
        "build s",
        "peak GiB",
        "Q",
        "NB",
        "clusters",
        "note",
    ]
    cells = [
        [
            row["label"],
            number(row.get("seconds")),
            *(number(row[f"ratio_to_{name}"]) for name in REFERENCES),
            number(row.get("cpu_seconds")),
            # Some need no object of their own, and a microsecond is none.
            number(None if row.get("build_seconds") is None else round(row["build_seconds"], 4)),
            row.get("peak_gib"),
            row.get("Q"),
            row.get("NB"),
            row.get("n_clusters"),
            remark(row),
        ]
        for row in rows
        if METHODS[row["method"]].kind != "part"
    ]
    table(heads, cells, left=("method", "note"))
    for row in rows:
        # A part that is measured has its own table; one that is not must not get lost.
        if METHODS[row["method"]].kind == "part" and row["status"] != OK:
            line(f"{row['label']}: {remark(row)}")


def remark(row: Row) -> str:
    """Return what is to be said about a row."""
    words = [row["status"]] if row["status"] not in (OK, "time", "memory", "no room") else []
    if row["note"]:
        words.append(row["note"])
    if row["method"] == "dense" and row["status"] == OK:
        words.append(f"from {row['iterations']} iterations")
    if row["method"] == "ifair-nmtf-500" and row["status"] == OK and row["iterations"] < 500:
        words.append(f"diverged after {row['iterations']}")
    words += ["earlier run"] if row["reused"] else []
    return ", ".join(words)


def print_floor(rows: Sequence[Row]) -> None:
    """Print one iteration beside the floor."""
    found = above_floor(rows)
    if not found:
        return
    line(
        "\nOne iteration of IFairNMTF over the floor of memory (indices streamed, one line gathered per entry)"
    )
    heads = ("graph", "panel", "floor ms", "iteration ms", "/ floor", "stream GiB/s", "gather M lines/s")
    cells = [
        [
            row["graph"],
            row["dtype"],
            number(1e3 * row["floor_seconds"]),
            number(1e3 * row["iteration_seconds"]),
            number(row["ratio"]),
            number(row["stream_gib_per_s"]),
            number(row["gather_lines_per_s"] / 1e6),
        ]
        for row in found
    ]
    table(heads, cells, left=("graph", "panel"))


def print_growth(rows: Sequence[Row]) -> None:
    """Print how time grows."""
    found = [row for row in exponents(rows) if row["sizes"] >= 2]
    if not found:
        return
    line(f"\nGrowth: seconds ~ (stored entries) ^ exponent; the last column from {LARGE:,} stored entries up")
    cells = [
        [
            row["label"],
            row["sizes"],
            *(number(row[name]) for name in ("exponent", "cpu_exponent", "large_exponent")),
        ]
        for row in found
    ]
    table(("method", "sizes", "exponent", "of CPU s", "large graphs"), cells, left=("method",))


def write(results: Path, rows: Sequence[Row], facts: dict[str, Any]) -> None:
    """Write the rows as csv, and everything as JSON."""
    columns = {name: np.array([row.get(name) for row in rows], dtype=object) for name in COLUMNS}
    write_csv(results / "scale.csv", columns)
    derived = {"above_floor": above_floor(rows), "growth": exponents(rows)}
    write_json(results / "scale.json", {**facts, "rows": list(rows), **derived})
