"""Results from the files of their folder: everything is looked at before it is believed, and no code is run."""

from __future__ import annotations

import csv
import io
import math
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.records import as_given
from equigraph.exceptions import InputError, reason, require
from equigraph.graph.groups.encode import as_column, is_missing
from equigraph.graph.groups.sums import indicator
from equigraph.graph.names import as_names, object_array, with_gaps
from equigraph.graph.npz_files import npy_header
from equigraph.results.featured import features_of, gaps_of
from equigraph.results.folders import MANIFEST, Kept, parse_json

RESULT, LABELS, MEMBERSHIP, INTERACTION = "result.json", "labels.csv", "membership.npz", "interaction.csv"
PARQUET_LABELS = "labels.parquet"
RESULT_FILES = (LABELS, MEMBERSHIP, INTERACTION, RESULT, MANIFEST)
# With what takes the place of one of them where that was asked for.
POSSIBLE_FILES = (*RESULT_FILES, PARQUET_LABELS)
_KINDS = {"i": "integer", "u": "integer", "f": "number", "b": "truth"}
# What reading a damaged archive of arrays ends with; an unknown way of packing is a RuntimeError.
_DAMAGE = (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, OverflowError, struct.error,
           zipfile.BadZipFile, zlib.error)  # fmt: skip
_NUMBER, _WHOLE = (int, float), (int,)
# What an entry of result.json has to be; None stands for NaN, and for what is not known.
_RESULT_ENTRIES: dict[str, tuple[type, ...]] = {
    "method": (str,),
    "n_nodes": _WHOLE,
    "n_clusters": _WHOLE,
    "sizes": (list,),
    "scores": (dict,),
    "attribute": (str, type(None)),
    "parameters": (dict,),
    "seed": _WHOLE,
    "seconds": (*_NUMBER, type(None)),
    "status": (str, type(None)),
    "versions": (dict,),
    "input_hash": (str,),
    "source": (dict, type(None)),
}


def kinds_of(columns: Mapping[str, NDArray | None]) -> dict[str, str]:
    """Return what the values of columns are, so that they come back as that and not as texts."""
    kinds = {}
    for name, column in columns.items():
        if column is not None:
            absent = is_missing(column)
            if column.dtype.kind == "O" and absent.any() and not absent.all():
                column = as_column(column[~absent].tolist())  # what it was before a None made objects of it
            kinds[name] = _KINDS.get(column.dtype.kind, "text")
    return kinds


def clustering_parts(kept: Kept) -> dict[str, Any]:
    """Return the parts of a `ClusteringResult` from what its folder holds."""
    told = entries(kept, RESULT, _RESULT_ENTRIES)
    columns = labels_table(kept, told["n_nodes"], gaps_of(told, kept.folder / RESULT))
    features, _, options = features_of(told, columns, kept.folder / RESULT)
    labels = cluster_numbers(columns["cluster"], told["n_clusters"], kept.folder / LABELS)
    sizes = np.bincount(labels, minlength=told["n_clusters"]).tolist()
    if sizes != told["sizes"]:
        raise InputError(
            f"{kept.folder / LABELS} has clusters of {_few(sizes)} nodes, and {RESULT} says {_few(told['sizes'])}: "
            "the two files are of different results."
        )
    return {
        **{name: told[name] for name in _RESULT_ENTRIES if name not in ("n_nodes", "n_clusters", "sizes")},
        "labels": labels,
        "membership": _membership(kept, labels, told["n_clusters"]),
        "interaction": _interaction(kept, told["n_clusters"]),
        "node_names": columns["node"],
        "sensitive_features": features,
        "attribute_options": options,
        "rules": _told_rules(told.get("rules"), kept.folder / RESULT),
        "scores": numbers(told["scores"], kept.folder / RESULT),
        "seconds": not_a_number(told["seconds"]),
    }


def _told_rules(told: Any, path: Path) -> dict[str, list[str]] | None:
    """Return which rules are kept; results of older versions know of none."""
    if told is None:
        return None
    parts = [told.get(name) for name in ("kept", "given_up")] if isinstance(told, dict) else []
    texts = [text for part in parts if isinstance(part, list) for text in part]
    if len(parts) != 2 or not all(isinstance(part, list) for part in parts):
        raise InputError(f"{path} has an entry 'rules' of the wrong kind ({_few(told)}).")
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"{path} has an entry 'rules' with something that is no text.")
    if "prices" in told:
        _check_prices(told["prices"], path)
    return told


def _check_prices(told: Any, path: Path) -> None:
    rows = told.get("rows") if isinstance(told, dict) else None
    if not isinstance(rows, list) or not isinstance(told.get("measure"), str):
        raise InputError(f"{path} has prices of rules of the wrong kind ({_few(told)}).")
    kinds: dict[str, tuple[type, ...]] = {"rule": (str,), "binds": (bool,)}
    kinds |= dict.fromkeys(("objective", "Q", "notion", "links", "cost", "low", "high"), _NUMBER)
    for row in rows:
        check_entries(row if isinstance(row, dict) else {}, kinds, path)


def entries(kept: Kept, name: str, kinds: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """Return the entries of a JSON file of a folder, each of one of its kinds."""
    path = kept.folder / name
    told = parse_json(file_of(kept, name), path)
    check_entries(told, kinds, path)
    return told


def check_entries(told: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]], path: Path) -> None:
    """Raise InputError unless every entry is there and of one of its kinds."""
    for entry, allowed in kinds.items():
        if entry not in told:
            raise InputError(f"{path} has no entry {entry!r}: expected the file that equigraph wrote.")
        value = told[entry]
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            raise InputError(f"{path} has an entry {entry!r} of the wrong kind ({_few(value)}).")


def file_of(kept: Kept, name: str) -> bytes:
    """Return the bytes of a file that the folder must have."""
    if name not in kept.files:
        raise InputError(
            f"{kept.folder} holds no {name}: it is a folder of equigraph with another kind of result "
            f"({kept.manifest.get('kind')})."
        )
    return kept.files[name]


def labels_table(kept: Kept, n_nodes: int, gaps: Mapping[str, int]) -> dict[str, NDArray]:
    """Return the columns of labels.csv; names and groups are what they were, other columns are texts.

    In columns with gaps, of which there must be as many as told, None is what empty cells hold.
    """
    if LABELS not in kept.files and PARQUET_LABELS in kept.files:
        return _parquet_table(kept, n_nodes)
    path = kept.folder / LABELS
    try:
        text = file_of(kept, LABELS).decode("utf-8", "surrogatepass")
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path} is no table ({error}): expected the one that equigraph wrote.") from None
    heads = rows[0] if rows else []
    if not {"node", "cluster"} <= set(heads) or any(len(row) != len(heads) for row in rows):
        raise InputError(
            f"{path} is no table with the columns node and cluster: expected the one that equigraph wrote."
        )
    if len(rows) - 1 != n_nodes:
        raise InputError(
            f"{path} has {len(rows) - 1:,} rows for {n_nodes:,} nodes: expected one row per node."
        )
    plain = as_given if not kept.manifest.get("raw") else str
    told = kept.manifest.get("kinds")
    kinds = told if isinstance(told, dict) else {}
    columns = {
        head: [plain(cell) for cell in column]
        for head, column in zip(heads, zip(*rows[1:], strict=True), strict=True)
    }
    return {
        head: _with_gaps(cells, kinds.get(head), gaps[head], path)
        if head in gaps
        else _column(cells, kinds.get(head), path)
        for head, cells in columns.items()
    }


def _parquet_table(kept: Kept, n_nodes: int) -> dict[str, NDArray]:
    """Return the columns of labels.parquet, which knows what names and groups were."""
    parquet = require("pyarrow.parquet", extra="io", purpose="Reading labels in parquet")
    path = kept.folder / PARQUET_LABELS
    try:
        table = parquet.read_table(io.BytesIO(kept.files[PARQUET_LABELS]))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no table ({error}): expected the one that equigraph wrote.") from None
    if not {"node", "cluster"} <= set(table.column_names) or table.num_rows != n_nodes:
        raise InputError(
            f"{path} is no table of {n_nodes:,} nodes with the columns node and cluster: expected the one that "
            "equigraph wrote."
        )
    # Cells without a value are None, as in a column of the csv file that has gaps.
    return {name: as_names(object_array(table.column(name).to_pylist())) for name in table.column_names}


def cluster_numbers(column: NDArray, n_clusters: int, path: Path) -> NDArray[np.intp]:
    """Return a column of clusters as numbers in ``range(n_clusters)``."""
    try:
        labels = column.astype(np.intp)
    except (ValueError, OverflowError):
        labels = np.array([-1])
    if labels.size == 0 or labels.min() < 0 or labels.max() >= n_clusters:
        raise InputError(
            f"{path} has a cluster that is no number below {n_clusters}, as {RESULT} says: expected 0, 1, 2, ..."
        )
    return labels


def numbers(told: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return scores by name."""
    wrong = [name for name, value in told.items() if value is not None and not isinstance(value, _NUMBER)]
    if wrong:
        raise InputError(f"{path} has a score {wrong[0]!r} that is no number: {_few(told[wrong[0]])}.")
    return {name: not_a_number(value) for name, value in told.items()}


def not_a_number(value: Any) -> Any:
    """Return a number; JSON has none for NaN."""
    return float("nan") if value is None else value


def _column(cells: list[str], kind: str | None, path: Path) -> NDArray:
    makers: dict[str, Callable[[], NDArray]] = {
        "integer": lambda: np.array([int(cell) for cell in cells], dtype=np.int64),
        "number": lambda: np.array([float(cell) for cell in cells]),
        "truth": lambda: np.array([{"True": True, "False": False}[cell] for cell in cells]),
        "text": lambda: as_names(np.array(cells, dtype=object)),
    }
    try:
        made = makers.get(kind or "", lambda: np.array(cells, dtype=object))()
    except (ValueError, OverflowError, KeyError):
        raise InputError(
            f"{path} has a value that is no {kind}: expected the table that equigraph wrote."
        ) from None
    # numpy drops a NUL at the end of its texts, so names with one stay objects.
    return np.array(cells, dtype=object) if kind == "text" and made.tolist() != cells else made


def _with_gaps(cells: list[str], kind: str | None, n_gaps: int, path: Path) -> NDArray:
    """Return a column with None for the empty cells."""
    absent = np.array([cell == "" for cell in cells])
    if np.count_nonzero(absent) != n_gaps:
        raise InputError(
            f"{path} has {np.count_nonzero(absent):,} nodes without a group, and {_few(n_gaps)} were told of: "
            "the files are of different results."
        )
    return with_gaps(_column([cell for cell in cells if cell], kind, path), absent)


def _membership(kept: Kept, labels: NDArray, n_clusters: int) -> Any:
    """Return H; where there is no file of it, the clusters themselves."""
    if MEMBERSHIP not in kept.files:
        return indicator(labels, n_clusters)
    try:
        stored = _arrays(kept.files[MEMBERSHIP], (labels.size + 1) * (n_clusters + 1))
        found: Any = stored["membership"] if "membership" in stored else _csr(stored)
    except _DAMAGE as error:
        raise InputError(f"{kept.folder / MEMBERSHIP} cannot be read ({reason(error)}).") from None
    if found.shape != (labels.size, n_clusters) or found.dtype.kind not in "fiu":
        raise InputError(
            f"{kept.folder / MEMBERSHIP} holds {found.shape} of {found.dtype}: expected a number for each of "
            f"{labels.size:,} nodes and {n_clusters} clusters."
        )
    if not np.isfinite(found.data if sparse.issparse(found) else found).all():
        raise InputError(f"{kept.folder / MEMBERSHIP} holds NaN or infinity: expected finite numbers.")
    if not np.array_equal(np.asarray(found.argmax(axis=1)).ravel(), labels):
        raise InputError(
            f"{kept.folder / MEMBERSHIP} and {LABELS} disagree: expected every node in its strongest cluster."
        )
    return found


def _arrays(data: bytes, most: int) -> dict[str, NDArray]:
    """Return the arrays of an npz file, none of which may declare more entries than that."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            with archive.open(name) as stream:
                shape, _ = npy_header(stream)
            if math.prod(shape) > most:
                raise ValueError(f"it declares an array of shape {shape}")
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _csr(stored: Any) -> sparse.csr_array:
    made = sparse.csr_array(
        (stored["data"], stored["indices"], stored["indptr"]), shape=tuple(stored["shape"].tolist())
    )
    made.check_format(full_check=True)
    return made


def _interaction(kept: Kept, n_clusters: int) -> Any:
    """Return the interaction: a square of numbers, or a table of its entries; None where there is no file."""
    if INTERACTION not in kept.files:
        return None
    try:
        lines = kept.files[INTERACTION].decode("ascii").splitlines()
        is_table = bool(lines) and lines[0].startswith("cluster,")
        values = np.array([line.split(",") for line in lines[is_table:]], dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError
        if not is_table:
            return values.reshape(n_clusters, n_clusters)
        values = values.reshape(-1, 3)
        places = values[:, :2].astype(np.intp).T
        return sparse.csr_array((values[:, 2], tuple(places)), shape=(n_clusters, n_clusters))
    except ValueError:
        raise InputError(
            f"{kept.folder / INTERACTION} is no interaction of {n_clusters} clusters: expected the file that "
            "equigraph wrote."
        ) from None


def _few(value: Any) -> str:
    """Return a value in few letters."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
