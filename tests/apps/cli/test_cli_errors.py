from pathlib import Path

import pytest

from equigraph import datasets
from equigraph.exceptions import DatasetError

ROOM = "dataset:classroom"


def bad_command_lines():
    text = Path(__file__).with_name("errors.txt").read_text(encoding="utf-8")
    return [line.split(" -> ") for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("command", "part"), bad_command_lines())
def test_bad_input_is_one_sentence_and_exit_code_2(run, tmp_path, monkeypatch, command, part):
    monkeypatch.chdir(tmp_path)
    answer = run(*command.replace("ROOM", ROOM).replace("HERE", __file__).split(), code=2)
    assert not list(tmp_path.iterdir())
    assert answer.stdout == ""
    lines = answer.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert part in lines[0]


@pytest.mark.parametrize("args", [[], ["datasets"]])
def test_a_group_without_a_command_shows_its_help(run, args):
    answer = run(*args, code=2)
    assert answer.output.startswith("Usage: ")
    assert "\nCommands:\n" in answer.output


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RuntimeError("the cable\nis out"),
            "Error: Unexpected RuntimeError: the cable is out; --debug shows",
        ),
        (DatasetError("drugnet is out of reach."), "Error: drugnet is out of reach."),
        (KeyboardInterrupt(), "Stopped."),
    ],
)
def test_other_errors_are_1_and_debug_shows_the_traceback(run, monkeypatch, error, said):
    def broken(*args, **kwargs):
        raise error

    monkeypatch.setattr(datasets, "load", broken)
    args = ["cluster", "dataset:drugnet", "-k", 3]
    (line,) = run(*args, code=1).stderr.strip().splitlines()
    assert line.startswith(said)
    for traced in (["--debug", *args], [*args, "--debug"]):
        assert ("Traceback" in run(*traced, code=1).stderr) == (said != "Stopped.")


def test_compare_where_every_method_fails_for_the_input(run):
    few = ["--methods", "nmtf,random", "--seeds", 1, "--baseline", "nmtf"]
    answer = run("compare", ROOM, "-k", 31, *few, code=2)
    assert "Nothing is compared with nmtf" in answer.stderr
    assert "nmtf failed: NMTF: n_clusters=31 needs at least as many nodes" in answer.stdout
