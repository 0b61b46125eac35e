"""Multiplicative updates by compiled loops: update and sums in one pass over the rows, product and H'AH in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier
from equigraph.factorization.multiplicative import Factors, Status
from equigraph.factorization.penalties import GroupForm
from equigraph.stores import FusedProduct
from equigraph.stores.panels import (
    Tables,
    entries_as,
    row_blocks,
    zero_totals,
)
from equigraph.stores.threads import most_threads, run_all, run_blocks

# Iterations between two looks at the interpreter, as work in multiplications: a fraction of a second.
_CHUNK_WORK = 3e8
# Entries of H beyond which threads are better used within a fit than for several fits.
MOST_ENTRIES = 2**19
# Fits that are begun at once, per thread.
_PORTION = 2


class CompiledRun:
    """A run of the updates, for a penalty that is a small table, weights included."""

    def __init__(
        self,
        product: FusedProduct,
        H: NDArray,
        W: NDArray,
        form: GroupForm | None,
        *,
        tol: float,
        fit_interaction: bool,
        n_threads: int | None = None,
    ):
        from equigraph.factorization.update_kernels import FixedInputs, Work

        # A copy: the two arrays take turns.
        self._H = np.array(H, order="C")
        self._other = np.empty_like(self._H)
        self._tol, self._n_threads = float(tol), n_threads or product.n_threads
        n_clusters, n_groups = H.shape[1], 0 if form is None else form.own.size
        totals = zero_totals(n_clusters, n_groups)
        cuts = row_blocks(product.entries.indptr, bytes_per_block=sum(part.nbytes for part in totals))
        no_table = np.zeros((0, 0))
        positive, negative, own = (no_table, no_table, np.zeros(0)) if form is None else form[1:]
        self._fixed = FixedInputs(
            entries=entries_as(product.entries, H.dtype),
            cuts=cuts,
            codes=None if form is None else form.codes.astype(np.int32),
            positive=positive,
            negative=negative,
            own=own,
            squared_norm=product.squared_norm(),
            fit_interaction=fit_interaction,
        )
        small, by_group = (
            np.zeros((n_clusters, n_clusters), H.dtype),
            np.zeros((n_groups, n_clusters), H.dtype),
        )
        n_blocks = cuts.size - 1
        W = np.array(W, dtype=np.float64, order="C")
        self._work = Work(
            AH=np.empty_like(self._H),
            tables=Tables(small, small.copy(), by_group, by_group.copy(), own.astype(H.dtype)),
            **{
                f"{name}_blocks": np.zeros((n_blocks, *part.shape)) for name, part in totals._asdict().items()
            },
            HAH_blocks=np.zeros((n_blocks, *totals.HH.shape)),
            totals=totals,
            HAH=np.zeros_like(totals.HH),
            W=W,
            W_next=W.copy(),
        )
        self._change = float("nan")
        self._status: Status | None = None
        work = self._fixed.entries.indices.size + 4 * self._H.shape[0]
        self._chunk = max(1, int(_CHUNK_WORK / (work * n_clusters)))
        self._start()

    def to_end(self, max_iter: int, notify: Notifier) -> Factors:
        """Iterate until the run ends by itself, somebody stops it, or ``max_iter`` is reached."""
        history: list[float] = []
        status: Status | None = None
        # Who listens hears of every iteration when it is done, and may end the run with what it had then.
        most = 1 if notify.callbacks else self._chunk
        while status is None and len(history) < max_iter:
            for objective in self.go(min(most, max_iter - len(history))).tolist():
                history.append(objective)
                if notify("factorization", len(history), max_iter, objective):
                    status = Status.STOPPED
            status = status or self._status
        return Factors(self._H, self._work.W, np.asarray(history), self._change, status or Status.MAX_ITER)

    def go(self, count: int) -> NDArray[np.float64]:
        """Do some iterations, and return the objective after each; fewer when the run ended."""
        from equigraph.factorization import update_kernels as kernels

        if self._n_threads > 1:
            history, change, why = self._go_threaded(count)
            done = history.size
        else:
            history = np.empty(count)
            done, change, why = kernels.iterations(
                self._fixed, self._work, self._H, self._other, history, self._tol
            )
            if done % 2 == 1:
                self._H, self._other = self._other, self._H
        if self._tol > 0 and done:
            self._change = float(change)
        if why == kernels.CONVERGED:
            self._status = Status.CONVERGED
        elif why == kernels.DIVERGED:
            self._status = Status.DIVERGED
        return history[:done]

    def _go_threaded(self, count: int) -> tuple[NDArray[np.float64], float, int]:
        """Do what `iterations` does, blocks of rows shared among threads."""
        from equigraph.factorization import update_kernels as kernels

        fixed, work = self._fixed, self._work
        history: list[float] = []
        change = float("nan")
        for _ in range(count):
            size = kernels.squared_size(work)
            kernels.before_update(work)
            self._share(lambda a, b: kernels.update_blocks(fixed, work, self._H, self._other, a, b))
            penalty = kernels.after_update(fixed, work)
            self._share(lambda a, b: kernels.product_blocks(fixed, work, self._other, a, b))
            objective = kernels.after_product(fixed, work, penalty)
            if not kernels.accept(work.W, work.W_next, objective):
                return np.asarray(history), change, kernels.DIVERGED
            history.append(objective)
            change = kernels.relative_move(work, size)
            self._H, self._other = self._other, self._H
            if self._tol > 0 and change < self._tol:
                return np.asarray(history), change, kernels.CONVERGED
        return np.asarray(history), change, kernels.GOING_ON

    def _share(self, loop: Callable[[int, int], Any]) -> None:
        run_blocks(loop, self._fixed.cuts.size - 1, self._n_threads)

    def _start(self) -> None:
        """Fill in the sums of the start."""
        from equigraph.factorization import update_kernels as kernels

        self._share(lambda a, b: kernels.start_blocks(self._fixed, self._work, self._H, a, b))
        kernels.after_update(self._fixed, self._work)
        self._share(lambda a, b: kernels.product_blocks(self._fixed, self._work, self._H, a, b))


class Fit(NamedTuple):
    """The start of a fit, and its penalty (None is no penalty)."""

    H: NDArray
    W: NDArray
    form: GroupForm | None


def run_fits(
    product: FusedProduct,
    fits: Sequence[Fit],
    *,
    max_iter: int,
    tol: float,
    fit_interaction: bool = True,
    n_threads: int | None = None,
) -> Iterator[tuple[int, Factors]]:
    """Run fits, each by one thread, and yield the place and the outcome of each.

    The outcome is that of `multiplicative_updates` with the same product and start, to the bit.
    """

    def run(fit: Fit) -> Factors:
        updates = CompiledRun(product, *fit, tol=tol, fit_interaction=fit_interaction, n_threads=1)
        return updates.to_end(max_iter, Notifier())

    n_threads = n_threads or most_threads()
    for first in range(0, len(fits), size := _PORTION * n_threads):
        tasks = [partial(run, fit) for fit in fits[first : first + size]]
        yield from enumerate(run_all(tasks, n_threads), first)
