import pytest

from equigraph.exceptions import DatasetError

ROOM = "dataset:classroom"


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["cluster"], "Missing argument 'EDGES'"),
        (["--bogus"], "No such option"),
        (["cluster", "nowhere.csv", "-k", "3"], "nowhere.csv"),
        (["cluster", ROOM, "--method", "magic"], "There is no method 'magic'"),
        (["cluster", ROOM, "-k", "1"], "'1' is not a whole number of at least 2"),
        (["cluster", ROOM, "--layers", "3"], "has no option --layers; it belongs to dfnmf"),
        (["cluster", ROOM, "-m", "random", "--max-iter", "3"], "has no option --max-iter; it belongs to "),
        (["cluster", ROOM, "-P", "tol"], "is not NAME=VALUE"),
        (["cluster", ROOM, "-P", "nonsense=3"], "lists its parameters"),
        (["cluster", ROOM, "--effort", "1", "-P", "effort=1"], "given twice"),
        (["cluster", ROOM, "-k", "3", "--plot"], "give -o DIR"),
        (["compare", ROOM], "Missing option '-k'"),
        (["cluster", ROOM], "choose-k"),
        (["compare", ROOM, "-k", "3", "-o", "table.xls"], "expected a name in .csv, .json, .md"),
        (["compare", ROOM, "-k", "3", "--fairness", "much"], "is not a valid float"),
        (["compare", ROOM, "-k", "3", "--methods", "nmtf", "--fairness", "nmtf=1"], "has no such dial"),
        (["compare", ROOM, "-k", "3", "--methods", "nmtf", "--fairness", "dfnmf=1"], "which is not compared"),
        (["datasets", "info", "nowhere"], "no data set named 'nowhere'"),
        (["cluster", ROOM, "-k", "3", "-m", "nmtf", "--friends", "1"], "keeps no rules"),
        (["cluster", ROOM, "-k", "3", "--weight", "none"], "--weight has no meaning for dataset:classroom"),
        (["choose-k", ROOM, "--from", "5", "--to", "3"], "--from 5 is above --to 3"),
        (["choose-k", ROOM, "-k", "3"], "what is looked for"),
        (["choose-k", ROOM, "-m", "sc", "--effort", "1"], "has no effort"),
        (["compare", ROOM, "-k", "1"], "not in the range"),
        (["compare", ROOM, "-k", "moon=3"], "names no graph"),
        (["compare", ROOM, "-k", "3", "-k", "4"], "given twice"),
        (["compare", ROOM, ROOM, "-k", "3"], "same name"),
        (["compare", ROOM, "dataset:facebook", "-k", "facebook=3"], "nothing of classroom"),
        (["compare", ROOM, "-k", "3", "--baseline", "magic"], "is not compared"),
        (["tradeoff", ROOM, "-m", "nmtf", "-k", "3"], "has no fairness dial"),
        (["tradeoff", ROOM, "-m", "ifair-nmtf", "-k", "3"], "has no upper end"),
        (["tradeoff", ROOM, "-m", "fair-louvain", "--fairness", "0.5"], "tradeoff turns the dial itself"),
        (["tradeoff", ROOM, "-m", "fair-louvain", "-P", "fairness=0.5"], "tradeoff turns the dial itself"),
        (["tradeoff", ROOM, "-P", "at_least=0.9"], "give --at-least"),
        (["tradeoff", ROOM, "-k", "3", "--points", "5", "--fairness-values", "0,1"], "not both"),
        (["tradeoff", ROOM, "-k", "3", "--fairness-values", "0,much"], "could not convert"),
        (["tradeoff", ROOM, "-k", "3", "--select", "knee", "--at-least", "0.5"], "Give one of --select"),
        (["tradeoff", ROOM, "-k", "3", "--report"], "--report needs a folder"),
        (["cluster", ROOM, "-k", "3", "--report"], "--report needs a folder"),
        (["report", "nowhere"], "is no folder"),
        (["report", "."], "holds no manifest.json"),
        (["report", ".", "-o", "page.pdf"], "of no known kind"),
        (["reproduce", "table2"], "There is no experiment 'table2'"),
        (["reproduce", "table1", "--jobs", "0"], "--jobs"),
        (["reproduce", "table1", "--seed", "-1"], "--seed"),
        (["reproduce", "table1", "-o", __file__], "is a file"),
        (["cluster", ROOM, "-k", "3", "--together", "Naledi"], "names fewer than two"),
        (["cluster", ROOM, "-k", "3", "--sizes", "a,b"], "is not two numbers"),
        (["cluster", ROOM, "-k", "3", "--shares", "gender"], "is not ATTRIBUTE=0.1"),
        (["cluster", ROOM, "-k", "3", "--price"], "--price is for rules"),
        (["cluster", ROOM, "-k", "3", "--parquet"], "--parquet needs a folder"),
        (["cluster", ROOM, "-k", "3", "-m", "random", "--time-limit", "1"], "takes no --time-limit"),
        (["cluster", ROOM, "-k", "3", "--n-clusters", "4"], "-k or --n-clusters is given twice"),
        (["cluster", ROOM, "--header", "--no-header"], "--header or --no-header is given twice"),
        (["clutser"], "did you mean 'cluster'?"),
        (["datasets", "lst"], "did you mean 'list'?"),
        (["datasets", "fetch", "pokec"], "did you mean 'pokec-n'?"),
        (["cluster", ROOM, "-m", "fair-nmft"], "did you mean 'fair-nmtf'?"),
        (["cluster", ROOM, "-k", "3", "--attribute", "gendr"], "did you mean 'gender'?"),
        (
            ["cluster", ROOM, "-k", "3", "--attribute", "gender", "--attribute", "gender:2"],
            "gender is given twice",
        ),
        (["cluster", ROOM, "-k", "3", "--attribute", "gender:-1"], "has the weight -1"),
        (["cluster", ROOM, "-k", "3", "--bins", "age"], "is not NAME=NUMBER"),
        (["cluster", ROOM, "-k", "3", "--intersect", "gender"], "names no two attributes"),
        (["reproduce", "tabel1"], "did you mean 'table1'?"),
        (["explore", "nowhere.xlsx"], "cannot be read"),
        (["refine", ROOM, "x", "-k", "1"], "1 is not in the range"),
        (["refine", ROOM, "x", "--at-least", "0.9", "--fairness", "0.5"], "not both"),
        (["cluster", ROOM, "-k", "3", "--at-least", "0.9", "--fairness", "0.5"], "not both"),
        (["refine", ROOM, "x", "--size-min", "9", "--size-max", "8"], "--size-min 9 is above --size-max 8"),
        (["compare", ROOM, "-k", "3", "--fairness", "dfnmf=1", "--fairness", "dfnmf=0"], "twice for dfnmf"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(run, tmp_path, monkeypatch, args, part):
    monkeypatch.chdir(tmp_path)
    answer = run(*args)
    assert not list(tmp_path.iterdir())
    assert answer.exit_code == 2, answer.output
    assert answer.stdout == ""
    lines = answer.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert part in lines[0]


@pytest.mark.parametrize("args", [[], ["datasets"]])
def test_a_group_without_a_command_shows_its_help(run, args):
    answer = run(*args)
    assert answer.exit_code == 2
    assert answer.output.startswith("Usage: ")
    assert "\nCommands:\n" in answer.output


def test_unexpected_errors_are_1_and_debug_shows_the_traceback(run, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("the cable\nis out")

    monkeypatch.setattr("equigraph.results.cluster.cluster", broken)
    answer = run("cluster", ROOM, "-k", 3)
    assert answer.exit_code == 1
    assert answer.stderr == "Error: Unexpected RuntimeError: the cable is out; --debug shows where.\n"
    for args in (["--debug", "cluster", ROOM, "-k", 3], ["cluster", ROOM, "-k", 3, "--debug"]):
        answer = run(*args)
        assert answer.exit_code == 1
        assert "Traceback" in answer.stderr


def test_a_data_set_out_of_reach_is_1(run, monkeypatch):
    from equigraph import datasets

    def unreachable(*args, **kwargs):
        raise DatasetError("drugnet is out of reach.")

    monkeypatch.setattr(datasets, "load", unreachable)
    for args in (["cluster", "dataset:drugnet", "-k", "3"], ["datasets", "fetch", "drugnet"]):
        answer = run(*args)
        assert answer.exit_code == 1
        assert answer.stderr == "Error: drugnet is out of reach.\n"


def test_interrupt_is_1_without_traceback(run, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("equigraph.results.cluster.cluster", interrupted)
    answer = run("cluster", ROOM, "-k", 3)
    assert answer.exit_code == 1
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
    answer = run(*args)
    assert answer.exit_code == 2
    assert part in answer.stderr


def test_compare_where_every_method_fails_for_the_input(run):
    answer = run("compare", ROOM, "-k", 31, "--methods", "nmtf,random", "--seeds", 1)
    assert answer.exit_code == 2
    assert "nmtf failed: NMTF: n_clusters=31 needs at least as many nodes" in answer.stdout
