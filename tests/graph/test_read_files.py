"""read_graph: every file format, what is detected in text files, and the line of every error."""

import gzip
import re

import numpy as np
import pytest
from scipy import sparse

from equigraph.exceptions import GraphError, ParameterError
from equigraph.graph import as_graph, read_graph
from tests.reference.refusals import refused

WEIGHTED = np.array([[0, 1.5, 0, 0], [1.5, 0, 2, 0.25], [0, 2, 0, 1], [0, 0.25, 1, 0]])


ROWS = [(0, 1, 1.5), (1, 2, 2.0), (1, 3, 0.25), (2, 3, 1.0)]


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.fixture
def expected():
    return as_graph(WEIGHTED).fingerprint()


@pytest.mark.parametrize("delimiter", [",", "\t", ";", " ", "   ", ", "])
@pytest.mark.parametrize("header", ["", "source{}target{}weight\n", "a{}b{}strength\n"])
@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_edge_lists(tmp_path, expected, delimiter, header, suffix):
    body = "".join(f"{i}{delimiter}{j}{delimiter}{w}\n" for i, j, w in ROWS)
    path = write(tmp_path / f"edges{suffix}", header.format(delimiter, delimiter) + body)
    graph = read_graph(path)
    assert graph.fingerprint() == expected
    assert read_graph(str(path)).fingerprint() == expected
    assert not graph.positional
    assert graph.node_names.dtype == np.int64


def test_tsv_gz_bom_comments_crlf_and_quotes(tmp_path, expected):
    tab = "# a comment\r\n\r\n" + "".join(f'"{i}"\t{j}\t{w}\r\n' for i, j, w in ROWS) + "% end"
    assert read_graph(write(tmp_path / "edges.tsv", tab)).fingerprint() == expected
    assert read_graph(write(tmp_path / "bom.csv", tab, "utf-8-sig")).fingerprint() == expected
    (tmp_path / "edges.csv.gz").write_bytes(gzip.compress(tab.encode()))
    assert read_graph(tmp_path / "edges.csv.gz").fingerprint() == expected


def test_the_text_of_ids_is_kept(tmp_path):
    names = read_graph(write(tmp_path / "a.csv", '007,7\n"Smith, Ann",Ünal\n1.0,7\n')).node_names
    assert names.tolist() == ["007", "1.0", "7", "Smith, Ann", "Ünal"]
    assert read_graph(write(tmp_path / "b.csv", "10,9\n9,-1\n0,9\n")).node_names.tolist() == [-1, 0, 9, 10]
    assert read_graph(write(tmp_path / "c.csv", "10,9\n9,+1\n")).node_names.tolist() == ["+1", "10", "9"]
    blanks = write(tmp_path / "d.txt", '"Ann Lee"  bob\nbob "Cem Oz"\n')
    assert read_graph(blanks).node_names.tolist() == ["Ann Lee", "Cem Oz", "bob"]


@pytest.mark.parametrize(
    ("text", "header", "names"),
    [
        ("FROM,To\na,b\n", None, ["a", "b"]),
        ("person,friend\n1,2\n", None, [1, 2]),
        ("person,friend\nann,bob\n", False, ["ann", "bob", "friend", "person"]),
        ("person,friend\nann,bob\n", True, ["ann", "bob"]),
        ("person,friend,value\nann,bob,3\n", None, ["ann", "bob"]),
        ("bob,ann\nann,cem\n", None, ["ann", "bob", "cem"]),
        ("zoe,yan,2\nann,cem,1\n", None, ["ann", "cem", "yan", "zoe"]),
        ("01,02\n03,04\n", None, ["01", "02", "03", "04"]),
        (",source,target\n0,ann,bob\n", None, ["ann", "bob"]),
        ("id,source,target\n0,ann,bob\n", None, ["ann", "bob"]),
        ("1,2\n3,4\n", True, [3, 4]),
        ("source,target\na,b\n", False, ["a", "b", "source", "target"]),
    ],
)
def test_headers(tmp_path, text, header, names):
    assert read_graph(write(tmp_path / "a.csv", text), header=header).node_names.tolist() == names


@pytest.mark.parametrize("name", ["weight", "Weights", "W", "value", "STRENGTH", " count "])
def test_names_of_weights(tmp_path, name):
    path = write(tmp_path / "friends.csv", f"source,target,{name}\na,b,5\n")
    assert read_graph(path).adjacency[0, 1] == 5


def test_column_that_may_be_a_weight_raises(tmp_path):
    path = write(tmp_path / "friends.csv", "source,target,since\na,b,2019\nb,c,2020\n")
    refused(GraphError, "^friends.csv: the column 'since' may be a weight: say weight='since', or ", path)
    assert read_graph(path, weight="since").adjacency[0, 1] == 2019
    assert not read_graph(path, weight=False).is_weighted
    for text in ("since,source,target\n9,a,b\n", "weight,source,target\n9,a,b\n", "a,b,type\nx,y,1\n"):
        refused(GraphError, "may be a weight", write(tmp_path / "friends.csv", text))
    path = write(tmp_path / "friends.csv", "source,target\na,b\n")
    refused(GraphError, "there is no weight column among 'source', 'target'", path, weight=True)


def test_separator_declared_by_excel(tmp_path):
    named = write(tmp_path / "a.csv", "sep=;\r\nsource;target;weight\r\nLee, Ann;bob;2\r\n", "utf-8-sig")
    bare = write(tmp_path / "b.csv", "sep=|\nLee, Ann|bob|2\n")
    for graph in (read_graph(named), read_graph(bare), read_graph(bare, delimiter="|")):
        assert graph.node_names.tolist() == ["Lee, Ann", "bob"]
        assert graph.adjacency[0, 1] == 2


def test_fields_at_the_end_that_are_always_empty(tmp_path):
    named = write(tmp_path / "a.csv", "source,target,weight,,\na,b,2,,\nb,c,3,,\n")
    bare = write(tmp_path / "b.csv", "a,b,\nb,c,\n")
    assert read_graph(named).adjacency[1, 2] == 3
    assert read_graph(bare).n_edges == 2
    refused(GraphError, r"c.csv, line 2: the weight is ''", write(tmp_path / "c.csv", "a,b,1\nb,c,\n"))
    groups = write(tmp_path / "g.csv", "who,team,\na,x,\nb,y,\nc,y,\n")
    assert read_graph(bare, groups).sensitive_features.tolist() == ["x", "y", "y"]


def test_columns_by_name_and_number(tmp_path):
    text = "year,target,source,weight,count\n2020,b,a,5,1\n2021,c,b,6,2\n"
    path = write(tmp_path / "a.csv", text)
    assert read_graph(path).adjacency[0, 1] == 5
    assert read_graph(path, weight="count").adjacency[1, 2] == 2
    assert read_graph(path, weight=4).adjacency[1, 2] == 2
    years = write(tmp_path / "years.csv", "source,target,1,2\na,b,5,7\n")
    assert read_graph(years, weight=2).adjacency[0, 1] == 7  # the name comes before the position
    assert read_graph(years, weight=3).adjacency[0, 1] == 7
    assert not read_graph(path, weight=False).is_weighted
    refused(GraphError, "weight='size' is not a column: expected one of 'year'", path, weight="size")
    bare = write(tmp_path / "b.csv", "a,b,x,5\nb,c,y,6\n")
    assert read_graph(bare, weight=3).adjacency[0, 1] == 5
    assert read_graph(write(tmp_path / "c.csv", "a,b,x\nb,c,y\n"), weight=False).n_edges == 2


def test_delimiter_is_used(tmp_path):
    path = write(tmp_path / "a.csv", "a b|c\nc|d\n")
    assert read_graph(path, delimiter="|").node_names.tolist() == ["a b", "c", "d"]
    refused(ParameterError, "expected one character", path, delimiter="||")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n" * 16 + "c\n", "edges.csv, line 17: expected 2 or 3 fields, got 1."),
        ("# top\na,b\n\na,b,c,d\n", "edges.csv, line 4: expected 2 or 3 fields, got 4."),
        ("source,target,weight\na,b,1\nb,c\n", "edges.csv, line 3: expected 3 fields as before, got 2."),
        ("a\nb\n", "edges.csv, line 1: expected 2 or 3 fields, got 1"),
        ("a,b,1\nb,c,heavy\n", "edges.csv, line 2: the weight is 'heavy', expected a nonnegative number"),
        ("a,b,1\nb,c,-2\n", "edges.csv, line 2: the weight is -2, expected a finite nonnegative number."),
        ("a,b,1\nb,c,nan\n", "edges.csv, line 2: the weight is NaN"),
        ("a,b,1\nb,c,inf\n", "edges.csv, line 2: the weight is infinity"),
        ("a,b\nb,c\0\n", "edges.csv, line 2: a name holds a NUL character"),
        ("a,b\n,c\n", "edges.csv, line 2: the source is missing, expected the name of a node."),
        ("a,b\nc,\n", "edges.csv, line 2: the target is missing"),
        ('" "," "\n', "edges.csv, line 1: the source is missing"),
        ('" "\n', "edges.csv is empty"),
        ("a,b,1\nc,d,1\nb,a,2\n", "edges.csv, line 3: the pair ('a', 'b') has the weight 2 here and 1 in"),
        ('a,b\n"c,d\n', "edges.csv, line 2: "),
        ("", "edges.csv is empty"),
        ("# nothing\n", "edges.csv is empty"),
        ("source,target\n", "edges.csv holds no edge"),
    ],
)
def test_errors_name_their_line(tmp_path, text, sentence):
    refused(GraphError, re.escape(sentence), write(tmp_path / "edges.csv", text))


def test_missing_and_unknown_files_raise(tmp_path):
    refused(GraphError, "does not exist", tmp_path / "nothing.csv")
    refused(GraphError, "edges.xyz has an unknown suffix: expected", write(tmp_path / "edges.xyz", "a,b\n"))
    assert read_graph(tmp_path / "edges.xyz", format="edges").n_edges == 1
    refused(ParameterError, "format='excel' is unknown", tmp_path / "edges.xyz", format="excel")
    refused(GraphError, "is not UTF-8 text", write(tmp_path / "old.csv", "Ünal,ann\n", "latin-1"))
    refused(GraphError, "cannot be read", write(tmp_path / "fake.csv.gz", "a,b\n"))
    refused(ParameterError, "are for text files", write(tmp_path / "a.mtx", ""), header=True)
    refused(ParameterError, "are for files", [[0, 1], [1, 0]], format="csv")


class TestMatrixFiles:
    names = ("dee", "ann", "cem", "bob")

    def body(self, names=None):
        for k, row in enumerate(WEIGHTED.tolist()):
            yield ([names[k]] if names else []) + [f"{value:g}" for value in row]

    def save(self, path, lines, delimiter=","):
        return write(path, "".join(delimiter.join(line) + "\n" for line in lines))

    @pytest.mark.parametrize("delimiter", [",", "\t", ";", " "])
    def test_plain(self, tmp_path, expected, delimiter):
        graph = read_graph(self.save(tmp_path / "m.csv", self.body(), delimiter))
        assert graph.fingerprint() == expected
        assert graph.positional

    @pytest.mark.parametrize("corner", ["", '""', "name"])
    def test_names_in_both(self, tmp_path, corner):
        path = self.save(tmp_path / "m.csv", [[corner, *self.names], *self.body(self.names)])
        graph = read_graph(path)
        assert graph.node_names.tolist() == list(self.names)
        np.testing.assert_array_equal(graph.adjacency.toarray(), WEIGHTED)

    @pytest.mark.parametrize("numbers", [False, True])
    def test_names_in_one(self, tmp_path, numbers):
        names = ("1", "2", "4", "3") if numbers else self.names
        wanted = [1, 2, 4, 3] if numbers else list(names)
        header = self.save(tmp_path / "h.csv", [names, *self.body()])
        first = self.save(tmp_path / "f.csv", self.body(names))
        no_corner = self.save(tmp_path / "c.csv", [names, *self.body(names)])
        for path in (header, first, no_corner):
            assert read_graph(path).node_names.tolist() == wanted

    def test_directed(self, tmp_path):
        lines = [["", *self.names], *self.body(self.names)]
        lines[1][2] = "0"
        path = self.save(tmp_path / "m.csv", lines)
        refused(GraphError, r"entry \('dee', 'ann'\) is 0 and entry \('ann', 'dee'\) is", path)
        assert read_graph(path, symmetrize="max").adjacency[0, 1] == 1.5

    def test_faults(self, tmp_path):
        lines = list(self.body())
        lines[2][1] = "x"
        refused(GraphError, r"m.csv, line 3: field 2 is 'x'", self.save(tmp_path / "m.csv", lines))
        lines[2][1:] = ["2"]
        refused(GraphError, r"m.csv, line 3: expected 4 fields, got 2", self.save(tmp_path / "m.csv", lines))
        half = self.save(tmp_path / "m.csv", list(self.body())[:2])
        refused(GraphError, "is not a square matrix", half, format="matrix")
        other = [["", "ann", "dee", "cem", "bob"], *self.body(self.names)]
        refused(GraphError, "row 1 is called 'dee' and column 1 'ann'", self.save(tmp_path / "m.csv", other))
        twice = [["a", "b", "a", "c"], *self.body()]
        refused(GraphError, r"'a' occurs twice in m.csv", self.save(tmp_path / "m.csv", twice))


class TestOtherFormats:
    def test_graphml_and_gml(self, tmp_path, expected):
        nx = pytest.importorskip("networkx")
        graph = as_graph(WEIGHTED).to_networkx()
        nx.write_graphml(graph, tmp_path / "g.graphml")
        nx.write_gml(graph, tmp_path / "g.gml")
        for name in ("g.graphml", "g.gml"):
            read = read_graph(tmp_path / name)
            assert read.fingerprint() == expected
            assert read.node_names.dtype == np.int64
        named = nx.relabel_nodes(graph, dict(enumerate(["d", "007", "b", "a"])))
        nx.write_graphml(named, tmp_path / "g.graphml")
        assert read_graph(tmp_path / "g.graphml").node_names.tolist() == ["d", "007", "b", "a"]
        bare = "graph [ node [ id 4 ] node [ id 7 ] edge [ source 4 target 7 ] ]"
        assert read_graph(write(tmp_path / "b.gml", bare)).node_names.tolist() == [4, 7]

    def test_npz(self, tmp_path, expected):
        sparse.save_npz(tmp_path / "s.npz", sparse.csc_array(WEIGHTED))
        np.savez(tmp_path / "d.npz", WEIGHTED)
        np.savez(tmp_path / "a.npz", features=np.eye(3), adjacency=WEIGHTED)
        for name in ("s.npz", "d.npz", "a.npz"):
            assert read_graph(tmp_path / name).fingerprint() == expected
        np.savez(tmp_path / "two.npz", x=WEIGHTED, y=WEIGHTED)
        refused(GraphError, r"two.npz holds 2 square matrices among x \(4, 4\), y", tmp_path / "two.npz")
