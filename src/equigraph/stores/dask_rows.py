"""Store of rows on the workers of a Dask cluster, and its client.

One actor per worker holds consecutive row blocks and the rows of every panel that belong to them. Actors are used
rather than tasks and futures, because the state is large, changes in place at every step and must not move. A step is
one message of a few kilobytes to each worker; rows pass directly between workers, not through the scheduler. Dask does
not recover actors after a loss, so this module does: it logs the messages since the last checkpoint, which are small,
and replays them.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import EquigraphError, ParameterError, SchedulerLostError, reason, require
from equigraph.stores.blocks import BlockGraph, MemoryBlocks
from equigraph.stores.rows import StreamedRows
from equigraph.stores.threads import available_cores
from equigraph.stores.worker import PURPOSE, PeerLost, RowOwners, RowWorker, packed

# Timeout for connections to a scheduler, in seconds.
TIMEOUT = 10.0
# Seconds between two checks whether the workers are alive.
_POLL_INTERVAL = 1.0
# Timeouts for the scheduler to notice the loss of a worker, and for a new worker to join if none is left, in seconds.
_LOSS_TIMEOUT, _NEW_WORKER = 10.0, 60.0
# Largest number of losses before a run fails.
_MOST_LOSSES = 10
# Errors that a call may raise if the worker is lost: no connection, no such actor, or a task without a worker.
_LOSS_ERRORS = (OSError, RuntimeError, KeyError, CancelledError)


@contextmanager
def dask_client(execution: Any, *, n_workers: int | None = None) -> Iterator[Any]:
    """Yield a connected client, and close everything that was opened for it.

    "dask" is the current client or, without one, a local cluster of ``n_workers``, by default one per core. An address
    such as "tcp://10.0.0.1:8786" is that of a scheduler. A client is used as it is.
    """
    distributed = require("distributed", extra="dask", purpose=PURPOSE)
    if execution == "dask" and n_workers is None:
        with suppress(ValueError):  # no current client
            execution = distributed.Client.current()
    if isinstance(execution, distributed.Client):
        if execution.asynchronous:
            raise ParameterError(
                "An asynchronous Dask client cannot serve fit(), which waits for its results."
            )
        yield execution
    elif execution == "dask":
        with (
            local_cluster(n_workers or available_cores()) as cluster,
            distributed.Client(cluster, direct_to_workers=True, set_as_default=False) as client,
        ):
            yield client
    else:
        try:
            client = distributed.Client(execution, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ParameterError(
                f"No Dask scheduler answers at {execution!r} ({error}): expected an address such as "
                "'tcp://10.0.0.1:8786'."
            ) from error
        with client:
            yield client


def local_cluster(n_workers: int) -> Any:
    """Return a local cluster of single-threaded worker processes, reachable from this machine only."""
    distributed = require("distributed", extra="dask", purpose=PURPOSE)
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        # Any free port, as a second cluster would find the default one taken.
        dashboard_address="127.0.0.1:0",
        # Warnings about workers that end slowly are of no use, and losses are handled here.
        silence_logs=logging.ERROR,
    )


class _WorkerLost(Exception):
    """Raised when a worker is lost, and its rows with it."""


class DaskRows:
    """Store of panels and row blocks on the workers of a Dask cluster; all must see a folder of blocks."""

    def __init__(self, client: Any, graph: BlockGraph | MemoryBlocks):
        self._client, self.graph = client, graph
        self.n_nodes, self.n_entries = graph.n_nodes, graph.n_entries
        self._actors: list[Any] = []
        self._addresses: list[str] = []
        self._saved: dict[str, NDArray] = {}
        self._log: list[tuple[str, Any]] = []
        self.n_losses = 0
        self._retry(lambda: None)

    @property
    def n_workers(self) -> int:
        """Number of workers with rows."""
        return self._plan.n_workers

    def place(self, name: str, panel: NDArray) -> None:
        """Distribute the rows of a panel."""
        self._do("place", (name, panel))

    def collect(self, name: str) -> NDArray:
        """Return a whole panel."""
        return np.concatenate(self._do("collect", (name,)))

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call a function on the rows of every block."""
        return self._do_blocks("each", (function, *arguments))

    def multiply(
        self, source: str, target: str, then: Callable[..., Any] | None = None, *arguments: Any
    ) -> list[Any]:
        """Store A times a panel as another panel, and call a function on the rows of every block."""
        return self._do_blocks("multiply", (source, target, then, *arguments))

    def walk(
        self,
        visit: Callable[..., None],
        state: Sequence[NDArray],
        *arguments: Any,
        needed: Callable[[Sequence[NDArray], int, int], bool] | None = None,
    ) -> Sequence[NDArray]:
        """Visit the blocks in order; the state passes from worker to worker through this process.

        After a loss the walk continues with the state after the last worker that finished.
        """
        sent = [packed(argument) for argument in arguments]
        number = 0

        def one_worker() -> tuple[Sequence[NDArray], int]:
            """Return the state after the blocks of the next worker, and the number of the block after them."""
            worker = int(np.searchsorted(self._plan.runs, number, side="right")) - 1
            request = visit, list(state), sent, needed, number
            found = self._wait(lambda: [self._actors[worker].walk_from(*request)])
            return found[0], self._plan.runs[worker + 1]

        while number < len(self.graph.cuts) - 1:
            state, number = self._retry(one_worker)
        return state

    def gather(self, visit: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the results of a function for every block; the workers run in parallel."""
        return self._do_blocks("gather_all", (visit, [packed(argument) for argument in arguments]))

    def checkpoint(
        self, names: Sequence[str], products: Sequence[tuple[str, str]] = ()
    ) -> dict[str, NDArray]:
        """Transfer these panels to this process, to restart from them after a loss."""
        saved = {name: self.collect(name) for name in names}
        self._do("checkpoint", (names, products))
        self._saved = saved
        self._log = [("multiply", (*product, None)) for product in products]
        return saved

    def without_workers(self) -> StreamedRows:
        """Return a store of the same graph in this process, without panels."""
        return StreamedRows(self.graph)

    def facts(self) -> list[dict[str, int]]:
        """Return process id and memory of every worker; see `RowWorker.facts`."""
        return self._do("facts", ())

    def close(self) -> None:
        """Discard all panels on the workers."""
        self._actors.clear()
        self._saved.clear()
        self._log.clear()

    def _do_blocks(self, method: str, arguments: Any) -> list[Any]:
        """Return the results for every block, in order."""
        return list(itertools.chain.from_iterable(self._do(method, arguments)))

    def _do(self, method: str, arguments: Any) -> list[Any]:
        """Call a method on every worker; after a loss, restore the state and call again."""
        result = self._retry(lambda: self._call(method, arguments))
        # Calls that only read need not be replayed after a loss.
        if method not in ("collect", "facts", "gather_all"):
            self._log.append((method, arguments))
        return result

    def _retry(self, action: Callable[[], Any]) -> Any:
        """Return the result of an action, repeated after every loss of workers."""
        while True:
            try:
                # An actor communicates through the client that is current at its first call.
                with self._client.as_current():
                    if not self._actors:
                        self._build()
                    return action()
            except _WorkerLost as loss:
                self._discard_actors()
                self.n_losses += 1
                if self.n_losses > _MOST_LOSSES:
                    raise EquigraphError(
                        f"Workers of the Dask cluster were lost {self.n_losses} times in one run, the last time by "
                        f"{loss.__cause__!r}: look at their logs, they may be out of memory."
                    ) from loss

    def _build(self) -> None:
        """Assign a run of blocks to every living worker, and restore the panels."""
        threads, n_blocks = self._living_workers(), len(self.graph.cuts) - 1
        self._addresses = sorted(threads)[:n_blocks]
        # Blocks are of about the same size.
        runs = np.linspace(0, n_blocks, len(self._addresses) + 1).astype(int).tolist()
        self._plan = RowOwners(tuple(self.graph.cuts), tuple(runs))
        options = {"actor": True, "pure": False}
        self._actors = self._wait(
            lambda: [
                self._client.submit(
                    RowWorker, self._plan, number, threads[address], workers=[address], **options
                )
                for number, address in enumerate(self._addresses)
            ]
        )
        self._call("meet", (self._actors,))
        if isinstance(self.graph, BlockGraph):
            folder = str(self.graph.folder.resolve())
            self._call("open", (folder, self.graph.checks, self.graph.block_unit))
        else:
            each = [list(map(self.graph.block, range(low, high))) for low, high in itertools.pairwise(runs)]
            self._wait(lambda: [actor.hold(own) for actor, own in zip(self._actors, each, strict=True)])
        for name, panel in self._saved.items():
            self._call("place", (name, panel))
        for method, arguments in self._log:
            self._call(method, arguments)

    def _call(self, method: str, arguments: Any) -> list[Any]:
        if method != "place":
            return self._wait(lambda: [getattr(actor, method)(*arguments) for actor in self._actors])
        name, panel = arguments
        rows = [panel[slice(*self._plan.rows(number))] for number in range(self.n_workers)]
        return self._wait(
            lambda: [actor.place(name, own) for actor, own in zip(self._actors, rows, strict=True)]
        )

    def _wait(self, send: Callable[[], list[Any]]) -> list[Any]:
        """Return the results of the requests that a function sends."""
        try:
            requests = send()
        except RuntimeError as error:  # raised by an actor whose worker is known to be lost
            raise _WorkerLost from error
        return [self._result(request) for request in requests]

    def _result(self, request: Any) -> Any:
        while True:
            try:
                return request.result(timeout=_POLL_INTERVAL)
            except EquigraphError:
                raise
            except TimeoutError as error:
                if self._lost():
                    raise _WorkerLost from error
            except _LOSS_ERRORS as error:
                self._raise_if_lost(error)
                raise

    def _raise_if_lost(self, error: Exception) -> None:
        """Raise _WorkerLost if the loss of a worker caused the error; the scheduler may notice it with a delay."""
        deadline = time.monotonic() + _LOSS_TIMEOUT
        while time.monotonic() < deadline:
            if self._lost() or isinstance(error, PeerLost):
                raise _WorkerLost from error
            time.sleep(0.1)

    def _lost(self) -> bool:
        return not set(self._addresses) <= set(self._workers())

    def _workers(self) -> dict[str, int]:
        """Return the threads of each living worker; raise a SchedulerLostError if the scheduler is lost."""
        try:
            # A reconnection does not help: a new scheduler has no rows.
            if self._client.status != "running":
                raise OSError("no connection")
            return dict(self._client.nthreads())
        except (OSError, RuntimeError, CancelledError, TimeoutError) as error:
            raise SchedulerLostError(
                f"The Dask scheduler is gone ({reason(error) or type(error).__name__}), and the rows on its workers "
                "with it: start the cluster and the fit again; row blocks on disk are whole."
            ) from None

    def _discard_actors(self) -> None:
        """Make the remaining workers stop waiting for the lost one, and discard all actors with their panels."""
        living = set(self._workers())
        for actor, address in zip(self._actors, self._addresses, strict=False):
            if address in living:
                try:
                    actor.give_up().result(timeout=_POLL_INTERVAL)
                except (TimeoutError, *_LOSS_ERRORS):
                    continue  # lost as well; new actors are built on the living workers only
        self._actors = []

    def _living_workers(self) -> dict[str, int]:
        deadline = time.monotonic() + _NEW_WORKER
        while not (threads := self._workers()):
            if time.monotonic() > deadline:
                raise EquigraphError(
                    f"The Dask cluster has had no worker for {_NEW_WORKER:.0f} seconds: start workers, or leave "
                    f"execution out."
                )
            time.sleep(0.2)
        return threads
