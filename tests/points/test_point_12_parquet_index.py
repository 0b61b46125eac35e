"""Point 12: people whose names are the pandas index of a parquet file are found."""

import pytest

import equigraph as eg
from tests.optional import optional

pd = optional("pandas")


@pytest.mark.parametrize("name", ["name", None])
def test_point_12_a_pandas_index_in_parquet_is_recognised(tmp_path, name):
    pytest.importorskip("pyarrow")
    edges = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cem"]})
    people = pd.DataFrame(
        {"gender": ["boy", "girl", "boy"]}, index=pd.Index(["cem", "ann", "bob"], name=name)
    )
    people.to_parquet(tmp_path / "people.parquet")
    graph = eg.read_graph(edges, groups=tmp_path / "people.parquet", attribute="gender")
    assert dict(zip(graph.node_names.tolist(), graph.sensitive_features.tolist(), strict=True)) == {
        "ann": "girl",
        "bob": "boy",
        "cem": "boy",
    }
