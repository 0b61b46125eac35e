"""Commands on the pages: those of ``equigraph`` are run where that is quick, and all of them are checked.

A fence without a language holds commands, one per line: ``equigraph demo   what it does``, or, with ``$``, commands and
what they print. `NOT_RUN` is the one place for what is not run, and why.
"""

import doctest
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from click.testing import CliRunner
from scipy import sparse

import equigraph as eg
from benchmarks.__main__ import names as benchmark_names
from equigraph.apps.cli.app import app
from equigraph.apps.cli.options import MethodCommand, flags_of

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# The beginning of a line, and why it is not run. Commands of equigraph among them have to exist, with all their
# options, and so have targets of make and names of benchmarks.
NOT_RUN = {
    "make": "sets up environments, and runs this suite itself",
    "git clone": "needs the network",
    "python3 -m venv": "needs the network",
    ".venv/bin/": "tools for whoever works on the code; this suite is one of them",
    "EQUIGRAPH_DATA=": "runs this suite itself",
    "python -m benchmarks": "minutes to hours, and times depend on what else the machine does",
    "equigraph demo": "fits five methods: tests/apps/cli/test_cli_demo.py runs it",
    "equigraph compare": "fits every method: tests/apps/cli/test_cli_compare.py runs it",
    "equigraph choose-k": "fits dozens of times: tests/apps/cli/test_cli_choose_k.py runs it",
    "equigraph classes class.xlsx": "three searches of seconds: start-divide.md runs it on text",
    "equigraph check lists/": "the same: classes.md and start-divide.md run it",
    "equigraph explore": "serves until it is stopped: tests/apps/explore runs it",
    "equigraph reproduce": "hours: tests/apps/reproduction runs parts of it",
    "equigraph cluster blocks/": "needs a large graph on disk: tests/apps/cli/test_cli_scale.py runs it",
    "equigraph cluster edges/": "needs a large graph on disk: tests/apps/cli/test_cli_scale.py runs it",
    "eg.": "needs a Dask scheduler: tests/stores runs the calls",
    "(1 - f) Q": "a formula",
    "min over H": "a formula",
    "src/equigraph/": "a list of folders: tests/test_import_order.py reads it",
}


class Line(NamedTuple):
    """A command, and what it prints where the page says so."""

    command: str
    printed: str | None


def lines_of(body):
    """Return the commands of a fence."""
    if not body.startswith("$ "):
        return [Line(re.split(r" {2,}| # ", line)[0], None) for line in body.splitlines() if line.strip()]
    parts = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
    pairs = (part.partition("\n") for part in parts)
    return [Line(command, printed if printed.strip() else None) for command, _, printed in pairs]


def reason(body, command):
    """Return why a command is not run, None for one that is."""
    for start, why in NOT_RUN.items():
        if command.startswith(start) or (body.startswith(start) and why.startswith("a ")):
            return why
    return None


def follow(body, where):
    """Run the commands of a fence, or check those that are not run.

    Raises
    ------
    AssertionError
        If a command fails, prints something else, or does not exist.
    """
    for command, printed in lines_of(body):
        if reason(body, command) is not None:
            check(command, where)
            continue
        assert command.startswith("equigraph "), f"{where}: {command!r} is neither run nor in NOT_RUN"
        arguments = shlex.split(command)[1:]
        prepare(arguments)
        if arguments[0] in ("cluster", "tradeoff", "classes") and printed is None:
            arguments += ["--effort", "0.1"]  # the same way, in a tenth of the time
        answer = CliRunner().invoke(app, arguments)
        allowed = (0, 1) if arguments[0] == "check" else (0,)
        assert answer.exit_code in allowed, f"{where}: {command}\n{answer.output}"
        if printed is not None:
            checker = doctest.OutputChecker()
            assert checker.check_output(printed, answer.output, FLAGS), f"{where}: {command}\n{answer.output}"


def check(command, where):
    """Check that a command, its options, a target or a benchmark is there."""
    if command.startswith("make "):
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert set(command.split()[1:]) <= set(targets), f"{where}: {command}"
    elif command.startswith("python -m benchmarks "):
        assert command.split()[3] in benchmark_names(), f"{where}: {command}"
    elif command.startswith("equigraph "):
        check_options(command, where)


def check_options(command, where):
    """Check that a command of equigraph has the options that are given to it."""
    context = click.Context(app)
    _, name, *rest = shlex.split(command)
    found = app.get_command(context, name)
    assert found is not None, f"{where}: there is no command {name!r}"
    if isinstance(found, click.Group):
        assert not rest or found.get_command(context, rest[0]), f"{where}: {command}"
        return
    known = {flag for parameter in found.params for flag in parameter.opts} | {"--help"}
    if isinstance(found, MethodCommand):
        known |= {flag for name in eg.FairPartition._parameters for flag in flags_of(name)}
    given = {re.sub(r"=.*", "", word) for word in rest if re.match(r"-[a-zA-Z-]", word)}
    assert given <= known, f"{where}: {command}: {name} has no {', '.join(sorted(given - known))}"


def prepare(arguments):
    """Make a file that somebody has, and that a page mentions without showing it."""
    if "edited.xlsx" in arguments and not Path("edited.xlsx").exists():
        division = eg.classes.load_division(arguments[1])
        who = division.roster.people.index("Cem Roth")
        labels = division.labels.copy()
        labels[who] = (labels[who] + 1) % len(division.sizes)
        division.with_labels(labels).lists.to_xlsx("edited.xlsx")


def write_files(folder):
    """Write the classroom and a sheet of people as the pages take them for granted."""
    room = eg.datasets.make_classroom()
    names, place = room.node_names, np.arange(30)
    upper = sparse.triu(room.adjacency, format="coo")
    people = {"gender": room.sensitive_features, "needs": np.where(place % 3 == 0, "yes", "no")}
    people |= {"age": 10 + place % 4, "house": room.house}
    write(folder / "friends.csv", {"source": names[upper.row], "target": names[upper.col]})
    write(folder / "people.csv", {"name": names, **people})
    write(folder / "labels.csv", {"node": names, "cluster": place % 3})


def write(path, columns):
    rows = [",".join(map(str, row)) for row in (columns, *zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
