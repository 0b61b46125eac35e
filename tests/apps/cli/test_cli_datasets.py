import json

from equigraph.datasets import list_datasets


def test_list(run):
    answer = run("datasets", "list")
    for info in list_datasets():
        assert info.name in answer.stdout
    rows = json.loads(run("datasets", "list", "--json").stdout)
    assert [row["name"] for row in rows] == ["classroom", *(info.name for info in list_datasets())]


def test_info(run):
    assert "Hartford" in run("datasets", "info", "drugnet").stdout
    assert "made up by equigraph" in run("datasets", "info", "classroom").stdout


def test_fetch_goes_on_after_a_failure(run, data_dir, tmp_path):
    from equigraph.datasets import dataset_info

    damaged = tmp_path / dataset_info("drugnet").files[0].path
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"not the file")
    answer = run("datasets", "fetch", "drugnet", "diaries", "classroom", "--data-home", tmp_path, code=1)
    assert len(answer.stderr.splitlines()) == 1
    assert "diaries: 120 nodes" in answer.stdout
    assert "nothing to fetch" in answer.stdout
