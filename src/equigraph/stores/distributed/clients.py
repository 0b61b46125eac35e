"""The Dask client that an estimator was asked to use."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from equigraph.exceptions import ParameterError, require
from equigraph.stores.threads import available_cores

PURPOSE = "Execution on a Dask cluster"
# Seconds within which a scheduler must answer.
TIMEOUT = 10.0


@contextmanager
def dask_client(execution: Any, *, n_workers: int | None = None) -> Iterator[Any]:
    """Give a connected client, and close at the end what was opened for it.

    "dask" is the current client, or else so many workers of this machine, by default one per core; an address such as
    "tcp://10.0.0.1:8786" is the scheduler there; a client is used as it is.
    """
    distributed = require("distributed", extra="dask", purpose=PURPOSE)
    if execution == "dask" and n_workers is None:
        with suppress(ValueError):  # there is none
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
    """Return a cluster of worker processes of this machine, each with one thread, reachable from this machine only."""
    distributed = require("distributed", extra="dask", purpose=PURPOSE)
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        # Any port: a second cluster of this machine would find the usual one taken.
        dashboard_address="127.0.0.1:0",
        # A worker that is slow to end is nothing to tell; a lost one is dealt with.
        silence_logs=logging.ERROR,
    )
