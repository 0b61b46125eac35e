"""One sweep of coordinate descent over the columns of H."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Most Newton steps for the group sums of one column; close to the minimum one or two are enough.
NEWTON_STEPS = 8


class Images(NamedTuple):
    """A membership, its image under A, and that under the penalty: group sums, the gradient, or nothing."""

    H: NDArray
    AH: NDArray
    image: NDArray | None


class Model(NamedTuple):
    """The quadratic model of half the objective around the extrapolated membership Y."""

    W: NDArray[np.float64]
    BB: NDArray[np.float64]  # B'B for the right factor B = Y W
    force: NDArray[
        np.float64
    ]  # coefficient of the part of the gradient that is proportional to the column itself
    step: NDArray[
        np.float64
    ]  # curvature along each coordinate, proximal term included; 0 leaves the column alone
    stiffness: NDArray[np.float64]  # weight of the penalty in each column


def sweep_panel(Y: NDArray, AY: NDArray, slope: NDArray | None, model: Model) -> NDArray:
    """Return the next H from Y, A Y and the gradient of the penalty at Y."""
    H, pull = Y.copy(), AY @ model.W.astype(Y.dtype)
    for column in range(Y.shape[1]):
        if model.step[column] > 0:
            H[:, column] = _target(H, pull, model, column)
            if slope is not None:
                H[:, column] -= slope[:, column] * (0.5 * model.stiffness[column] / model.step[column])
        np.maximum(H[:, column], 0, out=H[:, column])
    return H


def sweep_panel_groups(
    Y: NDArray,
    AY: NDArray,
    sums: NDArray[np.float64],
    codes: NDArray[np.intp],
    table: NDArray[np.float64],
    model: Model,
) -> NDArray:
    """Return the next H from Y, A Y and the last group sums; their penalty is minimised exactly in each column."""
    H, pull = Y.copy(), AY @ model.W.astype(Y.dtype)
    n_groups = table.shape[0]
    for column in range(Y.shape[1]):
        if model.step[column] > 0:
            target = _target(H, pull, model, column).astype(np.float64)
            weighted = table * (model.stiffness[column] / model.step[column])
            shift = weighted @ sums[:, column]
            free = target > shift[codes]
            for _ in range(NEWTON_STEPS):
                count = np.bincount(codes[free], minlength=n_groups)
                total = np.bincount(codes[free], target[free], minlength=n_groups)
                shift = np.linalg.solve(np.eye(n_groups) + weighted * count, weighted @ total)
                was_free, free = free, target > shift[codes]
                if np.array_equal(free, was_free):
                    break
            H[:, column] = target - shift[codes]
        np.maximum(H[:, column], 0, out=H[:, column])
    return H


def _target(H: NDArray, pull: NDArray, model: Model, column: int) -> NDArray:
    """Return where the column goes without penalty and bound."""
    gradient = 2 * (H @ model.BB[:, column].astype(H.dtype) - pull[:, column])
    return H[:, column] - (gradient + 0.5 * model.force[column] * H[:, column]) / model.step[column]


def sweep(
    here: Images,
    before: Images,
    extrapolation: float,
    groups: tuple[NDArray[np.intp], NDArray[np.float64]] | None,
    model: Model,
) -> NDArray:
    """Return the next H, from ``here + extrapolation * (here - before)``; no argument is changed."""
    Y, AY = ahead(here.H, before.H, extrapolation), ahead(here.AH, before.AH, extrapolation)
    if here.image is None or before.image is None:
        return sweep_panel(Y, AY, None, model)
    if groups is not None:
        return sweep_panel_groups(Y, AY, here.image, *groups, model)
    return sweep_panel(Y, AY, ahead(here.image, before.image, extrapolation), model)


def ahead(here: NDArray, before: NDArray, extrapolation: float) -> NDArray:
    """Return ``here + extrapolation * (here - before)``, without a copy where that is ``here``."""
    if extrapolation == 0:
        return here
    out = here - before
    out *= out.dtype.type(extrapolation)
    out += here
    return out
