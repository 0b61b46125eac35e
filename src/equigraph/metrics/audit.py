"""FairnessFrame: the scores of a clustering by attribute, cluster, group and joint group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.notebook import page_of
from equigraph._utils.parameters import Integer, Real, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.records import framed, named
from equigraph._utils.text import count, did_you_mean, listed
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import read_graph
from equigraph.graph.groups import Attributes, Groups
from equigraph.graph.groups.attributes import joined_name
from equigraph.metrics._table import LabelTable, Nodes
from equigraph.metrics.agreement import adjusted_rand_score, clustering_accuracy
from equigraph.metrics.audit_people import Columns, worst_people
from equigraph.metrics.individual import group_balances
from equigraph.metrics.notions import NORMALIZED
from equigraph.metrics.quality import Links, links_of
from equigraph.metrics.scores import ALL_SCORES
from equigraph.metrics.summary import Composition, composition

# The scores of every attribute, in the order of the columns.
_SCORES = ("B", "NB", "min_balance", "evenness", "mouflon", "rho")
# For graphs with many links fewer random labels are drawn, to bound the number of entries that are read.
_FEWEST_SAMPLES, _MOST_ENTRIES = 100, 10**9
# Scores of which a lower one is better.
_FEWER_IS_BETTER = ("without_link",)
# Columns that do not depend on the labels.
_FIXED = ("size", "share", "n_groups", "n_ungrouped")


class FairnessFrame:
    """Fairness and cohesion of a clustering: overall, and by attribute, cluster, group and joint group.

    Tables are pandas objects where pandas is installed, and otherwise lists of dicts (a dict for `overall`).

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.as_graph` takes.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type, in node order: made by any tool.
    sensitive_features : frame, dict of columns, array of one or two dimensions, or Series, optional
        One attribute or several; by default those of the graph. Without any, only links are scored.
    metrics : dict of str to callable, optional
        Further scores, called as ``metric(labels, sensitive_features=groups)`` for each attribute, such as those of
        `equigraph.metrics`.

    Attributes
    ----------
    attributes : dict of str to Groups
        The groups of each attribute.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
    >>> frame = FairnessFrame(graph, np.arange(30) // 10)
    >>> frame
    FairnessFrame(30 nodes in 3 clusters, Q=0.007, NB gender=0.733, 5 without a linked person)
    >>> frame.by_group[["size", "least_share", "most_share"]]
                     size  least_share  most_share
    attribute group
    gender    boy      15          0.3         0.7
              girl     15          0.3         0.7
    """

    def __init__(
        self,
        graph: Any,
        labels: Any,
        *,
        sensitive_features: Any = None,
        metrics: Mapping[str, Callable[..., float]] | None = None,
    ):
        self.graph = read_graph(graph)
        nodes = Nodes(self.graph, graph)
        self.labels = nodes.labels(labels)
        self._given: Attributes | None = nodes.attributes(sensitive_features, self.graph.attribute)
        self.attributes: dict[str, Groups] = {} if self._given is None else dict(self._given.groups)
        self.metrics = dict(metrics or {})
        for name, metric in self.metrics.items():
            if not callable(metric):
                raise ParameterError(
                    f"metrics[{name!r}] is not callable: expected a function of labels and groups."
                )

    @cached_property
    def _links(self) -> Links:
        return links_of(self.graph.unit_adjacency, self.labels.codes)

    @cached_property
    def _tables(self) -> dict[str, LabelTable]:
        """The tables of all attributes and, if there are several, of their joint groups."""
        every = dict(self.attributes)
        if self._given is not None and self._given.are_several:
            every[joined_name(self._given.names)] = self._given.joint
        return {name: LabelTable(self.labels, groups) for name, groups in every.items()}

    @cached_property
    def _overall(self) -> dict[str, float]:
        scores: dict[str, float] = {
            "n_nodes": self.labels.n_nodes,
            "n_clusters": self.labels.n_clusters,
            **self._links.scores,
        }
        if self._given is not None:
            scores["NB"] = self._given.mean(self._by_attribute["NB"][: len(self.attributes)])
        return scores

    @property
    def overall(self) -> Any:
        """Nodes, clusters, Q, the share of link weight kept within clusters, and NB, the weighted mean of attributes.

        ``without_link`` is the number of people who have links and none of them in their cluster.
        """
        return named(dict(self._overall), "overall")

    @cached_property
    def _by_attribute(self) -> Columns:
        tables = self._tables.values()
        columns: Columns = {
            "attribute": list(self._tables),
            "n_groups": [table.groups.n_groups for table in tables],
            "n_ungrouped": [table.groups.n_ungrouped for table in tables],
        }
        for name in _SCORES:
            columns[name] = [float(_scored(name, table.counts, table.groups)) for table in tables]
        for name, metric in self.metrics.items():
            columns[name] = [
                float(metric(self.labels.codes, sensitive_features=table.groups)) for table in tables
            ]
        return columns

    @property
    def by_attribute(self) -> Any:
        """Every fairness score of every attribute and, if there are several, of their joint groups."""
        return framed(self._by_attribute)

    @cached_property
    def _by_cluster(self) -> Columns:
        columns = {
            "cluster": self.labels.values.tolist(),
            "size": self.labels.sizes.tolist(),
            "Q": self._links.modularity().tolist(),
            **self._links.columns(self.labels.codes, self.labels.n_clusters),
        }
        for name, table in self._tables.items():
            scores = NORMALIZED.cluster_scores(table.counts, table.groups.sizes)
            # NaN where no node has a group.
            columns[f"NB {name}"] = np.where(table.counts.sum(axis=1) > 0, scores, np.nan).tolist()
        return columns

    @property
    def by_cluster(self) -> Any:
        """Size, part of Q, links kept, people without a link, and NB of each attribute, for every cluster."""
        return framed(self._by_cluster)

    def _groups(self, table: LabelTable) -> Columns:
        """Return the statistics of each group over the clusters."""
        counts, groups = table.counts, table.groups
        members = counts.sum(axis=1, keepdims=True)
        shares = (counts / np.maximum(members, 1))[members[:, 0] > 0]
        return {
            "size": groups.sizes.tolist(),
            "share": groups.shares.tolist(),
            "least_share": shares.min(axis=0).tolist(),
            "most_share": shares.max(axis=0).tolist(),
            "alone": (counts == 1).sum(axis=0).tolist(),
            **self._links.columns(groups.codes, groups.n_groups),
            "Q": self._links.modularity_of_groups(groups).tolist(),
            "rho": ((counts * group_balances(counts)).sum(axis=0) / groups.sizes).tolist(),
        }

    @cached_property
    def _by_group(self) -> Columns:
        self._need_attributes()
        parts = [
            {
                "attribute": [name] * groups.n_groups,
                "group": groups.names.tolist(),
                **self._groups(self._tables[name]),
            }
            for name, groups in self.attributes.items()
        ]
        return {head: [value for part in parts for value in part[head]] for head in parts[0]}

    @property
    def by_group(self) -> Any:
        """Statistics of every group of every attribute over the clusters.

        ``least_share`` and ``most_share`` are the smallest and largest share of the group in a cluster, ``alone`` is
        the number of members without another one in their cluster, ``Q`` the group's part of the modularity.
        """
        return framed(self._by_group, 2)

    @cached_property
    def _by_intersection(self) -> Columns:
        self._need_attributes()
        *_, joint = self._tables.values()
        # Any member of a joint group has its value of every attribute.
        codes, first = np.unique(joint.groups.codes, return_index=True)
        values = {name: one.values()[first[codes >= 0]].tolist() for name, one in self.attributes.items()}
        return {**values, **self._groups(joint)}

    @property
    def by_intersection(self) -> Any:
        """Statistics of every joint group: people with the same values of all attributes."""
        return framed(self._by_intersection, len(self.attributes))

    def composition(self, attribute: str | None = None) -> Composition:
        """Return the number of nodes of each group of an attribute (by default the first) in each cluster."""
        self._need_attributes()
        name = next(iter(self.attributes)) if attribute is None else attribute
        if name not in self.attributes:
            raise ParameterError(
                f"There is no attribute {name!r}{did_you_mean(name, self.attributes)}: expected "
                f"{listed(map(repr, self.attributes))}."
            )
        return composition(self.labels.values[self.labels.codes], sensitive_features=self.attributes[name])

    def difference(self) -> Any:
        """Return the largest difference between groups, for each attribute.

        The columns are the share of links kept, rho, and the shares of members without any of their links, and without
        another member of their group, in their cluster; see `by_group`.
        """
        group, size = self._by_group, np.asarray(self._by_group["size"])
        columns = {
            "links_kept": np.asarray(group["links_kept"]),
            "without_link": np.asarray(group["without_link"]) / size,
            "alone": np.asarray(group["alone"]) / size,
            "rho": np.asarray(group["rho"]),
        }
        own = [np.asarray(group["attribute"]) == name for name in self.attributes]
        gaps = {head: [float(np.ptp(values[rows])) for rows in own] for head, values in columns.items()}
        return framed({"attribute": list(self.attributes), **gaps})

    def worst(self, n: int = 10) -> Any:
        """Return the people with the worst outcomes, each with the reason in words.

        There are two criteria: the share of one's links kept, relative to that of all people, and the number of others
        of one's group in the cluster, relative to the number in proportion. Only people with at most half by one of
        them are listed, so there may be fewer than n.

        Parameters
        ----------
        n : int, default=10
            Maximum number of people.

        Returns
        -------
        DataFrame or list of dict
            ``cluster``, ``links`` and how many of them were ``kept``, for each attribute the ``fellows`` (others of
            the own group in the cluster) and the ``usual`` number of them, and the ``reason``; worst first.

        Examples
        --------
        >>> path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
        >>> FairnessFrame(path, [0, 0, 0, 1]).worst()["reason"].tolist()
        ['no one of 1 linked person in the cluster']
        """
        check_parameters("FairnessFrame.worst", {"n": Integer(low=1)}, {"n": n})
        tables = {name: self._tables[name] for name in self.attributes}
        return framed(worst_people(self.graph.node_names, self._links, self.labels, tables, int(n)))

    def chance(
        self, *, n_samples: int = 1000, confidence: float = 0.95, random_state: RandomState = None
    ) -> Any:
        """Compare every score with those of random labels with clusters of the same sizes.

        Scores of fairness need this comparison, since random labels are nearly fair.

        Parameters
        ----------
        n_samples : int, default=1000
            Number of random labels. Fewer are drawn, but at least a hundred, where they would have more than half
            a billion links to count; the column ``samples`` has their number.
        confidence : float, default=0.95
            Share of the random labels between ``low`` and ``high``.
        random_state : int, Generator, RandomState or None
            Seed.

        Returns
        -------
        DataFrame or list of dict
            By attribute (``"links"`` for scores without attributes) and score: the ``value``, the mean by
            ``chance``, the interval from ``low`` to ``high``, and the share of the random labels that the value
            ``beats``, ties counted half: those with a lower score, or with more people without a link.

        Examples
        --------
        >>> room = __import__("equigraph").datasets.make_classroom()
        >>> frame = FairnessFrame(
        ...     room.adjacency, np.arange(30) % 3, sensitive_features=room.sensitive_features
        ... )
        >>> table = frame.chance(random_state=0)
        >>> bool(table.loc[("group", "NB"), "low"] <= 0.83 <= table.loc[("group", "NB"), "high"])
        True
        """
        check_parameters(
            "FairnessFrame.chance",
            {"n_samples": Integer(low=1), "confidence": Real(low=0, high=1, open_low=True)},
            {"n_samples": n_samples, "confidence": confidence},
        )
        rng = np.random.default_rng(as_seed(random_state))
        entries = self.graph.unit_adjacency.nnz
        counts: dict[str, list[NDArray[np.int64]]] = {name: [] for name in self._tables}
        samples: dict[tuple[str, str], Any] = {}
        for _ in range(min(int(n_samples), max(_FEWEST_SAMPLES, _MOST_ENTRIES // max(entries, 1)))):
            labels = replace(self.labels, codes=rng.permutation(self.labels.codes))
            links = links_of(self.graph.unit_adjacency, labels.codes)
            found = {("links", score): value for score, value in links.scores.items()}
            for name, table in self._tables.items():
                counts[name].append(LabelTable(labels, table.groups).counts)
                for score, metric in self.metrics.items():
                    found[name, score] = metric(labels.codes, sensitive_features=table.groups)
            for key, value in found.items():
                samples.setdefault(key, []).append(value)
        values = {("links", score): value for score, value in self._links.scores.items()}
        for place, (name, table) in enumerate(self._tables.items()):
            tables = np.stack(counts[name])
            samples = {(name, score): _scored(score, tables, table.groups) for score in _SCORES} | samples
            values |= {(name, s): self._by_attribute[s][place] for s in (*_SCORES, *self.metrics)}
        rows = [
            {"attribute": name, "score": score}
            | standing(value, np.asarray(samples[name, score]), float(confidence), score in _FEWER_IS_BETTER)
            for (name, score), value in values.items()
        ]
        return framed({head: [row[head] for row in rows] for head in rows[0]}, 2)

    def compare(self, other: FairnessFrame | ArrayLike) -> FrameDifference:
        """Return the differences between other labels of the same nodes and these.

        Parameters
        ----------
        other : FairnessFrame or array-like of shape (n_nodes,)
            The other clustering, or its labels.

        Returns
        -------
        FrameDifference
            Every table as other minus this one.

        Examples
        --------
        >>> square = [[0, 3, 1, 0], [3, 0, 0, 1], [1, 0, 0, 3], [0, 1, 3, 0]]
        >>> frame = FairnessFrame(square, [0, 0, 1, 1], sensitive_features=list("xxyy"))
        >>> change = frame.compare([0, 1, 0, 1])
        >>> round(float(change.overall["Q"]), 9), float(change.overall["NB"]), change.n_moved
        (-0.5, 1.0, 2)
        """
        if not isinstance(other, FairnessFrame):
            other = FairnessFrame(self.graph, other, sensitive_features=self._given, metrics=self.metrics)
        return FrameDifference(self, other)

    def _need_attributes(self) -> None:
        if not self.attributes:
            raise GroupsError("There are no groups: give sensitive_features, or a graph that has them.")

    def _repr_html_(self) -> str:
        """Return the clusters as a table, for a notebook."""
        heads = list(self._by_cluster)
        return page_of(repr(self), heads, zip(*self._by_cluster.values(), strict=True))

    def __repr__(self) -> str:
        shown = [f"Q={self._overall['Q']:.3f}"]
        shown += [
            f"NB {name}={value:.3f}"
            for name, value in zip(self._by_attribute["attribute"], self._by_attribute["NB"], strict=True)
        ]
        lost = self._overall["without_link"]
        clusters = f"{count(self.graph.n_nodes, 'node')} in {count(self.labels.n_clusters, 'cluster')}"
        return f"FairnessFrame({clusters}, {', '.join(shown)}, {lost} without a linked person)"


class FrameDifference:
    """Differences between two clusterings of the same nodes and attributes: second minus first.

    Attributes
    ----------
    first, second : FairnessFrame
        The two frames. n_moved : int Number of people in another cluster, under the best matching of the clusters.
    ari : float
        Adjusted Rand index of the two.
    """

    def __init__(self, first: FairnessFrame, second: FairnessFrame):
        if first.graph.n_nodes != second.graph.n_nodes:
            raise ParameterError(
                f"The two clusterings are of {first.graph.n_nodes} and {second.graph.n_nodes} nodes: expected the same."
            )
        if not _same_groups(first.attributes, second.attributes):
            raise ParameterError(
                "The two frames are of different attributes: expected the same groups in both."
            )
        self.first, self.second = first, second
        same = clustering_accuracy(first.labels.codes, second.labels.codes)
        self.n_moved = round((1 - same) * first.graph.n_nodes)
        self.ari = adjusted_rand_score(first.labels.codes, second.labels.codes)

    @property
    def overall(self) -> Any:
        """Differences of `FairnessFrame.overall`."""
        before, after = self.first._overall, self.second._overall
        return named({name: after[name] - before[name] for name in before}, "difference")

    @property
    def by_attribute(self) -> Any:
        """Differences of `FairnessFrame.by_attribute`."""
        return framed(_minus(self.second._by_attribute, self.first._by_attribute, 1))

    @property
    def by_group(self) -> Any:
        """Differences of `FairnessFrame.by_group`."""
        return framed(_minus(self.second._by_group, self.first._by_group, 2), 2)

    @property
    def by_intersection(self) -> Any:
        """Differences of `FairnessFrame.by_intersection`."""
        n_keys = len(self.first.attributes)
        return framed(_minus(self.second._by_intersection, self.first._by_intersection, n_keys), n_keys)

    def _repr_html_(self) -> str:
        """Return the overall scores of both and their difference, for a notebook."""
        before, after = self.first._overall, self.second._overall
        rows = [[name, before[name], after[name], after[name] - before[name]] for name in before]
        return page_of(repr(self), ["score", "first", "second", "difference"], rows)

    def __repr__(self) -> str:
        before, after = self.first._overall, self.second._overall
        shown = [f"{name} {after[name] - before[name]:+.3f}" for name in ("Q", "NB") if name in before]
        lost = after["without_link"] - before["without_link"]
        return (
            f"FrameDifference({', '.join(shown)}, {lost:+d} without a linked person, "
            f"{self.n_moved} of {count(self.first.graph.n_nodes, 'node')} moved)"
        )


def _scored(name: str, counts: NDArray[np.int64], groups: Groups) -> NDArray[np.float64]:
    """Return a score of one or many tables of counts."""
    score = ALL_SCORES[name].of_groups
    assert score is not None
    return np.asarray(score(counts, groups.sizes, None), dtype=np.float64)


def standing(
    value: float, samples: NDArray[np.floating], confidence: float, fewer_is_better: bool
) -> dict[str, float]:
    """Compare a score with those of random labels: their mean, an interval, and the share that is worse.

    Ties count half.
    """
    low, high = np.quantile(samples, [(1 - confidence) / 2, (1 + confidence) / 2])
    close = np.isclose(samples, value, rtol=1e-12, atol=1e-12)
    worse = samples > value if fewer_is_better else samples < value
    return {
        "value": float(value),
        "chance": float(samples.mean()),
        "low": float(low),
        "high": float(high),
        "beats": float(np.mean(np.where(close, 0.5, worse))),
        "samples": int(samples.size),
    }


def _minus(after: Columns, before: Columns, n_keys: int) -> Columns:
    keys = list(before)[:n_keys]
    heads = [head for head in before if head in after and head not in (*keys, *_FIXED)]
    gaps = {
        head: [one - other for one, other in zip(after[head], before[head], strict=True)] for head in heads
    }
    return {**{key: before[key] for key in keys}, **gaps}


def _same_groups(one: Mapping[str, Groups], other: Mapping[str, Groups]) -> bool:
    return list(one) == list(other) and all(
        one[name].names.tolist() == other[name].names.tolist()
        and np.array_equal(one[name].codes, other[name].codes)
        for name in one
    )
