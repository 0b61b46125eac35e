"""The result of a clustering: everything needed to read it, store it and make it again."""

from __future__ import annotations

import csv
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._version import __version__
from equigraph.exceptions import GraphError, InputError, require
from equigraph.files import atomic_path
from equigraph.graph import read_graph
from equigraph.methods import get_method

RESULT_FILES = ("labels.csv", "membership.npz", "interaction.csv", "result.json")


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringResult:
    """Labels and factors of one fit, with its scores and its provenance.

    Attributes
    ----------
    method : str
        Name of the estimator.
    labels : ndarray of shape (n_nodes,)
        Cluster of each node, largest cluster first.
    membership : ndarray of shape (n_nodes, n_clusters)
        H; its row-wise argmax are the labels.
    interaction : ndarray of shape (n_clusters, n_clusters)
        W.
    node_names : ndarray of shape (n_nodes,)
        Names as they came in.
    sensitive_features : ndarray of shape (n_nodes,) or None
        Groups as they came in.
    scores : dict
        Q, B, NB, minimum balance, rho and the number of non-empty clusters.
    parameters : dict
        All parameters of the estimator.
    seed : int
        The seed that was used.
    seconds : float
        Time of the fit.
    versions : dict
        Versions of Python and of the packages that matter.
    input_hash : str
        SHA-256 of graph, names and groups.
    """

    method: str
    labels: NDArray
    membership: NDArray
    interaction: NDArray
    node_names: NDArray
    sensitive_features: NDArray | None
    scores: Mapping[str, Any]
    parameters: Mapping[str, Any]
    seed: int
    seconds: float
    versions: Mapping[str, str]
    input_hash: str

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        graph: Any,
        *,
        sensitive_features: ArrayLike | None = None,
        seconds: float = float("nan"),
    ) -> ClusteringResult:
        """Collect the result of a fitted estimator on the graph it was fitted to.

        Parameters
        ----------
        model : GraphClusterer
            A fitted estimator.
        graph : graph
            What it was fitted to; anything that `equigraph.graph.as_graph` takes.
        sensitive_features : array-like, optional
            Groups it was fitted with; by default those of the graph.
        seconds : float, optional
            Time of the fit.
        """
        from equigraph.metrics import evaluate

        graph = read_graph(graph, groups=sensitive_features)
        if graph.n_nodes != model.labels_.size:
            raise GraphError(
                f"The model was fitted to {model.labels_.size} nodes and this graph has {graph.n_nodes}."
            )
        scores = evaluate(
            graph.adjacency,
            model.labels_,
            sensitive_features=graph.sensitive_features,
            n_clusters=model.membership_.shape[1],
        )
        return cls(
            method=type(model).__name__,
            labels=model.labels_,
            membership=model.membership_,
            interaction=model.interaction_,
            node_names=graph.node_names,
            sensitive_features=graph.sensitive_features,
            scores=scores,
            parameters={
                name: _plain(value)
                for name, value in sorted(model.get_params(deep=False).items())
                if name != "callbacks"  # they watch the fit and have no part in its outcome
            },
            seed=model.seed_,
            seconds=seconds,
            versions=_versions(),
            input_hash=graph.fingerprint(),
        )

    @property
    def n_clusters(self) -> int:
        """Number of clusters asked for, empty ones included."""
        return int(self.membership.shape[1])

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of nodes of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    def table(self) -> dict[str, NDArray]:
        """Return the columns node, cluster, group (when there are groups) and strength.

        Strength is the share of the node's membership that its cluster holds; NaN where a node has none.
        """
        total = self.membership.sum(axis=1, dtype=np.float64)
        own = np.take_along_axis(self.membership, self.labels[:, None], axis=1)[:, 0]
        strength = np.divide(own, total, out=np.full(total.shape, np.nan), where=total > 0)
        columns = {"node": self.node_names, "cluster": self.labels}
        if self.sensitive_features is not None:
            columns["group"] = self.sensitive_features
        return {**columns, "strength": strength}

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the table as a pandas, polars or pyarrow frame."""
        import narwhals as nw

        require(backend, extra="io", purpose=f"A {backend} table")
        return nw.from_dict(self.table(), backend=backend).to_native()

    def to_networkx(self, graph: Any) -> Any:
        """Return the graph as a networkx graph whose nodes carry ``cluster`` (and ``group``)."""
        network = read_graph(graph, groups=self.sensitive_features).to_networkx()
        for name, cluster in zip(self.node_names.tolist(), self.labels.tolist(), strict=True):
            network.nodes[name]["cluster"] = cluster
        return network

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as csv."""
        columns = self.table()
        with atomic_path(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table as parquet (extra ``io``)."""
        pyarrow = require("pyarrow", extra="io", purpose="Writing parquet")
        parquet = require("pyarrow.parquet", extra="io", purpose="Writing parquet")
        columns = {name: column.tolist() for name, column in self.table().items()}
        with atomic_path(path) as partial:
            parquet.write_table(pyarrow.table(columns), partial)

    def summary(self) -> dict[str, Any]:
        """Return everything but the per-node arrays, ready for JSON."""
        return {
            "method": self.method,
            "n_nodes": int(self.labels.size),
            "n_clusters": self.n_clusters,
            "sizes": self.sizes.tolist(),
            "scores": {name: _plain(value) for name, value in self.scores.items()},
            "parameters": dict(self.parameters),
            "seed": self.seed,
            "seconds": self.seconds,
            "versions": dict(self.versions),
            "input_hash": self.input_hash,
        }

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write `summary` and the labels by node as JSON."""
        nodes = dict(zip(map(str, self.node_names.tolist()), self.labels.tolist(), strict=True))
        _write_json(path, {**self.summary(), "labels": nodes})

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write labels.csv, membership.npz, interaction.csv and result.json; result.json comes last."""
        folder = Path(folder)
        self.to_csv(folder / "labels.csv")
        with atomic_path(folder / "membership.npz") as partial:
            np.savez_compressed(partial, membership=self.membership)
        with atomic_path(folder / "interaction.csv") as partial:
            np.savetxt(partial, self.interaction, delimiter=",", fmt="%.10g")
        _write_json(folder / "result.json", self.summary())

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{name}={self.scores[name]:.3f}" for name in ("Q", "B", "NB") if name in self.scores
        )
        found = int((self.sizes > 0).sum())
        clusters = (
            f"{found} clusters" if found == self.n_clusters else f"{found} of {self.n_clusters} clusters"
        )
        return f"ClusteringResult({self.method}, {self.labels.size} nodes in {clusters}, {scores})"


def cluster(
    graph: Any, *, sensitive_features: ArrayLike | None = None, method: str = "ifair-nmtf", **parameters: Any
) -> ClusteringResult:
    """Fit a method by its name and return the result with scores.

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.graph.as_graph` takes.
    sensitive_features : array-like, optional
        Group of each node; by default the groups that came with the graph.
    method : str, default="ifair-nmtf"
        A name from `equigraph.methods.METHODS`.
    **parameters
        Parameters of the estimator.

    Returns
    -------
    ClusteringResult

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> result = eg.cluster(
    ...     room.adjacency,
    ...     sensitive_features=room.sensitive_features,
    ...     method="scalable-fair-sc",
    ...     n_clusters=3,
    ...     random_state=0,
    ... )
    >>> result.labels.shape
    (30,)
    """
    estimator = get_method(method).load()
    unknown = sorted(set(parameters) - set(estimator._get_param_names()))
    if unknown:
        raise InputError(
            f"{estimator.__name__} has no parameter {unknown[0]!r}; it takes "
            f"{', '.join(estimator._get_param_names())}."
        )
    graph = read_graph(graph, groups=sensitive_features)
    start = time.perf_counter()
    model = estimator(**parameters).fit(graph)
    return ClusteringResult.from_estimator(model, graph, seconds=time.perf_counter() - start)


def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "python": platform.python_version(),
        "equigraph": __version__,
        **{package: importlib.metadata.version(package) for package in packages},
    }


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold; objects are told by their repr."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return repr(value)


def _write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    with atomic_path(path) as partial:
        partial.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
