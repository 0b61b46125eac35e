"""Values matched to nodes by name, and groups read in both ways."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equigraph.exceptions import EquigraphError, GroupsError
from equigraph.graph import Graph, as_graph, delimited, read_graph
from equigraph.graph.labels import by_name
from equigraph.graph.names import object_array

GRAPH = [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
VALUES = st.lists(
    st.sampled_from(["x", "y", "", "NA", "3", "4", 'a"b', '"q, r"', " z "]), min_size=1, max_size=5
)


def outcome(path, graph, **options):
    try:
        found = read_graph(graph, groups=path, **options)
    except EquigraphError as error:
        return str(error)
    values = found.sensitive_features
    return found.node_names.tolist(), values.dtype.kind, values.tolist(), found.attribute


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(
    VALUES,
    st.sampled_from(["", "node,team\n", "# top\nnode,team\n"]),
    st.sampled_from(["error", "ignore", "own-group", "drop"]),
    st.sampled_from(["error", "add", "ignore"]),
    st.booleans(),
)
def test_large_and_small_group_files_end_alike(tmp_path, monkeypatch, values, top, missing, unknown, named):
    pytest.importorskip("pyarrow")
    path = tmp_path / "groups.csv"
    names = ["a", "b", "c", "d", "a"] if named else range(5)
    path.write_text(top + "".join(f"{name},{v}\n" for name, v in zip(names, values, strict=False)))
    nodes = np.array(["a", "b", "c"] if named else [0, 1, 2])
    graph = Graph(as_graph(GRAPH).adjacency, nodes, positional=False)
    options = {"missing": missing, "unknown": unknown}
    with monkeypatch.context() as patch:
        patch.setattr(delimited, "FAST_BYTES", 1 << 40)
        careful = outcome(path, graph, **options)
        patch.setattr(delimited, "FAST_BYTES", -1)
        assert outcome(path, graph, **options) == careful


@given(
    st.lists(st.sampled_from(["a", "b", "é", "x\0", "x", "7"]), unique=True, min_size=1),
    st.lists(st.tuples(st.sampled_from(["a", "b", "e\u0301", "x", 7]), st.integers(0, 2))),
)
def test_values_are_those_of_a_dictionary(names, pairs):
    graph = Graph(np.zeros((len(names), len(names))), names, named=True)
    keys, values = (object_array(pair[k] for pair in pairs) for k in (0, 1))
    wanted = {}
    for key, value in pairs:
        wanted.setdefault({"e\u0301": "é", 7: "7"}.get(key, key), set()).add(value)
    try:
        found = by_name(graph, keys, values, "ignore")[1]
    except GroupsError:
        assert any(len(wanted.get(name, ())) > 1 for name in names)
        return
    assert found.tolist() == [next(iter(wanted[name])) if name in wanted else None for name in names]
