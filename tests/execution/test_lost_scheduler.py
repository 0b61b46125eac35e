"""A scheduler that ends in the middle of a fit."""

from __future__ import annotations

import subprocess
import sys

import pytest

import equigraph as eg
from equigraph.exceptions import EquigraphError

pytest.importorskip("distributed")

SCHEDULER = """
import asyncio, sys
from distributed import Scheduler, Worker

async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1):
            print(scheduler.address, flush=True)
            await asyncio.sleep(300)

asyncio.run(main())
"""


@pytest.mark.filterwarnings("ignore")
def test_a_lost_scheduler_is_one_sentence():
    data = eg.datasets.make_fair_sbm(200, 2, 2, random_state=0)
    with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()

        def end(progress):
            if progress.step == 3:
                process.kill()
                process.wait()

        settings = {"tol": 0, "max_iter": 50, "random_state": 0, "init": "random"}
        model = eg.IFairNMTF(2, execution=address, callbacks=end, **settings)
        with pytest.raises(EquigraphError, match=r"^The Dask scheduler is gone .*start the cluster") as found:
            model.fit(data.adjacency, sensitive_features=data.sensitive_features)
        process.kill()
    assert "\n" not in str(found.value)
