import pytest
from click.testing import CliRunner

import equigraph as eg
from equigraph.apps.cli.app import app
from tests.docs.commands import write_files


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
def graph(files):
    """Return the classroom as `source` reads it."""
    return eg.read_graph(files / "friends.csv", groups=files / "people.csv", attribute="gender")


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return a folder with friends.csv, people.csv and labels.csv of the classroom."""
    folder = tmp_path_factory.mktemp("classroom")
    write_files(folder)
    return folder
