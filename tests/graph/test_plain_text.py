"""Edge lists of nothing but numbers are read as the strict reader reads them."""

import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equigraph.exceptions import EquigraphError
from equigraph.graph import read_graph, text_files

PLAIN = st.one_of(st.integers(0, 30).map(str), st.just("9" * 15))
ODD = st.one_of(
    st.text(alphabet=".0123456789", max_size=4),
    st.sampled_from(["007", "-1", "+1", "1e3", "nan", "_", "a", "#", "%", '"', "\r", "\n", " ", "٣", "\0"]),
    st.integers(14, 32).map(lambda count: "9" * count),
)
LINE_END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])


@st.composite
def lists_of_edges(draw):
    """Return the bytes of an edge list that is plain, or nearly."""
    delimiter = draw(st.sampled_from([",", ",", "\t", ";", " ", "|", "1", "."]))
    width = draw(st.integers(2, 4))
    odd = draw(st.booleans())
    field = st.one_of(PLAIN, PLAIN, PLAIN, ODD) if odd else PLAIN
    rows = draw(st.lists(st.lists(field, min_size=width, max_size=width), min_size=1, max_size=6))
    if odd and draw(st.booleans()):
        draw(st.sampled_from(rows)).append("1")
    head = draw(
        st.sampled_from(["", "", "source target weight since", "a b c d", "# a comment", "\ufeffx y"])
    )
    lines = [*([delimiter.join(head.split(" ")[:width])] if head else []), *map(delimiter.join, rows)]
    ends = [draw(LINE_END) if odd else "\n" for _ in lines]
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    return text.rstrip("\n").encode() if draw(st.booleans()) else text.encode(), delimiter


def outcome(path, **options):
    """Return what is read, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            graph = read_graph(path, **options)
        except EquigraphError as error:
            return type(error), str(error)
    return graph.fingerprint(), graph.node_names.dtype, graph.node_names.tolist(), graph.adjacency.dtype


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("plain") / "edges.csv"


@given(
    lists_of_edges(),
    st.sampled_from(
        [{}, {}, {"weight": False}, {"weight": 2}, {"source": 1, "target": 0}, {"header": False}]
    ),
    st.booleans(),
    st.sampled_from([5, 1 << 16]),
)
@example((b"1,2\n3,4" + b"5" * 20, ","), {}, True, 5)
@example((b"1,2,0.1\n3,4,1.2.3\n", ","), {}, True, 5)
def test_both_readers_agree(path, written, options, named, block):
    text, delimiter = written
    path.write_bytes(text)
    options = {**options, "format": "edges", **({"delimiter": delimiter} if named else {})}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_files, "_BLOCK", block)
        quick = outcome(path, **options)
        patch.setattr(text_files, "plain_rows", lambda *_: None)
        assert quick == outcome(path, **options)


@pytest.mark.parametrize(
    "text",
    [
        "1,2\n2,3\n",
        "source,target\r\n1,2\r\n2,3\r\n",
        "# top\na;b;w\n1;2;0.5\n2;3;1",
        "1 2\n2 3\n",
        "i\tj\tw\n1\t2\t7\n",
    ],
)
def test_plain_text_is_not_read_line_by_line(tmp_path, monkeypatch, text):
    (tmp_path / "edges.csv").write_bytes(text.encode())
    monkeypatch.setattr(text_files, "layout_rows", None)
    assert read_graph(tmp_path / "edges.csv").n_edges == text.count("2")


def test_a_conflict_names_its_lines(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("# top\nsource,target,weight\n1,2,5\n2,3,1\n2,1,6\n")
    assert outcome(path)[1].startswith(
        "edges.csv, line 5: the pair (1, 2) has the weight 6 here and 5 in edges.csv, line 3"
    )
