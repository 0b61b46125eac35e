"""Many fits of multiplicative updates on one graph, run together: they share every pass over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.execution import FusedProduct
from equigraph.execution.panels import LINE, Tables, Totals, empty_panel, entries_as, rows_ahead
from equigraph.execution.threads import most_threads, run_all
from equigraph.factorization.fused import FusedRun
from equigraph.factorization.multiplicative import Factors, Status
from equigraph.penalties import GroupForm

# Iterations between two looks at which fits have ended; their lanes idle until then.
_CHUNK = 16
# Fits that cost less one after the other than together: a nearly empty vector costs as much as a full one.
_ALONE = 5
# Entries of a panel of all lanes; beyond it threads are better used within a fit.
MOST_ENTRIES = 2**22


class Fit(NamedTuple):
    """The start of a fit, and its penalty (None is no penalty)."""

    H: NDArray
    W: NDArray
    form: GroupForm | None


def n_lanes(dtype: np.dtype) -> int:
    """Return how many fits share a panel."""
    return LINE // np.dtype(dtype).itemsize


def run_fits(
    product: FusedProduct,
    fits: Sequence[Fit],
    *,
    max_iter: int,
    tol: float,
    fit_interaction: bool = True,
    n_threads: int | None = None,
) -> Iterator[tuple[int, Factors]]:
    """Run fits of one shape, and yield the place and the outcome of each when it has ended.

    The outcome is that of `multiplicative_updates` with the same product and start, to the bit.

    Parameters
    ----------
    product : FusedProduct
        Products with A.
    fits : sequence of Fit
        Starts of the same shape and dtype; penalties of the same groups.
    max_iter, tol, fit_interaction
        As in `multiplicative_updates`.
    n_threads : int, optional
        By default all cores; each has fits of its own.
    """
    limits = (max_iter, float(tol), fit_interaction)
    lanes, n_threads = n_lanes(fits[0].H.dtype), n_threads or most_threads()
    rest = len(fits) % lanes
    n_together = len(fits) - (rest if rest <= _ALONE else 0)
    together, alone = iter(range(n_together)), list(range(n_together, len(fits)))
    units: list[_Batch | _Alone] = [
        _Batch(product, fits, limits, together) for _ in range(min(n_threads, -(-n_together // lanes)))
    ]
    while units or alone:
        while alone and len(units) < n_threads:
            units.append(_Alone(product, fits, limits, alone.pop(0)))
        run_all([unit.go for unit in units], n_threads)
        for unit in units:
            yield from unit.ended()
        units = [unit for unit in units if unit.busy]


class _Alone:
    """One fit by itself."""

    def __init__(
        self, product: FusedProduct, fits: Sequence[Fit], limits: tuple[int, float, bool], place: int
    ):
        self._place, (self._max_iter, tol, fit_interaction) = place, limits
        self._run = FusedRun(product, *fits[place], tol=tol, fit_interaction=fit_interaction, n_threads=1)
        self._history: list[float] = []

    @property
    def busy(self) -> bool:
        """Whether the fit is under way."""
        return self._run.status is None and len(self._history) < self._max_iter

    def go(self) -> None:
        """Do some iterations, about as much work as that of a batch."""
        self._history += self._run.go(min(_ALONE * _CHUNK, self._max_iter - len(self._history))).tolist()

    def ended(self) -> Iterator[tuple[int, Factors]]:
        """Yield the fit if it has ended."""
        if not self.busy:
            run = self._run
            status = run.status or Status.MAX_ITER
            yield (
                self._place,
                Factors(run.membership(), run.W, np.asarray(self._history), run.change, status),
            )


class _Batch:
    """As many fits as a vector has lanes."""

    def __init__(
        self,
        product: FusedProduct,
        fits: Sequence[Fit],
        limits: tuple[int, float, bool],
        waiting: Iterator[int],
    ):
        from equigraph.factorization import lane_kernels as kernels

        self._product, self._fits, self._limits, self._waiting = product, fits, limits, waiting
        max_iter, tol, fit_interaction = limits
        (n, k), dtype = fits[0].H.shape, fits[0].H.dtype
        lanes = n_lanes(dtype)
        forms = [fit.form for fit in fits if fit.form is not None]
        m = forms[0].own.size if forms else 0
        self._H, self._other = empty_panel(n, k * lanes, dtype), empty_panel(n, k * lanes, dtype)
        self._H[:] = 0
        self._other[:] = 0
        one = FusedRun(product, fits[0].H, fits[0].W, fits[0].form, tol=tol, fit_interaction=fit_interaction)
        self._graph = kernels.Graph(
            entries=entries_as(product.entries, dtype),
            ahead=rows_ahead(self._H),
            cuts=one.cuts,
            codes=forms[0].codes.astype(np.int32) if forms else None,
            squared_norm=product.squared_norm(),
            fit_interaction=fit_interaction,
            tol=float(tol),
        )
        square, by_group = np.zeros((k * k, lanes)), np.zeros((m, k * lanes))
        totals = Totals(square, by_group, by_group.copy(), np.zeros((k, lanes)))
        tables = (square, square, by_group, by_group, np.zeros((m, lanes)))
        self._lanes = kernels.Lanes(
            AH=np.zeros_like(self._H),
            tables=Tables(*(table.astype(dtype) for table in tables)),
            totals=totals,
            part=Totals(*(part.copy() for part in totals)),
            HAH=square.copy(),
            HAH_part=square.copy(),
            W=np.zeros((lanes, k, k)),
            positive=np.zeros((lanes, m, m)),
            negative=np.zeros((lanes, m, m)),
            own=np.zeros((lanes, m)),
            status=np.full(lanes, kernels.FREE),
            done=np.zeros(lanes, dtype=np.int64),
            change=np.full(lanes, np.nan),
            history=np.zeros((lanes, max_iter)),
            H_end=np.zeros((lanes, n, k), dtype),
        )
        self._places: list[int | None] = [None] * lanes
        self._fill()

    @property
    def busy(self) -> bool:
        """Whether a fit is under way."""
        return any(place is not None for place in self._places)

    def _fill(self) -> None:
        """Put waiting fits into free lanes."""
        for lane, held in enumerate(self._places):
            if held is None:
                place = next(self._waiting, None)
                if place is None:
                    return
                self._places[lane] = place
                self._put(lane, self._fits[place])

    def go(self) -> None:
        """Do some iterations."""
        from equigraph.factorization import lane_kernels as kernels

        kernels.iterations(self._graph, self._lanes, self._H, self._other, _CHUNK)
        if _CHUNK % 2 == 1:
            self._H, self._other = self._other, self._H

    def ended(self) -> Iterator[tuple[int, Factors]]:
        """Yield the fits that have ended, and give their lanes to others."""
        from equigraph.factorization import fused_kernels, lane_kernels

        lanes = self._lanes
        statuses = {
            fused_kernels.CONVERGED: Status.CONVERGED,
            fused_kernels.DIVERGED: Status.DIVERGED,
            fused_kernels.EXHAUSTED: Status.MAX_ITER,
        }
        for lane, place in enumerate(self._places):
            if place is None or lanes.status[lane] == fused_kernels.GOING_ON:
                continue
            done, needed = int(lanes.done[lane]), self._limits[1] > 0
            yield (
                place,
                Factors(
                    lanes.H_end[lane].copy(),
                    lanes.W[lane].copy(),
                    lanes.history[lane, :done].copy(),
                    float(lanes.change[lane]) if needed else float("nan"),
                    statuses[int(lanes.status[lane])],
                ),
            )
            lanes.status[lane] = lane_kernels.FREE
            self._places[lane] = None
        self._fill()

    def _put(self, lane: int, fit: Fit) -> None:
        """Copy the start of a fit, its image and its sums into a lane."""
        from equigraph.factorization.fused_kernels import GOING_ON

        _, tol, fit_interaction = self._limits
        run = FusedRun(self._product, fit.H, fit.W, fit.form, tol=tol, fit_interaction=fit_interaction)
        lanes, k = self._lanes, fit.H.shape[1]
        columns = slice(lane, None, n_lanes(fit.H.dtype))
        start: Any = run.work
        self._H[:, columns] = run.membership()
        lanes.AH[:, columns] = start.AH[:, :k]
        lanes.totals.HH[:, lane] = start.totals.HH[:k, :k].ravel()
        lanes.W[lane] = start.W
        if fit.form is not None:
            lanes.positive[lane], lanes.negative[lane] = fit.form.positive, fit.form.negative
            lanes.own[lane] = fit.form.own
            lanes.tables.positive[:, columns] = start.tables.positive[:, :k]
            lanes.tables.negative[:, columns] = start.tables.negative[:, :k]
            lanes.tables.own[:, lane] = fit.form.own
        else:
            lanes.positive[lane], lanes.negative[lane], lanes.own[lane] = 0, 0, 0
            lanes.tables.positive[:, columns], lanes.tables.negative[:, columns] = 0, 0
            lanes.tables.own[:, lane] = 0
        lanes.status[lane], lanes.done[lane], lanes.change[lane] = GOING_ON, 0, np.nan
