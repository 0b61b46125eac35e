"""FairNMTF: a fair tri-factorisation with a scale-free dial."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import AnyOf, Choice, Constraint, Instance, Integer, Real
from equigraph.base import Clustering, Problem
from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.factorization.coordinate import coordinate_descent
from equigraph.factorization.factors import Factorization, Factors, Status
from equigraph.factorization.multiplicative import has_row_form
from equigraph.factorization.normalized import normalized_updates
from equigraph.factorization.penalties import Contrastive, Penalty, Scatter, check_penalty, over_attributes
from equigraph.factorization.starts import (
    fair_labels,
    open_product,
    random_labels,
    start_from_labels,
)
from equigraph.search.plans import is_large
from equigraph.search.pool import Target
from equigraph.stores.products import Product, StoreProduct
from equigraph.stores.stores import EXECUTION, is_out_of_core

# Largest weight, as the dial at 1 would be an infinite one; larger weights make no difference.
_MOST_WEIGHT = 100.0
# Largest strength of a soft-fair spectral start; it already finds fair clusters if there are any.
_MOST_STRENGTH = 1.0


@dataclass(eq=False, repr=False)
class FairNMTF(Factorization):
    r"""Fair nonnegative tri-factorisation with a dial from 0 (cohesion) to 1 (fairness).

    .. math:: \min_{H, W \ge 0} \frac{\|A - H W H^\top\|_F^2}{\|A\|_F^2} + \mu \frac{R(H)}{k \bar d},
              \qquad \mu = \frac{f}{1 - f},

    where R is a fairness penalty on H scaled to :math:`W_{ll} = 1`, and :math:`\bar d` the mean degree: both terms are
    of the order of 1 whatever the size of the graph and the unit of its weights. H and W are a local minimum, and the
    label of a node is the largest entry of its row of H. Use this method for soft membership and the interaction of
    clusters. For the best labels use `FairPartition`; ``init="partition"`` starts from them.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    fairness : float, default=0.5
        The dial f in [0, 1].
    penalty : {"scatter", "contrastive"} or Penalty, default="scatter"
        R. "scatter": spread of the group means of H; well posed for groups of any sizes. "contrastive": the paper's.
        A custom penalty replaces these; add them to it to include groups, as in ``Scatter(groups) + 10 * own``. One
        that overrides ``gradient`` needs a finite ``curvature()`` for the solver "cd".
    init : {"fair-spectral", "spectral", "random", "partition"}, default="fair-spectral"
        Start; the strength of fairness in the first follows the dial. "partition": the labels that `FairPartition`
        finds at the same dial.
    solver : {"cd", "mu"}, default="cd"
        Coordinate descent with extrapolation, which never raises the objective, or multiplicative updates of H, which
        need several times the steps.
    n_init : int, default=1
        Number of runs; the one with the smallest objective is kept.
    max_iter : int, default=100
        Largest number of steps, each of which is one pass over the graph.
    tol : float, default=1e-4
        Stop when H changes by less than this, relative to its norm.
    random_state : int, Generator, RandomState or None
        Seed.
    execution : "dask", str or distributed.Client, optional
        Where rows of graph and membership are kept: by default in this process, with a `BlockGraph` on disk; "dask" on
        the workers of the current Dask cluster or of this machine, an address on those of the scheduler there. A
        graph out of core is factorised by multiplicative updates, whatever `solver` says; see docs/scale.md.
    callbacks : callable or list of callables, optional
        Called after every step; returning True stops the run. See docs/callbacks.md.
    time_limit : float, optional
        Time limit in seconds, after which the run stops and the current result is kept.
    verbose : bool, default=False
        Whether to log progress.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`; membership and interaction are H and W of the factorisation, without postprocessing.
    objective_history_ : ndarray
        Normalised objective after each step. With the solver "cd" it never rises.
    n_iter_ : int
        Number of steps.

    References
    ----------
    The factorisation follows Ghodsi, Seyedi, Ntoutsi (PAKDD 2024); the scatter penalty is the soft form of the
    constraint of Kleindessner et al. (ICML 2019).

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> model = eg.FairNMTF(n_clusters=3, fairness=0.5, init="partition", random_state=0)
    >>> labels = model.fit_predict(room.adjacency, sensitive_features=room.sensitive_features)
    >>> eg.metrics.normalized_balance_score(labels, sensitive_features=room.sensitive_features) > 0.8
    True
    """

    fairness: float = 0.5
    _: KW_ONLY
    penalty: str | Penalty = "scatter"
    init: str = "fair-spectral"
    solver: str = "cd"
    n_init: int = 1
    max_iter: int = 100
    execution: Any = None

    _square_passes: ClassVar[int] = 3
    _parameters: ClassVar[dict[str, Constraint]] = {
        **Factorization._parameters,
        "fairness": Real(low=0, high=1, help="The dial, from cohesion (0) to fairness (1)."),
        "penalty": AnyOf(
            options=(
                Choice(values=("scatter", "contrastive")),
                Instance(methods=("positive", "negative", "gradient"), words="a Penalty"),
            ),
            help="Fairness of the factorisation.",
        ),
        "init": Choice(values=("fair-spectral", "spectral", "random", "partition"), help="Start."),
        "solver": Choice(values=("cd", "mu"), help="Coordinate descent or multiplicative updates."),
        "n_init": Integer(low=1, help="Number of runs, of which the best is kept."),
        "execution": EXECUTION,
    }

    def _fairness_wanted(self) -> bool:
        # A custom penalty needs no groups.
        return self.fairness > 0 and isinstance(self.penalty, str)

    def _fit(self, problem: Problem) -> Clustering:
        penalty = self.penalty
        if isinstance(penalty, str):
            make = Scatter if penalty == "scatter" else Contrastive
            penalty = over_attributes(problem.attributes, make, float(self.fairness > 0))
        opened = open_product(problem, self.execution)
        with self._notifier() as notify, opened as (product, dtype):
            if is_out_of_core(problem.graph, self.execution):
                self._check_out_of_core(problem, penalty, product)
            runs: list[Factors] = []
            while len(runs) < self.n_init and not (runs and runs[-1].status is Status.STOPPED):
                runs.append(self._run(problem, product, penalty, problem.seed + len(runs), dtype, notify))
        factors = min(runs, key=lambda run: run.history[-1:].sum())  # no history without edges
        membership = factors.H * factors.H.dtype.type(np.sqrt(problem.unit))
        return Clustering(membership=membership, interaction=factors.W, attributes=factors.attributes)

    def _check_out_of_core(self, problem: Problem, penalty: Penalty, product: Product) -> None:
        """Raise an error if the penalty needs the graph in memory, or if the graph has no edges."""
        if not has_row_form(penalty):
            raise ParameterError(
                f"FairNMTF: the penalty {penalty!r} links single nodes, which is not possible out of core: use one "
                "with a group_form(), or a graph in memory."
            )
        if product.squared_norm() == 0:
            raise InfeasibleError(f"{problem.graph} has no edge: there is nothing to cluster by.")

    def _run(
        self, problem: Problem, product: Product, penalty: Penalty, seed: int, dtype: Any, notify: Any
    ) -> Factors:
        """Factorise the graph from one start."""
        labels, there = self._start(problem, product, seed)
        H, W = start_from_labels(there, labels, self.n_clusters, dtype)
        if penalty is self.penalty:
            check_penalty(penalty, H)
        stored = is_out_of_core(problem.graph, self.execution)
        solve = normalized_updates if stored or self.solver == "mu" else coordinate_descent
        weight = min(_weight(self.fairness), _MOST_WEIGHT)
        options: dict[str, Any] = {"penalty": penalty, "weight": weight, "tol": self.tol, "notify": notify}
        if there is product:
            return solve(product, H, W, max_iter=self.max_iter, **options)
        # The workers were lost: one step turns the remaining labels into factors.
        return replace(solve(there, H, W, max_iter=1, **options), status=Status.STOPPED)

    def _start(self, problem: Problem, product: Product, seed: int) -> tuple[NDArray, Product]:
        """Return initial labels and a product, which is a new one if an out-of-core search has lost its workers."""
        if self.init == "random":
            return random_labels(problem.n_nodes, self.n_clusters, seed), product
        stored = is_out_of_core(problem.graph, self.execution)
        if self.init == "partition":
            from equigraph.search.large import LargeSearch, make_search

            columns, weights = problem.fair_columns()
            graph = product.store if stored and isinstance(product, StoreProduct) else problem.adjacency
            search = make_search(graph, columns, self.n_clusters, weights=weights, seed=seed)
            labels = search.solve([Target(float(self.fairness))])[0]
            if stored and isinstance(search, LargeSearch) and search.rows.store is not graph:
                product = StoreProduct(search.rows.store, product.squared_norm())
            return labels, product
        strength = min(_weight(self.fairness), _MOST_STRENGTH) if self.init == "fair-spectral" else 0.0
        exact = not (stored or is_large(problem.n_nodes, problem.adjacency.nnz))
        options: dict[str, Any] = {"strength": strength, "seed": seed, "exact": exact}
        return fair_labels(problem, product, self.n_clusters, **options), product


def _weight(fairness: float) -> float:
    r"""Return :math:`f / (1 - f)`."""
    return fairness / (1 - fairness) if fairness < 1 else float("inf")
