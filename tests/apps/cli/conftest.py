import pytest
from click.testing import CliRunner

from equigraph.apps.cli.app import app
from equigraph.datasets import make_classroom


@pytest.fixture(scope="session")
def run():
    """Run the command in this process and check its exit code; the answer has stdout and stderr."""

    def run(*args, code=0):
        answer = CliRunner().invoke(app, [str(arg) for arg in args])
        assert answer.exit_code == code, answer.output
        return answer

    return run


@pytest.fixture(scope="session")
def source(files):
    """Return the arguments that read the classroom from its files."""
    return [files / "friends.csv", "--groups", files / "people.csv", "--attribute", "gender"]


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return a folder with friends.csv and people.csv of the classroom."""
    folder = tmp_path_factory.mktemp("classroom")
    room = make_classroom()
    upper = room.adjacency.tocoo()
    pairs = [(i, j) for i, j in zip(*upper.coords, strict=True) if i < j]
    names = room.node_names
    edges = ["source,target", *(f"{names[i]},{names[j]}" for i, j in pairs)]
    people = ["name,gender,house"]
    people += [",".join(row) for row in zip(names, room.sensitive_features, room.house, strict=True)]
    (folder / "friends.csv").write_text("\n".join(edges) + "\n", encoding="utf-8")
    (folder / "people.csv").write_text("\n".join(people) + "\n", encoding="utf-8")
    return folder
