from pathlib import Path

import pytest

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


def test_unexpected_errors_are_1_and_debug_shows_the_traceback(run, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("the cable\nis out")

    monkeypatch.setattr("equigraph.results.cluster.cluster", broken)
    answer = run("cluster", ROOM, "-k", 3, code=1)
    assert answer.stderr == "Error: Unexpected RuntimeError: the cable is out; --debug shows where.\n"
    for args in (["--debug", "cluster", ROOM, "-k", 3], ["cluster", ROOM, "-k", 3, "--debug"]):
        answer = run(*args, code=1)
        assert "Traceback" in answer.stderr


def test_a_data_set_out_of_reach_is_1(run, monkeypatch):
    from equigraph import datasets

    def unreachable(*args, **kwargs):
        raise DatasetError("drugnet is out of reach.")

    monkeypatch.setattr(datasets, "load", unreachable)
    for args in (["cluster", "dataset:drugnet", "-k", "3"], ["datasets", "fetch", "drugnet"]):
        answer = run(*args, code=1)
        assert answer.stderr == "Error: drugnet is out of reach.\n"


def test_interrupt_is_1_without_traceback(run, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("equigraph.results.cluster.cluster", interrupted)
    answer = run("cluster", ROOM, "-k", 3, code=1)
    assert answer.stderr.strip() == "Stopped."


@pytest.mark.parametrize(
    ("edges", "groups", "part"),
    [
        ("source,target,since\na,b,1\n", None, "since"),
        ("who,whom\na,b\nc,d\n", None, "may be a header"),
        ("a,b,1\nb,c,x\n", None, "weight"),
        ("a,b,1\nb,a,2\n", None, "duplicates"),
        ("a,b\nb,c\n", "a,x\nb,y\n", "missing"),
        ("a,b\nb,c\n", "who,t,u\na,x,1\nb,y,1\nc,y,1\n", "attribute"),
    ],
)
def test_what_a_file_leaves_open_is_asked_for(run, tmp_path, edges, groups, part):
    (tmp_path / "edges.csv").write_text(edges, encoding="utf-8")
    args = ["cluster", tmp_path / "edges.csv", "-k", 2]
    if groups is not None:
        (tmp_path / "groups.csv").write_text(groups, encoding="utf-8")
        args += ["--groups", tmp_path / "groups.csv"]
    answer = run(*args, code=2)
    assert part in answer.stderr


def test_compare_where_every_method_fails_for_the_input(run):
    answer = run("compare", ROOM, "-k", 31, "--methods", "nmtf,random", "--seeds", 1, code=2)
    assert "nmtf failed: NMTF: n_clusters=31 needs at least as many nodes" in answer.stdout
