"""Row blocks on disk: written, opened, cut, and who takes them."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph.exceptions import GraphError, GroupsError, ParameterError
from equigraph.stores.block_files import block_cuts
from equigraph.stores.blocks import write_blocks
from equigraph.stores.products import StoreProduct
from equigraph.stores.rows import StreamedRows
from tests.reference.marks import TINY_GRAPHS
from tests.reference.stored import random_graph, sbm_blocks

pytestmark = TINY_GRAPHS


@pytest.fixture
def blocks(tmp_path):
    return sbm_blocks(tmp_path / "sbm")


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
    gaps = eg.Graph(random_graph(), sensitive_features=[None, *"ab" * 44, "a"], missing="ignore")
    with pytest.raises(GroupsError, match="hold a group for every node"):
        write_blocks(gaps, blocks.folder / "gaps")
    with pytest.raises(GroupsError, match="expected one value per"):
        blocks.with_groups([1, 2, 3])
    with pytest.raises(GroupsError):
        eg.IFairNMTF(3).fit(blocks, sensitive_features=[1, 2, 3])


@pytest.mark.parametrize("method", [eg.SpectralClustering(3), eg.SymNMF(3), eg.FairLouvain(3)])
def test_other_methods_say_that_they_need_the_graph_in_memory(blocks, method):
    with pytest.raises(GraphError, match="this method needs the graph in memory"):
        method.fit(blocks)


def test_metrics_say_that_they_need_the_graph_in_memory(blocks):
    with pytest.raises(
        GraphError, match=r"lies on disk, and its graph is needed in memory: give to_graph\(\)"
    ):
        eg.metrics.modularity_score(blocks, np.zeros(blocks.n_nodes, dtype=int))
