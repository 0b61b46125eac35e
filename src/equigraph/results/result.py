"""The `ClusteringResult` class: labels and factors of a fit, with scores and provenance."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.callbacks import Callbacks
from equigraph._utils.hooks import hook
from equigraph._utils.notebook import MAX_GROUPS, page_of
from equigraph._utils.records import parameters_of, plain, write_json
from equigraph._utils.sizes import small_clusters
from equigraph._utils.text import count
from equigraph.base import GraphClusterer
from equigraph.exceptions import GraphError, require
from equigraph.graph import Graph, as_graph
from equigraph.graph.features import with_features
from equigraph.graph.groups import AttributeOptions, contingency_table
from equigraph.graph.groups.attributes import Features
from equigraph.graph.names import texts
from equigraph.metrics import evaluate
from equigraph.results.contents import KIND, POSSIBLE_FILES, RESULT, clustering_parts, contents_of
from equigraph.results.features import Featured, attribute_entries, facts_of, graph_of, group_columns
from equigraph.results.formats import Stored
from equigraph.results.persistence import OutputFolder, read_stored, refusing_damage
from equigraph.rules.rules import told_rules
from equigraph.stores.blocks import BlockGraph, evaluate_blocks

# Fields that the summary contains unchanged.
_SUMMARY_FIELDS = (
    "scores", "attribute", "parameters", "rules", "seed", "seconds", "status", "versions", "input_hash", "source",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ClusteringResult(Featured):
    """Labels and factors of one fit, with its scores and its provenance.

    Attributes
    ----------
    method : str
        Name of the estimator.
    labels : ndarray of shape (n_nodes,)
        Cluster of each node, largest cluster first.
    membership : ndarray or csr_array of shape (n_nodes, n_clusters)
        H; its row-wise argmax are the labels. Sparse and one-hot if no number of clusters was asked for.
    interaction : ndarray or csr_array of shape (n_clusters, n_clusters)
        W; sparse if the membership is.
    node_names : ndarray of shape (n_nodes,)
        Names of the nodes, as given.
    sensitive_features : ndarray of shape (n_nodes,), dict of columns or None
        Groups as given; None for a node without one. A dict if there are several attributes.
    scores : dict
        Q, B, NB, minimum balance, rho and the number of non-empty clusters; of several attributes the means, and those
        of each, such as ``NB[gender]``.
    parameters : dict
        All parameters of the estimator.
    seed : int
        The seed that was used.
    seconds : float
        Time of the fit.
    versions : dict
        Versions of Python, of equigraph and of its numerical dependencies.
    input_hash : str
        SHA-256 of graph, names and groups.
    attribute : str or None
        Name of the attribute that the groups come from; of several all names.
    source : dict or None
        Origin of the graph, as set by commands: the command, the folder it ran in, file and options of reading.
    status : str or None
        How the fit ended: "converged", "max_iter", "stopped" (by a callback), "diverged", or None without iterations.
    graph : Graph or None
        The graph, as long as the result is in memory; it is not saved, and None for one whose edges are on disk.
    attribute_options : AttributeOptions
        Weights of the attributes, and numbers of bins.
    rules : dict or None
        The rules that the labels keep (``kept``) and that were given up (``given_up``), in words, and with `price`
        their prices (``prices``); None without rules.
    """

    method: str
    labels: NDArray
    membership: NDArray | sparse.csr_array
    interaction: NDArray | sparse.csr_array
    node_names: NDArray
    sensitive_features: Features | None
    scores: Mapping[str, Any]
    parameters: Mapping[str, Any]
    seed: int
    seconds: float
    versions: Mapping[str, str]
    input_hash: str
    attribute: str | None = None
    source: Mapping[str, Any] | None = None
    status: str | None = None
    graph: Graph | None = None
    attribute_options: AttributeOptions = AttributeOptions()  # noqa: RUF009 (it cannot change)
    rules: Mapping[str, Any] | None = None

    @classmethod
    def from_estimator(
        cls,
        model: GraphClusterer,
        graph: Any,
        *,
        sensitive_features: Any = None,
        seconds: float = float("nan"),
    ) -> ClusteringResult:
        """Collect the result of a fitted estimator on the graph it was fitted to.

        Parameters
        ----------
        model : GraphClusterer
            A fitted estimator.
        graph : graph
            What it was fitted to; anything that `equigraph.graph.as_graph` takes, or a `BlockGraph`.
        sensitive_features : array-like, optional
            Groups it was fitted with; by default those of the graph.
        seconds : float, optional
            Time of the fit.
        """
        n_clusters = model.membership_.shape[1]
        if isinstance(graph, BlockGraph):
            scores = evaluate_blocks(graph, model.labels_, n_clusters=n_clusters)
        else:
            graph = with_features(graph, sensitive_features, getattr(model, "attribute_weights", None))
            if graph.n_nodes != model.labels_.size:
                raise GraphError(
                    f"The model was fitted to {count(model.labels_.size, 'node')} and this graph has {graph.n_nodes}."
                )
            scores = evaluate(
                graph, model.labels_, sensitive_features=graph.attributes, n_clusters=n_clusters
            )
        return cls(
            method=type(model).__name__,
            labels=model.labels_,
            membership=model.membership_,
            interaction=model.interaction_,
            scores=scores,
            parameters=parameters_of(model),
            seed=model.seed_,
            seconds=seconds,
            status=getattr(model, "status_", None),
            graph=graph if isinstance(graph, Graph) else None,
            rules=told_rules(getattr(model, "rules_", None), getattr(model, "relaxed_", ())),
            **facts_of(graph),
        )

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Return the result that `save`, or a command, wrote into a folder.

        Only numbers and texts are read: no pickle, no code. Names and groups that are integers, floats, booleans or
        texts keep their type; others are read as texts.

        Parameters
        ----------
        folder : path-like
            The folder.

        Raises
        ------
        InputError
            If it is not such a folder, or a file of it is missing, damaged or changed.

        Examples
        --------
        >>> import tempfile
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> result = eg.cluster(room.adjacency, method="nmtf", n_clusters=3, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(folder)
        ...     bool((eg.ClusteringResult.load(folder).membership == result.membership).all())
        True
        """
        return cls.from_stored(read_stored(folder, POSSIBLE_FILES))

    @classmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Return the result whose files were read from a folder."""
        with refusing_damage(stored.folder / RESULT):
            result = cls(**clustering_parts(stored))
            _ = result.attributes  # encode the groups now, so that errors are raised here
            return result

    @property
    def n_clusters(self) -> int:
        """Number of clusters asked for, empty ones included."""
        return int(self.membership.shape[1])

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of nodes of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    @property
    def small_clusters(self) -> NDArray[np.intp]:
        """Clusters of one or two nodes that were not requested; see `equigraph._utils.sizes.small_clusters`."""
        return small_clusters(self.sizes, self.parameters)

    def table(self) -> dict[str, NDArray]:
        """Return the columns node, cluster, group (when there are groups; ``group[name]`` for several) and strength.

        Strength is the share of the node's membership that its cluster holds; NaN where a node has none.
        """
        total = np.asarray(self.membership.sum(axis=1, dtype=np.float64)).ravel()
        own = self.membership.max(axis=1)  # the label is the argmax
        own = own.toarray().ravel() if sparse.issparse(own) else own
        strength = np.divide(own, total, out=np.full(total.shape, np.nan), where=total > 0)
        columns = {"node": self.node_names, "cluster": self.labels, **group_columns(self)}
        return {**columns, "strength": strength}

    def save(self, folder: str | os.PathLike[str], *, force: bool = False, raw: bool = False) -> None:
        """Write labels.csv, membership.npz, interaction.csv and result.json, all of them or none.

        An older result of equigraph in the folder is replaced as a whole; other files stay. A manifest.json with
        checksums lets `load` tell whether anything has changed since.

        Parameters
        ----------
        folder : path-like
            The folder, which may be new.
        force : bool, default=False
            Whether files of these names that equigraph did not write, or that were changed since, may be replaced.
        raw : bool, default=False
            Whether names in labels.csv are written as they are; by default those that a spreadsheet would run as a
            formula get an apostrophe in front. `load` gives them back as they were, either way.

        Raises
        ------
        ParameterError
            If the folder cannot be written, another process is writing to it, or it holds other files of these names.
        OutputError
            If the disk is full; the folder is then as it was.
        """
        with OutputFolder(folder) as out:
            out.write(KIND, contents_of(self), raw=raw, force=force)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        graph: Any = None,
        baseline: ClusteringResult | ArrayLike | bool = True,
    ) -> None:
        """Write one self-contained HTML page that explains the clustering.

        Parameters
        ----------
        path : path-like
            The file, such as ``report.html``; it is complete or not there.
        graph : graph, optional
            The graph that was clustered; by default that of the result. A result that was read from a folder, or
            whose edges are on disk, has none: then there is no drawing, no share of links within clusters and no
            comparison, and the page says so.
        baseline : bool, ClusteringResult or array-like of shape (n_nodes,), default=True
            What to compare with: True is the same method with its dial at 0, which is fitted if there is a graph;
            False is nothing; or any other clusters of the same nodes.

        Raises
        ------
        GraphError
            If the graph is not the one that was clustered.
        ParameterError
            If the baseline does not fit.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> result = eg.cluster(
        ...     room.adjacency, sensitive_features=room.sensitive_features, n_clusters=3, random_state=0
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(Path(folder) / "report.html")
        ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        hook("write_report")(self, path, graph=graph, baseline=baseline)

    def explain(
        self,
        one: Any,
        other: Any = None,
        /,
        *,
        graph: Any = None,
        sensitive_features: Any = None,
        rules: Any = None,
    ) -> Any:
        """Explain why a person is in a cluster, or why two clusters are separate.

        Parameters
        ----------
        one : object
            Alone: the name of a node (or its position, if a graph has no names). A single argument is never a
            cluster, even if nodes are called 0 and 1.
        other : int, optional
            With it both are numbers of clusters.
        graph : graph, optional
            The graph that was clustered; needed if the result was read from a folder.
        sensitive_features : frame, dict of columns, array or Series, optional
            Attributes to explain by; by default those of the clustering.
        rules : Rules or dict, optional
            Rules to explain by; by default those of the clustering.

        Returns
        -------
        NodeExplanation or PairExplanation
            Linked people in each cluster and the effect of every single move; or the links within and between two
            clusters and the effect of merging them. All changes are exact. Printing it gives sentences.

        Raises
        ------
        ParameterError
            If there is no such node or cluster, or no graph is at hand.
        GraphError
            If the graph is not the one that was clustered.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
        >>> result = eg.cluster(graph, n_clusters=3, random_state=0)
        >>> print(result.explain("Naledi").conclusion)
        No move of Naledi alone raises 0.5 Q + 0.5 NB.
        >>> result.explain(0, 1).Q < 0
        True
        """
        return hook("explain")(
            self, one, other, graph=graph, sensitive_features=sensitive_features, rules=rules
        )

    def price(
        self,
        graph: Any = None,
        *,
        by: Literal["rule", "kind"] | None = None,
        effort: float | None = None,
        callbacks: Callbacks = None,
        attributes: bool = False,
    ) -> Any:
        """Estimate the cost of each rule: search for the best clusters without it.

        Every search starts from these clusters, which satisfy every subset of the rules too, so no cost is negative.
        Each set of rules is searched twice, and all labels found are evaluated under every set of rules that they keep.
        If the searches differ, the cost is a range (``low``, ``high``).

        Parameters
        ----------
        graph : graph, optional
            The graph that was clustered, with its attributes; needed if the result was read from a folder.
        by : {"rule", "kind"}, optional
            Whether single rules are left out or all of a kind, such as all pairs apart. By default single ones, up
            to 30.
        effort : float, optional
            Length of each search; by default a fifth of that of the fit.
        callbacks : callable or list of callables, optional
            Called after every search; may stop.
        attributes : bool, default=False
            Whether to price each attribute too: the gain in the rest of the objective if it need not be spread. Rules
            are then optional.

        Returns
        -------
        RulePrices
            Objective, Q, fairness and links kept: of these clusters, without each rule, and without any.

        Raises
        ------
        ParameterError
            If there are no rules, no graph is at hand, or the clusters come from another method than FairPartition.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
        >>> rules = eg.Rules(together=[("Naledi", "Beatriz")], sizes=(1, 30))
        >>> prices = eg.cluster(graph, n_clusters=3, rules=rules, random_state=0).price(effort=0.01)
        >>> prices.idle
        ('every cluster of 1 to 30 nodes',)
        """
        return hook("price")(self, graph, by, effort, callbacks, attributes)

    def to_networkx(self, graph: Any) -> Any:
        """Return the graph as a networkx graph whose nodes carry ``cluster`` (and ``group``).

        The graph is the one that was clustered; its nodes are found by name.

        Raises
        ------
        GraphError
            If it has other nodes.
        """
        graph = as_graph(graph)
        places, several = self._places_in(graph), len(self.features) > 1
        groups = {name if several else "group": column for name, column in self.features.items()}
        columns = {name: column[places] for name, column in {"cluster": self.labels, **groups}.items()}
        return Graph._trusted(graph.adjacency, graph.node_names, sensitive_features=columns).to_networkx()

    @property
    def communities(self) -> list[set[Any]]:
        """Nodes of each cluster as the graph names them, largest cluster first; clusters without nodes are left out."""
        found: dict[int, set[Any]] = {}
        for name, label in zip(self.node_names.tolist(), self.labels.tolist(), strict=True):
            found.setdefault(label, set()).add(name)
        return sorted(found.values(), key=len, reverse=True)

    def to_igraph(self, graph: Any = None) -> Any:
        """Return the clusters as an igraph ``VertexClustering`` (extra ``peers``).

        Parameters
        ----------
        graph : graph, optional
            The graph that was clustered, also an igraph graph; by default that of the result.
        """
        graph = graph_of(self, graph) if graph is None else graph
        igraph = require("igraph", extra="peers", purpose="A VertexClustering")
        known = as_graph(graph)
        if not isinstance(graph, igraph.Graph):
            upper = sparse.triu(known.adjacency, format="coo")
            names, weights = {"name": known.node_names.tolist()}, {"weight": upper.data.tolist()}
            pairs = np.column_stack(upper.coords).tolist()
            graph = igraph.Graph(known.n_nodes, pairs, vertex_attrs=names, edge_attrs=weights)
        return igraph.VertexClustering(graph, self.labels[self._places_in(known)].tolist())

    def to_cdlib(self, graph: Any = None) -> Any:
        """Return the clusters as a cdlib ``NodeClustering`` of a networkx graph; cdlib has to be installed.

        Parameters
        ----------
        graph : graph, optional
            The graph that was clustered; by default that of the result.
        """
        graph = graph_of(self, graph) if graph is None else graph
        cdlib = require("cdlib", extra="cdlib", purpose="A NodeClustering")
        if type(graph).__module__.partition(".")[0] != "networkx":
            graph = self.to_networkx(graph)
        else:
            self._places_in(as_graph(graph))  # checks the nodes
        parts = [sorted(part, key=str) for part in self.communities]
        return cdlib.NodeClustering(parts, graph, self.method, method_parameters=dict(self.parameters))

    def summary(self) -> dict[str, Any]:
        """Return everything but the per-node arrays, ready for JSON."""
        return {
            "method": self.method,
            "n_nodes": int(self.labels.size),
            "n_clusters": self.n_clusters,
            "sizes": self.sizes.tolist(),
            "n_ungrouped": 0 if self.groups is None else self.groups.n_ungrouped,
            **attribute_entries(self),
            "small_clusters": self.small_clusters.tolist(),
            **{name: plain(getattr(self, name)) for name in _SUMMARY_FIELDS},
        }

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write `summary` and the labels by node as JSON."""
        nodes = dict(zip(map(str, self.node_names.tolist()), self.labels.tolist(), strict=True))
        write_json(path, {**self.summary(), "labels": nodes})

    def _repr_html_(self) -> str:
        """Return the clusters with their groups, for a notebook."""
        heads, rows = ["cluster", "nodes"], [[i, size] for i, size in enumerate(self.sizes.tolist())]
        for attribute, groups in self.attributes.groups.items() if self.attributes else ():
            counts = contingency_table(self.labels, groups.codes, self.n_clusters, groups.n_groups)
            shown = [str(name) for name in groups.names.tolist()][:MAX_GROUPS]
            heads += [f"{attribute}: {name}" for name in shown] if len(self.features) > 1 else shown
            rows = [[*row, *more[: len(shown)]] for row, more in zip(rows, counts.tolist(), strict=True)]
        return page_of(repr(self), heads, rows)

    def _places_in(self, graph: Graph) -> NDArray[np.intp]:
        """Return the positions of the nodes of a graph; raise GraphError if it has other nodes."""
        places = {name: place for place, name in enumerate(texts(self.node_names))}
        names = texts(graph.node_names)
        if set(names) != set(places):
            what = f"The graph has other nodes than the {self.labels.size} that were clustered"
            raise GraphError(f"{what}: give the graph that the result is of.")
        return np.array([places[name] for name in names], dtype=np.intp)

    def __repr__(self) -> str:
        known = [name for name in ("Q", "B", "NB") if name in self.scores]
        scores = ", ".join(f"{name}={self.scores[name]:.3f}" for name in known)
        found = int((self.sizes > 0).sum())
        clusters = count(self.n_clusters, "cluster")
        if found < self.n_clusters:
            clusters = f"{found} of {clusters}"
        ended = "" if self.status in (None, "converged") else f", {self.status}"
        return f"ClusteringResult({self.method}, {count(self.labels.size, 'node')} in {clusters}, {scores}{ended})"
