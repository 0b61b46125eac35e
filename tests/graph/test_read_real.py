"""The real graphs, as their authors publish them."""

from __future__ import annotations

import numpy as np
import pytest

from equigraph.exceptions import GraphError
from equigraph.graph import read_graph

SCHOOL = "iFairNMTF/Source/data/School"


@pytest.mark.parametrize(
    ("graph", "groups", "nodes", "edges", "sizes"),
    [
        (f"{SCHOOL}/diaries.csv", f"{SCHOOL}/cd_attr.csv", 120, 348, [68, 52]),
        (f"{SCHOOL}/facebook.csv", f"{SCHOOL}/fb_attr.csv", 155, 1412, [70, 85]),
        (f"{SCHOOL}/friendship.csv", f"{SCHOOL}/fr_attr.csv", 127, 396, [76, 51]),
        (
            "iFairNMTF/Source/data/NBA/NBAgraph.csv",
            "iFairNMTF/Source/data/NBA/NBAfeature.csv",
            400,
            10621,
            [294, 106],
        ),
        ("iFairNMTF/Source/data/DrugNet/DrugNetgraph.csv", None, 193, 273, None),
        ("iFairNMTF/Source/data/LastFM/LastFM.mat", None, 5576, 19587, None),
        (
            "DFNMF/data/Pokec/pre_processed/n/sparse_Pokec_graph_reg_1.npz",
            "DFNMF/data/Pokec/pre_processed/n/Pokec_feature_reg1.csv",
            67796,
            617958,
            [31961, 17862, 12311, 5662],
        ),
    ],
)
def test_published_counts(data_dir, graph, groups, nodes, edges, sizes):
    read = read_graph(data_dir / graph, None if groups is None else data_dir / groups)
    assert (read.n_nodes, read.n_edges, read.is_weighted) == (nodes, edges, False)
    if sizes is not None:
        counts = np.unique(read.sensitive_features, return_counts=True)[1]
        assert sorted(counts.tolist()) == sorted(sizes)


def test_raw_drugnet(data_dir):
    folder = data_dir / "DFNMF/data/DrugNet/original/CSV"
    with pytest.raises(GraphError, match="not symmetric"):
        read_graph(folder / "DRUGNET.csv")
    graph = read_graph(folder / "DRUGNET.csv", folder / "DRUGATTR.csv", "Ethnicity", symmetrize="max")
    assert (graph.n_nodes, graph.n_edges) == (293, 284)
    assert np.count_nonzero(np.diff(graph.adjacency.indptr) == 0) == 81
    assert graph.node_names[:3].tolist() == [1, 2, 3]
    assert graph.attribute == "Ethnicity"


def test_raw_school(data_dir):
    folder = data_dir / SCHOOL
    diaries = folder / "Contact-diaries-network_data_2013.csv"
    with pytest.raises(GraphError, match=r"line 193: the pair \(3, 407\) has the weight 3 here and 2 in"):
        read_graph(diaries)
    people = folder / "metadata_2013.txt"
    graph = read_graph(diaries, people, 2, duplicates="max", unknown="ignore")
    assert (graph.n_nodes, graph.n_edges, graph.is_weighted) == (120, 348, True)
    assert set(graph.sensitive_features) <= {"F", "M", "Unknown"}
