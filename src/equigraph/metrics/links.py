"""How many links stay inside clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def share_inside(adjacency: sparse.csr_array, labels: NDArray) -> float:
    """Return the share of the links, by weight, whose two ends are in the same cluster; NaN without links.

    Examples
    --------
    >>> path = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> share_inside(path, np.array([0, 0, 1]))
    0.5
    """
    links = adjacency.tocoo()
    rows, columns = links.coords
    total = float(links.data.sum(dtype=np.float64))
    kept = float(links.data[labels[rows] == labels[columns]].sum(dtype=np.float64))
    return kept / total if total else float("nan")
