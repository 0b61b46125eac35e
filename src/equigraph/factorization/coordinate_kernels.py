"""One sweep of coordinate descent over the columns of H: in numpy for small graphs, compiled for others.

Both do the same. The loops are compiled on first use: on a fresh machine that takes ten seconds, and loading them half
a second ever after, which a graph of a few hundred nodes would not repay.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.factorization import interaction
from equigraph.stores.threads import most_threads, run_blocks

# Most Newton steps for the group sums of one column; close to the minimum one or two are enough.
NEWTON_STEPS = 8
# Fewer entries of H than this do not repay the time to load the compiler; fewer than that, handing them to threads.
COMPILE_FROM, _THREADED_FROM = 20_000, 500_000


# Nodes that the compiled loops treat together.
BLOCK = 256


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


def _sweep_blocks(
    H, AH, slope, before, extrapolation, has_slope, W, BB, force, step, stiffness, out, first, last
):
    # Blocks of nodes, transposed: the innermost loops run over nodes and become vector instructions.
    n_nodes, k = H.shape
    H_before, AH_before, slope_before = before
    Y, pull, slopes = np.zeros((k, BLOCK)), np.zeros((k, BLOCK)), np.zeros((k, BLOCK))
    gradient = np.zeros(BLOCK)
    for start in range(first * BLOCK, min(last * BLOCK, n_nodes), BLOCK):
        size = min(BLOCK, n_nodes - start)
        _load(H, AH, H_before, AH_before, extrapolation, W, start, size, Y, pull)
        if has_slope:
            rows = slice(start, start + size)
            _extrapolate(slope[rows], slope_before[rows], extrapolation, slopes)
        for m in range(k):
            if step[m] > 0.0:
                _gradient(Y, pull, BB, force[m], m, 0, size, gradient)
                if has_slope:
                    _add_multiple(gradient, 0.5 * stiffness[m], slopes[m])
                _add_multiple(Y[m], -1.0 / step[m], gradient)
            _clip(Y[m])
        _transpose(Y, out[start : start + size])


def _sweep_columns(H, AH, sums, before, extrapolation, codes, table, W, BB, force, step, stiffness, n_newton):
    n_nodes, k = H.shape
    H_before, AH_before = before
    Y, pull = np.empty((k, n_nodes), H.dtype), np.empty((k, n_nodes), H.dtype)
    Y_block, pull_block = np.empty((k, BLOCK)), np.empty((k, BLOCK))
    for start in range(0, n_nodes, BLOCK):
        size = min(BLOCK, n_nodes - start)
        _load(H, AH, H_before, AH_before, extrapolation, W, start, size, Y_block, pull_block)
        Y[:, start : start + size] = Y_block[:, :size]
        pull[:, start : start + size] = pull_block[:, :size]
    target, gradient = np.empty(n_nodes), np.empty(BLOCK)
    for m in range(k):
        if step[m] > 0.0:
            for start in range(0, n_nodes, BLOCK):
                size = min(BLOCK, n_nodes - start)
                _gradient(Y, pull, BB, force[m], m, start, size, gradient)
                block = target[start : start + size]
                block[:] = Y[m, start : start + size]
                _add_multiple(block, -1.0 / step[m], gradient[:size])
            shift = _shifts(target, sums[:, m].copy(), codes, table * (stiffness[m] / step[m]), n_newton)
            column = Y[m]
            for i in range(n_nodes):
                column[i] = target[i] - shift[codes[i]]
        _clip(Y[m])
    out = np.empty_like(H)
    _transpose(Y, out)
    return out


def _load(H, AH, H_before, AH_before, extrapolation, W, start, size, Y, pull):
    """Write a block of Y and of A Y W, transposed."""
    k = H.shape[1]
    AY = np.zeros((k, BLOCK))
    rows = slice(start, start + size)
    _extrapolate(H[rows], H_before[rows], extrapolation, Y)
    _extrapolate(AH[rows], AH_before[rows], extrapolation, AY)
    for m in range(k):
        pull[m, :] = 0.0
        for j in range(k):
            if W[j, m] != 0.0:
                _add_multiple(pull[m], W[j, m], AY[j])


def _gradient(Y, pull, BB, force, m, start, size, out):
    """Write the gradient of column m without the penalty."""
    part = out[:size]
    part[:] = 0.0
    _add_multiple(part, 0.5 * force, Y[m, start : start + size])
    _add_multiple(part, -2.0, pull[m, start : start + size])
    for j in range(Y.shape[0]):
        _add_multiple(part, 2.0 * BB[j, m], Y[j, start : start + size])


def _extrapolate(here, before, extrapolation, out):
    """Write ``here + extrapolation * (here - before)``, transposed."""
    for m in range(here.shape[1]):
        for i in range(here.shape[0]):
            out[m, i] = here[i, m] + extrapolation * (here[i, m] - before[i, m])


def _transpose(columns, out):
    for m in range(out.shape[1]):
        for i in range(out.shape[0]):
            out[i, m] = columns[m, i]


def _add_multiple(out, factor, values):
    for i in range(out.size):
        out[i] += factor * values[i]


def _clip(values):
    for i in range(values.size):
        if not values[i] > 0.0:
            values[i] = 0.0


def _shifts(target, sums, codes, weighted, n_newton):
    """Return what each group is shifted by: the weighted table times the group sums after the shift."""
    n_groups = sums.size
    system, before, shift = np.zeros((n_groups, n_groups)), np.zeros(n_groups), np.zeros(n_groups)
    count, total = np.zeros(n_groups), np.zeros(n_groups)
    _multiply(weighted, sums, shift)
    for i in range(target.size):
        s = codes[i]
        free = 1.0 if target[i] > shift[s] else 0.0
        count[s] += free
        total[s] += free * target[i]
    for newton in range(n_newton):
        for s in range(n_groups):
            before[s] = shift[s]
            for t in range(n_groups):
                system[s, t] = weighted[s, t] * count[t]
            system[s, s] += 1.0
        _multiply(weighted, total, shift)
        _solve(system, shift)
        if newton == n_newton - 1:
            break
        changed = False
        for i in range(target.size):
            s = codes[i]
            was_free, free = target[i] > before[s], target[i] > shift[s]
            if was_free != free:
                sign = 1.0 if free else -1.0
                count[s] += sign
                total[s] += sign * target[i]
                changed = True
        if not changed:
            break
    return shift


def _multiply(matrix, vector, out):
    for s in range(vector.size):
        out[s] = 0.0
        for t in range(vector.size):
            out[s] += matrix[s, t] * vector[t]


def _solve(system, vector):
    """Solve in place by elimination with row pivots: a library call takes seconds to compile."""
    n = vector.size
    for c in range(n):
        pivot = c
        for r in range(c + 1, n):
            if abs(system[r, c]) > abs(system[pivot, c]):
                pivot = r
        if pivot != c:
            for t in range(c, n):
                system[c, t], system[pivot, t] = system[pivot, t], system[c, t]
            vector[c], vector[pivot] = vector[pivot], vector[c]
        for r in range(c + 1, n):
            ratio = system[r, c] / system[c, c]
            for t in range(c, n):
                system[r, t] -= ratio * system[c, t]
            vector[r] -= ratio * vector[c]
    for c in range(n - 1, -1, -1):
        for t in range(c + 1, n):
            vector[c] -= system[c, t] * vector[t]
        vector[c] /= system[c, c]


@cache
def compiled() -> SimpleNamespace:
    """Return the compiled loops: ``blocks``, ``columns`` and ``interaction``."""
    from numba.extending import overload, register_jitable

    from equigraph._utils.compilation import compiled as compile_loop

    of_interaction = (interaction._strongest_other, interaction._best_entry)
    of_sweeps = (_add_multiple, _clip, _extrapolate, _transpose, _load, _gradient)
    of_groups = (_shifts, _multiply, _solve)
    for helper in (*of_interaction, *of_sweeps, *of_groups):
        register_jitable(helper)
    overload(interaction._add_outer)(lambda image, factor, left, right: interaction._add_outer_loops)
    return SimpleNamespace(
        blocks=compile_loop(_sweep_blocks),
        columns=compile_loop(_sweep_columns),
        interaction=compile_loop(interaction.interaction_sweeps),
    )


def sweep(
    here: Images,
    before: Images,
    extrapolation: float,
    groups: tuple[NDArray[np.intp], NDArray[np.float64]] | None,
    model: Model,
    use_compiled: bool,
) -> NDArray:
    """Return the next H, from ``here + extrapolation * (here - before)``; no argument is changed."""
    if use_compiled:
        return _compiled_sweep(here, before, extrapolation, groups, model)
    Y, AY = ahead(here.H, before.H, extrapolation), ahead(here.AH, before.AH, extrapolation)
    if here.image is None or before.image is None:
        return sweep_panel(Y, AY, None, model)
    if groups is not None:
        return sweep_panel_groups(Y, AY, here.image, *groups, model)
    return sweep_panel(Y, AY, ahead(here.image, before.image, extrapolation), model)


def _compiled_sweep(
    here: Images, before: Images, extrapolation: float, groups: tuple[NDArray, NDArray] | None, model: Model
) -> NDArray:
    if groups is not None:
        return compiled().columns(*here, before[:2], extrapolation, *groups, *model, NEWTON_STEPS)
    has_slope = here.image is not None
    if not has_slope:
        # The loops want arrays of one type; these are not read.
        here, before = here._replace(image=here.H), before._replace(image=before.H)
    out, loop = np.empty_like(here.H), compiled().blocks

    def sweep_blocks(first: int, last: int) -> None:
        loop(*here, tuple(before), extrapolation, has_slope, *model, out, first, last)

    n_threads = most_threads() if out.size >= _THREADED_FROM else 1
    run_blocks(sweep_blocks, -(-out.shape[0] // BLOCK), n_threads)
    return out


def ahead(here: NDArray, before: NDArray, extrapolation: float) -> NDArray:
    """Return ``here + extrapolation * (here - before)``, without a copy where that is ``here``."""
    if extrapolation == 0:
        return here
    out = here - before
    out *= out.dtype.type(extrapolation)
    out += here
    return out
