"""A scheduler that ends in the middle of a fit: the best so far is kept where this process has any."""

import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import SchedulerLostError, SchedulerLostWarning
from equigraph.metrics import modularity_score
from equigraph.search import plans

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

DATA = eg.datasets.make_fair_sbm(200, 2, 2, random_state=0)
FACTORS = {"tol": 0, "max_iter": 60, "random_state": 0, "init": "random"}


@contextmanager
def scheduler_that_ends(when):
    """Give the address of a scheduler, and a callback that kills it."""
    with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()

        def end(progress):
            if process.poll() is None and when(progress):
                process.kill()
                process.wait()

        yield {"execution": address, "callbacks": end}
        process.kill()


@pytest.mark.filterwarnings("ignore")
def test_before_there_is_anything_it_is_one_sentence():
    with scheduler_that_ends(lambda progress: progress.step == 3) as there:
        model = eg.IFairNMTF(2, **FACTORS, **there)
        with pytest.raises(SchedulerLostError, match=r"^The Dask scheduler is gone .*start the") as found:
            model.fit(DATA.adjacency, sensitive_features=DATA.sensitive_features)
    assert "\n" not in str(found.value)


@pytest.mark.filterwarnings("ignore")
def test_factors_of_the_last_checkpoint_are_kept():
    with scheduler_that_ends(lambda progress: progress.step == 30) as there:
        model = eg.IFairNMTF(2, **FACTORS, **there)
        with pytest.warns(SchedulerLostWarning, match=r"gone after 30 steps: the factors are those after"):
            model.fit(DATA.adjacency, sensitive_features=DATA.sensitive_features)
    assert (model.status_, model.n_iter_) == ("stopped", 24)
    # The same as a fit of so many steps.
    short = eg.IFairNMTF(2, **{**FACTORS, "max_iter": 24})
    short.fit(DATA.adjacency, sensitive_features=DATA.sensitive_features)
    np.testing.assert_allclose(model.membership_, short.membership_, rtol=1e-6)
    np.testing.assert_allclose(model.objective_history_, short.objective_history_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_the_best_labels_of_a_search_are_kept(monkeypatch):
    monkeypatch.setattr(plans, "_LARGE_NODES", 1)
    monkeypatch.setattr(plans, "_LEAST_PARTS", 50)
    warned = pytest.warns(SchedulerLostWarning, match=r"^The Dask scheduler is gone .*best that the search")
    with scheduler_that_ends(lambda progress: progress.stage == "search") as there, warned:
        result = eg.cluster(
            DATA.adjacency, sensitive_features=DATA.sensitive_features, n_clusters=2, random_state=0, **there
        )
    assert result.status == "stopped"
    assert np.bincount(result.labels).size == 2
    assert modularity_score(DATA.adjacency, result.labels) > 0
