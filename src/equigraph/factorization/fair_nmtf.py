"""FairNMTF: a fair tri-factorisation with a scale-free dial."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.base import Clustering, GraphClusterer, Problem
from equigraph.callbacks import Callbacks, Notifier
from equigraph.exceptions import ParameterError
from equigraph.execution import Product, product_of, single_blas_thread
from equigraph.factorization.convergence import fitted_attributes
from equigraph.factorization.coordinate import coordinate_descent
from equigraph.factorization.multiplicative import Factors, multiplicative_updates
from equigraph.factorization.normalized import graph_scale, penalty_weight, rescale
from equigraph.factorization.row_fair import fit_rows
from equigraph.factorization.row_runs import EXECUTION, lives_apart
from equigraph.factorization.starts import start_from_labels
from equigraph.parameters import CALLBACKS, AnyOf, Boolean, Choice, Constraint, Instance, Integer, Real
from equigraph.penalties import Contrastive, Penalty, Scatter, WeightedSum, check_penalty
from equigraph.randomness import RandomState
from equigraph.refinement.bounds import check_size_bounds
from equigraph.refinement.large import MOST_FEW, cluster_weights, is_large, make_search
from equigraph.refinement.objective import NOTIONS
from equigraph.refinement.refine import LabelProblem, Refiner, RefinerLike
from equigraph.refinement.search import Search
from equigraph.spectral.soft import quick_fair_labels, soft_fair_labels

# The dial at 1 would mean an infinite weight; beyond this more weight changes nothing.
_MOST_WEIGHT = 100.0
# A soft-fair spectral start of this strength already finds the fair clusters where there are any.
_MOST_STRENGTH = 1.0
# Most steps of the factorisation of the final clusters of a large graph: the labels are found by then.
_LARGE_STEPS = 3


class FairNMTF(GraphClusterer):
    r"""Fair nonnegative tri-factorisation with a dial from 0 (cohesion) to 1 (fairness).

    The labels at :math:`f` locally maximise

    .. math:: (1 - f) \, Q + f \, N,

    modularity Q and a fairness notion N, with exactly k clusters; at f = 1 the notion comes first, up to .01, and Q
    decides among what is left. Membership and interaction are factors of

    .. math:: \min_{H, W \ge 0} \frac{\|A - H W H^\top\|_F^2}{\|A\|_F^2} + \mu \frac{R(H)}{k \bar d},
              \qquad \mu = \frac{f}{1 - f},

    where R is a fairness penalty on H scaled to :math:`W_{ll} = 1`, and :math:`\bar d` the mean degree. Q and N lie in
    [0, 1] whatever the size of the graph and the unit of its weights, and so do both terms of the factorisation: the
    same f means the same on 100 nodes and on a million.

    A fit has four steps: soft-fair spectral start, factorisation, refinement of the labels, and the factors of the
    final clusters. From 100,000 nodes or two million stored entries on, the work is bounded in passes over the graph:
    the first factorisation is left out, the last one makes three steps, and nodes no longer anneal one by one.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k; all of them have a node.
    fairness : float, default=0.5
        The dial f in [0, 1].
    notion : {"normalized", "balance", "mouflon"}, default="normalized"
        N: size-weighted normalised balance (NB, 1 = every cluster mirrors the population), the paper's average balance
        (B, which tiny clusters can game), or the proportional balance of MOUFLON.
    penalty : {"scatter", "contrastive"} or Penalty, default="scatter"
        R. "scatter": spread of the group means of H; well posed for groups of any sizes. "contrastive": the paper's.
        A penalty of one's own needs a finite ``curvature()`` for the solver "cd".
    init : {"fair-spectral", "spectral", "random"}, default="fair-spectral"
        Start; the strength of fairness in the first follows the dial.
    solver : {"cd", "mu"}, default="cd"
        Coordinate descent with extrapolation, or multiplicative updates.
    refine : bool or Refiner, default=True
        Whether and how labels are refined. Without it the labels are those of the factorisation alone, and nothing is
        promised about them.
    effort : float, default=1
        Multiplies the length of the refinement; results get better, slowly, up to 20 and more.
    size_bounds : (least, most), optional
        Bounds on the number of nodes of a cluster (None leaves a side open); always met, or an InfeasibleError.
    n_init : int, default=1
        Number of searches from other random labels; they share the starts, and the best labels are kept. With
        ``effort=0`` or another refiner, number of whole runs.
    max_iter : int, default=30
        Most steps of each factorisation; each is one pass over the graph. Three for a large graph with ``refine``.
    tol : float, default=1e-4
        Stop a factorisation when H changes by less than this, relative to its norm.
    random_state : int, Generator, RandomState or None
        Seed.
    execution : "dask", str or distributed.Client, optional
        Where the rows of graph and membership live: by default in this process, with a `BlockGraph` on disk; "dask" on
        the workers of the current Dask cluster or of this machine, an address on those of the scheduler there. Rows
        that live apart are refined by rounds of moves and factorised by multiplicative updates, whatever `solver` says;
        see docs/scale.md.
    callbacks : callable or list of callables, optional
        Told about progress; when one asks to stop, the best labels so far are kept.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`. The membership is a local minimum near the final clusters: the factorisation starts from
        the one-hot labels, and where it would put a node first elsewhere, the entry of the node's own cluster is raised
        to the largest of its row. The interaction is the mean weight of the pairs between two clusters, the W that fits
        one-hot labels best; the W beside a soft H explains links between clusters by nodes that belong to both, and is
        nearly diagonal. With ``refine=False`` both are those of the factorisation.
    objective_history_ : ndarray
        Normalised objective of the final factorisation after each step; with the solver "cd" it never rises.
    n_iter_ : int
        Steps of the final factorisation.
    objective_ : float
        :math:`(1 - f) Q + f N` of the labels.

    References
    ----------
    The factorisation follows Ghodsi, Seyedi, Ntoutsi (PAKDD 2024); the scatter penalty is the soft form of the
    constraint of Kleindessner et al. (ICML 2019).

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> model = eg.FairNMTF(n_clusters=3, fairness=0.5, random_state=0)
    >>> labels = model.fit_predict(room.adjacency, sensitive_features=room.sensitive_features)
    >>> eg.metrics.normalized_balance_score(labels, sensitive_features=room.sensitive_features)
    1.0
    """

    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "fairness": Real(low=0, high=1, help="The dial, from cohesion (0) to fairness (1)."),
        "notion": Choice(values=tuple(NOTIONS), help="Which fairness the dial moves."),
        "penalty": AnyOf(
            options=(
                Choice(values=("scatter", "contrastive")),
                Instance(methods=("positive", "negative", "gradient")),
            ),
            help="Fairness of the factorisation.",
        ),
        "init": Choice(values=("fair-spectral", "spectral", "random"), help="Start."),
        "solver": Choice(values=("cd", "mu"), help="Coordinate descent or multiplicative updates."),
        "refine": AnyOf(
            options=(Boolean(), Instance(methods=("refine",))), help="Whether labels are refined."
        ),
        "effort": Real(low=0, help="Length of the refinement."),
        "size_bounds": Instance(
            methods=("__iter__",), optional=True, help="Least and most nodes of a cluster, as a pair."
        ),
        "n_init": Integer(low=1, help="Number of runs, of which the best is kept."),
        "max_iter": Integer(low=1, help="Most steps of a factorisation."),
        "tol": Real(low=0, help="Stop when H changes by less than this, relative to its norm."),
        "execution": EXECUTION,
        "callbacks": CALLBACKS,
    }

    def __init__(
        self,
        n_clusters: int = 2,
        fairness: float = 0.5,
        *,
        notion: str = "normalized",
        penalty: str | Penalty = "scatter",
        init: str = "fair-spectral",
        solver: str = "cd",
        refine: bool | RefinerLike = True,
        effort: float = 1.0,
        size_bounds: tuple[int | None, int | None] | None = None,
        n_init: int = 1,
        max_iter: int = 30,
        tol: float = 1e-4,
        random_state: RandomState = None,
        execution: Any = None,
        callbacks: Callbacks = None,
    ):
        self.n_clusters = n_clusters
        self.fairness = fairness
        self.notion = notion
        self.penalty = penalty
        self.init = init
        self.solver = solver
        self.refine = refine
        self.effort = effort
        self.size_bounds = size_bounds
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.execution = execution
        self.callbacks = callbacks

    def _fit(self, problem: Problem) -> Clustering:
        notify = Notifier(self.callbacks)
        if lives_apart(problem, self.execution):
            return self._fit_rows(problem, notify)
        labels = self._fit_dial(problem, [float(self.fairness)], notify)[0]
        factors = self._factorize(problem, labels, self.fairness, notify)
        search = self._search(problem)
        return Clustering(
            membership=_led_by(factors.H, labels),
            # None: the base class gives the mean weights between the final clusters.
            interaction=factors.W if self.refine is False else self._quick_interaction(problem, labels),
            attributes={
                **fitted_attributes(factors),
                "objective_": search.at(self.fairness).value(*search.score(labels)),
            },
        )

    def _fit_rows(self, problem: Problem, notify: Notifier) -> Clustering:
        """Fit rows that live apart."""
        weight = min(_weight(self.fairness), _MOST_WEIGHT)
        fit = fit_rows(self, problem, self._penalty_of(problem), weight, notify)
        return Clustering(
            membership=_led_by(fit.factors.H, fit.labels),
            interaction=fit.interaction if self.refine else fit.factors.W,
            attributes={**fitted_attributes(fit.factors), "objective_": fit.value},
        )

    def _fit_dial(self, problem: Problem, values: Sequence[float], notify: Notifier) -> list[NDArray]:
        """Return labels for every value of the dial, all found together."""
        if lives_apart(problem, self.execution):
            raise ParameterError(
                "FairNMTF: a whole dial is searched in memory: leave execution= out, or fit single values of fairness."
            )
        check_size_bounds(self.size_bounds, problem.n_nodes, self.n_clusters)
        if self.size_bounds is not None and self.refine is False:
            raise ParameterError(
                "FairNMTF: it is the refinement that meets size_bounds: leave refine=True, or them out."
            )
        n_runs = 1 if self._n_shared() > 1 else self.n_init
        runs = [self._run(problem, values, problem.seed + run, notify) for run in range(n_runs)]
        if n_runs == 1:
            return runs[0]
        return [
            self._best(problem, value, found)
            for value, found in zip(values, zip(*runs, strict=True), strict=True)
        ]

    def _best(self, problem: Problem, fairness: float, candidates: Sequence[NDArray]) -> NDArray:
        search = self._search(problem)
        for labels in candidates:
            search.add(labels)
        return search.pool.labels[search.pool.best(fairness)]

    def _n_shared(self) -> int:
        """Return how many runs go into one search: they share the starts, and a later run what earlier ones found."""
        return self.n_init if self.refine is True and self.effort > 0 else 1

    def _run(self, problem: Problem, values: Sequence[float], seed: int, notify: Notifier) -> list[NDArray]:
        if self.refine is False:
            starts = [self._start(problem, value, seed) for value in values]
            return [
                self._factorize(problem, start, value, notify).H.argmax(axis=1)
                for start, value in zip(starts, values, strict=True)
            ]
        refiner = Refiner(self.effort, self._n_shared()) if self.refine is True else self.refine
        assert not isinstance(refiner, bool)
        codes = None if problem.groups is None or problem.groups.n_groups < 2 else problem.groups.codes
        task = LabelProblem(
            problem.adjacency, codes, self.n_clusters, self.notion, size_bounds=self.size_bounds, seed=seed
        )
        return refiner.refine(task, values, self._starts(problem, values, seed, notify), notify)

    def _starts(
        self, problem: Problem, values: Sequence[float], seed: int, notify: Notifier
    ) -> Iterable[NDArray]:
        """Return the labels that the search starts from; along a whole curve a few values of the dial give enough."""
        if is_large(problem.adjacency):
            # One by one: the search has work of its own to do meanwhile. The factorisation would bring it nothing.
            return (self._start(problem, value, seed) for value in sorted({min(values), max(values)}))
        starts = []
        for value in values if len(values) == 1 else (min(values), 0.3, max(values)):
            start = self._start(problem, value, seed)
            starts += [start, self._factorize(problem, start, value, notify).H.argmax(axis=1)]
        return starts

    def _start(self, problem: Problem, fairness: float, seed: int) -> NDArray:
        if self.init == "random":
            return np.random.default_rng(seed).permutation(np.arange(problem.n_nodes) % self.n_clusters)
        codes = None if problem.groups is None else problem.groups.codes
        strength = min(_weight(fairness), _MOST_STRENGTH) if self.init == "fair-spectral" else 0.0
        find = quick_fair_labels if is_large(problem.adjacency) else soft_fair_labels
        return find(problem.adjacency, codes, self.n_clusters, strength=strength, seed=seed)

    def _factorize(self, problem: Problem, labels: NDArray, fairness: float, notify: Notifier) -> Factors:
        """Factorise the graph, starting from labels."""
        adjacency = problem.adjacency
        H, W = self._start_factors(problem, labels)
        penalty, weight = self._penalty_of(problem), min(_weight(fairness), _MOST_WEIGHT)
        if penalty is self.penalty:
            check_penalty(penalty, H.astype(adjacency.dtype, copy=False))
        if self._in_passing(problem):
            graph, unit = _single_precision(adjacency)
            factors = self._solve(
                graph, H, W / unit, penalty, weight, notify, min(self.max_iter, _LARGE_STEPS)
            )
            return replace(factors, H=(factors.H * np.sqrt(unit)).astype(adjacency.dtype))
        return self._solve(adjacency, H, W, penalty, weight, notify, self.max_iter)

    def _solve(
        self,
        adjacency: sparse.csr_array,
        H: NDArray,
        W: NDArray,
        penalty: Penalty | None,
        weight: float,
        notify: Notifier,
        max_iter: int,
    ) -> Factors:
        H = H.astype(adjacency.dtype, copy=False)
        product = product_of(adjacency)
        with single_blas_thread():
            if self.solver == "mu" and adjacency.nnz:
                return self._multiplicative(product, adjacency, H, W, penalty, weight, notify, max_iter)
            return coordinate_descent(
                product,
                H,
                W,
                penalty=penalty,
                weight=weight,
                max_iter=max_iter,
                tol=self.tol,
                notify=notify,
            )

    def _start_factors(self, problem: Problem, labels: NDArray) -> tuple[NDArray, NDArray]:
        """Return what `start_from_labels` does, from one pass over a large graph."""
        W = self._quick_interaction(problem, labels)
        if W is None:
            return start_from_labels(problem.adjacency, labels, self.n_clusters)
        H = np.full((labels.size, self.n_clusters), 0.1)
        H[np.arange(labels.size), labels] += 1
        return H, W + 0.01 * max(float(W.max()), np.finfo(float).tiny)

    def _quick_interaction(self, problem: Problem, labels: NDArray) -> NDArray[np.float64] | None:
        """Return the mean weight between every two clusters from one pass over a large graph, None for a small one."""
        if not is_large(problem.adjacency) or self.n_clusters > MOST_FEW:
            return None
        sizes = np.bincount(labels, minlength=self.n_clusters).astype(np.float64)
        weights = cluster_weights(problem.adjacency, labels, self.n_clusters)
        return weights / np.maximum(np.outer(sizes, sizes), 1)

    def _in_passing(self, problem: Problem) -> bool:
        """Return whether a factorisation only describes labels of a large graph that the search finds."""
        return is_large(problem.adjacency) and problem.adjacency.nnz > 0 and self.refine is not False

    def _multiplicative(
        self,
        product: Product,
        adjacency: sparse.csr_array,
        H: NDArray,
        W: NDArray,
        penalty: Penalty | None,
        weight: float,
        notify: Notifier,
        max_iter: int,
    ) -> Factors:
        """Run multiplicative updates on the graph of norm 1, so that weights of any unit give the same."""
        scale = graph_scale(product)
        H, W = rescale(H, W / scale.norm)
        total = WeightedSum([])
        if penalty is not None:
            total = WeightedSum([(penalty_weight(weight, self.n_clusters, scale), penalty)])
        factors = multiplicative_updates(
            product_of(_scaled(adjacency, 1 / scale.norm)),
            H,
            W,
            penalty=total,
            max_iter=max_iter,
            tol=self.tol,
            notify=notify,
        )
        H, W = rescale(factors.H, factors.W)
        return replace(factors, H=H * H.dtype.type(np.sqrt(scale.norm)), W=W)

    def _penalty_of(self, problem: Problem) -> Penalty | None:
        if not isinstance(self.penalty, str):
            return self.penalty
        if problem.groups is None or problem.groups.n_groups < 2:
            return None
        return Scatter(problem.groups) if self.penalty == "scatter" else Contrastive(problem.groups)

    def _search(self, problem: Problem) -> Search:
        codes = None if problem.groups is None else problem.groups.codes
        return make_search(problem.adjacency, codes, self.n_clusters, notion=self.notion)


def _weight(fairness: float) -> float:
    r"""Return :math:`f / (1 - f)`."""
    return fairness / (1 - fairness) if fairness < 1 else float("inf")


def _scaled(adjacency: sparse.csr_array, factor: float) -> sparse.csr_array:
    """Return the graph with other weights; it shares the rest."""
    data = adjacency.data * adjacency.dtype.type(factor)
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def _single_precision(adjacency: sparse.csr_array) -> tuple[sparse.csr_array, float]:
    """Return the graph in single precision, in units of its largest weight, and that weight."""
    unit = float(adjacency.data.max())
    data = (adjacency.data / unit).astype(np.float32)
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape), unit


def _led_by(H: NDArray, labels: NDArray) -> NDArray:
    """Return H with the entry of each node's own cluster raised to be the largest of its row."""
    H = H.copy()
    rows = np.arange(labels.size)
    others = H.copy()
    others[rows, labels] = 0
    largest = others.max(axis=1)
    behind = H[rows, labels] <= largest
    # The next larger number is enough to lead; a row of zeros gets the smallest positive one.
    H[rows[behind], labels[behind]] = np.nextafter(largest[behind], np.inf, dtype=H.dtype)
    return H
