"""Results under kills, full disks and races, with real processes and a real disk."""

import errno
import itertools
import os
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import equigraph as eg
from equigraph._utils.files import PARTIAL, atomic_path, private_folder
from equigraph.apps.cli.app import app
from equigraph.exceptions import InputError, OutputError, ParameterError
from equigraph.results.persistence import OutputFolder
from tests.results.conftest import NO_RESULTS, is_whole

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")

# A child that forks once for every folder; both of the n-th pair kill themselves at the n-th call that moves or removes
# a file. Importing everything in each process would take minutes.
KILLED = """
new = make(4)
def save(folder, n):
    calls = 0
    def watched(real):
        def call(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == n:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)
        return call
    for name in ("replace", "rename", "unlink", "rmdir", "mkdir"):
        setattr(os, name, watched(getattr(os, name)))
    new.save(folder)
for place, folder in enumerate(sys.argv[1:]):
    process = os.fork()
    if not process:
        save(folder, place // 2 + 1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""
N_KILLS = 40


def left_overs(folder):
    return sorted(path.name for path in folder.rglob(".equigraph-*"))


def test_a_save_that_is_killed_at_any_move_leaves_the_old_result_or_the_new(result, child, tmp_path):
    folders = [tmp_path / f"old {n}" for n in range(1, N_KILLS + 1)]
    fresh = [tmp_path / f"new {n}" for n in range(1, N_KILLS + 1)]
    for folder in folders:
        result.save(folder)
        (folder / "notes.txt").write_text("mine")
    process = child(KILLED, *itertools.chain(*zip(folders, fresh, strict=True)))
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    both = list(map(int, stdout.split()))
    codes, first_codes = both[::2], both[1::2]
    n_killed = codes.index(0)
    assert 8 < n_killed < N_KILLS  # calls were counted, and all of them were tried
    assert codes[:n_killed] == [-9] * n_killed
    found = [is_whole(folder) for folder in folders[: n_killed + 1]]
    # One moment decides: before it all have the old result, after it the new one.
    assert found == sorted(found)
    assert set(found) == {3, 4}
    for folder in folders[:n_killed]:
        result.save(folder)
        assert is_whole(folder) == 3
        assert left_overs(folder) == []
        assert (folder / "notes.txt").read_text() == "mine"

    # A first save is whole, or not there.
    believed = []
    for folder in fresh[: first_codes.index(0)]:
        try:
            believed.append(is_whole(folder))
        except InputError:
            believed.append(0)
    assert believed == sorted(believed)
    assert set(believed) == {0, 4}


def test_damaged_new_contents_do_not_block_the_folder(result, tmp_path):
    result.save(tmp_path)
    harmed = tmp_path / ".equigraph-new"
    harmed.mkdir()
    (harmed / "manifest.json").write_text('{"format": "equigraph results"')
    with pytest.raises(InputError, match="is no JSON"):
        eg.ClusteringResult.load(tmp_path)
    result.save(tmp_path)
    assert is_whole(tmp_path) == 3
    assert left_overs(tmp_path) == []


def test_full_disk_keeps_the_old_result_and_names_the_path(result, tmp_path, monkeypatch):
    def full(*args, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    result.save(tmp_path)
    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OutputError, match=f"{tmp_path}.* could not be written: No space left on device"):
        result.save(tmp_path)
    assert is_whole(tmp_path) == 3
    assert left_overs(tmp_path) == []


LIMITED = """
import resource
sys.dont_write_bytecode = True  # or a module that is first imported under the limit is cut short for good

def attempt(limit, write):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write()
    except Exception as error:
        print(type(error).__name__, error)

folder, edges, blocks = sys.argv[1:]
attempt(400, lambda: make(4).save(folder))
attempt(4096, lambda: eg.write_blocks(eg.datasets.make_fair_sbm(2000, 2, 2, random_state=0).adjacency, blocks))
attempt(4096, lambda: eg.write_edge_blocks(edges, blocks))
"""


def test_file_size_limit_keeps_the_old_result_and_names_the_path(result, child, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    edges = eg.datasets.make_fair_sbm(2000, 2, 2, random_state=0).adjacency.tocoo()
    folder, parts, blocks = (tmp_path / name for name in ("out", "edges", "blocks"))
    parts.mkdir()
    parquet.write_table(pyarrow.table({"source": edges.row, "target": edges.col}), parts / "part.parquet")
    result.save(folder)
    stdout, stderr = child(LIMITED, folder, parts, blocks).communicate(timeout=120)
    lines = stdout.splitlines()
    assert len(lines) == 3, stderr
    assert lines[0].startswith(f"OutputError {folder}")
    assert "File too large" in lines[0]
    assert is_whole(folder) == 3
    assert left_overs(folder) == []
    assert all(line.startswith(f"OutputError {blocks} could not be written") for line in lines[1:])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges", "out"]


SAVER = """
folder, k = sys.argv[1], int(sys.argv[2])
mine = make(k)
print("ready", flush=True)
end, n = time.time() + 1, 0
while time.time() < end or n < 4:  # on a busy machine too
    mine.save(folder)
    n += 1
print(n)
"""


def test_concurrent_writers_and_reader_see_complete_results(child, tmp_path):
    folder = tmp_path / "out"
    writers = [child(SAVER, folder, k) for k in (3, 4)]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    while not folder.exists():
        time.sleep(0.01)
    time.sleep(0.2)
    seen = []
    while all(writer.poll() is None for writer in writers):
        seen.append(is_whole(folder))
    # Read from the buffer, which may hold the answer since the first line was read.
    counts = [writer.stdout.read() for writer in writers]
    errors = [writer.communicate(timeout=60)[1] for writer in writers]
    assert all(writer.returncode == 0 for writer in writers), errors
    assert all(int(count) > 3 for count in counts)
    assert seen
    assert set(seen) <= {3, 4}  # to load looks at everything; a busy machine may show one writer only
    assert is_whole(folder) in (3, 4)
    assert left_overs(folder) == []


# Holds a folder, and writes a file and a folder beside it.
HOLDER = """
from pathlib import Path
from equigraph._utils.files import atomic_path, private_folder
from equigraph.results.persistence import OutputFolder
place = Path(sys.argv[1])
with OutputFolder(sys.argv[2]), atomic_path(place / "a.csv") as file, private_folder(place) as folder:
    file.write_text("half")
    (folder / "inner").write_text("half")
    print("held", flush=True)
    time.sleep(60)
"""


def test_second_command_fails_before_it_computes(child, tmp_path):
    out = tmp_path / "out"
    holder = child(HOLDER, tmp_path, out, prelude=NO_RESULTS)
    assert holder.stdout.readline() == "held\n"
    # Endless, if it computed.
    args = ["cluster", "dataset:classroom", "-m", "nmtf", "-k", "3", "-o", str(out)]
    answer = CliRunner().invoke(app, [*args, "--max-iter", "1000000000", "--tol", "0"])
    assert answer.exit_code == 2
    assert "Another run is writing" in answer.stderr
    with pytest.raises(ParameterError, match="Another run is writing"):
        OutputFolder(out, patience=0.05).__enter__()
    holder.kill()
    holder.wait()
    # The lock of a killed process is released.
    answer = CliRunner().invoke(app, args)
    assert answer.exit_code == 0, answer.stderr
    assert is_whole(out) == 3


def test_left_overs_are_removed_only_of_killed_runs(child, tmp_path):
    outs = [tmp_path / "out 0", tmp_path / "out 1"]
    writers = [child(HOLDER, tmp_path, out, prelude=NO_RESULTS) for out in outs]
    for writer in writers:
        assert writer.stdout.readline() == "held\n"
    stranger = tmp_path / f"{PARTIAL}link"
    stranger.symlink_to(tmp_path)
    assert len(list(tmp_path.glob(f"{PARTIAL}*"))) == 5
    writers[0].kill()
    writers[0].wait()
    with atomic_path(tmp_path / "b.csv") as partial:
        partial.write_text("whole")
    assert len(list(tmp_path.glob(f"{PARTIAL}*"))) == 3  # of the living one, and the link
    writers[1].kill()
    writers[1].wait()
    with private_folder(tmp_path):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [stranger.name, "b.csv", "out 0", "out 1"]
    )


BLOCKS = """
from equigraph.stores.block_files import block_writer, temporary_blocks
with temporary_blocks() as folder, block_writer(sys.argv[1], 10, [0, 10]) as writer:
    folder.mkdir()
    (writer.partial / "big").write_bytes(b"x" * 10**6)
    print(folder.parent, flush=True)
    time.sleep(60)
"""


def test_left_overs_of_blocks_are_removed(child, tmp_path, monkeypatch):
    from equigraph.stores.block_files import temporary_blocks

    process = child(BLOCKS, tmp_path / "blocks", prelude=NO_RESULTS)
    temporary = Path(process.stdout.readline().strip())
    process.kill()
    process.wait()
    assert temporary.is_dir()
    assert len(list(tmp_path.glob(f"{PARTIAL}*"))) == 1
    stored = eg.write_blocks(eg.datasets.make_classroom().adjacency, tmp_path / "blocks")
    assert stored.n_nodes == 30
    assert [path.name for path in tmp_path.iterdir()] == ["blocks"]
    with temporary_blocks():
        assert not temporary.exists()
