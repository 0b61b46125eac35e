"""From the raw files to the cleaned graphs: exactly those that the authors of iFairNMTF keep."""

import numpy as np
import pytest
from scipy import sparse

from equigraph import datasets
from equigraph.datasets.cleaning import clean_drugnet, clean_school
from equigraph.exceptions import GraphError, GroupsError, ParameterError

RAW = ("diaries", "facebook", "friendship", "drugnet")


@pytest.mark.parametrize("name", RAW)
def test_the_processed_graph_exactly(name, data_dir):
    raw = datasets.load(name, raw=True, data_home=data_dir, download_if_missing=False)
    processed = datasets.load(name, data_home=data_dir, download_if_missing=False)
    assert raw.adjacency.has_canonical_format
    assert raw.adjacency.dtype == processed.adjacency.dtype
    for part in ("indptr", "indices", "data"):  # the same node order, so equality is entry by entry
        np.testing.assert_array_equal(getattr(raw.adjacency, part), getattr(processed.adjacency, part))
    np.testing.assert_array_equal(raw.sensitive_features, processed.sensitive_features)
    assert np.all(np.diff(raw.node_names) > 0)
    for key in ("name", "attribute", "DESCR", "url"):
        assert raw[key] == processed[key]


def test_diaries_keep_the_longer_report(data_dir):
    data = datasets.fetch_diaries(raw=True, data_home=data_dir, download_if_missing=False)
    file = data_dir / datasets.dataset_info("diaries").raw_files[0].path
    longest = {}
    for i, j, duration in np.loadtxt(file, dtype=int).tolist():
        pair = (min(i, j), max(i, j))
        longest[pair] = max(longest.get(pair, 0), duration)
    upper = sparse.triu(data.duration, format="coo")
    names = data.node_names
    found = {(names[i], names[j]): w for i, j, w in zip(*upper.coords, upper.data, strict=True)}
    assert found == longest
    assert np.array_equal(data.duration.indices, data.adjacency.indices)


def test_drugnet_keeps_ids_and_genders(data_dir):
    data = datasets.fetch_drugnet(raw=True, data_home=data_dir, download_if_missing=False)
    file = data_dir / datasets.dataset_info("drugnet").raw_files[1].path
    lines = file.read_text(encoding="utf-8-sig").splitlines()[1:]
    codes = {line.split(",")[0]: line.split(",")[1:3] for line in lines}
    ethnicity, gender = zip(*(codes[str(node)] for node in data.node_names), strict=True)
    assert data.gender.tolist() == [{"0": "unknown", "1": "M", "2": "F"}[code] for code in gender]
    assert np.unique(data.gender, return_counts=True)[1].tolist() == [43, 147, 3]
    assert set(np.array(ethnicity)[data.sensitive_features == "other"]) == {"1", "5", "7"}


def test_only_some_sets_have_raw_files():
    with pytest.raises(ParameterError, match="raw files of nba are not kept, only those of diaries"):
        datasets.load("nba", raw=True)
    assert [info.name for info in datasets.list_datasets() if info.raw_files] == list(RAW)


@pytest.fixture
def school(tmp_path):
    def write(edges, people):
        (tmp_path / "edges.csv").write_text(edges)
        (tmp_path / "people.csv").write_text(people)
        return tmp_path / "edges.csv", tmp_path / "people.csv"

    return write


PEOPLE = "1\tA\tF\n2\tA\tM\n3\tB\tUnknown\n4\tB\tF\n5\tB\tM\n6\tB\tM\n"


def test_unknown_people_leave_before_the_component_is_taken(school):
    # 3 joins 4-5-6 to 1-2; without 3 the larger part is 4-5-6.
    clean = clean_school(*school("1 2\n2 3\n3 4\n4 5\n5 6\n", PEOPLE))
    assert clean["node_names"].tolist() == [4, 5, 6]
    assert clean["sensitive_features"].tolist() == ["F", "M", "M"]
    assert clean["school_class"].tolist() == ["B", "B", "B"]
    # A pair of weight zero is no edge.
    clean = clean_school(*school("1 2 1\n2 4 0\n4 5 1\n5 6 1\n", PEOPLE))
    assert clean["node_names"].tolist() == [4, 5, 6]
    assert clean["adjacency"].nnz == 4


NET = ",1,2\n1,0,1\n2,0,0\n"
HEAD = ",Ethnicity,Gender,HasTie\n"


@pytest.mark.parametrize(
    ("clean", "edges", "people", "error", "words"),
    [
        (clean_school, "1 2\n1\n", PEOPLE, GraphError, "line 2"),
        (clean_school, "1 2\n2 9\n", PEOPLE, GroupsError, "9"),
        (clean_school, "3 7\n", "3\tA\tUnknown\n7\tA\tUnknown\n", GraphError, "known group"),
        (clean_school, "1 2\n", "1\tA\n2\tA\n", GroupsError, "has the gender A"),
        (clean_drugnet, NET, HEAD + "1,3,1,1\n2,2,9,1\n", GroupsError, "has the gender 9"),
        (clean_drugnet, NET, HEAD + "1,x,1,1\n2,2,1,1\n", GroupsError, "'Ethnicity' of"),
        (clean_drugnet, NET, ",Race,Gender,HasTie\n1,1,1,1\n2,2,1,1\n", GroupsError, "Ethnicity"),
        (clean_drugnet, NET[:-3], HEAD + "1,3,1,1\n2,2,1,1\n", GraphError, "line 3"),
    ],
)
def test_bad_files(school, clean, edges, people, error, words):
    with pytest.raises(error, match=words) as caught:
        clean(*school(edges, people))
    assert "\n" not in str(caught.value)
