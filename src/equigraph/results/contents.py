"""Files of a stored clustering: their contents, and the result that is read back from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import InputError
from equigraph.graph.groups.encode import indicator
from equigraph.results.features import AttributeEntry, stored_features
from equigraph.results.formats import Stored
from equigraph.results.persistence import MANIFEST, Contents

KIND = "clustering"
RESULT, LABELS, MEMBERSHIP, INTERACTION = "result.json", "labels.csv", "membership.npz", "interaction.csv"
PARQUET_LABELS = "labels.parquet"
RESULT_FILES = (LABELS, MEMBERSHIP, INTERACTION, RESULT, MANIFEST)
# Including the optional replacement of labels.csv.
POSSIBLE_FILES = (*RESULT_FILES, PARQUET_LABELS)


class RuleEntries(TypedDict):
    """Rules in words, and their prices."""

    kept: list[str]
    given_up: list[str]
    prices: NotRequired[dict[str, Any]]  # as `RulePrices.from_dict` reads them


class Source(TypedDict, total=False):
    """Where a command read the graph from."""

    command: str
    folder: str
    edges: str
    options: dict[str, Any]
    n_dropped: int
    attribute: str | None


class Parameters(TypedDict, total=False):
    """Parameters of an estimator that are used after loading; the others may be anything."""

    n_clusters: int | None
    fairness: float | None
    at_least: float | None
    rules: dict[str, Any] | None


class RunEntries(TypedDict):
    """Entries of JSON that results and curves have in common."""

    method: str
    n_nodes: int
    attributes: NotRequired[list[AttributeEntry]]
    parameters: Parameters
    seconds: float
    versions: dict[str, str]
    input_hash: str
    source: Source | None


class ResultEntries(RunEntries):
    """Entries of result.json that are read back."""

    n_clusters: int
    sizes: list[int]
    scores: dict[str, float]
    attribute: str | None
    rules: RuleEntries | None
    seed: int
    status: str | None


_DERIVED = ("n_nodes", "n_clusters", "sizes", "attributes")


def contents_of(
    result: Any,
    *,
    columns: Mapping[str, NDArray] | None = None,
    entries: Mapping[str, Any] | None = None,
    labels_format: Literal["csv", "parquet"] = "csv",
) -> Contents:
    """Return the files of a result, with further columns of labels.csv and entries of result.json.

    With ``labels_format="parquet"`` labels.parquet, which has no further columns, takes the place of labels.csv.
    """
    labels = {PARQUET_LABELS: result.table()}
    if labels_format == "csv":
        labels = {LABELS: {**result.table(), **(columns or {})}}
    # A result that was read from a folder without it has no interaction.
    interaction = {} if result.interaction is None else {INTERACTION: result.interaction}
    summary = {**result.summary(), **(entries or {})}
    return {**labels, MEMBERSHIP: result.membership, **interaction, RESULT: summary}


def clustering_parts(stored: Stored) -> dict[str, Any]:
    """Return the parts of a `ClusteringResult` from the files of its folder."""
    path = stored.folder / RESULT
    entries = stored.json(RESULT, ResultEntries)
    columns = labels_table(stored, entries["n_nodes"])
    n_clusters = entries["n_clusters"]
    labels = _cluster_numbers(columns["cluster"], n_clusters, stored.folder / LABELS)
    sizes = np.bincount(labels, minlength=n_clusters).tolist()
    if sizes != entries["sizes"]:
        raise InputError(
            f"{path} and the labels disagree on the sizes of the clusters: they are of two results."
        )
    features, _, options = stored_features(entries.get("attributes", []), columns, path)
    shape = (n_clusters, n_clusters)
    return {
        **{name: entries[name] for name in ResultEntries.__annotations__ if name not in _DERIVED},
        "labels": labels,
        "membership": _membership(stored, labels, n_clusters),
        "interaction": stored.matrix(INTERACTION, shape) if INTERACTION in stored else None,
        "node_names": columns["node"],
        "sensitive_features": features,
        "attribute_options": options,
    }


def labels_table(stored: Stored, n_nodes: int) -> dict[str, NDArray]:
    """Return the columns of labels.csv, or of labels.parquet if that replaces it."""
    name = PARQUET_LABELS if LABELS not in stored and PARQUET_LABELS in stored else LABELS
    columns, path = stored.table(name), stored.folder / name
    if not {"node", "cluster"} <= set(columns):
        raise InputError(f"{path} has no columns node and cluster: expected the table that equigraph wrote.")
    if columns["node"].size != n_nodes:
        raise InputError(
            f"{path} has {columns['node'].size:,} rows for {n_nodes:,} nodes: expected one row per node."
        )
    return columns


def _cluster_numbers(column: NDArray, n_clusters: int, path: Path) -> NDArray[np.intp]:
    if column.dtype.kind not in "iu" or not column.size or column.min() < 0 or column.max() >= n_clusters:
        raise InputError(f"{path} has a cluster that is no number below {n_clusters}: expected 0, 1, 2, ...")
    return column.astype(np.intp)


def _membership(stored: Stored, labels: NDArray, n_clusters: int) -> Any:
    """Return H; without its file, the one-hot labels."""
    if MEMBERSHIP not in stored:
        return indicator(labels, n_clusters)
    found = stored.matrix(MEMBERSHIP, (labels.size, n_clusters))
    if not np.array_equal(np.asarray(found.argmax(axis=1)).ravel(), labels):
        raise InputError(
            f"{stored.folder / MEMBERSHIP} and {LABELS} disagree: expected every node in its strongest cluster."
        )
    return found
