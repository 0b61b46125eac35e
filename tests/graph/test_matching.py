"""Keys matched to names by sorting, against a dictionary, and groups read in both ways."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equigraph.exceptions import EquigraphError
from equigraph.graph import Graph, as_graph, attributes, delimited, read_graph
from equigraph.graph.names import as_names, object_array, places_of

NAMES = st.lists(st.sampled_from(["a", "b", "é", "e\u0301", "x\0", "7", ""]), unique=True, min_size=1)


@given(
    st.one_of(NAMES, st.lists(st.integers(0, 9), unique=True, min_size=1)),
    st.lists(st.one_of(st.sampled_from(["a", "b", "é", "x", "7", ""]), st.integers(0, 9))),
)
def test_places_are_those_of_a_dictionary(names, keys):
    names = as_names(object_array(names))
    found = places_of(object_array(keys), names)
    place = {str(name): k for k, name in enumerate(names.tolist())}
    wanted = [str(key) for key in keys]
    if found is None:
        # Fixed-width texts would lose a NUL at the end of a name: such names are matched one by one.
        whole = not any(str(name).endswith("\x00") for name in names.tolist())
        plain = whole and len({type(key) for key in keys}) == 1 and "" not in keys
        assert not (plain and len(set(wanted)) == len(wanted) and all(key in place for key in wanted))
    else:
        assert found.tolist() == [place[key] for key in wanted]


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
        patch.setattr(attributes, "places_of", lambda keys, names: None)
        careful = outcome(path, graph, **options)
        patch.setattr(delimited, "FAST_BYTES", -1)
        assert outcome(path, graph, **options) == careful
    monkeypatch.setattr(delimited, "FAST_BYTES", -1)
    assert outcome(path, graph, **options) == careful


def test_a_large_group_file_needs_no_dictionary(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(delimited, "FAST_BYTES", -1)
    monkeypatch.setattr(attributes, "node_places", None)  # calling it would fail
    path = tmp_path / "groups.csv"
    path.write_text("node,team,age\n2,x,30\n0,y,31\n1,x,32\n")
    graph = Graph(as_graph(GRAPH).adjacency, named=True)
    assert read_graph(graph, path, "team").sensitive_features.tolist() == ["y", "x", "x"]
    ages = read_graph(graph, path, "age").sensitive_features
    np.testing.assert_array_equal(ages, [31, 32, 30])
