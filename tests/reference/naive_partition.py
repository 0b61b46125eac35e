"""A partition that recomputes everything from its definition after every move: the oracle of the compiled one."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.reference.labels_objective import naive_modularity, naive_notion


@dataclass
class NaivePartition:
    """Labels of single nodes under an objective, bounds on sizes and rules (an `Instance`)."""

    dense: np.ndarray
    labels: np.ndarray
    codes: np.ndarray
    fairness: float = 0.0
    notion: str = "normalized"
    resolution: float = 1.0
    weights: Any = None
    cap: float = np.inf
    even: float = 0.0
    least: int = 1
    most: float = np.inf
    compiled: Any = None
    home: Any = None
    allowed: float = np.inf
    n_clusters: int = field(default=0)

    def __post_init__(self):
        self.labels = np.array(self.labels)
        self.n_clusters = self.n_clusters or int(self.labels.max()) + 1

    def parts(self, labels=None):
        """Return Q, and the notion with the preference for even clusters up to the cap."""
        labels = self.labels if labels is None else labels
        notion = naive_notion(labels, self.codes, self.notion, self.weights)
        if self.even and self.fairness:
            evenness = naive_notion(labels, self.codes, "evenness", self.weights)
            notion += self.even * (1 - self.fairness) / self.fairness * (evenness - 1)
        return naive_modularity(self.dense, labels, self.resolution), min(notion, self.cap)

    def value(self, labels=None):
        """Return the objective."""
        q, notion = self.parts(labels)
        return (1 - self.fairness) * q + self.fairness * notion

    def broken(self, labels=None):
        """Return by how much labels miss sizes and rules."""
        labels = self.labels if labels is None else labels
        sizes = np.bincount(labels, minlength=self.n_clusters)
        if self.compiled is None:
            return int(np.maximum(self.least - sizes, 0).sum() + np.maximum(sizes - self.most, 0).sum())
        rules, total = self.compiled, 0
        units = np.zeros(rules.n_units, dtype=int)
        units[rules.unit] = labels
        apart = rules.apart.toarray()
        total += sum(apart[i, j] and units[i] == units[j] for i in range(len(units)) for j in range(i))
        for c in range(self.n_clusters):
            size = int(sizes[c])
            total += max(rules.least_size[c] - size, 0) + max(size - rules.most_size[c], 0)
            for v in range(len(rules.columns)):
                number = int(rules.counts.toarray()[units == c, v].sum())
                low = max(rules.least_count[c, v], rules.share_low[v, 0] * size // rules.share_low[v, 1])
                ceiling = -(-rules.share_high[v, 0] * size // rules.share_high[v, 1])
                high = min(rules.most_count[c, v], ceiling)
                total += max(low - number, 0) + max(number - high, 0)
                if 0 < number < rules.not_alone[v]:
                    total += min(number, rules.not_alone[v] - number)
        asked = rules.links.toarray() > 0
        rows = np.tile(labels, len(asked) // len(labels))
        kept = (asked & (rows[:, None] == labels)).sum(axis=1)
        total += np.maximum(rules.needed - kept, 0).sum()
        if self.home is not None:
            total += max(int((self.home != labels).sum()) - self.allowed, 0)
        return int(total)

    def moved(self, site, cluster):
        """Return the labels with one of them changed."""
        labels = self.labels.copy()
        labels[site] = cluster
        return labels

    def best_move(self, site, candidates):
        """Return the largest change of the value when a site joins one of the candidate clusters; -inf without any."""
        here = self.value()
        return max((self.value(self.moved(site, c)) - here for c in candidates), default=-np.inf)
