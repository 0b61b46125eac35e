"""Why two clusters are two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equigraph._utils.notebook import page_of
from equigraph._utils.records import plain
from equigraph._utils.text import count
from equigraph.analysis.explanation.subject import Aim, Subject
from equigraph.exceptions import ParameterError
from equigraph.rules import Violation

_GROUPS = 6  # in a sentence; the fields have all of them


@dataclass(frozen=True, repr=False)
class PairExplanation:
    """Why two clusters are two; printing it says so in words.

    Attributes
    ----------
    clusters, sizes : tuple of int
        The two, and their numbers of nodes.
    inside : tuple of float
        Link weight within each.
    between : float
        Link weight that joins them.
    by_chance : float
        The weight that would join them if links were drawn at random, with everybody's number of links as it is.
    Q : float
        Change of the modularity if the two were one.
    fairness : dict of str to float
        Change of the notion for each attribute.
    objective : float or None
        Change of what the method climbed; None where it has no dial.
    compositions : dict of str to dict
        For each attribute the members of each group, in the first cluster and in the second.
    breaks, mends : tuple of Violation
        Violations of rules that there would be and are not, and that there are and would not be.
    weighted : bool
        Whether links have weights, so that sums of them are no numbers of links.
    aim : Aim
        What the method climbed.
    """

    clusters: tuple[int, int]
    sizes: tuple[int, int]
    inside: tuple[float, float]
    between: float
    by_chance: float
    Q: float
    fairness: Mapping[str, float]
    objective: float | None
    compositions: Mapping[str, Mapping[Any, tuple[int, int]]]
    breaks: tuple[Violation, ...]
    mends: tuple[Violation, ...]
    weighted: bool
    aim: Aim

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            **vars(self),
            "compositions": {
                name: {str(plain(group)): list(pair) for group, pair in counts.items()}
                for name, counts in self.compositions.items()
            },
            "breaks": list(map(str, self.breaks)),
            "mends": list(map(str, self.mends)),
            "aim": self.aim.in_words,
        }

    def _repr_html_(self) -> str:
        """Return the two clusters as a table, for a notebook."""
        rows: list[list[Any]] = [["nodes", *self.sizes], ["links inside", *self.inside]]
        for name, counts in self.compositions.items():
            rows += [[f"{name} {group}", *pair] for group, pair in counts.items()]
        return page_of(self.conclusion, ["", *map(str, self.clusters)], rows)

    def __str__(self) -> str:
        one, other = self.clusters
        what = "link weight" if self.weighted else "links"
        lines = [
            f"Cluster {one} has {count(self.sizes[0], 'node')}, cluster {other} {self.sizes[1]:,}.",
            f"{what.capitalize()}: {self.inside[0]:g} within cluster {one}, {self.inside[1]:g} within cluster {other}, "
            f"{self.between:g} between them, where chance would give {self.by_chance:.1f}.",
        ]
        for name, counts in self.compositions.items():
            shown = [f"{group} {pair[0]} and {pair[1]}" for group, pair in list(counts.items())[:_GROUPS]]
            lines.append(f"Of {name}: {'; '.join(shown)}.")
        measure, several = self.aim.notion.measure, len(self.fairness) > 1
        gains = [f"{measure}{f' {name}' * several} {gain:+.4f}" for name, gain in self.fairness.items()]
        lines.append(f"As one cluster: {', '.join([f'Q {self.Q:+.4f}', *gains])}.")
        if self.breaks:
            lines.append(f"That would break rules: {' '.join(map(str, self.breaks))}")
        return "\n".join([*lines, self.conclusion])

    __repr__ = __str__

    @property
    def conclusion(self) -> str:
        """The answer in one sentence."""
        gain, what = (self.Q, "Q") if self.objective is None else (self.objective, self.aim.in_words)
        if gain < 0:
            why = "what links gain, fairness loses"
            if self.Q < 0:
                why = "fewer links join them than chance would give"
            return f"They are two because as one they would lower {what} by {-gain:.4f}: {why}."
        return (
            f"As one they would raise {what} by {gain:.4f}: they are two because so many clusters were asked for, or "
            "because no better division was found."
        )


def explain_pair(subject: Subject, one: Any, other: Any) -> PairExplanation:
    """Explain why two clusters are two."""
    a, b = subject.cluster(one), subject.cluster(other)
    if a == b:
        raise ParameterError(f"Cluster {a} is given twice: expected two clusters.")
    for cluster in (a, b):
        if subject.sizes[cluster] == 0:
            raise ParameterError(f"Cluster {cluster} has no node, so there is nothing to compare.")
    (aa, ab), (_, bb) = _weights(subject, a, b)
    total = float(subject.degrees.sum())
    Q, fairness = subject.merge_modularity(a, b, ab), subject.merge_fairness(a, b)
    joined = np.where(subject.labels == b, a, subject.labels)
    breaks, mends = subject.rules_after(joined, None)
    return PairExplanation(
        clusters=(a, b),
        sizes=(int(subject.sizes[a]), int(subject.sizes[b])),
        inside=(aa / 2, bb / 2),
        between=ab,
        by_chance=float(subject.volumes[a] * (subject.volumes[b] / total)) if total else 0.0,
        Q=Q,
        fairness=fairness,
        objective=subject.aim.objective(Q, fairness),
        compositions={
            name: dict(
                zip(
                    subject.attributes[name].names.tolist(),
                    zip(table[a].tolist(), table[b].tolist(), strict=True),
                    strict=True,
                )
            )
            for name, table in subject.tables.items()
        },
        breaks=breaks,
        mends=mends,
        weighted=subject.graph.is_weighted,
        aim=subject.aim,
    )


def _weights(subject: Subject, a: int, b: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the sums of the stored entries between the members of two clusters."""
    rows = [np.flatnonzero(subject.labels == cluster) for cluster in (a, b)]
    sums = []
    for own in rows:
        part = subject.graph.adjacency[own]
        ends = subject.labels[part.indices]
        sums.append(tuple(float(part.data[ends == cluster].sum(dtype=np.float64)) for cluster in (a, b)))
    return (sums[0][0], sums[0][1]), (sums[1][0], sums[1][1])
