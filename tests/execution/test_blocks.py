"""Row blocks on disk: written from memory and from edge sets, opened, streamed, fitted."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph.base import mean_interaction
from equigraph.exceptions import GraphError, GroupsError, ParameterError, SelfLoopWarning
from equigraph.execution.block_files import RowBlock
from equigraph.execution.blocks import block_cuts, open_blocks, write_blocks
from equigraph.execution.distributed import StreamedRows
from equigraph.execution.distributed.rows import StoreProduct, hashed
from equigraph.execution.edge_blocks import sort_block, write_edge_blocks
from equigraph.factorization.row_moves import RowMoves, notion_changes, row_scores
from equigraph.factorization.row_spectral import fair_table, row_embedding
from equigraph.groups import encode_groups
from equigraph.penalties import GraphPenalty
from equigraph.search.objective import make_objective
from equigraph.spectral.constraints import group_constraint

# Tiny graphs have tiny clusters and groups; what is said about those is tested where it is made.
pytestmark = [
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning"),
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallGroupWarning"),
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.OwnGroupsWarning"),
]


def random_graph(n=90, weighted=False, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < 0.15, 1) * (rng.random((n, n)) + 0.1 if weighted else 1.0)
    upper[:, 7] = upper[7, :] = 0  # a node without an edge
    return sparse.csr_array((upper + upper.T).astype(dtype))


def sbm(n=300):
    return eg.datasets.make_fair_sbm(n, 3, 2, random_state=0)


@pytest.fixture
def blocks(tmp_path):
    data = sbm()
    graph = eg.Graph(data.adjacency, None, data.sensitive_features, "group")
    return write_blocks(graph, tmp_path / "sbm", rows_per_block=47)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_hold_the_graph(tmp_path, weighted, dtype):
    names = np.array([f"n{i}" for i in range(90)])
    graph = eg.Graph(random_graph(weighted=weighted, dtype=dtype), names, np.arange(90) % 3, "team")
    stored = write_blocks(graph, tmp_path / "x", block_bytes=500)
    assert stored.n_blocks > 3
    back = stored.to_graph()
    assert back.adjacency.dtype == dtype
    assert (back.adjacency != graph.adjacency).nnz == 0
    assert back.node_names.tolist() == names.tolist()
    assert stored.fingerprint() == graph.fingerprint() == back.fingerprint()
    assert stored.squared_norm == pytest.approx((graph.adjacency.toarray().astype(float) ** 2).sum())
    assert stored.total == pytest.approx(graph.adjacency.toarray().sum(dtype=float))
    assert stored.is_weighted == weighted
    assert (stored.value is None) == weighted
    assert stored.n_edges == graph.n_edges
    stored.verify()


def test_a_graph_without_edges(tmp_path):
    stored = write_blocks(sparse.csr_array((5, 5)), tmp_path / "x", rows_per_block=2)
    assert stored.to_graph().adjacency.nnz == 0
    np.testing.assert_array_equal(StoreProduct(StreamedRows(stored), 0.0)(np.ones((5, 2))), np.zeros((5, 2)))


def test_damage_is_found(tmp_path):
    write_blocks(random_graph(), tmp_path / "x", rows_per_block=30)
    target = tmp_path / "x" / "indices-00001.npy"
    content = bytearray(target.read_bytes())
    content[-1] ^= 1
    target.write_bytes(content)
    with pytest.raises(GraphError, match=r"indices-00001.npy is gone or has changed"):
        open_blocks(tmp_path / "x").verify()
    target.write_bytes(content[:-4])
    with pytest.raises(GraphError, match=r"indices-00001.npy is missing or has another length"):
        open_blocks(tmp_path / "x")
    meta = tmp_path / "x" / "blocks.json"
    facts = json.loads(meta.read_text())
    meta.write_text(json.dumps({**facts, "n_nodes": 91}))
    with pytest.raises(GraphError, match="has changed since it was written"):
        open_blocks(tmp_path / "x")
    meta.write_text(json.dumps({**facts, "version": 99}))
    with pytest.raises(GraphError, match="does not describe row blocks of version"):
        open_blocks(tmp_path / "x")
    with pytest.raises(GraphError, match=r"it has no blocks.json"):
        open_blocks(tmp_path)


def test_a_target_that_holds_something_is_refused_and_left_alone(tmp_path):
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ParameterError, match="not empty"):
        write_blocks(random_graph(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]
    with pytest.raises(ParameterError, match="rows_per_block"):
        write_blocks(random_graph(), tmp_path / "x", rows_per_block=0)
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_cuts_cover_all_rows_and_bound_the_bytes():
    indptr = np.concatenate([[0], np.cumsum(np.random.default_rng(0).integers(0, 9, 1000))])
    cuts = block_cuts(indptr, 4, block_bytes=500)
    assert cuts[0] == 0
    assert cuts[-1] == 1000
    assert (np.diff(cuts) > 0).all()
    sizes = np.diff(indptr[cuts]) * 4 + 4 * np.diff(cuts)
    assert sizes.max() <= 500 + 9 * 4 + 4


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33, 40])
def test_tiles_of_any_cut_give_the_same_bits_and_the_dense_product(weighted, dtype, k):
    from equigraph.execution.distributed.tile_kernels import add_tile, split_points, tally_tile

    A = random_graph(weighted=weighted)
    panel = np.random.default_rng(k).random((90, k)).astype(dtype)
    block = RowBlock(0, 90, A.indptr, A.indices, A.data if weighted else None, 1.0)
    whole, parts = np.zeros((90, k + 3), dtype), np.zeros((90, k + 3), dtype)
    add_tile(A.indptr[:-1], A.indptr[1:], block, 0, panel, whole)
    cuts = np.array([0, 31, 32, 90])
    points = np.empty((4, 90), A.indptr.dtype)
    split_points(A.indptr, A.indices, cuts, points)
    for i in range(3):
        add_tile(points[i], points[i + 1], block, cuts[i], panel[cuts[i] : cuts[i + 1]], parts)
    np.testing.assert_array_equal(parts, whole)
    dense = A.toarray() @ panel.astype(float)
    np.testing.assert_allclose(whole[:, :k], dense, rtol=1e-5 if dtype == np.float32 else 1e-13)
    assert not whole[:, k:].any()
    labels = np.random.default_rng(k).integers(0, k, 90).astype(np.int32)
    onehot = np.eye(k)[labels]
    links, pairs = np.zeros((90, k)), np.zeros((k, k))
    add_tile(A.indptr[:-1], A.indptr[1:], block, 0, labels, links)
    tally_tile(A.indptr[:-1], A.indptr[1:], block, 0, labels, labels, pairs)
    np.testing.assert_allclose(links, A.toarray() @ onehot, rtol=1e-13)
    np.testing.assert_allclose(pairs, onehot.T @ A.toarray() @ onehot, rtol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"init": "random"},
        {"init": "random", "dtype": "float32"},
        {"self_pairs": False},
        {"fairness": 0.0},
        {"penalty": 0.1 * GraphPenalty(sbm().adjacency)},
    ],
    ids=str,
)
def test_streamed_factors_are_those_in_memory(blocks, settings):
    data = sbm()
    parameters = {"n_clusters": 4, "fairness": 2.0, "max_iter": 40, "tol": 0, "random_state": 1, **settings}
    here = eg.IFairNMTF(**parameters).fit(data.adjacency, sensitive_features=data.sensitive_features)
    streamed = eg.IFairNMTF(**parameters).fit(blocks)
    tolerance = 1e-4 if settings.get("dtype") else 1e-8
    np.testing.assert_allclose(streamed.membership_, here.membership_, atol=tolerance)
    np.testing.assert_allclose(streamed.interaction_, here.interaction_, atol=tolerance)
    np.testing.assert_allclose(streamed.objective_history_, here.objective_history_, rtol=tolerance)
    np.testing.assert_array_equal(streamed.labels_, here.labels_)
    assert streamed.membership_.dtype == here.membership_.dtype


def test_weighted_graphs_custom_starts_and_coordinate_descent(tmp_path):
    A = random_graph(weighted=True)
    stored = write_blocks(A, tmp_path / "x", rows_per_block=25)
    rng = np.random.default_rng(0)
    start = {"H": rng.random((90, 3)), "W": np.eye(3)}
    here = eg.NMTF(3, init="custom", max_iter=30, tol=0).fit(A, **start)
    streamed = eg.NMTF(3, init="custom", max_iter=30, tol=0).fit(stored, **start)
    np.testing.assert_allclose(streamed.membership_, here.membership_, atol=1e-8)
    here = eg.NMTF(3, solver="cd", init="random", random_state=0).fit(A)
    streamed = eg.NMTF(3, solver="cd", init="random", random_state=0).fit(stored)
    np.testing.assert_allclose(streamed.membership_, here.membership_, atol=1e-6)


def test_divergence_and_callbacks(blocks):
    seen = []

    def stop(progress):
        seen.append(progress.step)
        return progress.step == 5

    model = eg.IFairNMTF(3, 1.0, tol=0, init="random", callbacks=stop, random_state=0).fit(blocks)
    assert seen == [1, 2, 3, 4, 5]
    assert model.status_ == "stopped"
    unequal = blocks.with_groups(np.arange(300) < 15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        worst = eg.IFairNMTF(3, 1e7, self_pairs=False, tol=0, max_iter=4000, random_state=0).fit(unequal)
        here = eg.IFairNMTF(3, 1e7, self_pairs=False, tol=0, max_iter=4000, random_state=0).fit(
            blocks.to_graph().adjacency, sensitive_features=np.arange(300) < 15
        )
    assert worst.status_ == here.status_ == "diverged"
    assert np.isfinite(worst.membership_).all()


def test_groups_by_name_and_their_errors(blocks):
    groups = {i: str(i % 2) for i in reversed(range(300))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        by_name = eg.IFairNMTF(3, init="random", max_iter=5, random_state=0).fit(
            blocks, sensitive_features=groups
        )
        in_order = eg.IFairNMTF(3, init="random", max_iter=5, random_state=0).fit(
            blocks, sensitive_features=np.arange(300) % 2
        )
    np.testing.assert_array_equal(by_name.membership_, in_order.membership_)
    with pytest.raises(GroupsError, match="expected one value per"):
        blocks.with_groups([1, 2, 3])
    with pytest.raises(GroupsError):
        eg.IFairNMTF(3).fit(blocks, sensitive_features=[1, 2, 3])


@pytest.mark.parametrize("method", [eg.SpectralClustering(3), eg.SymNMF(3), eg.FairLouvain(3)])
def test_other_methods_say_that_they_need_the_graph_in_memory(blocks, method):
    with pytest.raises(GraphError, match="this method needs the graph in memory"):
        method.fit(blocks)


# FairPartition and FairNMTF: start, moves, coarse search, factors.


@pytest.mark.parametrize("strength", [0.0, 0.4])
def test_embedding_follows_the_dense_eigenvectors(tmp_path, strength):
    data = eg.datasets.make_planted_graph(200, 3, random_state=0)
    codes = np.arange(200) % 2
    A = data.adjacency.toarray()
    half = 1 / np.sqrt(A.sum(axis=1))
    F = np.linalg.qr(half[:, None] * group_constraint(codes, 2))[0]
    operator = half[:, None] * A * half - strength * F @ F.T
    vectors = np.linalg.eigh(operator)[1][:, ::-1][:, :3]
    store = StreamedRows(write_blocks(data.adjacency, tmp_path / "x", rows_per_block=31), codes)
    row_embedding(store, 2, 3, strength=strength, seed=0)
    points = store.collect("points")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    # The same points up to a rotation, so the same angles between nodes.
    np.testing.assert_allclose(points @ points.T, unit @ unit.T, atol=0.02)


def test_fair_table_is_the_projection():
    rng = np.random.default_rng(0)
    codes, half, X = rng.integers(0, 3, 50), rng.random(50) + 0.1, rng.random((50, 4))
    U = np.linalg.qr(half[:, None] * group_constraint(codes, 3))[0]
    counts = np.bincount(codes).astype(float)
    sums = np.stack([(half[:, None] * X)[codes == g].sum(axis=0) for g in range(3)])
    table = fair_table(counts, np.bincount(codes, weights=half**2))
    np.testing.assert_allclose(half[:, None] * (table @ sums)[codes], U @ (U.T @ X), atol=1e-12)


@pytest.mark.parametrize("notion", ["normalized", "balance", "mouflon", "evenness"])
def test_notion_changes_are_those_of_the_objective(notion):
    codes = np.random.default_rng(0).integers(0, 3, 400)
    objective, _ = make_objective(codes, n_nodes=400, total=1.0, fairness=0.5, notion=notion)
    labels = np.random.default_rng(1).integers(0, 4, 400)
    table = np.array([[np.sum((labels == c) & (codes == g)) for g in range(3)] for c in range(4)])
    assert row_scores(objective, table.astype(float)).sum() == pytest.approx(objective.notion_value(table))
    changes = notion_changes(objective, table.astype(float))
    for group, source, target in ((0, 1, 2), (2, 3, 0)):
        moved = table.copy()
        moved[source, group] -= 1
        moved[target, group] += 1
        expected = objective.notion_value(moved) - objective.notion_value(table)
        assert changes[group, source, target] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("fairness", [0.0, 0.5])
def test_rounds_of_moves_raise_the_objective_and_tell_its_exact_value(blocks, fairness):
    data = sbm()
    codes = encode_groups(data.sensitive_features).codes
    store = StreamedRows(blocks, codes)
    row_embedding(store, 2, 3, strength=0.0, seed=0)
    start = np.random.default_rng(0).integers(0, 3, 300).astype(np.int32)
    objective, _ = make_objective(codes, n_nodes=300, total=blocks.total, fairness=fairness)
    store.place("labels", start)
    seen = []
    moves = RowMoves(store, objective, 3, objective.population.size, mean_weight=1.0, seed=0)
    value = moves.run(30, lambda stage, step, total, cost: seen.append(-cost))
    labels = store.collect("labels")

    def score(labels):
        scores = eg.metrics.evaluate(data.adjacency, labels, sensitive_features=codes)
        return (1 - fairness) * scores["Q"] + fairness * scores["NB"]

    assert value == pytest.approx(score(labels), abs=1e-12)
    # Random labels are nearly fair by chance: at .5 no more than .043 can be won without cohesion.
    assert value > score(start) + (0.05 if fairness == 0 else 0.04)
    assert (np.diff(seen) >= 0).all()


def test_hash_is_even_and_free_of_the_block():
    numbers = hashed(np.arange(100_000), 3)
    assert abs(numbers.mean() - 0.5) < 0.01
    np.testing.assert_array_equal(hashed(np.arange(500, 600), 3), numbers[500:600])
    assert abs(np.corrcoef(numbers, hashed(np.arange(100_000), 4))[0, 1]) < 0.02


@pytest.mark.parametrize("fairness", [0.0, 0.5, 1.0])
def test_fair_partition_from_disk(blocks, fairness):
    data = sbm()
    streamed = eg.FairPartition(3, fairness, random_state=0).fit(blocks)
    here = eg.FairPartition(3, fairness, effort=0.2, random_state=0).fit(
        data.adjacency, sensitive_features=data.sensitive_features
    )
    assert streamed.n_nonempty_clusters_ == 3
    np.testing.assert_array_equal(streamed.membership_.argmax(axis=1), streamed.labels_)
    scores = eg.metrics.evaluate(data.adjacency, streamed.labels_, sensitive_features=data.sensitive_features)
    assert streamed.modularity_ == pytest.approx(scores["Q"])
    assert streamed.notion_ == pytest.approx(scores["NB"])
    assert streamed.objective_ == pytest.approx((1 - fairness) * scores["Q"] + fairness * scores["NB"])
    assert streamed.objective_ > here.objective_ - 0.04
    np.testing.assert_allclose(
        streamed.interaction_, mean_interaction(data.adjacency, streamed.labels_, 3), rtol=1e-10
    )
    again = eg.FairPartition(3, fairness, random_state=0).fit(blocks)
    np.testing.assert_array_equal(again.labels_, streamed.labels_)


@pytest.mark.parametrize("init", ["fair-spectral", "random", "partition"])
@pytest.mark.parametrize("fairness", [0.0, 0.5])
def test_fair_nmtf_from_disk(blocks, fairness, init):
    model = eg.FairNMTF(3, fairness, init=init, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        streamed, again = (clone(model).fit(blocks) for _ in range(2))
    assert streamed.membership_.shape == (300, 3)
    np.testing.assert_array_equal(streamed.membership_.argmax(axis=1), streamed.labels_)
    history = streamed.objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
    np.testing.assert_array_equal(again.membership_, streamed.membership_)


def test_rows_that_live_apart_hold_nodes_without_an_edge_and_say_what_cannot_be_done(tmp_path):
    A = random_graph()
    stored = write_blocks(A, tmp_path / "x", rows_per_block=40).with_groups(np.arange(90) % 2)
    model = eg.FairPartition(4, 0.5, random_state=0, n_init=2).fit(stored)
    assert model.n_nonempty_clusters_ == 4
    for unfit in ({"size_bounds": (2, None)}, {"at_least": 0.9}):
        with pytest.raises(ParameterError, match=f"{next(iter(unfit))} needs the graph in memory"):
            eg.FairPartition(4, **unfit).fit(stored)
    with pytest.raises(ParameterError, match="n_clusters=None needs the graph in memory"):
        eg.FairPartition(None).fit(stored)
    with pytest.raises(ParameterError, match="links single nodes"):
        eg.FairNMTF(4, penalty=GraphPenalty(A)).fit(stored)
    empty = write_blocks(sparse.csr_array((9, 9)), tmp_path / "y").with_groups(np.arange(9) % 2)
    for kind in (eg.FairPartition, eg.FairNMTF):
        with pytest.raises(eg.exceptions.InfeasibleError, match="has no edge"):
            kind(3).fit(empty)


# Edge sets.


def write_parts(folder, n_parts=3, **columns):
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    folder.mkdir()
    for part in range(n_parts):
        table = pyarrow.table({name: values[part::n_parts] for name, values in columns.items()})
        parquet.write_table(table, folder / f"part-{part}.parquet")
    return folder


@pytest.mark.parametrize("weighted", [False, True])
def test_an_edge_set_becomes_the_graph_that_read_graph_makes(tmp_path, weighted):
    rng = np.random.default_rng(0)
    upper = sparse.triu(random_graph(80, weighted), 1).tocoo()
    # Some edges in both directions, some twice; all nodes named, or read_graph would not know them.
    again = rng.integers(0, upper.nnz, 50)
    ring = np.arange(80), (np.arange(80) + 1) % 80
    fresh = np.asarray(random_graph(80, weighted).todense())[ring] == 0
    source = np.concatenate([upper.row, upper.col[again], upper.row[again[:9]], ring[0][fresh]])
    target = np.concatenate([upper.col, upper.row[again], upper.col[again[:9]], ring[1][fresh]])
    columns = {"source": source.astype(np.int64), "target": target.astype(np.int64)}
    if weighted:
        data = np.concatenate([upper.data, upper.data[again], upper.data[again[:9]], np.ones(fresh.sum())])
        columns["weight"] = data
    folder = write_parts(tmp_path / "edges", **columns)
    stored = write_edge_blocks(folder, tmp_path / "blocks", block_bytes=400)
    assert stored.n_blocks > 4
    stored.verify()
    import pandas as pd

    expected = eg.read_graph(pd.DataFrame(columns))
    assert stored.fingerprint() == expected.fingerprint()
    assert not list(tmp_path.glob(".equigraph-partial-*"))


def test_a_block_that_is_sorted_again_is_the_same(tmp_path, monkeypatch):
    """A scheduler that lost a worker asks for finished blocks again."""
    twice = []

    def sorted_twice(job):
        twice.append(job.block)
        facts = sort_block(job)
        assert sort_block(job) == facts
        return facts

    monkeypatch.setattr("equigraph.execution.edge_blocks.sort_block", sorted_twice)
    edges = {"source": np.arange(40), "target": np.arange(1, 41)}
    stored = write_edge_blocks(write_parts(tmp_path / "edges", **edges), tmp_path / "blocks", block_bytes=64)
    assert stored.n_edges == 40
    assert len(twice) == stored.n_blocks > 1
    assert not (tmp_path / "blocks" / "spill").exists()


def test_a_number_of_nodes_that_is_none_is_refused(tmp_path):
    folder = write_parts(tmp_path / "edges", source=np.arange(4), target=np.arange(1, 5))
    with pytest.raises(ParameterError, match="n_nodes=-1"):
        write_edge_blocks(folder, tmp_path / "blocks", n_nodes=-1)


def test_a_broken_later_file_is_named(tmp_path):
    folder = write_parts(tmp_path / "edges", source=np.arange(4), target=np.arange(1, 5))
    (folder / "part-2.parquet").write_bytes(b"nonsense")
    with pytest.raises(GraphError, match=r"part-2\.parquet cannot be read"):
        write_edge_blocks(folder, tmp_path / "blocks")
    assert not (tmp_path / "blocks").exists()


@pytest.mark.parametrize(("rule", "value"), [("sum", 5.0), ("max", 3.0), ("min", 2.0), ("mean", 2.5)])
def test_conflicting_weights(tmp_path, rule, value):
    folder = write_parts(tmp_path / "e", 1, source=[0, 1, 1], target=[1, 0, 2], weight=[2.0, 3.0, 0.0])
    with pytest.raises(GraphError, match="between 0 and 1 is listed with the weights 2 and 3"):
        write_edge_blocks(folder, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    dense = write_edge_blocks(folder, tmp_path / "b", duplicates=rule).to_graph().adjacency.toarray()
    np.testing.assert_array_equal(dense, [[0, value, 0], [value, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [0, -1], "target": [1, 2]}, r"part-0.parquet, row 1: 'source' is -1"),
        ({"source": [0, 2**40], "target": [1, 2]}, r"row 1: 'source' is 1099511627776"),
        ({"source": [0, None], "target": [1, 2]}, r"row 1: 'source' is missing"),
        ({"source": ["a", "b"], "target": ["c", "d"]}, "holds string, expected whole numbers"),
        ({"source": [0], "target": [1], "weight": [-2.0]}, "the weight is -2, expected"),
        ({"source": [0], "target": [1], "weight": ["x"]}, "the weights are no numbers"),
        ({"source": [0]}, "expected two ends"),
    ],
)
def test_bad_edge_sets_are_refused_and_leave_nothing(tmp_path, columns, message):
    folder = write_parts(tmp_path / "e", 1, **columns)
    with pytest.raises(GraphError, match=message):
        write_edge_blocks(folder, tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e"]


def test_loops_missing_files_and_the_number_of_nodes(tmp_path):
    folder = write_parts(tmp_path / "e", 1, source=[0, 1, 4], target=[1, 1, 4])
    with pytest.warns(SelfLoopWarning, match="2 self-loops were dropped"):
        stored = write_edge_blocks(folder, tmp_path / "b")
    assert (stored.n_nodes, stored.n_edges) == (5, 1)
    with pytest.warns(SelfLoopWarning):
        assert write_edge_blocks(folder, tmp_path / "c", n_nodes=9).n_nodes == 9
    with pytest.raises(GraphError, match="names node 4: expected nodes below n_nodes=3"):
        write_edge_blocks(folder, tmp_path / "d", n_nodes=3)
    with pytest.raises(GraphError, match="no parquet file"):
        write_edge_blocks(tmp_path / "nowhere", tmp_path / "d")
    with pytest.raises(ParameterError, match="duplicates='first' is unknown"):
        write_edge_blocks(folder, tmp_path / "d", duplicates="first")
