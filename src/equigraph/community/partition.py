"""FairPartition, the estimator of the search on labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from equigraph._utils.callbacks import Callbacks
from equigraph._utils.parameters import (
    CALLBACKS,
    AnyOf,
    Boolean,
    Choice,
    Constraint,
    Instance,
    Integer,
    Real,
    check_parameters,
)
from equigraph._utils.randomness import RandomState
from equigraph.base import Clustering, DialLabels, GraphClusterer, Problem, interaction_of
from equigraph.community.start import read_start, warn_if_short
from equigraph.exceptions import ParameterError
from equigraph.metrics.notions import NORMALIZED, NOTIONS, Notion, get_notion
from equigraph.rules import Facts, Rules
from equigraph.rules.conflict import ON_CONFLICT, OnConflict
from equigraph.rules.rules import RULES, as_rules
from equigraph.search.bounds import SizeBounds
from equigraph.search.feasible import (
    FeasibleSearch,
    HomeLabels,
    make_feasible_search,
)
from equigraph.search.plans import is_large
from equigraph.search.pool import Target
from equigraph.spectral.soft import soft_fair_labels
from equigraph.stores.blocks import BlockGraph
from equigraph.stores.stores import EXECUTION, check_scheduler, is_out_of_core, n_entries_of, open_store

# Least mean degree and number of nodes for a spectral start, and its strength of fairness: tuned on the block model of
# the paper, whose fair clusters are not found by local moves.
_DENSE, _LEAST_DENSE, _STRENGTH = 40, 500, 1.0
# Weight of evenness in units of modularity. By rounding to whole nodes several counts have the same normalised balance:
# with this weight 12 nodes of a group in four clusters are 3-3-3-3 rather than 4-4-2-2, unless that costs more than the
# weight times the gain of evenness (.17 there).
_EVEN = 0.02

NOTION = AnyOf(
    options=(Choice(values=tuple(NOTIONS)), Instance(methods=("score", "value"), words="a Notion")),
    help="The fairness notion.",
)


SIZE_BOUNDS = AnyOf(
    options=(Choice(values=("auto",)), Instance(methods=("__iter__",), words="a list or a tuple")),
    optional=True,
    help="Least and most nodes of a cluster, as a pair; by default at least a third of the mean.",
)
ATTRIBUTE_WEIGHTS = Instance(
    methods=("items",),
    words="a dict such as {'gender': 2}",
    optional=True,
    help="Weight of each of several attributes, by name.",
)


@dataclass(eq=False, repr=False)
class FairPartition(GraphClusterer):
    r"""Most cohesive and fair division of a graph, by a search on labels.

    .. math:: \max_{\text{labels}} \; (1 - f)\, Q + f\, N

    with modularity Q, a fairness notion N, and exactly k clusters; or, with ``at_least``, the largest Q among labels
    whose N is at least that. Neither the size of the graph nor the unit of its weights changes the range of Q and N, so
    the dial has the same meaning on thirty nodes and on a million.

    The search starts from cohesive divisions. The dial is raised step by step, with moves of single nodes and of parts
    of clusters on all levels of the graph, and simulated annealing follows at the requested value. Divisions are
    recombined by their overlay, a small graph of parts on which the search is cheap; the result is refined on the
    nodes. All labels found go into one pool, and the best of it are returned. From 100,000 nodes or two million stored
    entries on, the same steps are done on some thousand parts of the graph first.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters k, none of them empty. With None a short search chooses it, at least two.
    fairness : float, default=0.5
        The dial f in [0, 1]. At 1 the order is lexicographic: the notion, with a tolerance of .01, then Q.
    at_least : float, optional
        Bound on fairness, in place of a weight: return the most cohesive labels found whose N is at least this. If none
        are found, return the fairest, with a warning that gives their N.
    notion : {"normalized", "balance", "mouflon", "evenness"} or Notion, default="normalized"
        N: normalised balance (NB, 1 = every cluster mirrors the population as far as whole nodes allow), the paper's
        average balance (B, which tiny clusters can game), the balance of MOUFLON (1 = equal numbers of all groups in
        every cluster), one minus the index of dissimilarity, or a custom notion. With several attributes N is the
        weighted mean.
    attribute_weights : mapping from attribute to number, optional
        Weight of each of several attributes, such as ``{"needs": 2}``; the default for others is 1. By default the
        weights with which the graph was read, or equal weights.
    size_bounds : "auto", (least, most) or None, default="auto"
        Bounds on the number of nodes of a cluster (None leaves a side open); an InfeasibleError is raised if they
        cannot be met. "auto" is at least a third of the mean size, rounded up, or less if the rules require it. Without
        bounds single nodes may become clusters: alone they are as fair as whole nodes allow.
    rules : Rules or dict, optional
        Hard rules, which the labels always keep; see `equigraph.rules.Rules`. Their attributes are those of the graph,
        or columns of ``sensitive_features``. If rules refer to clusters by number, these numbers are kept; otherwise
        clusters are numbered by size.
    on_conflict : {"error", "relax"}, default="error"
        How to handle rules that contradict each other: raise an error that names them, or give up the last of them,
        with a warning and in ``relaxed_``.
    effort : float, default=1
        Multiplies the length of the search. On graphs of up to some hundred nodes more than 1 is of little use.
    n_init : int, default=1
        Number of searches with different random draws; they share one pool.
    random_state : int, Generator, RandomState or None
        Seed.
    execution : "dask", str or distributed.Client, optional
        Where the rows of a large graph are kept: by default in this process, with a `BlockGraph` on disk; "dask" on the
        workers of the current Dask cluster or of this machine, an address on those of the scheduler there. The labels
        are the same. See docs/scale.md.
    callbacks : callable or list of callables, optional
        Called to report progress; returning True stops the search, and the best labels so far are kept.
    time_limit : float, optional
        Time limit in seconds, after which the best labels so far are kept; exceeded by a second or two on large graphs.
    verbose : bool, default=False
        Whether to log progress (the logger ``equigraph``).

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
    status_ : str or None
        "stopped" if the search ended early, by a callback, the time limit, Ctrl-C or the loss of a Dask scheduler; the
        labels are then the best found so far.
    rules_ : Rules or None
        The rules that the labels keep.
    relaxed_ : tuple
        The rules that were given up.

    Raises
    ------
    ConflictError
        If rules contradict each other; the message names an irreducible set of them.
    NotFoundError
        If no labels that keep the rules were found, and the rules are not proven to be infeasible.

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
    >>> both = {"gender": room.sensitive_features, "house": room.house}
    >>> model = eg.FairPartition(3, attribute_weights={"house": 2}, random_state=0)
    >>> model.fit(room.adjacency, sensitive_features=both).notion_
    1.0
    >>> model = eg.FairPartition(3, at_least=0.9, random_state=0)
    >>> model.fit(room.adjacency, sensitive_features=room.sensitive_features).notion_ >= 0.9
    True
    >>> rules = eg.Rules(apart=[(0, 1)], sizes=(9, 11), friends=1)
    >>> model = eg.FairPartition(3, rules=rules, random_state=0)
    >>> labels = model.fit_predict(room.adjacency, sensitive_features=room.sensitive_features)
    >>> rules.check(room.adjacency, labels)
    []
    """

    n_clusters: int | None = 2
    fairness: float = 0.5
    _: KW_ONLY
    at_least: float | None = None
    notion: str | Notion = "normalized"
    attribute_weights: Mapping[str, float] | None = None
    size_bounds: SizeBounds = "auto"
    rules: Rules | Mapping[str, Any] | None = None
    on_conflict: OnConflict = "error"
    effort: float = 1.0
    n_init: int = 1
    random_state: RandomState = None
    execution: Any = None
    callbacks: Callbacks = None
    time_limit: float | None = None
    verbose: bool = False

    _takes_ungrouped: ClassVar[bool] = True
    _warns_of_small: ClassVar[bool] = True
    _searches_dial: ClassVar[bool] = True
    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "n_clusters": Integer(
            low=2, optional=True, help="Number of clusters; None lets the search determine it."
        ),
        "fairness": Real(low=0, high=1, help="The dial, from cohesion (0) to fairness (1)."),
        "at_least": Real(
            low=0,
            high=1,
            optional=True,
            help="Bound on fairness: the most cohesive labels at least so fair.",
        ),
        "notion": NOTION,
        "attribute_weights": ATTRIBUTE_WEIGHTS,
        "size_bounds": SIZE_BOUNDS,
        "rules": RULES,
        "on_conflict": ON_CONFLICT,
        "effort": Real(low=0, help="Length of the search."),
        "n_init": Integer(low=1, help="Number of searches; the best result is kept."),
        "execution": EXECUTION,
        "callbacks": CALLBACKS,
        "time_limit": Real(low=0, optional=True, help="Seconds after which the best labels so far are kept."),
        "verbose": Boolean(help="Whether to log progress."),
    }

    def _fairness_wanted(self) -> bool:
        return self.fairness > 0 or self.at_least is not None

    def _target(self) -> Target:
        return Target(float(self.fairness), self.at_least)

    def _fit(self, problem: Problem) -> Clustering:
        with self._opened(problem) as (problem, graph), self._notifier() as notify:
            # No evenness for bounds, nor for notions that do not round to whole nodes.
            mixed = self.at_least is None and 0 < self.fairness < 1
            even = _EVEN if mixed and get_notion(self.notion) is NORMALIZED else 0.0
            search = self._search(problem, graph, self.n_clusters, even=even)
            starts = self._starts(problem, search.n_clusters)
            labels = search.solve([self._target()], starts, notify, self.n_init)[0]
            return self._clustering(problem, search, labels)

    def refine(
        self,
        X: Any,
        labels: Any,
        *,
        sensitive_features: Any = None,
        max_moves: int | None = None,
        stay: float = 0.0,
    ) -> Self:
        """Improve labels from any other tool, with the parameters of this estimator.

        With ``effort=0`` only moves and swaps are applied to these labels; a larger effort searches further, and may
        end far from them. ``n_clusters=None`` keeps the number of clusters of the labels.

        Parameters
        ----------
        X : graph
            As of `fit`, in memory.
        labels : array-like of shape (n_nodes,), Series or mapping
            Labels of any type, in node order or by the names of the nodes. With ``rules``, ``max_moves`` or ``stay``
            some may be missing (None): these nodes are new, and are assigned to the best cluster.
        sensitive_features
            As of `fit`.
        max_moves : int, optional
            Largest number of nodes that may change their label.
        stay : float, default=0
            Cost of each of these, in units of :math:`(1 - f) Q + f N` (of Q with ``at_least``): with .001 a node
            moves only if the gain of this move, and of those that depend on it, is more than .001.

        Returns
        -------
        self
            The fitted estimator. With ``max_moves`` or ``stay``, or rules that refer to clusters by number, clusters
            keep their numbers if labels are the whole numbers 0, 1, ...; otherwise their number is the index of their
            label among the sorted labels. ``size_bounds="auto"`` sets no bounds with ``max_moves`` or ``stay``.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> first = eg.RandomClustering(3, random_state=0).fit_predict(room.adjacency)
        >>> model = eg.FairPartition(3, effort=0, random_state=0)
        >>> model.refine(room.adjacency, first, sensitive_features=room.sensitive_features).modularity_ > 0.3
        True
        """
        check_parameters("refine", {"max_moves": Integer(optional=True), "stay": Real(low=0)}, locals())
        problem = self._prepare(X, sensitive_features)
        few = max_moves is not None or stay > 0
        ruled = few or self.rules is not None
        start = read_start(labels, problem.graph, self.n_clusters, gaps=ruled)
        home = start.home(self._target(), max_moves, stay) if few else None
        with self._opened(problem) as (problem, graph), self._notifier() as notify:
            placed = start.placed(problem.adjacency) if ruled else start.labels
            search = self._search(problem, graph, start.n_clusters, placed if ruled else None, home)
            found = search.solve([self._target()], [placed], notify)[0]
            clustering = self._clustering(problem, search, found)
        return self._finish(problem, replace(clustering, keeps_numbers=few or clustering.keeps_numbers))

    @contextmanager
    def _opened(self, problem: Problem) -> Iterator[tuple[Problem, Any]]:
        """Yield the problem, and its graph for the search: a large graph out of core as a store, any other in memory.

        A graph that is not large takes only a few megabytes in memory.
        """
        graph = problem.graph
        if not is_out_of_core(graph, self.execution):
            yield problem, problem.adjacency
            return
        if is_large(graph.n_nodes, n_entries_of(graph)):
            if self.rules is not None:
                raise ParameterError(
                    "FairPartition: rules need the graph in memory where it is large: leave rules or execution out, "
                    "or give to_graph() of it."
                )
            with open_store(graph, self.execution) as store:
                yield problem, store
            return
        check_scheduler(self.execution)
        if isinstance(graph, BlockGraph):
            problem = replace(problem, graph=graph.to_graph())
        yield problem, problem.adjacency

    def _search(
        self,
        problem: Problem,
        graph: Any,
        n_clusters: int | None,
        start: NDArray | None = None,
        home: HomeLabels | None = None,
        even: float = 0.0,
    ) -> Any:
        """Return the search with the parameters of this estimator."""
        from equigraph.search.large import best_number, make_search

        codes, weights = problem.fair_columns()
        options: dict[str, Any] = {
            "notion": self.notion,
            "effort": self.effort,
            "seed": problem.seed,
            "weights": weights,
        }
        if n_clusters is None:
            n_clusters = best_number(graph, codes, self._target(), size_bounds=self.size_bounds, **options)
        options["even"] = even
        if self.rules is None and home is None:
            return make_search(graph, codes, n_clusters, size_bounds=self.size_bounds, **options)
        return make_feasible_search(
            as_rules(self.rules or {}),
            Facts(problem.graph, problem.given),
            codes,
            n_clusters,
            on_conflict=self.on_conflict,
            size_bounds=None if home is not None and self.size_bounds == "auto" else self.size_bounds,
            starts=[] if start is None else [start],
            home=home,
            **options,
        )

    def _starts(self, problem: Problem, n_clusters: int) -> list[NDArray]:
        """Return a soft-fair spectral division if the graph is dense, where local moves alone are weak."""
        n = problem.graph.n_nodes
        if not self.effort or n < _LEAST_DENSE or problem.fair_columns()[0] is None:
            return []
        n_entries = n_entries_of(problem.graph)
        if n_entries < _DENSE * n or (
            is_large(n, n_entries) and is_out_of_core(problem.graph, self.execution)
        ):
            return []
        assert problem.groups is not None
        codes = problem.groups.codes
        if codes.min() < 0:
            return []
        return [soft_fair_labels(problem.adjacency, codes, n_clusters, strength=_STRENGTH, seed=problem.seed)]

    def _clustering(self, problem: Problem, search: Any, labels: NDArray) -> Clustering:
        """Return the result for the base class, with a warning for an unmet bound."""
        modularity, notion = search.score(labels)
        value = (1 - self.fairness) * modularity + self.fairness * notion
        n_clusters = int(labels.max()) + 1
        if self.at_least is not None:
            value = modularity
            warn_if_short("FairPartition", get_notion(self.notion), notion, self.at_least)
        # Limits on moves are searched as rules are, also where there are none.
        ruled = isinstance(search, FeasibleSearch) and (len(search.kept) > 0 or len(search.given_up) > 0)
        if hasattr(search, "interaction"):
            interaction = search.interaction(labels) * problem.unit
        else:
            interaction = interaction_of(problem.graph, labels, n_clusters)
        return Clustering(
            labels=labels,
            interaction=interaction,
            keeps_numbers=as_rules(self.rules).names_clusters if self.rules else False,
            attributes={
                "n_clusters_": n_clusters,
                "modularity_": modularity,
                "notion_": notion,
                "objective_": value,
                "status_": "stopped" if search.stopped else None,
                "rules_": search.kept if ruled else None,
                "relaxed_": search.given_up if ruled else (),
            },
        )

    def _fit_dial(self, problem: Problem, values: Sequence[float] | None, notify: Any) -> DialLabels:
        with self._opened(problem) as (problem, graph):
            search = self._search(problem, graph, self.n_clusters)
            starts = self._starts(problem, search.n_clusters)
            labels: list[NDArray] = []
            if values is None:
                search.front(starts, notify, self.n_init)
            else:
                labels = search.solve([Target(float(value)) for value in values], starts, notify, self.n_init)
        return DialLabels(labels, search.pool.labels)
