"""Rows on the workers of a real Dask cluster: the same factors, few bytes, and workers that die."""

import itertools
import os
import signal
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import equigraph as eg
from equigraph.exceptions import GraphError, ParameterError
from equigraph.factorization.penalties import GraphPenalty
from equigraph.search import plans
from equigraph.stores.edge_blocks import write_edge_blocks
from equigraph.stores.worker import RowOwners
from tests.reference.marks import TINY_GRAPHS
from tests.reference.stored import halves, sbm, sbm_blocks, write_parts

pytestmark = TINY_GRAPHS

distributed = pytest.importorskip("distributed")


@pytest.fixture
def client(dask_workers):
    dask_workers.wait_for_workers(2, timeout=60)
    return dask_workers


@pytest.fixture(scope="module")
def data():
    return sbm(400)


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return sbm_blocks(tmp_path_factory.mktemp("dask") / "blocks", 400, rows_per_block=57)


def fitted(data, graph=None, **parameters):
    settings = {"n_clusters": 4, "fairness": 2.0, "tol": 0, "max_iter": 32, "random_state": 1, **parameters}
    groups = {} if graph is not None else {"sensitive_features": data.sensitive_features}
    return eg.IFairNMTF(**settings).fit(data.adjacency if graph is None else graph, **groups)


@pytest.mark.parametrize(
    "settings",
    [{}, {"init": "random", "dtype": "float32", "self_pairs": False}],
    ids=str,
)
def test_workers_find_the_factors_of_this_process(client, data, blocks, settings):
    here = fitted(data, **settings)
    tolerance = 1e-4 if settings.get("dtype") else 1e-8
    for graph in (blocks, None):
        there = fitted(data, graph, execution=client, **settings)
        np.testing.assert_allclose(there.membership_, here.membership_, atol=tolerance)
        np.testing.assert_allclose(there.interaction_, here.interaction_, atol=tolerance)
        np.testing.assert_allclose(there.objective_history_, here.objective_history_, rtol=tolerance)
        np.testing.assert_array_equal(there.labels_, here.labels_)
    # From the same blocks the sums are the same to the bit, whoever takes them.
    streamed = fitted(data, blocks, **settings)
    np.testing.assert_array_equal(
        fitted(data, blocks, execution=client, **settings).membership_, streamed.membership_
    )


def test_penalties_between_nodes_use_the_workers_for_products(client, data, blocks):
    penalty = 0.1 * GraphPenalty(data.adjacency)
    here = fitted(data, penalty=penalty, max_iter=10)
    there = fitted(data, blocks, penalty=penalty, max_iter=10, execution=client)
    np.testing.assert_allclose(there.membership_, here.membership_, atol=1e-8)


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(plans, "_LARGE_NODES", 1)
    monkeypatch.setattr(plans, "_LEAST_PARTS", 100)


OPTIONS = [
    {"fairness": 0.3, "size_bounds": (130, 135)},
    {"at_least": 0.9, "notion": eg.metrics.notions.Notion("halves", "H", halves)},
]


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options))
def test_fair_partition_is_the_same_on_workers_and_from_disk(client, data, blocks, options):
    settings = {"n_clusters": 3, "effort": 0.1, "random_state": 0, **options}
    streamed = eg.FairPartition(**settings).fit(blocks)
    there = eg.FairPartition(**settings, execution=client).fit(blocks)
    np.testing.assert_array_equal(there.labels_, streamed.labels_)
    np.testing.assert_array_equal(there.interaction_, streamed.interaction_)
    assert there.objective_ == streamed.objective_
    assert there.n_nonempty_clusters_ == 3


def test_fair_nmtf_is_the_same_on_workers_and_from_disk(client, blocks):
    options = {"init": "random", "max_iter": 20, "tol": 1e-2, "random_state": 0}
    streamed = eg.FairNMTF(3, 0.5, **options).fit(blocks)
    there = eg.FairNMTF(3, 0.5, **options, execution=client).fit(blocks)
    np.testing.assert_array_equal(there.membership_, streamed.membership_)
    np.testing.assert_array_equal(there.objective_history_, streamed.objective_history_)


def test_only_what_belongs_to_a_worker_is_on_it(client, blocks):
    from equigraph.stores.dask_rows import DaskRows

    store = DaskRows(client, blocks)
    store.place("H", np.ones((400, 4)))
    store.multiply("H", "AH")
    facts = store.facts()
    assert len({fact["pid"] for fact in facts} - {os.getpid()}) == 2
    assert sum(fact["panels"] for fact in facts) == 2 * 400 * 4 * 8
    total = sum(block.indices.nbytes + block.indptr.nbytes for block in blocks.blocks())
    assert sum(fact["blocks"] for fact in facts) == total
    assert max(fact["blocks"] for fact in facts) < 0.7 * total
    # Each worker sends its rows to the other one, once.
    assert sum(fact["sent"] for fact in facts) == 400 * 4 * 8
    np.testing.assert_allclose(store.collect("AH")[:, 0], blocks.to_graph().adjacency.sum(axis=1))
    store.close()


# Losses: a real worker process is killed.


def killer(step):
    """Return a callback that kills one worker process after a step, and a list of those it killed."""
    pids = []

    def kill(progress):
        if progress.step == step and not pids:
            pid = next(iter(distributed.Client.current().run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            pids.append(pid)

    return kill, pids


@pytest.mark.parametrize(("step", "on_disk"), [(30, True), (2, False)])  # after a checkpoint, and before one
def test_the_loss_of_a_worker_changes_nothing(client, data, blocks, step, on_disk):
    settings = {"graph": blocks if on_disk else None, "execution": client, "init": "random"}
    kill, pids = killer(step)
    with client.as_current():
        lossy = fitted(data, **settings, callbacks=kill)
    assert len(pids) == 1
    client.wait_for_workers(2, timeout=60)
    np.testing.assert_array_equal(lossy.membership_, fitted(data, **settings).membership_)


@pytest.mark.usefixtures("everything_is_large")
def test_the_loss_of_a_worker_during_a_search(client, blocks):
    kill, pids = killer(1)
    model = eg.FairPartition(3, 0.5, effort=0.1, random_state=0)
    with client.as_current():
        lossy = clone(model).set_params(execution=client, callbacks=kill).fit(blocks)
    assert pids
    np.testing.assert_array_equal(lossy.labels_, model.fit(blocks).labels_)


# Where the cluster comes from.


def test_a_running_client_an_address_and_a_wrong_address(client, data, blocks, monkeypatch):
    expected = fitted(data, blocks, init="random", max_iter=5).membership_
    with client.as_current():
        current = fitted(data, blocks, init="random", max_iter=5, execution="dask")
    np.testing.assert_array_equal(current.membership_, expected)
    address = fitted(data, blocks, init="random", max_iter=5, execution=client.scheduler.address)
    np.testing.assert_array_equal(address.membership_, expected)
    monkeypatch.setattr("equigraph.stores.dask_rows.TIMEOUT", 1.0)
    with pytest.raises(ParameterError, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        fitted(data, execution="tcp://127.0.0.1:1")
    for wrong in ("spark", 3):
        with pytest.raises(ParameterError, match="execution must be"):
            fitted(data, execution=wrong)


def test_a_folder_that_workers_cannot_see_is_one_sentence(client, data, blocks, tmp_path):
    from dataclasses import replace

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GraphError, match="is not a folder of row blocks"):
            fitted(data, replace(blocks, folder=tmp_path / "elsewhere"), execution=client, init="random")


@pytest.mark.parametrize("named", [False, True])
def test_workers_write_the_blocks_of_an_edge_set(client, data, tmp_path, named):
    source, target = sparse.triu(data.adjacency).nonzero()
    if named:
        source, target = ([f"node {number}" for number in end] for end in (source, target))
    folder = write_parts(tmp_path / "edges", source=source, target=target)
    by_workers = write_edge_blocks(folder, tmp_path / "a", block_bytes=4000, execution=client)
    alone = write_edge_blocks(folder, tmp_path / "b", block_bytes=4000)
    assert by_workers.fingerprint() == alone.fingerprint()
    assert by_workers.cuts == alone.cuts
    by_workers.verify()


@pytest.mark.parametrize("n_workers", [1, 2, 3, 8, 11])
def test_a_plan_gives_every_row_to_one_worker(n_workers):
    cuts = tuple(range(0, 121, 10))
    runs = tuple(np.linspace(0, 12, n_workers + 1).astype(int).tolist())
    plan = RowOwners(cuts, runs)
    pieces = plan.pieces()
    assert pieces[0] == 0
    assert pieces[-1] == 120
    assert len(pieces) - 1 == min(n_workers, 8)
    for low, high in itertools.pairwise(pieces):
        parts = list(plan.holders(low, high))
        assert [part[1] for part in parts] == [low, *(part[2] for part in parts[:-1])]
        assert parts[-1][2] == high
        for worker, first, last in parts:
            assert plan.rows(worker)[0] <= first < last <= plan.rows(worker)[1]
