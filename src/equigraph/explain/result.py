"""Explanations of a result: the graph it is of, what its method climbed, and the rules it was made under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from numpy.typing import NDArray

from equigraph.graph import Graph

if TYPE_CHECKING:
    from equigraph.explain.node import NodeExplanation
    from equigraph.explain.pair import PairExplanation
    from equigraph.explain.subject import Aim, Subject
    from equigraph.groups import Attributes
    from equigraph.rules import Rules

# Methods whose dial weighs Q against a notion; that of a factorisation weighs something else.
_DIALS = ("FairPartition", "FairLouvain", "refine_labels")


class Explainable:
    """A clustering that can tell why people are where they are."""

    method: str
    labels: NDArray
    parameters: Mapping[str, Any]
    graph: Graph | None
    attribute: str | None

    @property
    def n_clusters(self) -> int:
        """Number of clusters asked for, empty ones included."""
        raise NotImplementedError

    @overload
    def explain(
        self, one: Any, /, *, graph: Any = ..., sensitive_features: Any = ..., rules: Any = ...
    ) -> NodeExplanation: ...

    @overload
    def explain(
        self, one: Any, other: Any, /, *, graph: Any = ..., sensitive_features: Any = ..., rules: Any = ...
    ) -> PairExplanation: ...

    def explain(
        self,
        one: Any,
        other: Any = None,
        /,
        *,
        graph: Any = None,
        sensitive_features: Any = None,
        rules: Rules | Mapping[str, Any] | None = None,
    ) -> NodeExplanation | PairExplanation:
        """Say why a person is in a cluster, or why two clusters are two.

        Parameters
        ----------
        one : object
            Alone: the name of a node (or its position, where a graph has no names). A single argument is never a
            cluster, also where nodes are called 0 and 1.
        other : int, optional
            With it both are numbers of clusters.
        graph : graph, optional
            The graph that was clustered; needed where the result was read from a folder.
        sensitive_features : frame, dict of columns, array or Series, optional
            Attributes to tell of; by default those that the clustering was made with.
        rules : Rules or dict, optional
            Rules to tell of; by default those that the clustering was made under.

        Returns
        -------
        NodeExplanation or PairExplanation
            Linked people in each cluster and what every single move would change; or the links within and between
            two clusters and what joining them would change. All changes are exact. Printing it gives sentences.

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
        from equigraph.explain.node import explain_node
        from equigraph.explain.pair import explain_pair

        subject = self._subject(graph, sensitive_features, rules)
        return explain_node(subject, one) if other is None else explain_pair(subject, one, other)

    def _subject(self, graph: Any, sensitive_features: Any, rules: Any) -> Subject:
        from equigraph.explain.subject import Subject
        from equigraph.featured import graph_of
        from equigraph.metrics._table import read_nodes
        from equigraph.metrics.audit.attributes import attributes_of
        from equigraph.rules import Rules

        known = graph_of(self, graph)
        given = self.parameters.get("rules") if rules is None else rules
        attributes = attributes_of(read_nodes(known), sensitive_features)
        return Subject(
            graph=known,
            labels=self.labels,
            n_clusters=self.n_clusters,
            attributes={} if attributes is None else attributes.groups,
            aim=self._aim(attributes),
            rules=Rules.from_dict(given) if isinstance(given, Mapping) else given,
            sensitive_features=sensitive_features,
        )

    def _aim(self, attributes: Attributes | None) -> Aim:
        from equigraph.explain.subject import Aim
        from equigraph.metrics.notions import NORMALIZED, NOTIONS

        told = self.parameters
        notion = NOTIONS.get(str(told.get("notion")), NORMALIZED)
        dial = told.get("fairness") if self.method in _DIALS else None
        weights = {}
        if attributes is not None:
            weights = dict(zip(attributes.names, attributes.weights.tolist(), strict=True))
        return Aim(notion, dial, told.get("at_least"), weights)
