"""Rules on the cluster of a node: fixed, or one of several."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from equigraph._utils.text import count
from equigraph.exceptions import ParameterError
from equigraph.rules.base import DictRule, is_list, whole
from equigraph.rules.check import NODES, Placement, Violation, Words
from equigraph.rules.compile import Arrays


class _Placed(DictRule):
    """Base class: a node is in one of some clusters."""

    node: Hashable

    @property
    def named_nodes(self) -> tuple[Hashable, ...]:
        """The node."""
        return (self.node,)

    def describe(self) -> str:
        """Return the rule in words."""
        return f"{self.node} in {self._places(NODES)}"

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        return f"{self.node} is in {self._places(words)}."

    def _places(self, words: Words) -> str:
        if words.names:
            return " or ".join(map(words.place, self.named_clusters))
        return f"{words.cluster} {' or '.join(map(str, self.named_clusters))}"

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return the node if it is in another cluster."""
        cluster = placement.of(self.node)
        if cluster not in map(str, self.named_clusters):
            yield Violation(self, (cluster,), (self.node,))

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Return the cluster of the node, and the expected one, as a sentence."""
        (cluster,) = map(words.place, violation.clusters)
        return f"{self.node} is to be in {self._places(words)}, and is in {cluster}."

    def _place_in(self, arrays: Arrays) -> int:
        """Return the index of the node, after a check that the clusters exist."""
        last, k = max(self.named_clusters), arrays.n_clusters
        if last >= k:
            raise ParameterError(
                f"Rules: {self.keyword}[{self.node!r}] is cluster {last}, and there are {count(k, 'cluster')}: "
                f"expected 0 to {k - 1}."
            )
        return arrays.facts.node(self.node)


@dataclass(frozen=True)
class Fixed(_Placed):
    """A node is in the cluster of this number."""

    keyword: ClassVar[str] = "fixed"
    example: ClassVar[str] = '{"Finn": 0}'
    node: Hashable
    cluster: int

    @property
    def named_clusters(self) -> tuple[int, ...]:
        """The only cluster."""
        return (self.cluster,)

    @classmethod
    def read(cls, where: str, value: Any) -> int:
        """Return the number of a cluster."""
        return whole(where, value)

    def compile(self, arrays: Arrays) -> None:
        """Fix the node in its cluster."""
        arrays.fixed.append((self._place_in(arrays), self.cluster))


@dataclass(frozen=True)
class Allowed(_Placed):
    """A node is in one of the clusters of these numbers."""

    keyword: ClassVar[str] = "allowed"
    example: ClassVar[str] = '{"Finn": [0, 2]}'
    node: Hashable
    clusters: tuple[int, ...]

    @property
    def named_clusters(self) -> tuple[int, ...]:
        """The clusters."""
        return self.clusters

    @classmethod
    def read(cls, where: str, value: Any) -> tuple[int, ...]:
        """Return the numbers of clusters."""
        if not is_list(value) or not len(value):
            raise ParameterError(f"Rules: {where} must be a list of clusters, such as [0, 2]; got {value!r}.")
        return tuple(sorted({whole(where, one) for one in value}))

    def compile(self, arrays: Arrays) -> None:
        """Add the node to a column with a most count of 0 in all other clusters."""
        column = arrays.column(("allowed", str(self.clusters)), [self._place_in(arrays)])
        column.most[[cluster for cluster in range(arrays.n_clusters) if cluster not in self.clusters]] = 0
