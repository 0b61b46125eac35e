"""Several attributes on the command line: weights, joint groups, bins, and names with a colon."""

import json

import pytest

from equigraph import ClusteringResult

pytestmark = [
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning"),
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallGroupWarning"),
]


@pytest.fixture
def sheets(files, tmp_path):
    """Return the arguments that read the classroom, with an attribute whose name has a colon."""
    text = (files / "people.csv").read_text(encoding="utf-8")
    (tmp_path / "people.csv").write_text(text.replace("house", "level:2", 1), encoding="utf-8")
    return [files / "friends.csv", "--groups", tmp_path / "people.csv"]


def summary(run, sheets, *options):
    return json.loads(run("cluster", *sheets, "-k", "2", "--json", *options).stdout)


def test_weights_bins_and_joint_groups_reach_the_result(run, sheets):
    told = summary(
        run, sheets, "--attribute", "gender", "--attribute", "needs:2", "--attribute", "age", "--bins", "age=2",
        "--intersect", "gender,needs",
    )  # fmt: skip
    names = ["gender", "needs", "age", "gender, needs"]
    assert [one["name"] for one in told["attributes"]] == names
    assert [one["weight"] for one in told["attributes"]] == [1, 2, 1, 1]
    assert [one["bins"] for one in told["attributes"]] == [None, None, 2, None]
    scores = told["scores"]
    mean = sum(one["weight"] * scores[f"NB[{one['name']}]"] for one in told["attributes"]) / 5
    assert scores["NB"] == pytest.approx(mean)
    assert scores["mean_gap[age]"] >= 0


def test_a_colon_belongs_to_a_name_unless_a_number_follows(run, sheets):
    assert summary(run, sheets, "--attribute", "level:2:1")["attribute"] == "level:2"
    run("cluster", *sheets, "-k", "2", "--attribute", "level:2", code=2)
    told = summary(run, sheets, "--attribute", "gender", "--attribute", "level:2:4")
    assert [(one["name"], one["weight"]) for one in told["attributes"]] == [("gender", 1), ("level:2", 4)]


def test_a_folder_holds_all_attributes_and_its_page_too(run, sheets, tmp_path):
    options = ["--attribute", "gender", "--attribute", "age:2", "--bins", "age=2"]
    run("cluster", *sheets, "-k", "2", *options, "-o", tmp_path / "out")
    loaded = ClusteringResult.load(tmp_path / "out")
    assert loaded.attributes.weights.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert loaded.attributes["age"].names.tolist() == ["10 to 11", "12 to 13"]
    # The graph is read again as the folder tells, with all attributes.
    run("report", tmp_path / "out", "--no-baseline")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "NB of gender" in page
    assert "The means of age differ" in page
