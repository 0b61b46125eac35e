"""The real graphs, as their authors publish them."""

from __future__ import annotations

import numpy as np
import pytest

from equigraph.exceptions import GraphError
from equigraph.graph import read_graph

SCHOOL = "iFairNMTF/Source/data/School"


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
