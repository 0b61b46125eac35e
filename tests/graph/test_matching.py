"""Values matched to nodes by name, against a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from equigraph.exceptions import GroupsError
from equigraph.graph import Graph
from equigraph.graph.labels import by_name
from equigraph.graph.names import object_array


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
