"""Spectral clustering without fairness."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import Constraint
from equigraph._utils.randomness import RandomState
from equigraph.spectral.embedding import constrained_embedding
from equigraph.spectral.method import NORMALIZED, ActivePart, SpectralMethod


class SpectralClustering(SpectralMethod):
    r"""Spectral clustering, the baseline without fairness.

    .. math:: \min_H \operatorname{tr}(H^\top L H) \quad \text{s.t.}\quad H^\top D H = I
        \quad (\text{or } H^\top H = I)

    with L = D - A, then k-means on the rows of H. Groups, if given, only decide where nodes without an edge
    go.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    normalized : bool, default=True
        Whether to minimise the normalised cut (:math:`H^\top D H = I`) or the ratio cut (:math:`H^\top H =
        I`). The ratio cut tends to split off single nodes of low degree.
    row_normalize : bool, default=True
        Whether the rows of H are scaled to unit length before k-means. That keeps a few extreme rows from
        taking clusters of their own.
    n_init : int, default=10
        Number of starts of k-means; the best one counts.
    random_state : int, Generator, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    embedding_ : ndarray of shape (n_nodes, n_clusters)
        H, before its rows are scaled; zeros for nodes without an edge.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Of the Laplacian, weights in units of the largest, ascending; fewer where fewer nodes than clusters have
        an edge.

    References
    ----------
    Ng, Jordan, Weiss. On Spectral Clustering: Analysis and an Algorithm. NeurIPS 2001.
    Shi, Malik. Normalized Cuts and Image Segmentation. IEEE TPAMI 2000.

    Examples
    --------
    >>> import equigraph as eg
    >>> two_triangles = [
    ...     [0, 1, 1, 0, 0, 0],
    ...     [1, 0, 1, 0, 0, 0],
    ...     [1, 1, 0, 1, 0, 0],
    ...     [0, 0, 1, 0, 1, 1],
    ...     [0, 0, 0, 1, 0, 1],
    ...     [0, 0, 0, 1, 1, 0],
    ... ]
    >>> eg.SpectralClustering(n_clusters=2, random_state=0).fit_predict(two_triangles).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _needs_edges: ClassVar[bool] = False
    _parameters: ClassVar[dict[str, Constraint]] = {**SpectralMethod._parameters, "normalized": NORMALIZED}

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        normalized: bool = True,
        row_normalize: bool = True,
        n_init: int = 10,
        random_state: RandomState = None,
    ):
        self.n_clusters = n_clusters
        self.normalized = normalized
        self.row_normalize = row_normalize
        self.n_init = n_init
        self.random_state = random_state

    def _fairness_wanted(self) -> bool:
        return False

    def _constraint(self, active: ActivePart) -> tuple[NDArray | None, dict[str, Any]]:
        return None, {}

    def _embed(self, active: ActivePart, constraint: NDArray | None) -> tuple[NDArray, NDArray]:
        n_vectors = min(self.n_clusters, active.n_nodes)
        if n_vectors == 0:
            return np.zeros(0), np.zeros((0, 0))
        # The top of the normalised spectrum is found fastest by plain products with A.
        method = "iterate" if self.normalized else "auto"
        return constrained_embedding(
            active.adjacency, None, n_vectors, normalized=self.normalized, method=method
        )
