"""Damaged groups raise errors instead of going to other nodes; long names and files need little memory."""

import gzip
import io
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from equigraph.exceptions import GraphError, GroupsError
from equigraph.graph import read_graph
from tests.reference.refusals import refused
from tests.reference.written import put


@pytest.fixture
def graph(tmp_path):
    """Return the file of a square matrix."""
    return put(tmp_path, "a.csv", "0,1,0,1\n1,0,1,0\n0,1,0,1\n1,0,1,0\n")


def test_empty_line_is_a_node_without_a_group(graph, tmp_path):
    groups = put(tmp_path, "g.csv", "gender\ngirl\n\nboy\ngirl\n")
    refused(GroupsError, "missing for 1 of 4 nodes, first 1", graph, groups=groups)
    found = read_graph(graph, groups=groups, missing="own-group")
    assert found.sensitive_features.tolist() == ["girl", "missing", "boy", "girl"]
    assert found.attribute == "gender"


def test_comments_and_empty_lines_at_the_end_are_no_groups(graph, tmp_path):
    groups = put(tmp_path, "g.csv", "# by hand\ngirl\n# more\nboy\ngirl\nboy\n\n\n")
    assert read_graph(graph, groups=groups).sensitive_features.tolist() == ["girl", "boy", "girl", "boy"]


def test_an_empty_last_line_may_be_the_last_node(graph, tmp_path):
    groups = put(tmp_path, "g.csv", "gender\ngirl\nboy\ngirl\n\n")
    refused(GroupsError, "ends in an empty line, so that 'gender' may be a header", graph, groups=groups)
    groups = put(tmp_path, "h.csv", "gender\ngirl\nboy\ngirl\nNA\n")
    told = read_graph(graph, groups=groups, missing="own-group")
    assert told.sensitive_features.tolist() == ["girl", "boy", "girl", "missing"]


def test_nul_at_the_end_of_a_name(tmp_path):
    graph = put(tmp_path, "a.csv", "x,y\ny,z\n")
    groups = put(tmp_path, "g.csv", "x,a\ny,b\nz,a\nz\0,b\n")
    found = read_graph(graph, groups=groups, unknown="add", header=False)
    assert found.node_names.tolist() == ["x", "y", "z", "z\0"]
    assert found.sensitive_features.tolist() == ["a", "b", "a", "b"]
    keyed = read_graph(graph, groups={"x": "a", "y": "a\0", "z": "a"}, header=False)
    assert keyed.sensitive_features.tolist() == ["a", "a\0", "a"]


def test_two_columns_of_groups_with_one_name_raise(tmp_path):
    graph = put(tmp_path, "a.csv", "x,y\ny,z\n")
    groups = put(tmp_path, "g.csv", "node,team,team\nx,1,2\ny,1,2\nz,2,2\n")
    refused(GroupsError, "2 columns called 'team'", graph, groups=groups, attribute="team", header=False)
    second = read_graph(graph, groups=groups, attribute=2, header=False)
    assert second.sensitive_features.tolist() == [2, 2, 2]


MEASURE = """
import sys
from pathlib import Path
import equigraph as eg
from equigraph.exceptions import EquigraphError

for path in sys.argv[1:]:
    try:
        graph = eg.read_graph(path)
        eg.Graph(graph.adjacency, graph.node_names).fingerprint()
        word = "read"
    except EquigraphError as error:
        word = "refused"
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
    print(path, word, peak // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_small_files_do_not_exhaust_the_memory(tmp_path):
    """Each took between 2.4 and 10.6 GB; the bound is 1 GiB."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    same = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int8), pa.array(["x" * 100_000]))
    table = pa.table({"source": same, "target": [f"n{k % 50}" for k in range(20_000)]})
    pq.write_table(table, tmp_path / "long.parquet", store_schema=False)  # without a mark that texts repeat
    long = "".join(f"n{k},n{k + 1}\n" for k in range(3000)) + "n0," + "x" * 100_000 + "\n"
    zeros = io.BytesIO()
    np.savez_compressed(zeros, A=np.zeros((20_000, 20_000), dtype=np.int8))
    paths = [
        put(tmp_path, "id.csv", long),
        tmp_path / "long.parquet",
        put(tmp_path, "line.csv.gz", gzip.compress(b"x" * 120_000_000, 1)),
        put(tmp_path, "zeros.npz", zeros.getvalue()),
        put(tmp_path, "bomb.mat", _packed_mat(100_000_000)),
        put(tmp_path, "bomb.mat.gz", gzip.compress(b"\0" * 120_000_000, 1)),
    ]
    head = "%%MatrixMarket matrix coordinate real symmetric\n300000000 300000000 1\n2 1 2.5\n"
    paths.append(put(tmp_path, "head.mtx", head))
    command = [sys.executable, "-c", MEASURE, *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[1] for row in rows] == ["read"] * 2 + ["refused"] * 5
    assert max(int(row[2]) for row in rows) < 1024, rows


def _packed_mat(n_bytes):
    inner = zlib.compress(struct.pack("<II", 14, n_bytes * 4) + b"\0" * n_bytes, 1)
    return b"made by hand".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(inner)) + inner


def test_long_names_do_not_widen_all_names(tmp_path):
    long = "x" * 5000
    rows = "".join(f"n{k},n{k + 1}\n" for k in range(200))
    graph = read_graph(put(tmp_path, "a.csv", f"{rows}n0,{long}\n"), header=False)
    assert graph.node_names.dtype == object
    assert graph.node_names.nbytes < 10_000
    assert graph.node_names.tolist() == sorted([*(f"n{k}" for k in range(201)), long])
    names = graph.node_names.tolist()
    groups = "".join(f"{name},{'b' * 5000 if name == 'n7' else 'a'}\n" for name in names)
    found = read_graph(tmp_path / "a.csv", groups=put(tmp_path, "g.csv", groups), header=False)
    assert found.sensitive_features[names.index("n7")] == "b" * 5000
    assert found.sensitive_features.nbytes < 10_000
    more = read_graph(graph, groups={**dict.fromkeys(names, "a"), "y" * 9000: "b"}, unknown="add")
    assert more.n_nodes == 203
    assert "y" * 9000 in more.node_names.tolist()


def test_number_of_rows_of_a_compressed_table_is_bounded(tmp_path):
    """A column of one value takes a few bytes, whatever the number of its rows."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = 5_000_000
    table = pa.table({"source": np.zeros(rows, np.int8), "target": np.ones(rows, np.int8)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=rows)
    refused(GraphError, r"a\.parquet has 5,000,000 rows in [0-9,]+ bytes", tmp_path / "a.parquet")
    refused(GraphError, "5,000,000 rows", [[0, 1], [1, 0]], groups=tmp_path / "a.parquet")


@pytest.mark.parametrize("encoded", [True, False])
def test_dictionary_with_unused_and_repeated_texts_and_nulls(encoded):
    pa = pytest.importorskip("pyarrow")
    words = pa.array(["unused", "a", "b", "c", "b"])
    source = pa.DictionaryArray.from_arrays(pa.array([1, 2], pa.int8()), words)
    target = pa.DictionaryArray.from_arrays(pa.array([4, 3], pa.int8()), words)
    table = pa.table({"source": source, "target": target if encoded else target.cast(pa.string())})
    assert read_graph(table).node_names.tolist() == ["a", "b", "c"]
    gap = pa.DictionaryArray.from_arrays(pa.array([1, 2], pa.int8()), pa.array(["a", "b", None]))
    refused(GraphError, "the source is missing", pa.table({"source": gap, "target": target}))
    gaps = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string()))
    refused(GraphError, "the target is missing", pa.table({"source": ["a", "b"], "target": gaps}))
