"""Compiled loops: where they are kept, and what is said the first time."""

import gc
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numba.core.event
import pytest

import equigraph
from equigraph._utils.compilation import MESSAGE, watch_compiler

# A loop that is compiled sooner than most.
PROGRAM = """
import numpy as np
from equigraph.search.kernels.parts import own_weight
weights = np.array([1.0, 2.0, 2.0] * 3)
found = own_weight(np.array([0, 3, 6, 9]), np.tile(np.arange(3), 3), weights, 0, np.zeros(3, dtype=np.int32))
print(int(found.sum()))
"""


def run(program, **variables):
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True)


def run_on_terminal(cache, program=PROGRAM):
    """Run with standard error on a terminal; return standard output and what the terminal shows."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # what Linux says at the end of a terminal
        pass
    os.close(ours)
    return done.stdout.decode(), shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_the_first_run_says_that_it_compiles_and_the_second_does_not(tmp_path):
    out, shown = run_on_terminal(tmp_path)
    assert out.strip() == "15"
    assert shown.count("compiling (first run only)") == 1
    out, shown = run_on_terminal(tmp_path)
    assert out.strip() == "15"
    assert shown == ""


def copy_without_room(folder):
    """Copy the package, with a file where the folder of a module's cache would be."""
    package = folder / "site" / "equigraph"
    shutil.copytree(
        Path(equigraph.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "*.nb?")
    )
    for part in ("stores", "metrics", "search/kernels"):
        (package / part / "__pycache__").write_text("")
    return package.parent


def run_copy(site, home):
    program = PROGRAM + "import equigraph, equigraph.search.kernels.anneal, equigraph.search.kernels.parts\n"
    program += "import equigraph.search.kernels.swap, equigraph.metrics\n"
    program += "equigraph.metrics.notions.NORMALIZED.compiled()\nprint(equigraph.__file__)\n"
    # An empty NUMBA_CACHE_DIR is none.
    done = run(program, PYTHONPATH=site, HOME=home, XDG_CACHE_HOME=home, NUMBA_CACHE_DIR="")
    total, file = done.stdout.split()
    assert Path(file).is_relative_to(site)
    return total, done.stderr


def test_a_package_folder_that_cannot_be_written_uses_the_users_cache(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    total, log = run_copy(copy_without_room(tmp_path), home)
    assert total == "15"
    assert log == f"{MESSAGE}\n"  # as on a terminal
    assert list(home.rglob("*own_weight*.nbi"))


def test_without_any_place_for_the_cache_it_still_runs(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    total, log = run_copy(copy_without_room(tmp_path), blocker / "below")
    assert total == "15"
    assert log.count("set NUMBA_CACHE_DIR") == 1
    assert "first run only" not in log


def test_nothing_is_compiled_or_loaded_for_a_small_graph():
    program = (
        "import sys, numpy as np, equigraph as eg\n"
        "room = eg.datasets.make_classroom()\n"
        "eg.IFairNMTF(3, random_state=0).fit(room.adjacency, sensitive_features=room.sensitive_features)\n"
        "print('numba' in sys.modules)\n"
    )
    assert run(program).stdout.strip() == "False"


def test_an_index_of_an_older_version_is_no_obstacle(tmp_path):
    program = """
from typing import NamedTuple
from equigraph._utils.compilation import compiled
class {name}(NamedTuple):
    value: int
@compiled
def double(pair):
    return 2 * pair.value
print(double({name}(21)))
"""
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    module = tmp_path / "older_loops.py"
    for name in ("Old", "New"):
        module.write_text(program.format(name=name))
        done = run("import older_loops", NUMBA_CACHE_DIR=tmp_path / "cache", PYTHONPATH=path)
        assert done.stdout.strip() == "42"
    assert len(list(tmp_path.rglob("*.nbi"))) == 1


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_is_collected_after_a_loop_was_compiled_as_before(was_on):
    watch_compiler()
    before = gc.isenabled()
    (gc.enable if was_on else gc.disable)()
    try:
        assert numba.njit(lambda number: number + 1)(1) == 2
        assert gc.isenabled() == was_on
        with pytest.raises(numba.TypingError):
            numba.njit(lambda number: number + 1)("two")
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if before else gc.disable)()
