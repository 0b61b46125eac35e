"""Summary of a clustering: the usual scores, a scorer for scikit-learn, sizes and composition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.parameters import check_known
from equigraph.exceptions import ParameterError
from equigraph.graph.adapters import labels_of_communities
from equigraph.graph.groups import Attributes
from equigraph.graph.groups.encode import column_of, mean_gap, names_of_rows
from equigraph.metrics._table import LabelTable, check_n_clusters, encode_labels, make_tables, read_nodes
from equigraph.metrics.agreement import adjusted_rand_score, clustering_accuracy, normalized_mutual_info_score
from equigraph.metrics.balance import Empty, check_empty
from equigraph.metrics.scores import FURTHER, SCORES

# Maximum size of a table of clusters and groups on a page, in a plot or in a terminal.
MAX_CLUSTERS, MAX_GROUPS = 50, 12


def evaluate(
    adjacency: Any,
    labels: Any,
    *,
    sensitive_features: Any = None,
    n_clusters: int | None = None,
    target: ArrayLike | None = None,
    empty: Empty = "ignore",
    further: Iterable[str] = (),
) -> dict[str, float]:
    """Return the usual scores of a clustering at once.

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,), Groups, or several attributes, optional
        Group of each node, or a dict of columns, frame or 2-D array with several attributes; by default those that a
        `Graph` carries. Without any the fairness scores are left out.
    n_clusters : int, optional
        Number of clusters that was asked for; needed by ``empty="zero"``.
    target : array-like of shape (n_nodes,), optional
        Reference labels.
    empty : {"ignore", "zero"}, default "ignore"
        Whether empty clusters are left out of B and min_balance (as in the paper) or count as 0.
    further : iterable of str, optional
        Further scores: ``"conductance"``, ``"ncut"``, ``"PB"`` and ``"min_PB"`` (proportional balance).

    Returns
    -------
    dict of str to float
        ``Q`` modularity; with groups ``B`` balance, ``NB`` normalised balance, ``min_balance`` balance of
        the worst cluster and ``rho`` individual balance (groups represent, a node not itself), all of them of the
        nodes that have a group; always ``n_nonempty``, an int; with a target ``accuracy``, ``nmi`` and ``ari``.
        With several attributes B, NB and rho are the (weighted) means over them and min_balance is the least, and each
        attribute has its own, such as ``NB[gender]``. Where an attribute is bins of numbers, ``mean_gap[age]`` is the
        largest minus the smallest mean of a cluster, ``mean_gap_sd[age]`` the same in standard deviations.

    Raises
    ------
    ParameterError, GraphError, GroupsError
        If the arguments do not fit each other.

    Examples
    --------
    >>> A = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> evaluate(A, [0, 0, 1, 1], sensitive_features=["x", "y", "x", "y"])
    {'Q': 0.5, 'B': 1.0, 'NB': 1.0, 'min_balance': 1.0, 'rho': 0.0, 'n_nonempty': 2}
    >>> both = evaluate(A, [0, 0, 1, 1], sensitive_features={"one": list("xyxy"), "other": list("xxyy")})
    >>> both["NB[one]"], both["NB[other]"], both["NB"]
    (1.0, 0.0, 0.5)
    """
    further = tuple(further)
    for name in further:
        check_known("further", name, tuple(FURTHER))
    wanted = {**SCORES, **{name: FURTHER[name] for name in further}}
    nodes = read_nodes(adjacency)
    encoded = nodes.labels(labels)
    counted = check_empty(empty, n_clusters, encoded.n_clusters)
    given = nodes.attributes(sensitive_features)
    attributes, tables = (None, []) if given is None else make_tables(encoded, given)
    each = [
        {
            name: float(one.of_groups(table.counts, table.groups.sizes, counted))
            for name, one in wanted.items()
            if one.of_groups
        }
        for table in tables
    ]
    scores: dict[str, float] = {}
    for name, score in wanted.items():
        if score.of_graph is not None:
            scores[name] = score.of_graph(nodes.adjacency, encoded)
        elif attributes is not None:
            scores[name] = score.over(attributes, [one[name] for one in each])
    if attributes is not None:
        scores |= _by_attribute(attributes, tables, each)
    if target is not None:
        pair = nodes.labels(target, "labels of the target").codes, encoded.codes
        scores["accuracy"] = clustering_accuracy(*pair)
        scores |= {"nmi": normalized_mutual_info_score(*pair), "ari": adjusted_rand_score(*pair)}
    return scores


def _by_attribute(
    attributes: Attributes, tables: Sequence[LabelTable], each: Sequence[dict[str, float]]
) -> dict[str, float]:
    """Return the scores of each of several attributes, and the gap between the means of binned numbers."""
    found: dict[str, float] = {}
    for name, table, scores in zip(attributes.names, tables, each, strict=True):
        if attributes.are_several:
            found |= {score_name(score, name): value for score, value in scores.items()}
        if table.groups.numbers is not None:
            gap, in_sd = mean_gap(table.groups.numbers, table.labels.codes, table.labels.n_clusters)
            found |= {score_name("mean_gap", name): gap, score_name("mean_gap_sd", name): in_sd}
    return found


def score_name(score: str, attribute: str) -> str:
    """Return the name of a score for one of several attributes."""
    return f"{score}[{attribute}]"


class ClusteringScorer:
    """Score a fitted clusterer by ``(1 - fairness) * Q + fairness * NB``, for ``GridSearchCV(scoring=...)``.

    Clusterers of graphs have no ``predict``: they are scored on the nodes they were fitted to. Give the search one
    split of all nodes, ``cv=[(all_nodes, all_nodes)]``.

    Parameters
    ----------
    sensitive_features : array-like, dict of columns, frame, optional
        The groups, as for ``fit``; by default those of the graph.
    fairness : float, default=0.5
        How much fairness counts, in [0, 1]. It belongs to the score and not to the method: all dials searched are
        measured alike.

    Examples
    --------
    >>> import numpy as np
    >>> import equigraph as eg
    >>> from sklearn.model_selection import GridSearchCV
    >>> room = eg.datasets.make_classroom()
    >>> search = GridSearchCV(
    ...     eg.FairPartition(3, random_state=0),
    ...     {"fairness": [0.0, 0.5]},
    ...     scoring=ClusteringScorer(room.sensitive_features),
    ...     cv=[(np.arange(30), np.arange(30))],
    ... )
    >>> search.fit(room.adjacency, sensitive_features=room.sensitive_features).best_params_
    {'fairness': 0.5}
    """

    def __init__(self, sensitive_features: Any = None, *, fairness: float = 0.5):
        if not 0 <= fairness <= 1:
            raise ParameterError(f"fairness={fairness!r} is not in [0, 1].")
        self.sensitive_features = sensitive_features
        self.fairness = fairness

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the score of a fitted estimator, or of a pipeline that ends in one, on what it was fitted to."""
        if hasattr(estimator, "steps"):
            X, estimator = estimator[:-1].transform(X), estimator[-1]
        labels = estimator.labels_
        n = getattr(X, "n_nodes", None) or getattr(X, "shape", (labels.size,))[0]
        if n != labels.size:
            raise ParameterError(
                f"The score is asked for {n} nodes and {labels.size} were clustered: a graph is scored as a whole, "
                "with cv=[(all_nodes, all_nodes)]."
            )
        scores = evaluate(X, labels, sensitive_features=self.sensitive_features)
        if self.fairness and "NB" not in scores:
            raise ParameterError("The score needs groups: give ClusteringScorer(sensitive_features).")
        return (1 - self.fairness) * scores["Q"] + self.fairness * scores.get("NB", 0.0)


def cluster_sizes(labels: ArrayLike, *, n_clusters: int | None = None) -> NDArray[np.intp]:
    """Return the number of nodes of each cluster, in the order of the label values.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    n_clusters : int, optional
        For integer labels in ``range(n_clusters)``: the sizes of all of them, empty clusters included.

    Returns
    -------
    ndarray of int
        Sizes of the non-empty clusters by label value; with n_clusters, ``sizes[l]`` is that of label l.

    Raises
    ------
    ParameterError
        If n_clusters is given and the labels are not integers in its range.

    Examples
    --------
    >>> cluster_sizes(["b", "a", "b"]).tolist()
    [1, 2]
    >>> cluster_sizes([0, 2, 2], n_clusters=4).tolist()
    [1, 0, 2, 0]
    """
    # Sizes do not depend on the names of the nodes.
    labels = labels_of_communities(labels)
    encoded = encode_labels(column_of(labels) if names_of_rows(labels) is not None else labels)
    if n_clusters is None:
        return encoded.sizes.copy()
    n_clusters = check_n_clusters(n_clusters, encoded.n_clusters)
    values = encoded.values
    if values.dtype.kind not in "iu" or values[0] < 0 or values[-1] >= n_clusters:
        raise ParameterError(
            f"n_clusters={n_clusters!r} needs integer labels in 0..{n_clusters - 1}: "
            "leave it out for other labels."
        )
    sizes = np.zeros(n_clusters, dtype=np.intp)
    sizes[values] = encoded.sizes
    return sizes


@dataclass(frozen=True, eq=False)
class Composition:
    """Number of nodes of each group in each cluster; printing it gives a table.

    Attributes
    ----------
    clusters : array-like of shape (n_clusters,)
        Label of each non-empty cluster, sorted.
    groups : array-like of shape (n_groups,)
        Name of each group, sorted.
    counts : ndarray of int, shape (n_clusters, n_groups)
        Nodes of each group in each cluster.
    ungrouped : ndarray of int, shape (n_clusters,)
        Nodes without a group in each cluster.
    totals : ndarray of int, shape (n_groups,)
        Nodes of each group in all clusters, also in those that are left out.
    n_ungrouped : int
        Nodes without a group in all clusters, also in those that are left out.
    n_hidden : int
        Number of clusters that are left out.
    """

    clusters: Any
    groups: Any
    counts: NDArray[np.int64]
    ungrouped: NDArray[np.int64]
    totals: NDArray[np.int64]
    n_ungrouped: int
    n_hidden: int = 0

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of each group among the nodes of each cluster that have one; rows sum to 1, or are 0 for none."""
        return self.counts / np.maximum(self.counts.sum(axis=1), 1)[:, None]

    @property
    def population(self) -> NDArray[np.float64]:
        """Share of each group among all nodes that have one."""
        return self.totals / self.totals.sum()

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of nodes of each cluster, with a group or without."""
        return self.counts.sum(axis=1) + self.ungrouped

    @property
    def hidden_nodes(self) -> int:
        """Number of nodes in clusters that are left out."""
        return int(self.totals.sum() + self.n_ungrouped - self.sizes.sum())

    def capped(self, n_clusters: int = MAX_CLUSTERS, n_groups: int = MAX_GROUPS) -> Composition:
        """Return the largest clusters and groups only; the last group may be all others together."""
        kept = np.sort(np.argsort(-self.sizes, kind="stable")[:n_clusters])
        names, counts, totals = [str(name) for name in self.groups], self.counts, self.totals
        if len(names) > n_groups:
            order = np.argsort(-totals, kind="stable")
            first, rest = np.sort(order[: n_groups - 1]), order[n_groups - 1 :]
            names = [*(names[i] for i in first), f"{rest.size:,} other groups"]
            counts = np.column_stack((counts[:, first], counts[:, rest].sum(axis=1)))
            totals = np.append(totals[first], totals[rest].sum())
        return replace(
            self,
            clusters=[self.clusters[i] for i in kept.tolist()],
            groups=names,
            counts=counts[kept],
            ungrouped=self.ungrouped[kept],
            totals=totals,
            n_hidden=self.n_hidden + self.sizes.size - kept.size,
        )

    def __str__(self) -> str:
        shown = self.capped()
        rows = [["cluster", "size", *shown.groups, *(["no group"] if shown.n_ungrouped else [])]]

        def row(name: str, counts: NDArray[np.int64], rest: int) -> list[str]:
            members = max(int(counts.sum()), 1)
            cells = [f"{part} ({part / members:4.0%})" for part in counts.tolist()]
            return [name, str(counts.sum() + rest), *cells, *([str(rest)] if shown.n_ungrouped else [])]

        for label, counts, rest in zip(shown.clusters, shown.counts, shown.ungrouped.tolist(), strict=True):
            rows.append(row(str(label), counts, rest))
        if shown.n_hidden:
            rows.append([f"({shown.n_hidden} more)", str(shown.hidden_nodes), *[""] * (len(rows[0]) - 2)])
        rows.append(row("all", shown.totals, shown.n_ungrouped))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(map(str.rjust, row[1:], widths[1:])) for row in rows)
        return "\n".join(f"{row[0]:<{widths[0]}}  {line}" for row, line in zip(rows, lines, strict=True))


def composition(labels: ArrayLike, *, sensitive_features: Any) -> Any:
    """Return how many nodes of each group are in each cluster.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,), Groups, or several attributes
        Group of each node; the `Groups` of a graph may leave nodes without one.

    Returns
    -------
    Composition or dict from attribute to Composition
        Counts and shares, printable; of several attributes one for each.

    Raises
    ------
    ParameterError, GroupsError
        If labels and groups do not fit.

    Examples
    --------
    >>> print(composition([0, 0, 0, 1], sensitive_features=["girl", "girl", "boy", "boy"]))
    cluster  size       boy      girl
    0           3  1 ( 33%)  2 ( 67%)
    1           1  1 (100%)  0 (  0%)
    all         4  2 ( 50%)  2 ( 50%)
    """
    attributes, tables = make_tables(labels, sensitive_features)
    made = {}
    for name, table in zip(attributes.names, tables, strict=True):
        made[name] = Composition(
            clusters=table.labels.values,
            groups=table.groups.names,
            counts=table.counts,
            ungrouped=table.labels.sizes - table.counts.sum(axis=1),
            totals=table.groups.sizes,
            n_ungrouped=table.groups.n_ungrouped,
        )
    return made if attributes.are_several else made[attributes.names[0]]
