from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from equigraph.exceptions import DatasetError

Run = Callable[..., Result]
ROOM = "dataset:classroom"


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["cluster"], "Missing argument 'EDGES'"),
        (["--bogus"], "No such option"),
        (["cluster", "nowhere.csv", "-k", "3"], "nowhere.csv"),
        (["cluster", "dataset:nowhere", "-k", "3"], "no data set named 'nowhere'"),
        (["cluster", ROOM, "--method", "magic"], "There is no method 'magic'"),
        (["cluster", ROOM, "-k", "1"], "'1' is not a whole number of at least 2"),
        (["cluster", ROOM, "-k", "31"], "the graph has 30"),
        (["cluster", ROOM, "--fairness", "-1"], "'-1' is not a finite number in [0, 1]"),
        (["cluster", ROOM, "-m", "fair-nmtf", "--init", "magic"], "'magic' is not one of fair-spectral"),
        (["cluster", ROOM, "--layers", "3"], "has no option --layers; it belongs to dfnmf"),
        (
            ["cluster", ROOM, "-m", "random", "--max-iter", "3"],
            "random has no option --max-iter; it belongs to ",
        ),
        (["cluster", ROOM, "-P", "tol"], "expected name=value"),
        (["cluster", ROOM, "-P", "nonsense=3"], "lists its parameters"),
        (["cluster", ROOM, "-P", "effort=x"], "'x' is not a finite number"),
        (["cluster", ROOM, "--effort", "1", "-P", "effort=1"], "given twice"),
        (["cluster", ROOM, "-k", "3", "--attribute", "age"], "no attribute 'age'; it has gender, house"),
        (["cluster", ROOM, "--plot"], "give -o DIR"),
        (["cluster", ROOM, "--symmetrize", "both"], "'both' is not one of"),
        (["compare", ROOM], "Missing option '-k'"),
        (["cluster", ROOM], "choose-k"),
        (["tradeoff", ROOM], "choose-k"),
        (["compare", ROOM, "-k", "3", "-o", "table.xls"], "expected a name in .csv, .json, .md"),
        (["compare", ROOM, "-k", "3", "--fairness", "much"], "expected VALUE or METHOD=VALUE"),
        (["compare", ROOM, "-k", "3", "--methods", "nmtf", "--fairness", "nmtf=1"], "has no such dial"),
        (["compare", ROOM, "-k", "3", "--methods", "nmtf", "--fairness", "dfnmf=1"], "which is not compared"),
        (["datasets", "info", "nowhere"], "no data set named 'nowhere'"),
        (["methods", "magic"], "There is no method 'magic'"),
        (["cluster", ROOM, "-k", "3", "-m", "nmtf", "--friends", "1"], "keeps no rules"),
        (["cluster", ROOM, "-k", "3", "--weight", "none"], "--weight has no meaning for dataset:classroom"),
        (["refine", ROOM, "x", "-k", "1"], "1 is not in the range"),
        (
            [
                "compare",
                ROOM,
                "-k",
                "3",
                "--fairness",
                "dfnmf=1",
                "--fairness",
                "dfnmf=0",
                "--methods",
                "dfnmf",
            ],
            "--fairness is given twice for dfnmf",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(run: Run, args: list[str], part: str) -> None:
    answer = run(*args)
    assert answer.exit_code == 2, answer.output
    assert answer.stdout == ""
    lines = answer.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert part in lines[0]


def test_unexpected_errors_are_1_and_debug_shows_the_traceback(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("the cable\nis out")

    monkeypatch.setattr("equigraph.results.cluster.cluster", broken)
    answer = run("cluster", ROOM, "-k", 3)
    assert answer.exit_code == 1
    assert answer.stderr == "Error: Unexpected RuntimeError: the cable is out; --debug shows where.\n"
    for args in (["--debug", "cluster", ROOM, "-k", 3], ["cluster", ROOM, "-k", 3, "--debug"]):
        answer = run(*args)
        assert answer.exit_code == 1
        assert "Traceback" in answer.stderr


def test_a_data_set_out_of_reach_is_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from equigraph import datasets

    def unreachable(*args: object, **kwargs: object) -> None:
        raise DatasetError("drugnet is out of reach.")

    monkeypatch.setattr(datasets, "load", unreachable)
    for args in (["cluster", "dataset:drugnet", "-k", "3"], ["datasets", "fetch", "drugnet"]):
        answer = run(*args)
        assert answer.exit_code == 1
        assert answer.stderr == "Error: drugnet is out of reach.\n"


def test_interrupt_is_1_without_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("equigraph.results.cluster.cluster", interrupted)
    answer = run("cluster", ROOM, "-k", 3)
    assert answer.exit_code == 1
    assert answer.stderr.strip() == "Stopped."


@pytest.mark.parametrize(
    ("edges", "groups", "part"),
    [
        ("source,target,since\na,b,1\n", None, "since"),
        ("source,target,how old\na,b,1\n", None, "how old"),
        ("who,whom\na,b\nc,d\n", None, "may be a header"),
        ("a,b,1\nb,c,x\n", None, "weight"),
        ("a,b,1\nb,a,2\n", None, "duplicates"),
        ("0,1,0,0\n0,0,1,0\n0,0,0,1\n1,0,0,0\n", None, "symmetrize"),
        ("a,b\nb,c\n", "a,x\nb,y\n", "missing"),
        (
            "a,b\nb,c\n",
            "a,x\nb,y\nc,y\nd,x\n",
            "unknown",
        ),
        ("a,b\nb,c\n", "who,t,u\na,x,1\nb,y,1\nc,y,1\n", "attribute"),
    ],
)
def test_what_a_file_leaves_open_is_asked_for(
    run: Run, tmp_path: Path, edges: str, groups: str | None, part: str
) -> None:
    (tmp_path / "edges.csv").write_text(edges, encoding="utf-8")
    args: list[object] = ["cluster", tmp_path / "edges.csv", "-k", 2]
    if groups is not None:
        (tmp_path / "groups.csv").write_text(groups, encoding="utf-8")
        args += ["--groups", tmp_path / "groups.csv"]
    answer = run(*args)
    assert answer.exit_code == 2
    assert part in answer.stderr


def test_compare_where_every_method_fails_for_the_input(run: Run) -> None:
    answer = run("compare", ROOM, "-k", 31, "--methods", "nmtf,random", "--seeds", 1)
    assert answer.exit_code == 2
    assert "nmtf failed: NMTF: n_clusters=31 needs at least as many nodes" in answer.stdout
