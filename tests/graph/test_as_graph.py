"""as_graph: the same graph from every container, with real objects of every library."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse

from equigraph.exceptions import GraphError, GroupsError, SelfLoopWarning
from equigraph.graph import Graph, as_graph, read_graph
from tests.optional import optional
from tests.reference.refusals import refused

igraph = optional("igraph")
networkit = optional("networkit")
nx = optional("networkx")
pd = optional("pandas")
pl = optional("polars")
pa = optional("pyarrow")


def pyg(*args, kind="Data", **options):
    """Make a torch_geometric object; importing the library is slow and warns, so it is done late."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = pytest.importorskip("torch_geometric.data")
    return getattr(data, kind)(*args, **options)


def tensor(values):
    return pytest.importorskip("torch").tensor(values)


EDGES = [(0, 1, 1.5), (1, 2, 2.0), (0, 3, 0.5), (2, 3, 1.0), (3, 4, 4.0)]
N = 5


def dense():
    matrix = np.zeros((N, N))
    for i, j, w in EDGES:
        matrix[i, j] = matrix[j, i] = w
    return matrix


def from_networkx(kind=nx.Graph):
    graph = kind()
    graph.add_nodes_from(range(N))
    graph.add_weighted_edges_from(EDGES)
    if graph.is_directed():
        graph.add_weighted_edges_from((j, i, w) for i, j, w in EDGES)
    return graph


def from_igraph():
    graph = igraph.Graph(N, [(i, j) for i, j, _ in EDGES])
    graph.es["weight"] = [w for *_, w in EDGES]
    return graph


def from_networkit():
    graph = networkit.Graph(N, weighted=True)
    for i, j, w in EDGES:
        graph.addEdge(i, j, w)
    return graph


def from_pyg(field="edge_weight", column=False):
    coo = sparse.coo_array(dense())
    weights = tensor(coo.data)
    index = tensor(np.array([coo.row, coo.col]).astype(np.int64))
    return pyg(edge_index=index, num_nodes=N, **{field: weights[:, None] if column else weights})


def table(names=("source", "target", "weight")):
    return pd.DataFrame(EDGES, columns=list(names))


CONTAINERS = {
    "numpy": dense,
    "lists": lambda: dense().tolist(),
    "torch": lambda: tensor(dense()),
    "networkx": from_networkx,
    "networkx multi": lambda: from_networkx(nx.MultiGraph),
    "networkx directed": lambda: from_networkx(nx.DiGraph),
    "igraph": from_igraph,
    "networkit": from_networkit,
    "pyg edge_weight": from_pyg,
    "pyg edge_attr": lambda: from_pyg("edge_attr"),
    "pyg edge_attr column": lambda: from_pyg("edge_attr", column=True),
    "pandas": table,
    "pandas shuffled": lambda: table().iloc[[3, 1, 0, 4, 2]],
    "pandas reversed": lambda: table(("target", "source", "weight")),
    "pandas unnamed": lambda: table((0, 1, 2)),
    "pandas other names": lambda: table(("a", "b", "Strength")),
    "pandas with an index column": lambda: table().reset_index(),
    "pandas text": lambda: table().astype({"source": str, "target": str}),
    "pandas float ids": lambda: table().astype({"source": float}),
    "pandas nullable": lambda: table().convert_dtypes(),
    "pandas matrix": lambda: pd.DataFrame(dense()),
    "polars": lambda: pl.from_pandas(table(("From", "TO", "w"))),
    "polars lazy": lambda: pl.from_pandas(table(("i", "j", "weight"))).lazy(),
    "polars matrix": lambda: pl.DataFrame(dense(), schema=[str(k) for k in range(N)]),
    "pyarrow": lambda: pa.Table.from_pandas(table(("src", "dst", "weight"))),
    "pyarrow dictionary": lambda: pa.table(
        {
            "node1": pa.array([str(i) for i, *_ in EDGES]).dictionary_encode(),
            "node2": pa.array([str(j) for _, j, _ in EDGES]),
            "Weight": pa.array([w for *_, w in EDGES]),
            "year": pa.array([2020] * len(EDGES)),
        }
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_gives_the_same_graph(name):
    source = CONTAINERS[name]()
    as_graph(source)
    graph = as_graph(source)  # the first call left it alone
    assert as_graph(graph) is graph
    assert graph.fingerprint() == Graph(sparse.csr_array(dense())).fingerprint()
    np.testing.assert_array_equal(graph.adjacency.toarray(), dense())
    assert graph.adjacency.indices.dtype == np.int32
    assert (graph.n_nodes, graph.n_edges, graph.is_weighted) == (N, len(EDGES), True)


def test_names_and_order_of_graph_objects():
    graph = nx.Graph([("zoe", "ann"), ("ann", "bob")])
    assert as_graph(graph).node_names.tolist() == ["zoe", "ann", "bob"]
    named = igraph.Graph([(0, 1)])
    named.vs["name"] = ["x", "y"]
    assert as_graph(named).node_names.tolist() == ["x", "y"]
    assert as_graph(named).named
    holes = networkit.Graph(4)
    holes.addEdge(0, 3)
    holes.addEdge(2, 3)
    holes.removeNode(1)
    converted = as_graph(holes)
    assert converted.node_names.tolist() == [0, 2, 3]
    assert converted.adjacency.toarray().tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_mixed_networkx_nodes_keep_their_types():
    graph = as_graph(nx.Graph([(1, "a"), ("a", (2, 3))]))
    assert graph.node_names.tolist() == [1, "a", (2, 3)]
    refused(GraphError, "'1' occurs twice", nx.Graph([(1, "1")]))


def test_networkx_weights():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=3, years=7)
    graph.add_edge(1, 2)
    assert read_graph(graph, weight="years").adjacency.toarray()[1].tolist() == [7, 0, 1]
    refused(GraphError, "No edge has an attribute 'size'", graph, weight="size")
    assert not read_graph(graph, weight=False).is_weighted
    for options in ({}, {"symmetrize": "sum"}):  # there is nothing to symmetrize
        assert as_graph(graph, **options).adjacency.toarray()[1].tolist() == [3, 0, 1]
    graph.add_edge(2, 3, weight="heavy")
    refused(GraphError, re.escape("edge (2, 3): the weight is 'heavy'"), graph)
    graph.add_edge(2, 3, weight=-1)
    refused(GraphError, re.escape("edge (2, 3): the weight is -1, expected a finite"), graph)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nx.DiGraph([(0, 1), (1, 0), (1, 2)]),
        lambda: igraph.Graph(edges=[(0, 1), (1, 0), (1, 2)], directed=True),
        lambda: pyg(edge_index=tensor([[0, 1, 1], [1, 0, 2]]), num_nodes=3),
        lambda: networkit.GraphFromCoo((np.array([0, 1, 1]), np.array([1, 0, 2])), n=3, directed=True),
    ],
)
def test_directed_graphs_need_symmetrize(make):
    refused(GraphError, r"not symmetric: entry \(1, 2\) is 1 and entry \(2, 1\) is 0", make())
    assert as_graph(make(), symmetrize="max").n_edges == 2
    assert as_graph(make(), symmetrize="min").n_edges == 1
    assert as_graph(make(), symmetrize="sum").adjacency[0, 1] == 2


def test_pyg_edge_cases():
    edge = tensor([[0, 1], [1, 0]])
    parts = {"edge_attr": tensor(np.ones((2, 3))), "x": tensor(np.ones((4, 1)))}
    graph = pyg(edge_index=edge, **parts, team=tensor([4, 5, 4, 5]), wide=tensor(np.ones((4, 2))))
    assert (as_graph(graph).n_nodes, as_graph(graph).is_weighted) == (4, False)
    assert read_graph(graph, attribute="team").sensitive_features.tolist() == [4, 5, 4, 5]
    refused(GroupsError, re.escape("'wide' has shape (4, 2)"), graph, attribute="wide")
    refused(GroupsError, "No node has an attribute 'age'", graph, attribute="age")
    assert as_graph(pyg(edge_index=edge)).n_nodes == 2
    refused(GraphError, "100,000,000,000 nodes in 32 bytes", pyg(edge_index=edge, num_nodes=10**11))
    refused(GraphError, "expected Data with an edge_index", pyg(kind="HeteroData"))
    refused(GraphError, "outside 0 to 1", pyg(edge_index=tensor([[0, 5], [5, 0]]), num_nodes=2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.array([[1.0, 1], [1, 0]]),
        lambda: nx.Graph([(0, 0), (0, 1)]),
        lambda: igraph.Graph([(0, 0), (0, 1)]),
        lambda: pd.DataFrame({"source": [0, 0], "target": [0, 1]}),
        lambda: pyg(edge_index=tensor([[0, 0, 1], [0, 1, 0]]), num_nodes=2),
    ],
)
@pytest.mark.filterwarnings("ignore::ImportWarning")  # of older networkx, where there is no pandas
def test_self_loops_warn_once(make):
    with pytest.warns(SelfLoopWarning, match="^1 self-loop") as caught:
        graph = as_graph(make())
    assert [one.filename for one in caught if one.category is SelfLoopWarning] == [__file__]
    assert (graph.n_nodes, graph.n_edges) == (2, 1)


def test_graphs_without_edges_or_nodes():
    empty = nx.Graph()
    empty.add_nodes_from("abc")
    assert (as_graph(empty).n_nodes, as_graph(empty).n_edges) == (3, 0)
    assert as_graph(networkit.Graph(2)).n_edges == 0
    refused(GraphError, "no nodes", nx.Graph())


def test_labelled_matrices():
    frame = pd.DataFrame([[0, 1, 0], [1, 0, 1], [0, 1, 0]], index=list("abc"), columns=list("abc"))
    graph = as_graph(frame)
    assert graph.node_names.tolist() == ["a", "b", "c"]
    assert graph.positional
    columns = pl.DataFrame(dense(), schema=[f"col_{k}" for k in range(N)])
    assert as_graph(columns).node_names[0] == "col_0"
    # The names once more as a first column, as in a csv that was read without index_col.
    repeated = columns.insert_column(0, pl.Series("", columns.columns))
    assert as_graph(repeated).fingerprint() == as_graph(columns).fingerprint()


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("friends.csv", "a file is read with read_graph"),
        (3, "a networkx, igraph or networkit graph"),
        (None, "NoneType is not a graph: expected a scipy sparse matrix"),
        ({"a": "b"}, "dict is not a graph"),
        (pd.Series([1, 2]), "Series is not a graph"),
        (pl.DataFrame({"a": [1], "b": [1], "c": [1], "d": [1]}), "1 rows and 4 columns"),
        (pl.DataFrame({"a": ["x"] * 4, "b": [1] * 4, "c": [1] * 4, "d": [1] * 4}), "'a' of the square table"),
        (pl.DataFrame({"source": ["a"], "target": [None]}), "row 0 of the edge table (counting from 0)"),
        (pd.DataFrame({"source": [1, None], "target": [2, 3]}), "the source is missing"),
        (pl.DataFrame({"source": [1], "target": [2], "weight": [-2.0]}), "the weight is -2, expected"),
        (pl.DataFrame({"source": [1], "target": [2], "w": ["1,5"]}), "a decimal point, not a decimal comma"),
        (pl.DataFrame({"i": [1], "j": [2], "w": [1], "count": [2]}), "the column 'w' may be a weight"),
        (pl.DataFrame({"source": [1, 2], "target": [2, 1], "w": [1.0, 2.0]}), "pair (1, 2) has the weight 2"),
        (pl.DataFrame({"source": [], "target": []}), "no nodes"),
        (
            pd.DataFrame([[0, 1], [0, 0]], list("ab"), list("ab")),
            "entry ('a', 'b') is 1 and entry ('b', 'a')",
        ),
        (pd.DataFrame(np.ones((4, 4)), columns=list("aabc")), "is not a table that can be read"),
    ],
)
def test_refusals(source, sentence):
    with pytest.raises(GraphError, match=re.escape(sentence)):
        as_graph(source)


def test_rows_without_weights_are_counted_by_sum(tmp_path):
    pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("a", "b")]
    table = pd.DataFrame(pairs, columns=["source", "target"])
    paths = [tmp_path / name for name in ("edges.csv", "edges.parquet")]
    table.to_csv(paths[0], index=False)
    table.to_parquet(paths[1])
    hours = table.assign(hour=[8, 9, 10, 11])  # may be a weight, so it must be said that it is none
    many = nx.MultiGraph(pairs)
    counted = [[0, 3, 0], [3, 0, 1], [0, 1, 0]]
    tables = (table, pl.DataFrame(table), table.assign(w=1), *paths)
    for source in (*tables, many, igraph.Graph.TupleList(pairs)):
        graph = read_graph(source, duplicates="sum")
        assert graph.node_names.tolist() == ["a", "b", "c"]
        assert graph.adjacency.toarray().tolist() == counted
        assert not read_graph(source).is_weighted
    assert read_graph(hours, weight=False, duplicates="sum").adjacency.toarray().tolist() == counted
    many.add_edge("b", "c", weight=5)
    refused(GraphError, r"pair \('b', 'c'\).*duplicates", many)
    one_way = as_graph(table, duplicates="sum", symmetrize="min").adjacency.toarray()
    assert one_way.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert as_graph(table, duplicates="sum", dtype="float32").adjacency.dtype == np.float32
    assert read_graph([[0, 5], [5, 0]], weight=False, duplicates="sum").adjacency[0, 1] == 1


def test_ids_sort_by_value_or_by_text():
    assert as_graph(pl.DataFrame({"i": [10, 9], "j": [9, 100]})).node_names.tolist() == [9, 10, 100]
    texts = pl.DataFrame({"i": ["10", "9"], "j": ["9", "100"]})
    assert as_graph(texts).node_names.tolist() == ["10", "100", "9"]
    mixed = pd.DataFrame({"i": [10, "b"], "j": ["9", 10]}, dtype=object)
    assert as_graph(mixed).node_names.tolist() == ["10", "9", "b"]
    big = pl.DataFrame({"i": [2**60 + 1, 2**60], "j": [2**60, 2**60 + 2]})
    assert as_graph(big).node_names.tolist() == [2**60, 2**60 + 1, 2**60 + 2]


def test_float32_weights_stay():
    frame = pl.DataFrame({"i": [1], "j": [2], "weight": pl.Series([0.1], dtype=pl.Float32)})
    assert as_graph(frame).adjacency.dtype == np.float32
    assert as_graph(table(), dtype="float32").adjacency.dtype == np.float32
    assert as_graph(table().iloc[:, :2], dtype="float32").adjacency.dtype == np.float32


PAIR = [[0, 1], [1, 0]]


class TestGraph:
    @pytest.mark.parametrize(
        ("parts", "error", "words"),
        [
            (([[0, 1], [0, 0]],), GraphError, "not symmetric"),
            ((PAIR, [0, 1, 2]), GraphError, "3 node names for 2 nodes"),
            ((PAIR, ["a", "a"]), GraphError, "occurs twice"),
            ((PAIR, None, [1]), GroupsError, "1 groups for 2 nodes"),
        ],
    )
    def test_it_checks_its_parts(self, parts, error, words):
        with pytest.raises(error, match=words):
            Graph(*parts)

    def test_fingerprint_depends_on_every_part(self):
        adjacency = sparse.csr_array(dense())
        groups = np.array(list("aabbb"))
        base = Graph(adjacency, sensitive_features=groups)
        others = [
            Graph(adjacency),
            Graph(adjacency * 2, sensitive_features=groups),
            Graph(adjacency, np.arange(1, 6), sensitive_features=groups),
            Graph(adjacency, sensitive_features=groups[::-1]),
            Graph(adjacency[::-1][:, ::-1], sensitive_features=groups),
            # Joined names do not collide.
            Graph(PAIR, ["ab", "c"]),
            Graph(PAIR, ["a", "bc"]),
        ]
        prints = {graph.fingerprint() for graph in [base, *others]}
        assert len(prints) == 8
        assert all(re.fullmatch("[0-9a-f]{64}", value) for value in prints)
        single = Graph(adjacency.astype(np.float32), sensitive_features=groups)
        assert single.fingerprint() == base.fingerprint()

    def test_networkx_round_trip(self):
        graph = Graph(dense(), ["zoe", "ann", "bob", "cem", "dee"], [1, 2, 1, 1, 2], "team")
        there = graph.to_networkx()
        assert there.nodes["ann"] == {"team": 2}
        assert read_graph(there, attribute="team").fingerprint() == graph.fingerprint()
        assert "weight" not in Graph(PAIR).to_networkx().edges[0, 1]
