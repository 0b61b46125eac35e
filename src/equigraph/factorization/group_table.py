r"""Penalties that see a membership only through its group sums.

Such a penalty is :math:`R(H) = \sum_l s_l^\top T s_l` with the m group sums :math:`s_l` of column l and an m x m
table T. It is stiff (its curvature can be a hundred times that of the error) but only in m directions per column, which
a solver that knows T can treat exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.groups import Groups, joint_groups
from equigraph.groups.sums import indicator
from equigraph.penalties import Penalty, WeightedSum

# Each step solves small systems of this size; above it the general treatment is cheaper.
MOST_GROUPS = 128


class GroupTable(NamedTuple):
    """Group of each node, the table T, and the sparse m x n matrix that sums over groups."""

    codes: NDArray[np.intp]
    table: NDArray[np.float64]
    collect: sparse.csr_array


def group_table(penalty: Penalty) -> GroupTable | None:
    """Return the table of a convex penalty that only sees group sums, or None.

    Found by asking the penalty for two gradients, so that it also works for sums of penalties, over the same groups or
    over several attributes, and for penalties of one's own that have an attribute ``groups``.
    """
    groups = _common_groups(penalty)
    if groups is None or groups.n_groups > MOST_GROUPS:
        return None
    collect = indicator(groups.codes, groups.n_groups).T.tocsr()
    members = collect.T.toarray()
    image = np.asarray(penalty.gradient(members), dtype=np.float64) / (2 * groups.sizes)
    first = np.unique(groups.codes, return_index=True)[1]
    table = image[first]
    largest = max(float(np.abs(table).max()), np.finfo(float).tiny)
    # A panel whose group sums vanish must be invisible, and all nodes of a group must be treated alike.
    probe = np.cos(np.arange(groups.n_nodes))[:, None]
    probe -= members @ ((members.T @ probe) / groups.sizes[:, None])
    seen = np.abs(penalty.gradient(probe)).max(initial=0.0)
    if np.abs(image - table[groups.codes]).max() > 1e-10 * largest or seen > 1e-8 * largest:
        return None
    table = (table + table.T) / 2
    roots = np.sqrt(groups.sizes.astype(np.float64))
    values = np.linalg.eigvalsh(roots[:, None] * table * roots)
    if values[0] < -1e-10 * max(values[-1], 0.0) or not np.isfinite(values).all():
        return None
    return GroupTable(groups.codes.astype(np.intp), table, collect)


def _common_groups(penalty: Penalty) -> Groups | None:
    leaves = [one for _, one in penalty.weighted] if isinstance(penalty, WeightedSum) else [penalty]
    found = [groups for one in leaves if isinstance(groups := getattr(one, "groups", None), Groups)]
    if not found or len(found) < len(leaves):
        return None
    different = [found[0]]
    for groups in found:
        if not any(np.array_equal(groups.codes, one.codes) for one in different):
            different.append(groups)
    # Who sees the sums over two attributes sees those over their joint groups.
    return joint_groups(different)
