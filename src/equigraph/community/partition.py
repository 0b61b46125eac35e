"""FairPartition: the search on labels, as an estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.callbacks import Callbacks, Notifier
from equigraph._utils.parameters import CALLBACKS, AnyOf, Choice, Constraint, Instance, Integer, Real
from equigraph._utils.randomness import RandomState
from equigraph.base import Clustering, DialLabels, GraphClusterer, Problem, interaction_of
from equigraph.exceptions import ParameterError
from equigraph.metrics.notions import NOTIONS, Notion, get_notion
from equigraph.rules import Facts, Rules
from equigraph.search.agree import ON_CONFLICT, RULES, OnConflict, RuleKeeper, as_rules, search_under
from equigraph.search.bounds import check_size_bounds
from equigraph.search.free import best_number
from equigraph.search.plans import is_large
from equigraph.search.refine import warn_if_short
from equigraph.search.ruled import RuledSearch
from equigraph.search.search import Search, Target
from equigraph.spectral.soft import soft_fair_labels
from equigraph.stores.blocks import BlockGraph
from equigraph.stores.stores import EXECUTION, check_scheduler, is_out_of_core, n_entries_of, open_store

# Mean degree and number of nodes from which on a graph is dense, and the strength of fairness in its spectral start:
# found on the block model of the paper, whose fair clusters no local move leads to.
_DENSE, _LEAST_DENSE, _STRENGTH = 40, 500, 1.0

NOTION = AnyOf(
    options=(Choice(values=tuple(NOTIONS)), Instance(methods=("score", "value"))),
    help="Which fairness the dial moves.",
)


ATTRIBUTE_WEIGHTS = Instance(
    methods=("items",), optional=True, help="How much each of several attributes counts, by name."
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
    the best of it is returned. From 100,000 nodes or two million stored entries on, the same steps are done on some
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
        dissimilarity, or a notion of one's own. Of several attributes N is the weighted mean.
    attribute_weights : mapping from attribute to number, optional
        How much each of several attributes counts, such as ``{"needs": 2}``; those not named weigh 1. By default the
        weights that the graph was read with, or all alike.
    size_bounds : (least, most), optional
        Bounds on the number of nodes of a cluster (None leaves a side open); always met, or an InfeasibleError. Without
        them clusters of one or two nodes may come out; where clusters have six nodes or more on average, a
        `SmallClusterWarning` names these.
    rules : Rules or dict, optional
        Hard rules, which the labels keep, always; see `equigraph.rules.Rules`. Attributes that they name are those of
        the graph, or columns of ``sensitive_features``. Where rules speak of the numbers of clusters, these are kept
        instead of being given by size.
    on_conflict : {"error", "relax"}, default="error"
        What is done about rules that contradict each other: an error that names them, or the last of them are given up,
        which a warning and ``relaxed_`` tell.
    effort : float, default=1
        Multiplies the length of the search. On graphs of up to some hundred nodes more than 1 brings next to nothing.
    n_init : int, default=1
        Number of searches with other random draws; they share one pool.
    random_state : int, Generator, RandomState or None
        Seed.
    execution : "dask", str or distributed.Client, optional
        Where the rows of a large graph are kept: by default in this process, with a `BlockGraph` on disk; "dask" on the
        workers of the current Dask cluster or of this machine, an address on those of the scheduler there. The labels
        are the same. See docs/scale.md.
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
    status_ : str or None
        "stopped" where the scheduler of a Dask cluster was lost: the labels are then the best that there were.
    rules_ : Rules or None
        The rules that the labels keep.
    relaxed_ : tuple
        The rules that were given up.

    Raises
    ------
    ConflictError
        If rules contradict each other; the message names a set of them in which none is superfluous.
    NotFoundError
        If no labels that keep the rules were found, and it is not known whether there are any.

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
        "attribute_weights": ATTRIBUTE_WEIGHTS,
        "size_bounds": Instance(
            methods=("__iter__",), optional=True, help="Least and most nodes of a cluster, as a pair."
        ),
        "rules": RULES,
        "on_conflict": ON_CONFLICT,
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
        attribute_weights: Mapping[str, float] | None = None,
        size_bounds: tuple[int | None, int | None] | None = None,
        rules: Rules | Mapping[str, Any] | None = None,
        on_conflict: OnConflict = "error",
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
        self.attribute_weights = attribute_weights
        self.size_bounds = size_bounds
        self.rules = rules
        self.on_conflict = on_conflict
        self.effort = effort
        self.n_init = n_init
        self.random_state = random_state
        self.execution = execution
        self.callbacks = callbacks

    def _fairness_wanted(self) -> bool:
        return self.fairness > 0 or self.at_least is not None

    def _fit(self, problem: Problem) -> Clustering:
        notify = Notifier(self.callbacks)
        with self._opened(problem) as (problem, graph):
            search, agreement = self._search(problem, graph)
            target = Target(float(self.fairness), self.at_least)
            labels = search.solve([target], self._starts(problem, search), notify, self.n_init)[0]
            modularity, notion = search.score(labels)
            interaction = _interaction(problem, search, labels)
        found = self._under_rules(self._clustering(labels, modularity, notion), agreement)
        lost = isinstance(search, Search) and search.lost
        attributes = {**found.attributes, "status_": "stopped" if lost else None}
        return replace(found, interaction=interaction, attributes=attributes)

    @contextmanager
    def _opened(self, problem: Problem) -> Iterator[tuple[Problem, Any]]:
        """Give the problem, and its graph as a search takes it: in memory, or a large one where it is kept.

        A graph that is not large is searched in memory wherever it comes from, which costs a few megabytes.
        """
        graph = problem.graph
        if is_out_of_core(graph, self.execution) and is_large(graph.n_nodes, n_entries_of(graph)):
            if self.rules is not None:
                raise ParameterError(
                    "FairPartition: rules need the graph in memory where it is large: leave "
                    "rules or execution out, "
                    "or give to_graph() of it."
                )
            with open_store(graph, self.execution) as store:
                yield problem, store
            return
        check_scheduler(self.execution)
        if isinstance(graph, BlockGraph):
            problem = replace(problem, graph=graph.to_graph())
        yield problem, problem.adjacency

    def _under_rules(self, found: Clustering, agreement: RuleKeeper | None) -> Clustering:
        """Check labels once more, and add what is to be known about the rules."""
        if agreement is None:
            return replace(found, attributes={**found.attributes, "rules_": None, "relaxed_": ()})
        assert found.labels is not None
        agreement.checked(found.labels)
        agreement.warn_if_relaxed("FairPartition")
        told = {"rules_": agreement.rules, "relaxed_": agreement.given_up}
        numbered = as_rules(self.rules or {}).names_clusters
        return replace(found, attributes={**found.attributes, **told}, keeps_numbers=numbered)

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

    def _search(self, problem: Problem, graph: Any) -> tuple[Search | RuledSearch, RuleKeeper | None]:
        """Return the search that the parameters describe, and under rules what could be agreed on."""
        codes, weights = problem.fair_columns()
        options: dict[str, Any] = {
            "notion": self.notion,
            "effort": self.effort,
            "seed": problem.seed,
            "weights": weights,
        }
        n_clusters = self.n_clusters
        if n_clusters is None:
            target = Target(float(self.fairness), self.at_least)
            n_clusters = best_number(graph, codes, target, **options)
        check_size_bounds(self.size_bounds, problem.n_nodes, n_clusters)
        options["size_bounds"] = self.size_bounds
        if self.rules is None:
            return Search(graph, codes, n_clusters, **options), None
        facts, rules = Facts(problem.graph, problem.given), as_rules(self.rules)
        agreement = search_under(rules, facts, codes, n_clusters, on_conflict=self.on_conflict, **options)
        return agreement.search, agreement

    def _starts(self, problem: Problem, search: Search | RuledSearch) -> list[NDArray]:
        """Return a soft-fair spectral division where the graph is dense: single moves see little of it there."""
        if search.plan.n_parts or not self.effort or problem.fair_columns()[0] is None:
            return []
        n = problem.n_nodes
        if problem.adjacency.nnz < _DENSE * n or n < _LEAST_DENSE:
            return []
        assert problem.groups is not None
        codes = problem.groups.codes
        if codes.min() < 0:
            return []
        return [
            soft_fair_labels(
                problem.adjacency, codes, search.n_clusters, strength=_STRENGTH, seed=problem.seed
            )
        ]

    def _fit_dial(self, problem: Problem, values: Sequence[float] | None, notify: Any) -> DialLabels:
        with self._opened(problem) as (problem, graph):
            search, agreement = self._search(problem, graph)
            labels: list[NDArray] = []
            if values is None:
                search.front(self._starts(problem, search), notify, self.n_init)
            else:
                targets = [Target(float(value)) for value in values]
                labels = search.solve(targets, self._starts(problem, search), notify, self.n_init)
        found = DialLabels(labels, search.pool.labels)
        if agreement is not None:
            agreement.warn_if_relaxed("FairPartition")
            for one in (*found.labels, *found.front):
                agreement.checked(one)
        return found


def _interaction(problem: Problem, search: Search | RuledSearch, labels: NDArray) -> sparse.csr_array:
    """Return the mean weight of the pairs between two clusters, wherever the graph is."""
    n_clusters = int(labels.max()) + 1
    if isinstance(search, Search) and search.ground is not None:
        return search.ground.interaction(labels, search.objective) * problem.unit
    return interaction_of(problem.graph, labels, n_clusters)
