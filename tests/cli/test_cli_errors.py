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
        (["clutser"], "No such command 'clutser'"),
        (["--bogus"], "No such option '--bogus'"),
        (["cluster", "nowhere.csv"], "nowhere.csv"),
        (["cluster", "dataset:nowhere"], "no data set named 'nowhere'"),
        (["cluster", ROOM, "--method", "magic"], "There is no method 'magic'"),
        (["cluster", ROOM, "-k", "1"], "'1' is not a whole number of at least 2"),
        (["cluster", ROOM, "-k", "many"], "'many' is not a whole number"),
        (["cluster", ROOM, "-k", "31"], "the graph has 30"),
        (["cluster", ROOM, "--fairness", "-1"], "'-1' is not a finite number in [0, inf)"),
        (["cluster", ROOM, "--init", "magic"], "'magic' is not one of svd"),
        (["cluster", ROOM, "--layers", "3"], "has no option --layers; it belongs to dfnmf"),
        (
            ["cluster", ROOM, "-m", "random", "--max-iter", "3"],
            "random has no option --max-iter; it belongs to nmtf",
        ),
        (["cluster", ROOM, "-m", "nmtf", "--no-self-pairs"], "nmtf has no option --no-self-pairs"),
        (["cluster", ROOM, "--nonsense"], "No such option '--nonsense'"),
        (["cluster", ROOM, "-P", "tol"], "expected name=value"),
        (["cluster", ROOM, "-P", "layers=3"], "it belongs to dfnmf"),
        (["cluster", ROOM, "-P", "nonsense=3"], "lists its parameters"),
        (["cluster", ROOM, "-P", "penalty=3"], "has no parameter 'penalty'"),
        (["cluster", ROOM, "-P", "tol=x"], "'x' is not a finite number"),
        (["cluster", ROOM, "--tol", "1", "-P", "tol=1"], "given twice"),
        (["cluster", ROOM, "--attribute", "age"], "no attribute 'age'; it has gender, house"),
        (["cluster", ROOM, "--plot"], "give -o DIR"),
        (["cluster", ROOM, "--symmetrize", "both"], "'both' is not one of"),
        (["compare", ROOM], "Missing option '-k'"),
        (["compare", ROOM, "-k", "3", "--methods", "magic"], "There is no method 'magic'"),
        (["compare", ROOM, "-k", "3", "-o", "table.xls"], "expected a name in .csv, .json, .md"),
        (["compare", ROOM, "-k", "3", "--fairness", "much"], "expected VALUE or METHOD=VALUE"),
        (["compare", ROOM, "-k", "3", "--methods", "nmtf", "--fairness", "nmtf=1"], "has no such dial"),
        (["compare", ROOM, "-k", "3", "--methods", "nmtf", "--fairness", "dfnmf=1"], "which is not compared"),
        (["datasets", "info", "nowhere"], "no data set named 'nowhere'"),
        (["datasets", "fetch", "nowhere"], "no data set named 'nowhere'"),
        (["methods", "magic"], "There is no method 'magic'"),
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


def test_a_bad_file_names_its_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target,weight\na,b,1\nb,c,minus\n", encoding="utf-8")
    answer = run("cluster", path)
    assert answer.exit_code == 2
    assert "3" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_output_that_is_a_file_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("mine")
    for args in (
        ["cluster", ROOM, "-o", path],
        ["demo", "-o", path],
        ["cluster", ROOM, "-o", path / "deeper"],
    ):
        answer = run(*args)
        assert answer.exit_code == 2
        assert "is a file" in answer.stderr or "cannot be written" in answer.stderr
    assert path.read_text() == "mine"


def test_unexpected_errors_are_1_and_debug_shows_the_traceback(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from equigraph import results

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("the cable\nis out")

    monkeypatch.setattr(results, "cluster", broken)
    answer = run("cluster", ROOM)
    assert answer.exit_code == 1
    assert answer.stderr == "Error: Unexpected RuntimeError: the cable is out; --debug shows where.\n"
    for args in (["--debug", "cluster", ROOM], ["cluster", ROOM, "--debug"]):
        answer = run(*args)
        assert answer.exit_code == 1
        assert "Traceback" in answer.stderr


def test_bad_input_stays_2_with_debug(run: Run) -> None:
    answer = run("--debug", "cluster", ROOM, "-k", 31)
    assert answer.exit_code == 2
    assert "Traceback" in answer.stderr


def test_a_data_set_out_of_reach_is_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from equigraph import datasets

    def unreachable(*args: object, **kwargs: object) -> None:
        raise DatasetError("drugnet is out of reach.")

    monkeypatch.setattr(datasets, "load", unreachable)
    for args in (["cluster", "dataset:drugnet"], ["datasets", "fetch", "drugnet"]):
        answer = run(*args)
        assert answer.exit_code == 1
        assert answer.stderr == "Error: drugnet is out of reach.\n"


def test_interrupt_is_1_without_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from equigraph import results

    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "cluster", interrupted)
    answer = run("cluster", ROOM)
    assert answer.exit_code == 1
    assert answer.stderr.strip() == "Error: Stopped."
