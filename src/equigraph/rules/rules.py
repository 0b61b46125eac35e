"""`Rules`, an ordered collection of single rules, and the registry of their kinds.

A new kind needs a class in a file, an entry in `KINDS`, and its argument in the docstring of `Rules`.
"""

from __future__ import annotations

import inspect
import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equigraph._utils.parameters import Constraint
from equigraph._utils.text import did_you_mean
from equigraph.exceptions import ParameterError
from equigraph.rules.base import Rule, in_words
from equigraph.rules.check import violations
from equigraph.rules.counts import AtLeast, AtMost, NotAlone, Shares
from equigraph.rules.friends import Friends
from equigraph.rules.nodes import Allowed, Apart, Fixed, Together
from equigraph.rules.sizes import Sizes

KINDS: dict[str, type[Rule]] = {
    kind.keyword: kind
    for kind in (Together, Apart, Fixed, Allowed, Sizes, Friends, AtLeast, AtMost, NotAlone, Shares)
}


@dataclass(frozen=True, init=False, repr=False)
class Rules:
    """Hard rules on the nodes that share a cluster, and on the sizes and counts of every cluster.

    Nodes are given by name, or by position where a graph has no names. The order of the keyword arguments, and of
    the entries within each, is the order of the rules: where not all of them can be kept, the last are given up.

    Parameters
    ----------
    together : list of tuples of nodes
        All nodes of a tuple share a cluster.
    apart : list of tuples of nodes
        No two nodes of a tuple share a cluster.
    fixed : dict of node to cluster
        The cluster of a node, counting from 0.
    allowed : dict of node to list of clusters
        The clusters in which a node may be.
    sizes : (least, most), or a list with one such pair per cluster
        Number of nodes of a cluster; None leaves a side open.
    friends : int, or dict with "least", "but" and "of"
        Every node shares its cluster with at least so many of the nodes it is linked to, or with all of them if
        they are fewer; ``{"least": 2, "but": {"Ada": 1, "Ben": 0}}`` asks for fewer, or none, for some. With
        ``"of": {"Ada": ["Ben", "Cem"]}`` friends are not links but the nodes that each node asked for itself.
    at_least, at_most : dict of attribute to dict of value to int, or list of (nodes, int)
        Least, or largest, number of nodes of a group in every cluster; or of a list of nodes.
    not_alone : dict of attribute to int
        Of each value of the attribute a cluster has none or at least so many nodes.
    shares : dict of attribute to float
        Largest difference between the share of each value in a cluster and its share p in the population: of a cluster
        of s nodes, between ``floor((p - within) s)`` and ``ceil((p + within) s)`` have the value.

    Attributes
    ----------
    items : tuple
        The single rules, each with ``describe()``.

    Raises
    ------
    ParameterError
        If a rule does not exist, or is not given as above.

    Examples
    --------
    >>> rules = Rules(
    ...     together=[("Ada", "Ben")], apart=[("Cem", "Dora", "Eli")], fixed={"Finn": 0}, sizes=(2, 4)
    ... )
    >>> for rule in rules.items:
    ...     print(rule.describe())
    Ada and Ben together
    Cem, Dora and Eli apart
    Finn in cluster 0
    every cluster of 2 to 4 nodes
    >>> Rules.from_dict(rules.to_dict()) == rules
    True
    """

    items: tuple[Rule, ...]

    def __init__(self, **rules: Any) -> None:
        # Named parameters would lose the order in which the rules were given; None stands for no rule.
        items: list[Rule] = []
        for keyword, value in rules.items():
            if keyword not in KINDS:
                raise ParameterError(
                    f"Rules: there is no rule {keyword!r}{did_you_mean(keyword, KINDS)}: "
                    f"expected {', '.join(KINDS)}."
                )
            items += [] if value is None else KINDS[keyword].parse(value)
        object.__setattr__(self, "items", tuple(items))

    @classmethod
    def of(cls, items: Iterable[Rule]) -> Rules:
        """Return a collection of single rules."""
        rules = object.__new__(cls)
        object.__setattr__(rules, "items", tuple(items))
        return rules

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Rules:
        """Return rules from a dict with the keyword arguments as keys."""
        if not isinstance(content, Mapping):
            raise ParameterError(f"Rules: expected a dict of rules, not a {type(content).__name__}.")
        return cls(**{str(keyword): value for keyword, value in content.items()})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Rules:
        r"""Read rules from a JSON or TOML file with the keyword arguments as keys.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "rules.toml"
        ...     _ = path.write_text('together = [["Ada", "Ben"]]\nsizes = [2, inf]\n')
        ...     Rules.read(path)
        Rules(together=[('Ada', 'Ben')], sizes=(2, None))
        """
        path = Path(path)
        try:
            return cls.from_dict(_load(path))
        except ParameterError as error:
            raise ParameterError(f"{path.name}: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """Return the keyword arguments that give these rules; fit for JSON if the names of the nodes are."""
        kinds: dict[str, list[Rule]] = {}
        for rule in self.items:
            kinds.setdefault(rule.keyword, []).append(rule)
        content = {keyword: KINDS[keyword].argument(own) for keyword, own in kinds.items()}
        for keyword, own in kinds.items():
            if len(list(KINDS[keyword].parse(content[keyword]))) < len(set(own)):
                raise ParameterError(
                    f"Rules: two of the kind {keyword} speak of the same, and cannot be given as one argument: "
                    "expected one of them."
                )
        return content

    @property
    def names_clusters(self) -> bool:
        """Whether rules refer to clusters by number; labels then keep these numbers.

        Examples
        --------
        >>> Rules(fixed={"Finn": 0}).names_clusters, Rules(sizes=(2, 4)).names_clusters
        (True, False)
        """
        return any(rule.named_clusters for rule in self.items)

    def describe(self) -> str:
        """Return all rules in words.

        Examples
        --------
        >>> Rules(friends=1, together=[(0, 3)]).describe()
        'everybody with at least 1 of the nodes linked to them, 0 and 3 together'
        """
        return in_words(self.items)

    def check(
        self, graph: Any, labels: Any, sensitive_features: Any = None, *, n_clusters: int | None = None
    ) -> list[str]:
        """Return all violations of the rules, in words.

        Parameters
        ----------
        graph : graph
            Anything that `equigraph.as_graph` takes.
        labels : array-like of shape (n_nodes,)
            Cluster of each node, in node order. The cluster that a rule calls 0 is the one with the label 0.
        sensitive_features : dict of columns, table, Series or array, optional
            The attributes that the rules name; by default those of the graph.
        n_clusters : int, optional
            Number of clusters, so that rules on every cluster also apply to empty ones. By default the clusters that
            occur.

        Returns
        -------
        list of str
            One sentence per violation, in the order of the rules; empty if every rule is kept.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
        >>> first, second = room.node_names[:2].tolist()
        >>> rules = Rules(together=[(first, second)], sizes=(8, 12), at_least={"gender": {"girl": 3}})
        >>> rules.check(graph, [0] * 15 + [1] * 15)
        ['Cluster 0 has 15 nodes: expected 8 to 12 nodes.', 'Cluster 1 has 15 nodes: expected 8 to 12 nodes.']
        """
        found = violations(self, graph, labels, sensitive_features, n_clusters)
        return [violation.describe() for violation in found]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.items)

    def __repr__(self) -> str:
        try:
            return f"Rules({', '.join(f'{key}={value!r}' for key, value in self.to_dict().items())})"
        except ParameterError:  # two rules that one argument cannot express
            return f"Rules.of({list(self.items)!r})"


Rules.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY, default=None) for keyword in KINDS]
)


@dataclass(frozen=True)
class _RulesOrDict(Constraint):
    """Constraint that accepts `Rules` or a dict of them."""

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, (Rules, Mapping))

    def _describe(self) -> str:
        return "eg.Rules(...), a dict such as {'friends': 1}"


RULES = _RulesOrDict(optional=True, help="Hard rules, which the labels keep.")


def as_rules(rules: Rules | Mapping[str, Any]) -> Rules:
    """Return rules, converted from a dict if necessary."""
    return rules if isinstance(rules, Rules) else Rules.from_dict(rules)


def told_rules(kept: Rules | None, given_up: Iterable[Rule]) -> dict[str, list[str]] | None:
    """Return the rules kept and the rules given up in words, fit for JSON; None without rules."""
    if kept is None:
        return None
    return {
        "kept": [rule.describe() for rule in kept.items],
        "given_up": [rule.describe() for rule in given_up],
    }


def _load(path: Path) -> Any:
    suffix = path.suffix.lower()
    if suffix not in (".json", ".toml"):
        raise ParameterError(
            f"rules are read from .json or .toml, not from {path.suffix or 'a file without suffix'}."
        )
    try:
        text = path.read_text(encoding="utf-8")
        if suffix == ".toml":
            return tomllib.loads(text)
        return json.loads(text, object_pairs_hook=_without_repeats)
    except OSError as error:
        raise ParameterError(f"the rules cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise ParameterError(f"not valid {path.suffix[1:].upper()}: {error}.") from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict; raise a ParameterError if a key is repeated, of which JSON would silently drop the first."""
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ParameterError(
            f"{next(key for key in keys if keys.count(key) > 1)!r} is given twice: expected it once."
        )
    return content
