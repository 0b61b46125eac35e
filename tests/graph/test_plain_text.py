"""Edge lists of nothing but numbers are read as the strict reader reads them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equigraph.graph import read_graph, text_files
from tests.reference.refusals import outcome

PLAIN = st.one_of(st.integers(0, 30).map(str), st.just("9" * 15))
ODD = st.one_of(
    st.text(alphabet=".0123456789", max_size=4),
    st.sampled_from(["007", "-1", "+1", "1e3", "nan", "_", "a", "#", "%", '"', "\r", "\n", " ", "٣", "\0"]),
    st.integers(14, 32).map(lambda count: "9" * count),
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])
HEADS = st.sampled_from(["", "", "source target weight since", "a b c d", "# a comment", "\ufeffx y"])
CHOICES = [{}, {}, {"weight": False}, {"weight": 2}, {"source": 1, "target": 0}, {"header": False}]


@st.composite
def lists_of_edges(draw):
    """Return an edge list that is plain, or nearly, and its separator."""
    delimiter, width = (
        draw(st.sampled_from([",", ",", "\t", ";", " ", "|", "1", "."])),
        draw(st.integers(2, 4)),
    )
    odd = draw(st.booleans())
    field = st.one_of(PLAIN, PLAIN, PLAIN, ODD) if odd else PLAIN
    row = st.lists(field, min_size=width, max_size=width + draw(st.sampled_from([0, 0, odd])))
    lines = [delimiter.join(one) for one in draw(st.lists(row, min_size=1, max_size=6))]
    lines[:0] = filter(None, [delimiter.join(draw(HEADS).split(" ")[:width])])
    text = "".join(line + (draw(ENDS) if odd else "\n") for line in lines)
    return text.rstrip("\n") if draw(st.booleans()) else text, delimiter


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.EquigraphWarning")
@given(lists_of_edges(), st.sampled_from(CHOICES), st.booleans(), st.sampled_from([5, 1 << 16]))
@example(("1,2\n3,4" + "5" * 20, ","), {}, True, 5)
@example(("1,2,0.1\n3,4,1.2.3\n", ","), {}, True, 5)
@example(("# top\nsource,target,weight\n1,2,5\n2,3,1\n2,1,6\n", ","), {}, False, 5)
def test_both_readers_agree(tmp_path_factory, written, options, named, block):
    path = tmp_path_factory.getbasetemp() / "edges.csv"
    path.write_bytes(written[0].encode())
    options = {**options, "format": "edges", "delimiter": written[1] if named else None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_files, "_BLOCK", block)
        quick = outcome(path, **options)
        patch.setattr(text_files, "plain_rows", lambda *_: None)
        assert quick == outcome(path, **options)


@pytest.mark.parametrize("head", ["", "source,target,w\n", "# top\na,b,weight\n"])
@pytest.mark.parametrize(
    "change", [(",", ","), (",", ";"), (",", "\t"), (",", " "), ("\n", "\r\n")], ids=repr
)
def test_plain_text_is_not_read_line_by_line(tmp_path, monkeypatch, head, change):
    (tmp_path / "edges.csv").write_bytes((head + "1,2,3\n2,3,0.5\n3,4,10").replace(*change).encode())
    monkeypatch.setattr(text_files, "layout_rows", None)
    assert read_graph(tmp_path / "edges.csv").n_edges == 3
