"""Base class of all estimators, with the input and output of a method: `Problem` and `Clustering`.

A method implements ``_fit``, from a `Problem` to a `Clustering`. The base class reads the input, checks the parameters,
numbers the clusters and warns about empty ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from equigraph._utils.callbacks import Notifier, Progress, ProgressLog, TimeLimit, interrupt_stops
from equigraph._utils.parameters import Constraint, Integer, Seed, check_parameters
from equigraph._utils.randomness import as_seed
from equigraph._utils.records import frame_of
from equigraph._utils.sizes import proposed_bounds, size_order, small_clusters, small_words
from equigraph._utils.text import GIVE_GROUPS, NO_GROUPS, count
from equigraph.exceptions import (
    EmptyClusterWarning,
    FairnessIgnoredWarning,
    GraphError,
    GroupsError,
    InfeasibleError,
    ParameterError,
    SmallClusterWarning,
    warn,
)
from equigraph.graph import Graph, as_graph
from equigraph.graph.features import attributes_in_order
from equigraph.graph.groups import Attributes, Groups
from equigraph.graph.groups.encode import indicator, warn_about_groups
from equigraph.metrics.notions import Notion
from equigraph.stores.blocks import BlockGraph

# Methods with a cost quadratic in the number of clusters refuse clusters of a smaller mean size than the first, if
# nodes * clusters**2 * passes exceeds the second: about ten minutes on one core.
MIN_MEAN_SIZE, MAX_SQUARES = 10, 1e12


@dataclass(frozen=True)
class Problem:
    """Input of a method: a validated graph, its attributes (None = no fairness), and a seed."""

    graph: Graph | BlockGraph
    attributes: Attributes | None
    seed: int
    # The sensitive features as given, in node order; rules look up the attributes that they name in them.
    given: Any = None

    @property
    def groups(self) -> Groups | None:
        """The groups of the only attribute, or the joint groups of several; None = no fairness."""
        return None if self.attributes is None else self.attributes.joint

    def fair_columns(self) -> tuple[NDArray[np.int32] | None, NDArray[np.float64] | None]:
        """Return the codes of all attributes side by side and their weights; None if no attribute has two groups."""
        if self.attributes is None or all(one.n_groups < 2 for one in self.attributes.groups.values()):
            return None, None
        return self.attributes.codes, self.attributes.weights

    @property
    def adjacency(self) -> sparse.csr_array:
        """The adjacency A in units of the largest weight; GraphError for a graph on disk."""
        if isinstance(self.graph, BlockGraph):
            raise GraphError(
                f"{self.graph} lies on disk, and this method needs the graph in memory: use FairPartition, FairNMTF, "
                "IFairNMTF or NMTF, or give to_graph() of it."
            )
        return self.graph.unit_adjacency

    @property
    def unit(self) -> float:
        """The largest weight, in the unit of the user."""
        return self.graph.unit

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.n_nodes

    def rng(self) -> np.random.Generator:
        """Return a new generator of this problem's seed."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class Clustering:
    """Output of a method.

    Attributes
    ----------
    labels : ndarray of shape (n_nodes,)
        Cluster of each node, in ``range(n_clusters)``, in any numbering. Ignored when ``membership`` is given:
        the labels are then its row-wise argmax.
    membership : ndarray of shape (n_nodes, n_clusters), optional
        H. One-hot labels when a method has none.
    interaction : ndarray of shape (n_clusters, n_clusters), optional
        W. The mean weight of the pairs between two clusters when a method has none.
    attributes : dict
        Further fitted attributes, such as ``n_iter_``.
    keeps_numbers : bool
        Whether clusters keep their numbers, since rules refer to them, instead of being numbered by size.
    """

    labels: NDArray | None = None
    membership: NDArray | None = None
    interaction: NDArray | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    keeps_numbers: bool = False


class DialLabels(NamedTuple):
    """Output of a method that searches its whole dial at once; clusters may have any numbers."""

    # One for each value of the dial, in order; fewer if the method was stopped.
    labels: Sequence[NDArray]
    # The non-dominated labels found, by modularity and the measure of the notion.
    front: Sequence[NDArray]


class GraphClusterer(ClusterMixin, BaseEstimator):
    """Base class of all estimators.

    Attributes
    ----------
    labels_ : ndarray of shape (n_nodes,)
        Cluster of each node. Clusters are numbered by size, largest first (ties: by their first node).
    membership_ : ndarray or csr_array of shape (n_nodes, n_clusters)
        H; ``np.asarray(membership_.argmax(axis=1)).ravel() == labels_``. With ``n_clusters=None``, where the
        clusters may be nearly as many as the nodes, a sparse one-hot array.
    interaction_ : ndarray or csr_array of shape (n_clusters, n_clusters)
        W; sparse where ``membership_`` is.
    n_nonempty_clusters_ : int
        Number of non-empty clusters. If it is less than ``n_clusters``, an `EmptyClusterWarning` is issued.
    seed_ : int
        The seed that was used, also if ``random_state`` is None.
    n_features_in_ : int
        Number of nodes, under scikit-learn's name.
    """

    _parameters: ClassVar[dict[str, Constraint]] = {
        "n_clusters": Integer(low=2, help="Number of clusters."),
        "random_state": Seed(help="Seed; the same seed gives the same labels."),
    }
    # Whether a method cannot work without groups, rather than falling back to plain clustering.
    _requires_groups: ClassVar[bool] = False
    # Whether a method accepts nodes without a group, whose code is -1.
    _takes_ungrouped: ClassVar[bool] = False
    # Whether to warn about clusters of one or two nodes, which a search on labels can avoid.
    _warns_of_small: ClassVar[bool] = False
    # Passes whose cost grows with the square of the number of clusters, for `_check_growth`; 0: no such cost.
    _square_passes: ClassVar[int] = 0
    # Whether a method implements `_fit_dial`; others are fitted once for each value of their dial.
    _searches_dial: ClassVar[bool] = False
    # Whether a method implements `_fit_together`, for many seeds and values of the dial.
    _shares_fits: ClassVar[bool] = False

    def fit(self, X: Any, y: None = None, *, sensitive_features: Any = None) -> Self:
        """Cluster the graph.

        Parameters
        ----------
        X : graph
            Anything that `equigraph.graph.as_graph` takes: a scipy sparse matrix or array, a numpy array, a
            networkx, igraph or networkit graph, a PyG ``Data``, an edge table, or what ``read_graph`` returns. The
            factorisations also take a `BlockGraph`, whose edges stay on disk.
        y : None
            Ignored; present by scikit-learn's convention.
        sensitive_features : array-like of shape (n_nodes,), dict of columns, frame or 2-D array, optional
            Group of each node, in node order; a mapping from node name to group, or a pandas Series with the
            node names as its index, also works. An edge table takes only these, since its nodes are sorted
            by name; beside a matrix without names a Series or frame is in node order, whatever its index. Several
            attributes come as a dict from their names to any of these, as a frame (by its index, by a first column of
            node names, or in node order), or as an array of shape (n_nodes, n_attributes). By default the groups that
            came with the graph; without any there is no fairness term. Nodes without a group come with a graph that was
            read with ``missing="ignore"``.

        Returns
        -------
        self
            The fitted estimator.
        """
        problem = self._prepare(X, sensitive_features)
        return self._finish(problem, self._fit(problem))

    def fit_predict(
        self, X: Any, y: None = None, *, sensitive_features: Any = None, **options: Any
    ) -> NDArray:
        """Cluster the graph and return the labels; see `fit`, which may take further options."""
        return self.fit(X, sensitive_features=sensitive_features, **options).labels_

    def fit_transform(self, X: Any, y: None = None, *, sensitive_features: Any = None) -> Any:
        """Cluster the graph and return the membership, one column per cluster; see `fit`.

        There is no ``transform``, since nodes outside the graph have no membership. ``set_output(transform="pandas")``
        gives a frame.
        """
        membership = self.fit(X, sensitive_features=sensitive_features).membership_
        # Under scikit-learn's name, so that its clone keeps it.
        own = getattr(self, "_sklearn_output_config", {})
        return _framed(membership, own.get("transform", get_config()["transform_output"]), X, self)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray:
        """Return the names of the columns of the membership, such as ``fairpartition0``."""
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self.membership_.shape[1])], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set what `fit_transform` returns: "pandas" or "polars" for a frame, "default" for an array.

        Examples
        --------
        >>> import equigraph as eg
        >>> model = eg.NMTF(n_clusters=2, random_state=0).set_output(transform="pandas")
        >>> model.fit_transform([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]).columns.tolist()
        ['nmtf0', 'nmtf1']
        """
        if transform not in (None, "default", "pandas", "polars"):
            raise ParameterError(f"transform={transform!r}: expected 'default', 'pandas' or 'polars'.")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def _fit(self, problem: Problem) -> Clustering:
        raise NotImplementedError

    def _fit_dial(self, problem: Problem, values: Sequence[float] | None, notify: Any) -> DialLabels:
        """Return labels for many values of the dial at once; only for methods that set ``_searches_dial``.

        Without values the whole front is searched, including labels that no value of the dial gives. ``notify`` is
        called like a `Notifier`; when it returns True, the labels found so far are returned.
        """
        raise NotImplementedError

    def _fit_together(
        self, problem: Problem, models: Sequence[Any]
    ) -> Iterator[tuple[int, Callable[[], GraphClusterer]]] | None:
        """Fit copies of this model with other seeds and dials; only for methods that set ``_shares_fits``.

        Yields the index of each model when it is ready, with a function that returns the fitted model and issues the
        warnings of the fit. Returns None if they are better fitted one by one.
        """
        raise NotImplementedError

    @contextmanager
    def _notifier(self) -> Iterator[Notifier]:
        """Yield the notifier of one fit: callbacks, time limit, log and Ctrl-C; for methods with these parameters."""
        model: Any = self
        callbacks = [*Notifier(model.callbacks).callbacks]
        if model.time_limit is not None:
            callbacks.append(TimeLimit(model.time_limit))
            callbacks[-1](Progress("start", 0, 1))
        if model.verbose:
            callbacks.append(ProgressLog())
        with interrupt_stops() as stop:
            yield Notifier([*callbacks, stop])

    def _fairness_wanted(self) -> bool:
        """Return whether the dial of this method, if it has one, is above zero."""
        return float(getattr(self, "fairness", 0.0)) > 0

    def _prepare(self, X: Any, sensitive_features: Any) -> Problem:
        """Check parameters and input, and return the problem to solve."""
        name = type(self).__name__
        check_parameters(name, self._parameters, self.get_params(deep=False))
        graph = X if isinstance(X, BlockGraph) else as_graph(X)
        self.n_features_in_ = graph.n_nodes
        if hasattr(X, "columns") and graph.positional and graph.node_names.dtype.kind in "OUT":
            self.feature_names_in_ = np.asarray(graph.node_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        n_clusters = getattr(self, "n_clusters", None)
        if n_clusters is not None and graph.n_nodes < n_clusters:
            raise GraphError(
                f"{name}: n_clusters={n_clusters!r} needs at least as many nodes; the graph has "
                f"{graph.n_nodes} (n_samples={graph.n_nodes})."
            )
        self._check_growth(graph.n_nodes, n_clusters or 0)
        nodes = graph.without_edges() if isinstance(graph, BlockGraph) else graph
        found, given = attributes_in_order(X, nodes, sensitive_features)
        if found is not None:
            found = found.weighted(getattr(self, "attribute_weights", None))
        attributes = self._checked_attributes(graph, found, own=sensitive_features is None)
        notion = getattr(self, "notion", None)
        if isinstance(notion, Notion) and attributes is not None:
            for groups in attributes.groups.values():
                notion.check(groups.sizes)
        self.seed_ = as_seed(getattr(self, "random_state", None))
        return Problem(graph=graph, attributes=attributes, seed=self.seed_, given=given)

    def _check_growth(self, n_nodes: int, n_clusters: int) -> None:
        """Raise InfeasibleError for many small clusters if the cost is quadratic in their number."""
        passes = self._square_passes * getattr(self, "max_iter", 1) * getattr(self, "n_init", 1)
        if n_clusters * MIN_MEAN_SIZE <= n_nodes or n_nodes * n_clusters**2 * passes <= MAX_SQUARES:
            return
        raise InfeasibleError(
            f"{type(self).__name__}: {n_clusters:,} clusters of {count(n_nodes, 'node')} would take very long, since "
            f"its cost grows with the square of the number of clusters: expected at most {n_nodes // MIN_MEAN_SIZE:,} "
            "clusters of so many nodes; FairPartition and FairLouvain take more."
        )

    def _checked_attributes(
        self, graph: Graph | BlockGraph, attributes: Attributes | None, own: bool
    ) -> Attributes | None:
        """Return the attributes that the method uses; raise GroupsError or warn if they are unsuitable."""
        name = type(self).__name__
        if attributes is None:
            if self._requires_groups:
                raise GroupsError(f"{name} needs groups: {GIVE_GROUPS}.")
            if self._fairness_wanted():
                warn(f"{name}: {NO_GROUPS}, so there is no fairness term.", FairnessIgnoredWarning)
            return None
        used = self._fairness_wanted() or self._requires_groups
        most = max(attributes.groups.values(), key=lambda groups: groups.n_ungrouped)
        if most.n_ungrouped and not self._takes_ungrouped:
            if used:
                raise GroupsError(
                    f"{name} needs a group for every node, and {most.n_ungrouped:,} of "
                    f"{count(most.n_nodes, 'node')} have none: use FairPartition, which takes them as they are, or "
                    f"drop them with missing='drop'."
                )
            return None
        if not used:
            return attributes
        for attribute, groups in attributes.groups.items():
            if groups.n_groups < 2:
                those = "nodes that have one" if groups.n_ungrouped else "nodes"
                what = f"attribute {attribute!r}" if attributes.are_several else "sensitive feature"
                raise GroupsError(
                    f"{name}: the {what} is constant ({groups.names.tolist()[0]!r} for all "
                    f"{groups.sizes.sum():,} {those}), so no clustering is fairer than another: give an attribute "
                    "with two or more values, or no fairness."
                )
            shown = attribute if attributes.are_several else graph.attribute if own else None
            warn_about_groups(name, groups, shown, getattr(self, "n_clusters", None))
        return attributes

    def _finish(self, problem: Problem, clustering: Clustering) -> Self:
        """Number the clusters by size and set the fitted attributes."""
        membership: Any
        n_clusters = getattr(self, "n_clusters", None)
        if clustering.membership is None:
            assert clustering.labels is not None
            n_columns = int(clustering.labels.max()) + 1 if n_clusters is None else int(n_clusters)
            order = np.arange(n_columns)
            if not clustering.keeps_numbers:
                order = size_order(clustering.labels, n_columns)
            labels = np.argsort(order)[clustering.labels]
            membership = indicator(labels, n_columns)
        else:
            membership, order = _by_size(clustering.membership)
            labels = membership.argmax(axis=1)
        if clustering.interaction is not None:
            interaction: Any = clustering.interaction[np.ix_(order, order)]
        else:
            interaction = interaction_of(problem.graph, labels, membership.shape[1])
        # Without n_clusters there may be nearly as many clusters as nodes: dense arrays would be n x n.
        if n_clusters is not None:
            membership, interaction = (
                matrix.toarray() if sparse.issparse(matrix) else matrix
                for matrix in (membership, interaction)
            )
        self.labels_, self.membership_, self.interaction_ = labels, membership, interaction
        self.n_nonempty_clusters_ = int(np.unique(labels).size)
        for attribute, value in clustering.attributes.items():
            setattr(self, attribute, value)
        if self.n_nonempty_clusters_ < membership.shape[1]:
            warn(
                f"{type(self).__name__}: only {self.n_nonempty_clusters_} of {membership.shape[1]} clusters "
                f"have a node.{self._empty_clusters_hint()}",
                EmptyClusterWarning,
            )
        sizes = np.bincount(labels, minlength=membership.shape[1])
        small = small_clusters(sizes, self.get_params(deep=False)) if self._warns_of_small else sizes[:0]
        if small.size:
            bounds = f"size_bounds={proposed_bounds(labels.size, sizes.size)}"
            how = bounds if "size_bounds" in self._parameters else f"FairPartition with {bounds}"
            words = f"{small_words(sizes, small)}, although no such size was requested: {how} keeps clusters larger."
            warn(f"{type(self).__name__}: {words}", SmallClusterWarning)
        return self

    def _empty_clusters_hint(self) -> str:
        """Return a sentence, with a leading space, on what to do about empty clusters."""
        return ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags


def interaction_of(graph: Graph | BlockGraph, labels: NDArray, n_clusters: int) -> sparse.csr_array:
    r"""Return the mean weight of the pairs between every two clusters, in the unit of the graph's weights.

    For one-hot H this is the W that minimises :math:`\|A - H W H^\top\|`; rows of empty clusters are 0.
    """
    assert isinstance(graph, Graph)
    onehot = indicator(labels.astype(np.intp), n_clusters)
    weight = (onehot.T @ (graph.unit_adjacency @ onehot)).tocoo()
    rows, columns = weight.coords
    sizes = np.bincount(labels, minlength=n_clusters).astype(np.float64)
    mean = weight.data / (sizes[rows] * sizes[columns])
    return sparse.csr_array((mean, (rows, columns)), shape=weight.shape) * graph.unit


def _framed(membership: Any, kind: str, X: Any, model: GraphClusterer) -> Any:
    """Return a membership unchanged, or as a frame with the row index of a pandas graph."""
    if kind == "default":
        return membership
    if sparse.issparse(membership):
        raise ParameterError(
            f"The membership of {type(model).__name__} is sparse if no number of clusters is given: "
            f"a frame needs n_clusters."
        )
    columns = dict(zip(model.get_feature_names_out().tolist(), membership.T, strict=True))
    frame = frame_of(columns, kind)  # type: ignore[arg-type]
    if kind == "pandas" and hasattr(getattr(X, "index", None), "to_numpy") and len(X) == len(frame):
        frame.index = X.index
    return frame


def _by_size(membership: NDArray) -> tuple[NDArray, NDArray[np.intp]]:
    """Order the columns by number of nodes, largest first, ties by first node; empty ones last.

    Rows with several equal maxima change cluster when columns move, so sorting is repeated until the order is stable.
    Each round only moves such rows to an earlier column, hence the bound.
    """
    n_columns = membership.shape[1]
    order = np.arange(n_columns)
    for _ in range(n_columns + 1):
        step = size_order(membership.argmax(axis=1), n_columns)
        if np.array_equal(step, np.arange(n_columns)):
            break
        membership, order = membership[:, step], order[step]
    return membership, order
