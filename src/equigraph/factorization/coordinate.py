r"""Coordinate descent on the normalised objective; 50 passes over the graph replace 500 multiplicative updates.

A step extrapolates the membership to Y, holds the right factor B = Y W fixed, and sweeps once over the columns of H
with a proximal term. Then W is fitted again. A penalty on group sums is minimised exactly within the sweep, any other
by its gradient and a bound on its curvature. The product with A is linear in H, so that of Y, and of all points between
two memberships, needs no further pass over the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.callbacks import Notifier
from equigraph.exceptions import ParameterError
from equigraph.factorization.factors import Factors, Status
from equigraph.factorization.multiplicative import reconstruction_error, squared_change
from equigraph.factorization.normalized import (
    SETTLING,
    W_SWEEPS,
    fit_interaction,
    length_forces,
    solve_normalized,
    strengths,
)
from equigraph.factorization.penalties import Penalty, WeightedSum, curvature_bound
from equigraph.factorization.penalties.base import form_of
from equigraph.graph.groups.encode import indicator
from equigraph.stores.products import Product, gram

# Most groups for the exact minimisation, which solves systems of that order; beyond, gradients are cheaper.
MOST_GROUPS = 128
# Proximal term relative to the mean of the diagonal of B'B; doubled, up to a limit, when a step without extrapolation
# fails.
PROXIMITY, FARTHEST = 0.5, 1e6
# Extrapolation: initial value, growth per step, and limit.
FIRST, GROWTH, MOST = 0.5, 1.05, 0.95
# A smaller extrapolation is treated as 0.
LEAST = 0.05
# Most sweeps over the entries of W at the start.
FIRST_SWEEPS = 20
# Most halvings of a step that would raise the objective.
HALVINGS = 8
# Most Newton steps for the group sums of one column; near the minimum one or two are enough.
NEWTON_STEPS = 8


class GroupTable(NamedTuple):
    """Group of each node, a table T, and the sparse m x n matrix C that sums over groups: R(H) = Tr((CH)'T(CH))."""

    codes: NDArray[np.intp]
    table: NDArray[np.float64]
    collect: sparse.csr_array


def group_table(penalty: Penalty) -> GroupTable | None:
    """Return the table of a convex penalty that depends on group sums only; None for any other penalty."""
    form = form_of(penalty)
    if form is None or form.own.size > MOST_GROUPS or form.own.any():
        return None
    table = form.positive - form.negative
    table = (table + table.T) / 2
    roots = np.sqrt(np.bincount(form.codes, minlength=form.own.size))
    values = np.linalg.eigvalsh(roots[:, None] * table * roots)
    if values[0] < -1e-10 * max(values[-1], 0.0) or not np.isfinite(values).all():
        return None
    codes = form.codes.astype(np.intp)
    return GroupTable(codes, table, indicator(codes, form.own.size).T.tocsr())


@dataclass(frozen=True)
class _Point:
    """Iterate: membership with its products and Gram matrices, interaction, and objective value.

    ``image`` is linear in H and determines gradient and value of the penalty: the group sums, or the gradient.
    """

    H: NDArray
    AH: NDArray
    image: NDArray
    HH: NDArray[np.float64]
    HAH: NDArray[np.float64]
    cost: NDArray[np.float64]
    W: NDArray[np.float64]
    objective: float


def coordinate_descent(
    product: Product,
    H: NDArray,
    W: NDArray,
    *,
    penalty: Penalty | None = None,
    weight: float = 0.0,
    **options: Any,
) -> Factors:
    r"""Minimise the normalised objective over nonnegative H and symmetric, nonnegative W.

    .. math:: J(H, W) = \frac{\|A - H W H^\top\|_F^2}{\|A\|_F^2}
              + \mu \, \frac{R(H \, \mathrm{diag}(w)^{1/2})}{k \bar d}

    See `equigraph.factorization.normalized` for w, which is the diagonal of W in a graph of cohesive clusters. A step
    takes one product. The scale of the initial W has no effect; the dtype of H is that of the computation. H and W are
    returned scaled so that all w are 1; the history never rises. R needs a finite ``curvature()``.
    """
    return solve_normalized(_descend, product, H, W, penalty, weight, **options)


def _descend(
    product: Product,
    H: NDArray,
    W: NDArray,
    *,
    penalty: WeightedSum,
    max_iter: int = 100,
    tol: float = 1e-4,
    notify: Notifier | None = None,
) -> Factors:
    """Implement `coordinate_descent` for a graph of norm 1."""
    notify = notify or Notifier()
    solver = _Descent(penalty, H.shape)
    here = solver.start(H, product(H), np.asarray(W, dtype=np.float64))
    before, history = here, []
    status, change = Status.MAX_ITER, float("nan")
    for step in range(1, max_iter + 1):
        trial = solver.sweep(here, before)
        AH = product(trial)
        solver.capped = step <= SETTLING
        before, here = here, solver.accept(here, solver.point(trial, AH, here.W))
        history.append(here.objective)
        if tol > 0:
            size = max(float(np.trace(before.HH)), np.finfo(float).tiny)
            change = float(np.sqrt(squared_change(before.H, here.H) / size))
        if notify("factorization", step, max_iter, here.objective):
            status = Status.STOPPED
            break
        if tol > 0 and step > SETTLING and change < tol and solver.may_end:
            status = Status.CONVERGED
            break
    return Factors(here.H, here.W, np.asarray(history), change, status)


class _Descent:
    """Adaptive step control: extrapolation, proximal term, and handling of failed steps."""

    def __init__(self, penalty: WeightedSum, shape: tuple[int, ...]):
        self.penalty, self.groups = penalty, group_table(penalty)
        self.curvature = 0.0
        for weight, one in penalty.weighted:
            bound = curvature_bound(one, *shape)
            if not np.isfinite(bound):
                raise ParameterError(
                    f"{type(one).__name__}.curvature() is not finite: coordinate descent needs a bound on the "
                    "curvature of a penalty that overrides gradient(): override curvature() too, or use solver='mu'."
                )
            self.curvature += weight * bound
        self.extrapolation = FIRST
        self.proximity = PROXIMITY
        self.capped = True
        self.shortened = False
        self.failures = 0

    @property
    def may_end(self) -> bool:
        """Whether a small change implies convergence: the step was not shortened, or no step lowers the objective."""
        return not self.shortened or self.failures >= HALVINGS

    def start(self, H: NDArray, AH: NDArray, W: NDArray[np.float64]) -> _Point:
        """Return the initial point, with W scaled to the best fit."""
        W = (W + W.T) / 2
        HH, HAH = gram(H, H), gram(H, AH)
        size = float(np.sum((HH @ W @ HH) * W))
        ratio = float(np.sum(HAH * W)) / size if size > 0 else 0.0
        # A start that does not fit the graph at all gives no reason to cap the entries of W.
        self.capped = bool(np.isfinite(ratio) and ratio > 0)
        if self.capped:
            return self.point(H, AH, W * ratio, n_sweeps=0)
        return self.point(H, AH, np.zeros_like(W), n_sweeps=FIRST_SWEEPS)

    def point(self, H: NDArray, AH: NDArray, W: NDArray[np.float64], *, n_sweeps: int = W_SWEEPS) -> _Point:
        """Return the point of a membership, with the interaction fitted from W."""
        HH, HAH = gram(H, H), gram(H, AH)
        # The penalty of each column.
        if self.groups is not None:
            image = (self.groups.collect @ H).astype(np.float64, copy=False)
            cost = np.einsum("sl,sl->l", image, self.groups.table @ image)
        else:
            image = np.asarray(self.penalty.gradient(H), dtype=H.dtype)
            cost = 0.5 * np.einsum("ij,ij->j", H, image, dtype=np.float64)
        W = fit_interaction(W, HAH, HH, cost, capped=self.capped, n_sweeps=n_sweeps)
        objective = reconstruction_error(1.0, HAH, HH, W) + float(strengths(HH, W)[0] @ cost)
        return _Point(H, AH, image, HH, HAH, cost, W, objective)

    def sweep(self, here: _Point, before: _Point) -> NDArray:
        """Return the next membership by a sweep over the columns of the extrapolated one."""
        beta = self.extrapolation if self.extrapolation >= LEAST and before is not here else 0.0
        YY, W = here.HH, here.W
        if beta:
            cross = gram(here.H, before.H)
            YY = (1 + beta) ** 2 * here.HH - beta * (1 + beta) * (cross + cross.T) + beta**2 * before.HH
        Y, AY = extrapolate(here.H, before.H, beta), extrapolate(here.AH, before.AH, beta)
        image = here.image if self.groups is not None else extrapolate(here.image, before.image, beta)
        BB = W @ YY @ W
        w, force, steps = self._steps(here, np.diag(BB))
        H, pull = Y.copy(), AY @ W.astype(Y.dtype)
        for column in range(Y.shape[1]):
            if steps[column] > 0:
                # Minimum of the model of half the objective, without penalty and bound.
                gradient = 2 * (H @ BB[:, column].astype(H.dtype) - pull[:, column])
                target = H[:, column] - (gradient + 0.5 * force[column] * H[:, column]) / steps[column]
                stiffness = w[column] / steps[column]
                if self.groups is not None:
                    target = target - _group_shift(target, image[:, column], self.groups, stiffness)
                else:
                    target -= image[:, column] * (0.5 * stiffness)
                H[:, column] = target
            np.maximum(H[:, column], 0, out=H[:, column])
        return H

    def _steps(self, here: _Point, squares: NDArray[np.float64]) -> tuple[NDArray, NDArray, NDArray]:
        """Return, for each column, the weight w of the penalty, the force, and the curvature of the model.

        The force is the coefficient of the part of the gradient that is proportional to the column itself. The
        curvature has the proximal term in it; 0 leaves the column alone. Squares are the diagonal of B'B.
        """
        w, best = strengths(here.HH, here.W)
        force = length_forces(here.cost, w, best, here.HH)
        alive = w > 0
        # The proximal term is the same for all columns when these are scaled so that all w are 1.
        proximal = np.mean(squares[alive] / w[alive]) * self.proximity * w if alive.any() else w
        steps = 2 * squares + 2 * proximal + 0.5 * np.maximum(force, 0)
        if self.groups is None:
            steps = steps + w * self.curvature
        return w, force, np.where(alive, steps, 0.0)

    def accept(self, here: _Point, trial: _Point) -> _Point:
        """Return the trial point if it is better, else a point between, else the old one; adapt the next step."""
        self.shortened = not trial.objective < here.objective
        if not self.shortened:
            self.extrapolation = min(MOST, max(self.extrapolation, LEAST) * GROWTH)
            self.proximity = max(PROXIMITY, 0.9 * self.proximity)
            self.failures = 0
            return trial
        if self.extrapolation < LEAST:
            self.proximity = min(2 * self.proximity, FARTHEST)
        share = 1.0
        for _ in range(HALVINGS):
            share /= 2
            H, AH = extrapolate(here.H, trial.H, -share), extrapolate(here.AH, trial.AH, -share)
            between = self.point(np.maximum(H, 0), AH, here.W)
            if between.objective < here.objective:
                self.extrapolation = self.extrapolation / 2 if self.extrapolation > LEAST else 0.0
                self.failures = 0
                return between
        self.extrapolation = 0.0
        self.failures += 1
        return here


def _group_shift(target: NDArray, sums: NDArray, groups: GroupTable, stiffness: float) -> NDArray[np.float64]:
    """Return the decrease of each entry of a column by the penalty, by Newton steps from the last group sums."""
    codes, n_groups, table = groups.codes, sums.size, groups.table * stiffness
    shift = table @ sums
    free = target > shift[codes]
    for _ in range(NEWTON_STEPS):
        count = np.bincount(codes[free], minlength=n_groups)
        total = np.bincount(codes[free], target[free], minlength=n_groups)
        shift = np.linalg.solve(np.eye(n_groups) + table * count, table @ total)
        was_free, free = free, target > shift[codes]
        if np.array_equal(free, was_free):
            break
    return shift[codes]


def extrapolate(here: NDArray, before: NDArray, extrapolation: float) -> NDArray:
    """Return ``here + extrapolation * (here - before)``; without extrapolation ``here`` itself, not a copy."""
    if extrapolation == 0:
        return here
    out = here - before
    out *= out.dtype.type(extrapolation)
    out += here
    return out
