"""Rules on the sites of a level, as arrays for compiled code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from equigraph.rules import CompiledRules
from equigraph.rules.model import interchangeable
from equigraph.search.arrays import Constraints, Level


@dataclass(frozen=True, eq=False)
class LevelRules:
    """Rules on the sites of a level, which are units or sets of units.

    Attributes
    ----------
    rules : CompiledRules
        The rules on units.
    site : ndarray of shape (n_nodes,)
        Site of each node.
    fixed : ndarray of shape (n_sites,)
        Cluster of each fixed site, -1 if the site is free.
    apart : csr_array of shape (n_sites, n_sites)
        Pairs of sites that may not share a cluster.
    counts : csr_array of shape (n_sites, n_columns)
        Number of nodes of each site in each column of the rules.
    home : ndarray of shape (n_nodes,) or (0,)
        Home cluster of each node, -1 for none; empty if no node has one.
    allowed : int
        Largest number of nodes outside their home cluster.
    stay : float
        Penalty for each of them during moves, in units of the objective.
    rate : float
        The same penalty in units of modularity, for the choice among labels.
    """

    rules: CompiledRules
    site: NDArray[np.int64]
    fixed: NDArray[np.int64]
    apart: sparse.csr_array
    counts: sparse.csr_array
    home: NDArray[np.int32]
    allowed: int
    stay: float
    rate: float

    @classmethod
    def of(
        cls,
        rules: CompiledRules,
        home: NDArray | None = None,
        max_moves: int | None = None,
        stay: float = 0.0,
        rate: float = 0.0,
    ) -> LevelRules:
        """Return the rules on their own units, with home clusters if the number of moves counts."""
        return cls(
            rules=rules,
            site=rules.unit,
            fixed=rules.fixed,
            apart=rules.apart,
            counts=rules.counts,
            home=np.zeros(0, dtype=np.int32) if home is None else home.astype(np.int32),
            allowed=rules.n_nodes if max_moves is None else int(max_moves),
            stay=float(stay),
            rate=float(rate),
        )

    def on_parts(self, parts: NDArray) -> LevelRules:
        """Return the rules on sets of sites; a set with several fixed sites takes the cluster of the last one."""
        n_parts = int(parts.max()) + 1
        onto = sparse.csr_array(
            (np.ones(parts.size, dtype=np.int64), (parts, np.arange(parts.size))), shape=(n_parts, parts.size)
        )
        fixed = np.full(n_parts, -1, dtype=np.int64)
        is_fixed = self.fixed >= 0
        fixed[parts[is_fixed]] = self.fixed[is_fixed]
        pairs = self.apart.tocoo()
        rows, columns = parts[pairs.row], parts[pairs.col]
        different = rows != columns
        apart = sparse.coo_array(
            (np.ones(int(different.sum()), dtype=np.int8), (rows[different], columns[different])),
            shape=(n_parts, n_parts),
        )
        return replace(
            self,
            site=parts[self.site].astype(np.int64),
            fixed=fixed,
            apart=apart.tocsr(),
            counts=sparse.csr_array(onto @ self.counts),
        )

    @property
    def names_clusters(self) -> bool:
        """Whether the numbers of the clusters matter."""
        n_alike = max(map(len, interchangeable(self.rules)), default=1)
        return bool(self.home.size) or n_alike < self.rules.n_clusters

    @cached_property
    def _arrays(self) -> Constraints:
        """Arrays for compiled code, without counters."""
        rules = self.rules
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.site, minlength=self.fixed.size))])
        needed = bool(rules.needed.any())
        links, askers = (rules.links, rules.askers) if needed else (sparse.csr_array((0, 0)),) * 2
        return Constraints(
            any=True,
            site=self.site,
            first=starts.astype(np.int64),
            nodes=np.argsort(self.site, kind="stable").astype(np.int64),
            free=np.flatnonzero(self.fixed < 0).astype(np.int64),
            movable=self.fixed < 0,
            foe_starts=self.apart.indptr.astype(np.int64),
            foes=self.apart.indices.astype(np.int64),
            column_starts=self.counts.indptr.astype(np.int64),
            columns=self.counts.indices.astype(np.int64),
            numbers=self.counts.data.astype(np.int64),
            least=rules.least_count,
            most=rules.most_count,
            alone=rules.not_alone,
            low=np.ascontiguousarray(rules.share_low),
            high=np.ascontiguousarray(rules.share_high),
            needed=rules.needed if needed else rules.needed[:0],
            link_starts=links.indptr.astype(np.int64),
            links=links.indices.astype(np.int64),
            asker_starts=askers.indptr.astype(np.int64),
            askers=askers.indices.astype(np.int64),
            home=self.home,
            allowed=self.allowed,
            stay=self.stay,
        )

    def constraints(self) -> Constraints:
        """Return the arrays for compiled code, with new counters that are all zero."""
        arrays, k = self._arrays, self.rules.n_clusters
        return arrays._replace(
            counts=np.zeros((k, arrays.least.shape[1]), dtype=np.int64),
            costs=np.zeros(k, dtype=np.int64),
            kept=np.zeros(arrays.needed.size, dtype=np.int64),
            sums=np.zeros(3, dtype=np.int64),
        )

    def n_misplaced(self, labels: NDArray) -> int:
        """Return the number of fixed sites in a wrong cluster."""
        is_fixed = self.fixed >= 0
        return int((labels[is_fixed] != self.fixed[is_fixed]).sum())

    def moved(self, labels: NDArray) -> int:
        """Return the number of nodes outside their home cluster."""
        if not self.home.size:
            return 0
        return int(((self.home >= 0) & (self.home != labels[self.site])).sum())

    def renumbered(self, level: Level, labels: NDArray) -> NDArray[np.int32]:
        """Return labels with clusters renumbered to match the rules, and fixed sites in their clusters.

        Every cluster that is empty after that gets a free site of one of the largest clusters.
        """
        labels = np.array(labels, dtype=np.int32)
        if self.names_clusters:
            labels = self._cluster_numbers(level, labels)[labels]
        is_fixed = self.fixed >= 0
        labels[is_fixed] = self.fixed[is_fixed]
        sizes = np.bincount(labels, minlength=self.rules.n_clusters)
        for cluster in np.flatnonzero(sizes == 0):
            donors = np.flatnonzero(~is_fixed & (sizes[labels] > 1))
            if not donors.size:
                break
            site = donors[np.argmax(sizes[labels[donors]])]
            sizes[labels[site]] -= 1
            labels[site] = cluster
            sizes[cluster] = 1
        return labels

    def _cluster_numbers(self, level: Level, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return new numbers of the clusters, by an assignment that minimises violations of sizes, fixed and home."""
        k, rules = self.rules.n_clusters, self.rules
        size = np.bincount(labels, weights=level.sizes, minlength=k)[:, None]
        cost = np.maximum(rules.least_size - size, 0) + np.maximum(size - rules.most_size, 0)
        is_fixed = self.fixed >= 0
        np.add.at(cost, (labels[is_fixed], self.fixed[is_fixed]), -2.0 * level.sizes[is_fixed])
        if self.home.size:
            known = self.home >= 0
            np.add.at(cost, (labels[self.site[known]], self.home[known]), -1.0)
        return linear_sum_assignment(cost)[1].astype(np.int32)


NO_RULES = Constraints()
