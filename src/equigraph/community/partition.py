"""FairPartition: the search on labels, as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray

from equigraph.base import Clustering, DialLabels, GraphClusterer, Problem
from equigraph.callbacks import Callbacks, Notifier
from equigraph.exceptions import ParameterError
from equigraph.factorization.row_fair import partition_rows
from equigraph.factorization.row_runs import EXECUTION, lives_apart
from equigraph.metrics.notions import NOTIONS, Notion, get_notion
from equigraph.parameters import CALLBACKS, AnyOf, Choice, Constraint, Instance, Integer, Real
from equigraph.randomness import RandomState
from equigraph.search.bounds import check_size_bounds
from equigraph.search.free import best_number
from equigraph.search.refine import warn_if_short
from equigraph.search.search import Search, Target
from equigraph.spectral.soft import soft_fair_labels

# Mean degree and number of nodes from which on a graph is dense, and the strength of fairness in its spectral start:
# found on the block model of the paper, whose fair clusters no local move leads to.
_DENSE, _LEAST_DENSE, _STRENGTH = 40, 500, 1.0

NOTION = AnyOf(
    options=(Choice(values=tuple(NOTIONS)), Instance(methods=("score", "value"))),
    help="Which fairness the dial moves.",
)


class FairPartition(GraphClusterer):
    r"""The most cohesive and fair division of a graph, found by a search on labels.

    .. math:: \max_{\text{labels}} \; (1 - f)\, Q + f\, N

    with modularity Q, a fairness notion N, and exactly k clusters; or, with ``at_least``, the largest Q among labels
    whose N is at least that. Q and N lie in [0, 1] whatever the size of the graph and the unit of its weights, so the
    same dial means the same on thirty nodes and on a million.

    Divisions that are cohesive alone are raised along the dial, by moves of single nodes and of parts of clusters on
    all levels of the graph, and annealed at the value asked for. Two divisions laid over each other give a small graph
    of parts on which the search is cheap; what it finds goes on on the nodes. All that is found goes into one pool, and
    the best of it is returned. From 100,000 nodes or two million stored entries on, the same steps are done on a few
    thousand parts of the graph first.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters k; all of them have a node. None lets the number come out.
    fairness : float, default=0.5
        The dial f in [0, 1]. At 1 the notion comes first, up to .01, and Q decides among what is left.
    at_least : float, optional
        The fairness asked for, in place of a weight: the most cohesive labels found whose N is at least this. Where
        none is found, the fairest, and a warning that says how fair they are.
    notion : {"normalized", "balance", "mouflon", "evenness"} or Notion, default="normalized"
        N: normalised balance (NB, 1 = every cluster mirrors the population as far as whole nodes allow), the paper's
        average balance (B, which tiny clusters can game), the proportional balance of MOUFLON, one minus the index of
        dissimilarity, or a notion of one's own.
    size_bounds : (least, most), optional
        Bounds on the number of nodes of a cluster (None leaves a side open); always met, or an InfeasibleError. Without
        them clusters of one or two nodes may come out; where clusters have six nodes or more on average, a
        `SmallClusterWarning` names these.
    effort : float, default=1
        Multiplies the length of the search. On graphs of up to some hundred nodes more than 1 brings next to nothing.
    n_init : int, default=1
        Number of searches with other random draws; they share one pool.
    random_state : int, Generator, RandomState or None
        Seed.
    execution : "dask", str or distributed.Client, optional
        Where the rows of the graph live: by default in this process, with a `BlockGraph` on disk; "dask" on the workers
        of the current Dask cluster or of this machine, an address on those of the scheduler there. See docs/scale.md.
    callbacks : callable or list of callables, optional
        Told about progress; when one asks to stop, the best labels so far are kept.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`: the membership is one-hot, the interaction the mean weight of the pairs between clusters.
    n_clusters_ : int
        Number of clusters.
    modularity_, notion_ : float
        Q and N of the labels.
    objective_ : float
        :math:`(1 - f) Q + f N` of the labels; with ``at_least``, Q.

    References
    ----------
    Recombination by overlay follows Biedermann, Henzinger, Schulz, Schuster, "Memetic Graph Clustering", SEA 2018.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> model = eg.FairPartition(n_clusters=3, fairness=0.5, random_state=0)
    >>> labels = model.fit_predict(room.adjacency, sensitive_features=room.sensitive_features)
    >>> eg.metrics.normalized_balance_score(labels, sensitive_features=room.sensitive_features)
    1.0
    >>> model = eg.FairPartition(3, at_least=0.9, random_state=0)
    >>> model.fit(room.adjacency, sensitive_features=room.sensitive_features).notion_ >= 0.9
    True
    """

    _takes_ungrouped: ClassVar[bool] = True
    _warns_of_small: ClassVar[bool] = True
    _searches_dial: ClassVar[bool] = True
    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "n_clusters": Integer(low=2, optional=True, help="Number of clusters; None lets it come out."),
        "fairness": Real(low=0, high=1, help="The dial, from cohesion (0) to fairness (1)."),
        "at_least": Real(
            low=0,
            high=1,
            optional=True,
            help="The fairness asked for: the most cohesive labels at least so fair.",
        ),
        "notion": NOTION,
        "size_bounds": Instance(
            methods=("__iter__",), optional=True, help="Least and most nodes of a cluster, as a pair."
        ),
        "effort": Real(low=0, help="Length of the search."),
        "n_init": Integer(low=1, help="Number of searches, of which the best is kept."),
        "execution": EXECUTION,
        "callbacks": CALLBACKS,
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        fairness: float = 0.5,
        *,
        at_least: float | None = None,
        notion: str | Notion = "normalized",
        size_bounds: tuple[int | None, int | None] | None = None,
        effort: float = 1.0,
        n_init: int = 1,
        random_state: RandomState = None,
        execution: Any = None,
        callbacks: Callbacks = None,
    ):
        self.n_clusters = n_clusters
        self.fairness = fairness
        self.at_least = at_least
        self.notion = notion
        self.size_bounds = size_bounds
        self.effort = effort
        self.n_init = n_init
        self.random_state = random_state
        self.execution = execution
        self.callbacks = callbacks

    def _fairness_wanted(self) -> bool:
        return self.fairness > 0 or self.at_least is not None

    def _fit(self, problem: Problem) -> Clustering:
        notify = Notifier(self.callbacks)
        if lives_apart(problem, self.execution):
            return self._fit_rows(problem, notify)
        search = self._search(problem)
        target = Target(float(self.fairness), self.at_least)
        labels = search.solve([target], self._starts(problem, search), notify, self.n_init)[0]
        modularity, notion = search.score(labels)
        return self._clustering(labels, modularity, notion)

    def _clustering(self, labels: NDArray, modularity: float, notion: float) -> Clustering:
        value = (1 - self.fairness) * modularity + self.fairness * notion
        if self.at_least is not None:
            value = modularity
            warn_if_short("FairPartition", get_notion(self.notion), notion, self.at_least)
        return Clustering(
            labels=labels,
            attributes={
                "n_clusters_": int(labels.max()) + 1,
                "modularity_": modularity,
                "notion_": notion,
                "objective_": value,
            },
        )

    def _search(self, problem: Problem) -> Search:
        """Return the search that the parameters describe."""
        codes = None if problem.groups is None or problem.groups.n_groups < 2 else problem.groups.codes
        options: dict[str, Any] = {"notion": self.notion, "effort": self.effort, "seed": problem.seed}
        n_clusters = self.n_clusters
        if n_clusters is None:
            target = Target(float(self.fairness), self.at_least)
            n_clusters = best_number(problem.adjacency, codes, target, **options)
        check_size_bounds(self.size_bounds, problem.n_nodes, n_clusters)
        return Search(problem.adjacency, codes, n_clusters, size_bounds=self.size_bounds, **options)

    def _starts(self, problem: Problem, search: Search) -> list[NDArray]:
        """Return a soft-fair spectral division where the graph is dense: single moves see little of it there."""
        codes, n = None if problem.groups is None else problem.groups.codes, problem.n_nodes
        dense = problem.adjacency.nnz >= _DENSE * n and n >= _LEAST_DENSE
        if not dense or not self.effort or codes is None or search.plan.n_parts or codes.min() < 0:
            return []
        if problem.groups is None or problem.groups.n_groups < 2:
            return []
        return [
            soft_fair_labels(
                problem.adjacency, codes, search.n_clusters, strength=_STRENGTH, seed=problem.seed
            )
        ]

    def _fit_rows(self, problem: Problem, notify: Notifier) -> Clustering:
        """Fit rows that live apart."""
        if problem.groups is not None and problem.groups.n_ungrouped:
            raise ParameterError(
                "FairPartition: nodes without a group need the graph in memory: leave execution= out, or drop them "
                "with read_graph(..., missing='drop')."
            )
        for name in ("size_bounds", "at_least"):
            if getattr(self, name) is not None:
                raise ParameterError(
                    f"FairPartition: {name} needs the graph in memory: leave it or execution= out."
                )
        if self.n_clusters is None:
            raise ParameterError(
                "FairPartition: n_clusters=None needs the graph in memory: give a number, or leave execution= out."
            )
        labels, modularity, notion, mean = partition_rows(self, problem, notify)
        found = self._clustering(labels, modularity, notion)
        return Clustering(labels=found.labels, interaction=mean * problem.unit, attributes=found.attributes)

    def _fit_dial(self, problem: Problem, values: Sequence[float] | None, notify: Any) -> DialLabels:
        if lives_apart(problem, self.execution):
            raise ParameterError(
                "FairPartition: a whole dial is searched in memory: leave execution= out, or fit single values."
            )
        search = self._search(problem)
        if values is None:
            return DialLabels([], search.front(self._starts(problem, search), notify, self.n_init).labels)
        targets = [Target(float(value)) for value in values]
        labels = search.solve(targets, self._starts(problem, search), notify, self.n_init)
        return DialLabels(labels, search.pool.labels)
