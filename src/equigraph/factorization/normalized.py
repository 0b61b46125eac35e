r"""The normalised objective, invariant to the scale of the graph, to that of the columns of H and to the graph size.

.. math::
    J(H, W) = \frac{\|A - H W H^\top\|_F^2}{\|A\|_F^2} + \mu \, \frac{R(H \, \mathrm{diag}(w)^{1/2})}{k \bar d},
    \qquad w_l = \max_m W_{lm} \frac{\|h_m\|}{\|h_l\|},

where :math:`\bar d` is the mean degree. If the strongest link of a cluster is the one to itself, as in a graph of
cohesive clusters, :math:`w_l = W_{ll}`: the penalty is that of the membership scaled to :math:`W_{ll} = 1`. Otherwise
(stars, bipartite graphs, whose W has a zero diagonal) the maximum over the other clusters replaces it continuously.
Without the maximum, one cluster split into two equal columns with a zero diagonal would have no penalty.

J does not change when a column of H is multiplied by a number and its row and column of W are divided by it: the
squared length of column l of ``H diag(sqrt(w))`` is its strongest link in the W of columns of unit length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.factorization.factors import Factors, Status
from equigraph.factorization.multiplicative import Sums, multiplicative_updates
from equigraph.factorization.penalties import Penalty, WeightedSum
from equigraph.stores.products import Product, gram

# In the first steps the off-diagonal entries of W may not grow: a random H has nearly equal columns, and the best W for
# them leads to poor local minima.
SETTLING = 10
# Most sweeps over the entries of W in a step, and the change at which they stop.
W_SWEEPS, W_TOLERANCE = 3, 1e-10


def strengths(
    HH: NDArray[np.float64], W: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return w, and the cluster at the other end of the strongest link of each; w is 0 for a column of zeros."""
    length = np.sqrt(np.diag(HH))
    links = W * length
    # Ties are resolved in favour of the link of a cluster to itself.
    best = np.where(np.diag(links) >= links.max(axis=1), np.arange(length.size), links.argmax(axis=1))
    strongest = links[np.arange(length.size), best]
    return np.divide(strongest, length, out=np.zeros_like(length), where=length > 0), best


def length_forces(
    cost: NDArray[np.float64],
    w: NDArray[np.float64],
    best: NDArray[np.intp],
    HH: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return f, where ``f[l] * h_l`` is the derivative of ``cost @ w`` by the length of column l of H.

    It is 0 if the strongest link of every cluster is the one to itself, since w then does not depend on H.
    """
    squares = np.diag(HH)
    force = np.zeros(w.size)
    for cluster in np.flatnonzero((best != np.arange(w.size)) & (w > 0)):
        force[cluster] -= cost[cluster] * w[cluster] / squares[cluster]
        force[best[cluster]] += cost[cluster] * w[cluster] / squares[best[cluster]]
    return force


def rescale(H: NDArray, W: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
    """Return the factors with the same product H W H', scaled so that all w are 1."""
    w, _ = strengths(gram(H, H), np.asarray(W, dtype=np.float64))
    root = np.sqrt(np.where(w > 0, w, 1.0))
    return H * root.astype(H.dtype), W / np.outer(root, root)


def fit_interaction(
    W: NDArray[np.float64],
    HAH: NDArray[np.float64],
    HH: NDArray[np.float64],
    cost: NDArray[np.float64],
    *,
    capped: bool,
    n_sweeps: int = W_SWEEPS,
) -> NDArray[np.float64]:
    r"""Minimise the normalised objective over W by exact coordinate descent.

    .. math:: \min_{W \ge 0} \; -2 \langle H^\top A H, W\rangle + \langle H^\top H W H^\top H, W\rangle
              + \sum_l c_l \max_m W_{lm} \frac{\|h_m\|}{\|h_l\|}

    The problem is convex if the costs c, the penalties of the columns of H, are nonnegative. W is symmetric, and not
    changed in place. With ``capped`` its off-diagonal entries may not grow.
    """
    W, image, length = W.copy(), HH @ W @ HH, np.sqrt(np.diag(HH))
    k = W.shape[0]
    for _ in range(n_sweeps):
        largest = 0.0
        for i in range(k):
            for j in range(i, k):
                if length[i] == 0.0 or length[j] == 0.0:
                    continue
                value = _best_entry(W, image, HAH, HH, cost, length, i, j)
                if capped and i != j:
                    value = min(value, W[i, j])
                step = value - W[i, j]
                if step == 0.0:
                    continue
                W[i, j] = value
                W[j, i] = value
                change = step * np.outer(HH[i], HH[j])
                image += change
                if i != j:
                    image += change.T
                largest = max(largest, abs(step) * length[i] * length[j])
        if largest <= W_TOLERANCE:
            break
    return W


def _best_entry(
    W: NDArray, image: NDArray, HAH: NDArray, HH: NDArray, cost: NDArray, length: NDArray, i: int, j: int
) -> float:
    """Return the optimal value of one entry of W (and its transpose) with all others fixed."""
    # The cost is piecewise linear with a kink at each threshold, so the minimum may be at a threshold.
    if i == j:
        curvature = 2 * HH[i, i] ** 2
        value = W[i, i] - 2 * (image[i, i] - HAH[i, i]) / curvature
        threshold = _strongest_other(W, length, i, i) / length[i]
        if value > threshold:
            value = max(threshold, value - cost[i] / curvature)
        return max(value, 0.0)
    curvature = 4 * (HH[i, i] * HH[j, j] + HH[i, j] ** 2)
    value = W[i, j] - 4 * (image[i, j] - HAH[i, j]) / curvature
    first = _strongest_other(W, length, i, j) / length[j]
    second = _strongest_other(W, length, j, i) / length[i]
    slope, slope_second = cost[i] * length[j] / length[i], cost[j] * length[i] / length[j]
    if first > second:
        first, second = second, first
        slope, slope_second = slope_second, slope
    # Check the piecewise minima from the largest values down: above both thresholds both slopes apply.
    both = value - (slope + slope_second) / curvature
    if both > second:
        return both
    one = value - slope / curvature
    if one > first:
        return max(min(one, second), 0.0)
    return max(min(value, first), 0.0)


def _strongest_other(W: NDArray, length: NDArray, i: int, skip: int) -> float:
    """Return the strongest link of cluster i except that to ``skip``, in units of the length of i."""
    return max((W[i, m] * length[m] for m in range(W.shape[0]) if m != skip), default=0.0)


def _fit_step(W: NDArray, sums: Sums, step: int) -> tuple[NDArray, NDArray]:
    """Return the next W of a multiplicative update, and w."""
    best = fit_interaction(W, sums.HAH, sums.HH, sums.costs, capped=step < SETTLING)
    # Where W becomes 0, so does the column of H, for good: the penalty of a first H is no reason for that.
    if (np.diag(best) == 0).any():
        best = (W + best) / 2
    return best, strengths(sums.HH, best)[0]


def normalized_updates(
    product: Product,
    H: NDArray,
    W: NDArray,
    *,
    penalty: Penalty | None = None,
    weight: float = 0.0,
    **options: Any,
) -> Factors:
    """Minimise the normalised objective by multiplicative updates."""

    def solve(unit: Product, H: NDArray, W: NDArray, **options: Any) -> Factors:
        return multiplicative_updates(unit, *rescale(H, W), fit=_fit_step, **options)

    return solve_normalized(solve, product, H, W, penalty, weight, **options)


def solve_normalized(
    solve: Callable[..., Factors],
    product: Product,
    H: NDArray,
    W: NDArray,
    penalty: Penalty | None,
    weight: float,
    **options: Any,
) -> Factors:
    """Run a solver on the graph scaled to norm 1, so that the unit of the weights has no effect.

    The solver gets the penalty with its factor in the normalised objective. The factors are those of the graph itself,
    scaled so that all w are 1.
    """
    norm = float(np.sqrt(product.squared_norm()))
    if norm == 0:
        return Factors(np.zeros_like(H), np.zeros(W.shape), np.zeros(0), 0.0, Status.CONVERGED)
    terms = []
    if penalty is not None:
        mean_degree = float(product(np.ones((product.n_nodes, 1))).mean())
        terms = [(weight * norm / (H.shape[1] * mean_degree), penalty)]
    factors = solve(product.scaled(1 / norm), H, W / norm, penalty=WeightedSum(terms), **options)
    H, W = rescale(factors.H, factors.W)
    return replace(factors, H=H * H.dtype.type(np.sqrt(norm)), W=W)
