"""DMoN, the neural baseline of the paper, as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from equigraph._utils.callbacks import Callbacks
from equigraph._utils.parameters import PROGRESS, AnyOf, Boolean, Choice, Constraint, Integer, Real
from equigraph._utils.randomness import RandomState
from equigraph._utils.text import GIVE_GROUPS
from equigraph.base import Clustering, GraphClusterer, Problem
from equigraph.exceptions import GroupsError, InfeasibleError, require, warn
from equigraph.graph import Graph
from equigraph.graph.groups import Attributes, Groups
from equigraph.graph.groups.encode import indicator
from equigraph.spectral.embedding import leading_eigenpairs
from equigraph.stores.blocks import BlockGraph


@dataclass(frozen=True)
class Widths(Constraint):
    """A tuple or list of widths, at least one."""

    def _accepts(self, value: Any) -> bool:
        is_sequence = isinstance(value, (tuple, list)) and len(value) > 0
        return is_sequence and all(Integer(low=1).accepts(width) for width in value)

    def _describe(self) -> str:
        return "a tuple of whole numbers of at least 1"


@dataclass(eq=False, repr=False)
class DMoN(GraphClusterer):
    r"""Deep modularity networks: a graph neural network trained to maximise a soft modularity.

    .. math:: \min_\theta -\frac{1}{2m} \mathrm{Tr}(C^\top B C)
        + \gamma \Big(\frac{\sqrt k}{n} \Big\|\sum_i C_i\Big\|_2 - 1\Big), \qquad
        C = \mathrm{softmax}(\mathrm{GCN}_\theta(\hat A, X)), \quad B = A - \frac{d d^\top}{2m},

    where X are node features, :math:`\hat A` is the normalised graph with self-loops and :math:`\gamma` is
    ``collapse``. One epoch costs O(m (u + k) + n u (f + k)) for widths u; no n x n array is formed.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    features : {"sensitive", "ordinal", "structural", "sensitive+structural"}, default="sensitive"
        Node features X. "sensitive": the one-hot groups; the model then sees nothing but a node's group, its
        degree and those of its neighbours. "ordinal": the groups as one column of numbers (numeric groups as
        they are, others 1 to h in the order of their names), which tells the model even less. "structural":
        leading eigenvectors of the normalised adjacency and the degree, which need no groups.
    hidden : int or tuple of int, default=(64,)
        Width of each graph convolution.
    null_model : {"paper", "google"}, default="paper"
        "google" counts the edges twice, like the published code of DMoN: half the modularity at resolution 1/2,
        which favours fewer clusters and doubles the weight of ``collapse``.
    collapse : float, default=1.0
        Weight of the term that keeps the clusters from collapsing into one.
    dropout : float, default=0.0
        Share of the logits that is dropped in training, in [0, 0.99].
    epochs : int, default=500
        Number of gradient steps, each on the whole graph.
    learning_rate : float, default=1e-3
        Step size of Adam.
    n_structural : int, optional
        Number of eigenvectors among the structural features; by default twice ``n_clusters``, or as many
        as there are nodes.
    skip : bool, default=True
        Whether each channel of a layer has a weight for the node's own value.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" takes a GPU if there is one.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the training.
    random_state : int, Generator, RandomState or None
        Seed of the initial weights, the dropout and the eigenvector iterations. PyTorch's global random state
        is neither read nor changed. Repeatable on the CPU; a GPU may round differently from run to run.
    callbacks : callable or list of callables, optional
        Called after every epoch; returning True stops the run. See docs/callbacks.md.
    time_limit : float, optional
        Time limit in seconds, after which the run stops and the current result is kept.
    verbose : bool, default=False
        Whether to log progress.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`; ``membership_`` is the soft assignment C, whose rows sum to 1.
    objective_history_ : ndarray of shape (n_iterations,)
        Loss at the start of each epoch.
    n_iter_ : int
        Number of epochs.
    status_ : str
        "max_iter" (all epochs done), "stopped" (by a callback) or "diverged".

    Raises
    ------
    MissingDependencyError
        At ``fit``, if PyTorch is not installed.
    GroupsError
        If the features need groups and there are none.
    InfeasibleError
        If the graph has no edge, or fewer nodes than eigenvectors were asked for.

    Notes
    -----
    Empty clusters are common, above all with sensitive features, and results depend on the seed: report the
    mean over ten or more.

    References
    ----------
    Tsitsulin, Palowitch, Perozzi, Müller. Graph Clustering with Graph Neural Networks. Journal of Machine
    Learning Research 24, 2023.

    Examples
    --------
    >>> from equigraph.community.neural import DMoN
    >>> two_triangles = [
    ...     [0, 1, 1, 0, 0, 0],
    ...     [1, 0, 1, 0, 0, 0],
    ...     [1, 1, 0, 1, 0, 0],
    ...     [0, 0, 1, 0, 1, 1],
    ...     [0, 0, 0, 1, 0, 1],
    ...     [0, 0, 0, 1, 1, 0],
    ... ]
    >>> model = DMoN(n_clusters=2, features="structural", epochs=100, device="cpu", random_state=0)
    >>> model.fit_predict(two_triangles).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    n_clusters: int = 2
    _: KW_ONLY
    features: str = "sensitive"
    hidden: int | Sequence[int] = (64,)
    null_model: str = "paper"
    collapse: float = 1.0
    dropout: float = 0.0
    epochs: int = 500
    learning_rate: float = 1e-3
    n_structural: int | None = None
    skip: bool = True
    device: str = "auto"
    dtype: str = "float32"
    random_state: RandomState = None
    callbacks: Callbacks = None
    time_limit: float | None = None
    verbose: bool = False

    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "features": Choice(
            values=("sensitive", "ordinal", "structural", "sensitive+structural"),
            help="Node features of the network.",
        ),
        "hidden": AnyOf(options=(Integer(low=1), Widths()), help="Width of each graph convolution."),
        "null_model": Choice(values=("paper", "google"), help="Null model of the modularity."),
        "collapse": Real(low=0, help="Weight of the term against a collapse into one cluster."),
        "dropout": Real(low=0, high=0.99, help="Share of the logits that is dropped in training."),
        "epochs": Integer(low=1, help="Number of gradient steps."),
        "learning_rate": Real(low=0, high=1e30, open_low=True, help="Step size of Adam."),
        "n_structural": Integer(low=1, optional=True, help="Number of eigenvectors among the features."),
        "skip": Boolean(help="Whether a layer weighs a node's own value beside its neighbourhood."),
        "device": Choice(values=("auto", "cpu", "cuda"), help="Where to train."),
        "dtype": Choice(values=("float32", "float64"), help="Precision of the training."),
        **PROGRESS,
    }

    # A property where the base has a class attribute: here it depends on the features.
    @property
    def _requires_groups(self) -> bool:  # type: ignore[override]
        return self.features != "structural"

    def _checked_attributes(
        self, graph: Graph | BlockGraph, attributes: Attributes | None, own: bool
    ) -> Attributes | None:
        if self._requires_groups and attributes is None:
            raise GroupsError(
                f"DMoN(features={self.features!r}) takes the groups as node features: {GIVE_GROUPS}, "
                f"or use features='structural'."
            )
        return super()._checked_attributes(graph, attributes, own)

    def _fit(self, problem: Problem) -> Clustering:
        require("torch", extra="neural", purpose="DMoN")
        if problem.adjacency.nnz == 0:
            raise InfeasibleError("DMoN maximises modularity, which a graph without edges does not have.")
        from equigraph.community.neural.network import train

        columns = self._columns(problem)
        with self._notifier() as notify:
            membership, history, status = train(self, problem.adjacency, columns, problem.seed, notify)
        if status == "diverged":
            warn(
                f"DMoN diverged after {len(history)} epochs; the last finite weights are kept: use "
                f"a smaller learning_rate than {self.learning_rate:g}.",
                ConvergenceWarning,
            )
        attributes = {"objective_history_": np.array(history), "n_iter_": len(history), "status_": status}
        return Clustering(membership=membership, attributes=attributes)

    def _columns(self, problem: Problem) -> NDArray[np.float64]:
        """Return the node features X."""
        parts = []
        if problem.attributes is not None and self._requires_groups:
            for groups in problem.attributes.groups.values():
                onehot = indicator(groups.codes, groups.n_groups).toarray()
                parts.append(ordinal_column(groups) if self.features == "ordinal" else onehot)
        if "structural" in self.features:
            count = self.n_structural or min(2 * self.n_clusters, problem.n_nodes)
            parts.append(structural_columns(problem.adjacency, count, problem.rng()))
        return np.column_stack(parts)

    def _empty_clusters_hint(self) -> str:
        if self.features in ("sensitive", "ordinal"):
            return " The groups alone hardly tell the nodes apart: try features='structural'."
        return " Try a larger collapse."


def ordinal_column(groups: Groups) -> NDArray[np.float64]:
    """Return the group of each node as a single number, an array of shape (n_nodes, 1).

    Numeric groups are taken as they are; others are counted from 1, in the order of their names.
    """
    numeric = groups.names.dtype.kind in "iufb"
    values = groups.names if numeric else np.arange(1, groups.n_groups + 1)
    return values.astype(np.float64)[groups.codes][:, None]


def structural_columns(
    adjacency: sparse.csr_array, n_components: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    r"""Return structural node features: leading eigenvectors and the degree.

    The eigenvectors are those of :math:`D^{-1/2} A D^{-1/2}`, the degree column is :math:`\log(1 + d)` centred. Each
    column has mean square 1, except that equal degrees give a column of zeros.
    """
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    vectors = _leading_eigenvectors(adjacency, degrees, n_components, rng)
    logs = np.log1p(degrees)
    logs -= logs.mean()
    spread = np.sqrt(np.mean(logs**2))
    # In a regular graph rounding of the mean leaves a spread near 1e-16, by which the column must not be divided.
    logs = logs / spread if spread > 1e-9 else np.zeros_like(logs)
    return np.column_stack([vectors * np.sqrt(degrees.size), logs])


def propagate(adjacency: sparse.csr_array, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return :math:`\tilde D^{-1/2} (A + I) \tilde D^{-1/2} X`, with the degrees :math:`\tilde D` of A + I."""
    scale = self_loop_scale(adjacency)
    scaled = scale * columns
    return scale * (adjacency @ scaled + scaled)


def self_loop_scale(adjacency: sparse.csr_array) -> NDArray[np.float64]:
    """Return the inverse square roots of the degrees of A + I, one column."""
    return 1 / np.sqrt(1 + np.asarray(adjacency.sum(axis=1), dtype=np.float64).reshape(-1, 1))


def _leading_eigenvectors(
    adjacency: sparse.csr_array, degrees: NDArray[np.float64], count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    n_nodes = degrees.size
    if count > n_nodes:
        raise InfeasibleError(
            f"n_structural={count} eigenvectors were asked of a graph with {n_nodes} nodes: it has {n_nodes}."
        )
    weights, scale = adjacency.astype(np.float64, copy=False), np.zeros((n_nodes, 1))
    np.divide(1, np.sqrt(degrees)[:, None], out=scale, where=degrees[:, None] > 0)
    error = f"The {count} leading eigenvectors did not converge ({{}}): use a smaller n_structural."

    def product(panel: NDArray) -> NDArray:
        return scale * (weights @ (scale * panel))

    start = rng.standard_normal(n_nodes)
    vectors = leading_eigenpairs(product, count, start, which="LA", error=error, tol=1e-6)[1]
    # An eigenvector is defined up to its sign only: the largest entry is made positive.
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    return vectors * np.where(peaks < 0, -1.0, 1.0)
