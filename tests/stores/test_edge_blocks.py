"""Parquet edge sets become row blocks."""

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.exceptions import GraphError, ParameterError, SelfLoopWarning
from equigraph.stores.edge_blocks import sort_block, write_edge_blocks
from tests.reference.marks import TINY_GRAPHS
from tests.reference.stored import random_graph, write_parts

pytestmark = TINY_GRAPHS

NAMES = np.array(["Zoé", "ann", "Bob", "10", "9", "x y", "ł", "ann ", *(f"n{i}" for i in range(72))], object)


def edges(weighted, named):
    """Return the columns of an edge set: some edges in both directions, some twice."""
    upper = sparse.triu(random_graph(80, weighted), 1).tocoo()
    again = np.random.default_rng(0).integers(0, upper.nnz, 50)
    # All nodes are named, or read_graph would not know them.
    ring = np.arange(80), (np.arange(80) + 1) % 80
    fresh = np.asarray(random_graph(80, weighted).todense())[ring] == 0
    source = np.concatenate([upper.row, upper.col[again], upper.row[again[:9]], ring[0][fresh]])
    target = np.concatenate([upper.col, upper.row[again], upper.col[again[:9]], ring[1][fresh]])
    columns = {"source": source.astype(np.int64), "target": target.astype(np.int64)}
    if named:
        columns = {end: NAMES[numbers] for end, numbers in columns.items()}
    if weighted:
        data = np.concatenate([upper.data, upper.data[again], upper.data[again[:9]], np.ones(fresh.sum())])
        columns["weight"] = data
    return columns


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_an_edge_set_becomes_the_graph_that_read_graph_makes(tmp_path, weighted, named):
    pd = pytest.importorskip("pandas")
    columns = edges(weighted, named)
    folder = write_parts(tmp_path / "edges", **columns)
    stored = write_edge_blocks(folder, tmp_path / "blocks", block_bytes=400)
    graph = eg.read_graph(pd.DataFrame(columns))
    assert stored.n_blocks > 4
    stored.verify()
    assert stored.fingerprint() == graph.fingerprint()
    assert not list(tmp_path.glob(".equigraph-partial-*"))
    if named:
        np.testing.assert_array_equal(stored.node_names, graph.node_names)
        groups = {name: len(name) % 2 for name in graph.node_names.tolist()}
        model = eg.FairPartition(3, random_state=0)
        labels = [model.fit(one, sensitive_features=groups).labels_ for one in (stored, graph)]
        np.testing.assert_array_equal(*labels)


def test_a_block_that_is_sorted_again_is_the_same(tmp_path, monkeypatch):
    """A scheduler that lost a worker asks for finished blocks again."""
    twice = []

    def sorted_twice(number, **options):
        twice.append(number)
        facts = sort_block(number, **options)
        assert sort_block(number, **options) == facts
        return facts

    monkeypatch.setattr("equigraph.stores.edge_blocks.sort_block", sorted_twice)
    folder = write_parts(tmp_path / "edges", source=np.arange(40), target=np.arange(1, 41))
    stored = write_edge_blocks(folder, tmp_path / "blocks", block_bytes=64)
    assert stored.n_edges == 40
    assert len(twice) == stored.n_blocks > 1
    assert not (tmp_path / "blocks" / "spill").exists()


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


def test_rows_without_weights_are_counted_by_sum(tmp_path):
    folder = write_parts(tmp_path / "e", 2, source=[0, 1, 1, 0], target=[1, 0, 2, 1])
    dense = write_edge_blocks(folder, tmp_path / "b", duplicates="sum").to_graph().adjacency.toarray()
    np.testing.assert_array_equal(dense, [[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    assert not write_edge_blocks(folder, tmp_path / "c").to_graph().is_weighted


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [0, -1], "target": [1, 2]}, r"part-0.parquet, row 1: 'source' is -1"),
        ({"source": [0, 2**40], "target": [1, 2]}, r"row 1: 'source' is 1099511627776"),
        ({"source": [0, None], "target": [1, 2]}, r"row 1: 'source' is missing"),
        ({"source": [0.5, 1.0], "target": [1.0, 2.0]}, "holds double, expected whole numbers"),
        ({"source": [0], "target": [1], "weight": [-2.0]}, "the weight is -2, expected"),
        ({"source": [0], "target": [1], "weight": ["x"]}, "the weights are not numbers"),
        ({"source": [0]}, "expected two ends"),
        # One large number took all memory.
        ({"source": [0], "target": [5_000_000_000]}, "names node 5000000000: expected nodes below n_nodes="),
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
    with pytest.raises(ParameterError, match=r"n_nodes must be .*got -1"):
        write_edge_blocks(folder, tmp_path / "d", n_nodes=-1)
    with pytest.raises(GraphError, match="neither a parquet file"):
        write_edge_blocks(tmp_path / "nowhere", tmp_path / "d")
    with pytest.raises(ParameterError, match="duplicates='first' is unknown"):
        write_edge_blocks(folder, tmp_path / "d", duplicates="first")


@pytest.mark.parametrize("gap", [None, ""])
def test_bad_names_are_one_sentence(tmp_path, gap):
    gaps = write_parts(tmp_path / "gaps", source=["a", "b", gap], target=["b", "c", "d"], n_parts=1)
    with pytest.raises(GraphError, match=r"part-0\.parquet, row 2: 'source' is missing, expected the name"):
        write_edge_blocks(gaps, tmp_path / "x")
    mixed = write_parts(tmp_path / "mixed", source=["a", "b"], target=[1, 2], n_parts=1)
    with pytest.raises(GraphError, match="'target' holds int64, expected names as text"):
        write_edge_blocks(mixed, tmp_path / "x")
    twice = write_parts(tmp_path / "twice", 1, source=["a", "b"], target=["b", "a"], weight=[1.0, 2.0])
    with pytest.raises(GraphError, match="The edge between a and b is listed with the weights 1 and 2"):
        write_edge_blocks(twice, tmp_path / "x")
    with pytest.raises(ParameterError, match="n_nodes is for nodes that are numbers"):
        write_edge_blocks(twice, tmp_path / "x", n_nodes=4)
    assert not (tmp_path / "x").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gaps", "mixed", "twice"]
