"""The terms in which rules are described: nodes and clusters, or people and classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equigraph._utils.text import count

Pair = tuple[int | None, int | None]


@dataclass(frozen=True)
class Words:
    """What nodes and clusters are called.

    Attributes
    ----------
    node, nodes, cluster, clusters : str
        The nouns, in the singular and in the plural.
    names : sequence of str
        Names of the clusters, by number; without them clusters are called by number.

    Examples
    --------
    >>> words = Words("person", "people", "class", "classes", ("5a", "5b"))
    >>> words.place(1), Words().place(1), words.range((25, None))
    ('5b', 'cluster 1', 'at least 25 people')
    """

    node: str = "node"
    nodes: str = "nodes"
    cluster: str = "cluster"
    clusters: str = "clusters"
    names: Sequence[str] = ()

    def place(self, cluster: int | str) -> str:
        """Return what a cluster is called."""
        number = int(cluster) if str(cluster).isdecimal() else -1
        return self.names[number] if 0 <= number < len(self.names) else f"{self.cluster} {cluster}"

    def subject(self, cluster: int | str) -> str:
        """Return what a cluster is called at the beginning of a sentence."""
        name = self.place(cluster)
        return name if self.names else name[:1].upper() + name[1:]

    def count(self, number: int) -> str:
        """Return a number of nodes."""
        return count(number, self.node, self.nodes)

    def range(self, pair: Pair) -> str:
        """Return how many nodes a pair (least, most) allows."""
        least, most = pair
        if most is None:
            return f"any number of {self.nodes}" if least is None else f"at least {self.count(least)}"
        if least is None:
            return f"at most {self.count(most)}"
        return self.count(most) if least == most else f"{least} to {self.count(most)}"


NODES = Words()
