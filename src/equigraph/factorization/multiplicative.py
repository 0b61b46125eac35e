r"""Multiplicative updates: the solver of the paper.

.. math::
    H &\leftarrow H \odot \Bigl(\frac{A H (W + W^\top) + \lambda L^- H}
                                     {H (W^\top H^\top H W + W H^\top H W^\top) + \lambda L^+ H}\Bigr)^{1/4} \\
    W &\leftarrow W \odot \frac{H^\top A H}{H^\top H W H^\top H}

The product A H that the update of W needs also serves the next update of H: one pass over the graph per iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier
from equigraph._utils.text import count
from equigraph.exceptions import SchedulerLostError, SchedulerLostWarning, warn
from equigraph.factorization.factors import Factors, Status
from equigraph.factorization.penalties import GroupForm, Penalty, WeightedSum
from equigraph.factorization.penalties.base import form_of
from equigraph.graph.groups.encode import group_sums
from equigraph.stores.block_files import writable
from equigraph.stores.products import Product, StoreProduct, gram
from equigraph.stores.rows import MOST_COLUMNS, Rows, StreamedRows, ordered_sum
from equigraph.stores.threads import most_threads, run_all

# Denominators of an update are kept above this floor, as in the authors' code.
FLOOR = 1e-10
# Steps between two checkpoints: at most so many are repeated after a loss; a checkpoint takes one transfer of H.
CHECKPOINT = 25
# Largest number of entries of H for parallel fits; larger fits use threads within the fit.
MOST_ENTRIES = 2**19
# Number of fits that are started at a time, per thread.
_PORTION = 2
# Rows that are updated at a time, so that the arrays of a step stay in the cache.
_CACHED_ROWS = 8192


class Sums(NamedTuple):
    """Small matrices and sums of a membership, wherever its rows are: H'H, H'AH and R of each column of H."""

    HH: NDArray[np.float64]
    HAH: NDArray[np.float64]
    costs: NDArray[np.float64]
    moved: float  # squared norm of the last change of H; 0 at the start


# Fit of W, from W, the sums and the number of the step: the next W, and the weight of the penalty in each column of H.
InteractionFit = Callable[[NDArray[np.float64], Sums, int], tuple[NDArray[np.float64], NDArray[np.float64]]]


def update_interaction(W: NDArray, sums: Sums, step: int) -> tuple[NDArray, NDArray]:
    """Return the next W by a multiplicative update, and weights of 1."""
    return W * sums.HAH / np.maximum(sums.HH @ W @ sums.HH, FLOOR), np.ones(len(W))


def keep_interaction(W: NDArray, sums: Sums, step: int) -> tuple[NDArray, NDArray]:
    """Return the same W, and weights of 1."""
    return W, np.ones(len(W))


class PanelSteps:
    """Update steps by numpy in this process, for any penalty; `RowSteps` works on the rows of a store."""

    # H, W and number of steps of the last checkpoint, if the rows are in other processes.
    kept: tuple[NDArray, NDArray, int] | None = None

    def __init__(self, product: Product, H: NDArray, penalty: Penalty):
        self._product, self._penalty = product, penalty
        self.squared_norm = product.squared_norm()
        self._H, self._last = H, H

    def start(self) -> Sums:
        """Return the sums of the initial H."""
        return self._sums()

    def advance(self, W: NDArray[np.float64], HH: NDArray[np.float64], weights: NDArray[np.float64]) -> Sums:
        """Replace H by the next one, given W, H'H and the weights of the last fit, and return its sums."""
        self._last = self._H
        right, middle = (table.astype(self._H.dtype) for table in interaction_tables(W, HH))
        positive, negative = (product * weights.astype(self._H.dtype) for product in self._penalty_products)
        self._H = update_membership(self._H, self._AH, right, middle, positive, negative)
        return self._sums()

    def undo(self) -> None:
        """Undo the last `advance`; called at most once, before `membership`."""
        self._H = self._last

    def membership(self) -> NDArray:
        """Return H."""
        return self._H

    def _sums(self) -> Sums:
        H = self._H
        self._AH, terms = self._product(H), self._penalty.terms(H)
        self._penalty_products = terms.positive, terms.negative
        up, down = (np.einsum("ij,ij->j", H, product, dtype=np.float64) for product in self._penalty_products)
        return Sums(gram(H, H), gram(H, self._AH), up - down, squared_change(self._last, H))


def multiplicative_updates(
    product: Product,
    H: NDArray,
    W: NDArray,
    *,
    penalty: Penalty | None = None,
    max_iter: int = 500,
    tol: float = 1e-4,
    fit: InteractionFit = update_interaction,
    notify: Callable[[str, int, int, float], bool] | None = None,
) -> Factors:
    r"""Minimise :math:`\|A - H W H^\top\|_F^2 + R(H)` over nonnegative H and W.

    The dtype of H is that of the computation. With ``fit=keep_interaction`` and the identity for W this is symmetric
    factorisation, A = H H'. With status ``DIVERGED`` factors and history end at the last finite iteration.

    If L is symmetric the objective never rises. For the contrastive penalty on unequal groups L is neither symmetric
    nor positive semidefinite: the objective may rise, or fall without bound.
    """
    penalty = penalty or WeightedSum([])
    steps: PanelSteps | RowSteps
    if isinstance(product, StoreProduct) and has_row_form(penalty):
        steps = RowSteps(product, H, penalty)
    else:
        steps = PanelSteps(product, H, penalty)
    return iterate(steps, W, max_iter=max_iter, tol=tol, fit=fit, notify=notify or Notifier())


def has_row_form(penalty: Penalty) -> bool:
    """Return whether a penalty depends on other rows through group sums only; true for an empty sum."""
    is_empty = isinstance(penalty, WeightedSum) and not penalty.weighted
    return is_empty or form_of(penalty) is not None


def iterate(
    steps: PanelSteps | RowSteps,
    W: NDArray,
    *,
    max_iter: int,
    tol: float,
    notify: Callable[[str, int, int, float], bool],
    fit: InteractionFit = update_interaction,
) -> Factors:
    """Iterate the updates; if the rows of H are lost with their workers, return the last checkpoint."""
    W, weights = W.astype(np.float64), np.ones(len(W))
    history: list[float] = []
    status, change = Status.MAX_ITER, float("nan")
    try:
        sums = steps.start()
        while len(history) < max_iter:
            size = float(np.trace(sums.HH))
            # Overflow is expected if the weight of the penalty is too large; it is reported as divergence.
            with np.errstate(over="ignore", invalid="ignore"):
                sums = steps.advance(W, sums.HH, weights)
                W_next, weights = fit(W, sums, len(history))
                error = reconstruction_error(steps.squared_norm, sums.HAH, sums.HH, W_next)
                objective = error + float(sums.costs @ weights)
            if not (np.isfinite(objective) and np.isfinite(W_next).all()):
                steps.undo()
                status = Status.DIVERGED
                break
            W = W_next
            history.append(objective)
            if tol > 0:
                change = float(np.sqrt(sums.moved / max(size, np.finfo(float).tiny)))
            if notify("factorization", len(history), max_iter, objective):
                status = Status.STOPPED
                break
            if change < tol:
                status = Status.CONVERGED
                break
        H = steps.membership()
    except SchedulerLostError:
        if steps.kept is None:
            raise
        H, W, n_steps = steps.kept
        warn(
            f"The Dask scheduler is gone after {count(len(history), 'step')}: the factors are those after {n_steps}, "
            "with the status 'stopped'.",
            SchedulerLostWarning,
        )
        del history[n_steps:]
        status, change = Status.STOPPED, float("nan")
    return Factors(H, W, np.asarray(history), change, status)


def reconstruction_error(
    squared_norm: float, HAH: NDArray[np.float64], HH: NDArray[np.float64], W: NDArray[np.float64]
) -> float:
    r"""Return :math:`\|A - H W H^\top\|_F^2` from the squared norm of A, H'AH, H'H and W."""
    return float(squared_norm - 2 * np.sum(HAH * W) + np.sum((HH @ W @ HH) * W))


def interaction_tables(W: NDArray[np.float64], HH: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
    """Return the k x k tables of an update of H: W + W' and W'H'HW + WH'HW'."""
    return W + W.T, W.T @ HH @ W + W @ HH @ W.T


def update_membership(
    H: NDArray,
    AH: NDArray,
    right: NDArray,
    middle: NDArray,
    positive: NDArray,
    negative: NDArray,
    out: NDArray | None = None,
) -> NDArray:
    """Return the next H from the tables of `interaction_tables` and the products of the penalty."""
    numerator, denominator = np.matmul(AH, right, out=out), H @ middle
    denominator += positive
    numerator += negative
    np.maximum(denominator, FLOOR, out=denominator)
    numerator /= denominator
    # Two square roots are several times as fast as a power.
    np.sqrt(numerator, out=numerator)
    np.sqrt(numerator, out=numerator)
    numerator *= H
    return numerator


def squared_change(old: NDArray, new: NDArray) -> float:
    """Return the squared norm of the change, in double precision."""
    step = new - old
    return float(np.einsum("ij,ij->", step, step, dtype=np.float64))


class Tables(NamedTuple):
    """Small tables for an update of H."""

    right: NDArray  # W + W'
    middle: NDArray  # W'H'HW + WH'HW'
    positive: NDArray  # contribution of the penalty to the denominators of each group
    negative: NDArray  # contribution of the penalty to the numerators of each group
    own: NDArray  # coefficients of a node's own row in ``positive``


class Totals(NamedTuple):
    """Sums of an update over the rows of a block, in double precision, by column."""

    HH: NDArray[np.float64]  # H'H
    sums: NDArray[np.float64]  # of the rows of H by group
    squares: NDArray[np.float64]  # of their squares by group
    moved: NDArray[np.float64]  # squared change of H, in one row


class RowSteps:
    """Counterpart of `PanelSteps` on the rows of a store."""

    def __init__(self, product: StoreProduct, H: NDArray, penalty: Penalty):
        self._store, self._scale = product.store, product.scale
        self.squared_norm = product.squared_norm()
        # An empty sum is one group with tables of zeros.
        zero = np.zeros((1, 1))
        no_penalty = GroupForm(np.zeros(H.shape[0], dtype=np.intp), zero, zero, zero[0])
        self._form = form_of(penalty) or no_penalty
        self._n_clusters, self._dtype = H.shape[1], H.dtype
        # H and the previous H alternate between these two names.
        self._here, self._before = "H", "H before"
        self._n_steps = 0
        self.kept: tuple[NDArray, NDArray, int] | None = None
        self._store.place(self._here, self._padded(H))
        self._store.place("codes", self._form.codes.astype(np.int32))

    def start(self) -> Sums:
        """Return the sums of the initial H."""
        return self._sums(self._store.each(start_rows, self._here, self._form.own.size))

    def advance(self, W: NDArray[np.float64], HH: NDArray[np.float64], weights: NDArray[np.float64]) -> Sums:
        """Replace H by the next one and return its sums."""
        self._n_steps += 1
        if self._n_steps % CHECKPOINT == 0:
            saved = self._store.checkpoint([self._here, "codes"], [(self._here, "AH")])
            if self._here in saved:
                H = np.ascontiguousarray(saved[self._here][:, : self._n_clusters])
                self.kept = H, W.copy(), self._n_steps - 1
        self._here, self._before = self._before, self._here
        tables = self._tables(W, HH, weights)
        return self._sums(self._store.each(advance_rows, self._before, self._here, tables))

    def undo(self) -> None:
        """Undo the last `advance`."""
        self._here, self._before = self._before, self._here

    def membership(self) -> NDArray:
        """Return H, and discard it in the store."""
        H = np.ascontiguousarray(self._store.collect(self._here)[:, : self._n_clusters])
        self._store.checkpoint(())
        return H

    def _tables(self, W: NDArray[np.float64], HH: NDArray[np.float64], weights: NDArray) -> Tables:
        right, middle = interaction_tables(W, HH)
        form, sums = self._form, self._group_sums * weights
        of_groups = form.positive @ sums, form.negative @ sums, np.outer(form.own, weights)
        # The scale of the graph is applied to the small table instead of the rows of the product.
        return Tables(*map(self._padded, (self._scale * right, middle, *of_groups)))

    def _sums(self, parts: list[Totals]) -> Sums:
        crosses = self._store.multiply(self._here, "AH", cross_rows, self._here)
        HH, sums, squares, moved = map(ordered_sum, zip(*parts, strict=True))
        k = self._n_clusters
        self._group_sums = sums[:, :k]
        costs = self._form.costs(self._group_sums, squares[:, :k])
        return Sums(HH[:k, :k], ordered_sum(crosses)[:k, :k] * self._scale, costs, float(moved.sum()))

    def _padded(self, panel: NDArray) -> NDArray:
        """Return a copy padded with columns of zeros, which stay zero, so that rows fill vector registers."""
        k = self._n_clusters
        width = k if k > MOST_COLUMNS else -(-k // 4) * 4
        padded = np.zeros((panel.shape[0], width), self._dtype)
        padded[:, :k] = panel
        return padded


def run_fits(
    product: StoreProduct,
    fits: Sequence[tuple[NDArray, NDArray, Penalty]],
    *,
    max_iter: int,
    tol: float,
) -> Iterator[tuple[int, Factors]]:
    """Run fits (H, W, penalty) of a graph in memory in parallel, one thread each; yield index and factors of each.

    The factors equal those of `multiplicative_updates` with the same product and start, to the bit.
    """
    assert isinstance(product.store, StreamedRows)
    graph, n_threads = product.store.graph, most_threads()

    def run(H: NDArray, W: NDArray, penalty: Penalty) -> Factors:
        own = StoreProduct(StreamedRows(graph, n_threads=1), product.squared_norm())
        return multiplicative_updates(own, H, W, penalty=penalty, max_iter=max_iter, tol=tol)

    for first in range(0, len(fits), size := _PORTION * n_threads):
        tasks = [partial(run, *fit) for fit in fits[first : first + size]]
        yield from enumerate(run_all(tasks, n_threads), first)


def start_rows(rows: Rows, here: str, n_groups: int) -> Totals:
    """Return the sums of the rows of one block."""
    H = rows.get(here)
    return _totals(H, H, rows.get("codes"), n_groups)


def advance_rows(rows: Rows, before: str, here: str, tables: Tables) -> Totals:
    """Update the rows of one block, and return their sums."""
    from equigraph.stores.kernels import update_rows

    H, AH, codes = rows.get(before), rows.get("AH"), rows.get("codes")
    out, width, n_groups = rows.allocate(here, H.shape[1:], H.dtype), H.shape[1], len(tables.own)
    if width <= MOST_COLUMNS:
        totals = Totals(*(np.zeros((n_rows, width)) for n_rows in (width, n_groups, n_groups, 1)))
        # Received tables are read-only; as writable arrays all tables share one compiled loop.
        update_rows(width)(H, AH, codes, Tables(*map(writable, tables)), FLOOR, out, totals)
        return totals
    for start in range(0, H.shape[0], _CACHED_ROWS):
        some = slice(start, start + _CACHED_ROWS)
        positive = tables.positive.take(codes[some], axis=0)
        positive += tables.own.take(codes[some], axis=0) * H[some]
        np.maximum(positive, 0, out=positive)
        negative = tables.negative.take(codes[some], axis=0)
        update_membership(H[some], AH[some], tables.right, tables.middle, positive, negative, out[some])
    return _totals(out, H, codes, n_groups)


def _totals(H: NDArray, before: NDArray, codes: NDArray, n_groups: int) -> Totals:
    squares = group_sums(np.square(H, dtype=np.float64), codes, n_groups)
    moved = np.square(H - before, dtype=np.float64).sum(axis=0, keepdims=True)
    return Totals(gram(H, H), group_sums(H, codes, n_groups), squares, moved)


def cross_rows(rows: Rows, here: str) -> NDArray[np.float64]:
    """Return H'AH of the rows of one block."""
    from equigraph.stores.kernels import gram_rows

    H, AH = rows.get(here), rows.get("AH")
    width = H.shape[1]
    if width > MOST_COLUMNS:
        return gram(H, AH)
    sums = np.zeros((width, width))
    gram_rows(width)(H, AH, sums)
    return sums
