"""One batch, in a process of its own: it makes every case from its number, reads it, and says what came of it."""

import itertools
import json
import random
import resource
import sys
import time
import traceback
import warnings
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse

import equigraph as eg
from equigraph.exceptions import EquigraphError, EquigraphWarning
from equigraph.rules import Rules
from tests.fuzz.mutate import mutated
from tests.fuzz.seeds import READERS, people

# Address space beyond what the process has at the start; above the bound that is reported, to protect the machine.
ROOM = 6 << 30
OPTIONS = (
    {},
    {},
    {},
    {"symmetrize": "max", "duplicates": "max", "missing": "own-group", "unknown": "add"},
    {"symmetrize": "mean", "duplicates": "mean", "dtype": "float32", "missing": "drop", "unknown": "ignore"},
    {"symmetrize": "sum", "duplicates": "sum", "missing": "own-group", "unknown": "ignore"},
)
CORPUS = Path(__file__).parent / "corpus"


def case_files(reader, seed, number, cache):
    """Return the files of a case, always the same for the same numbers."""
    rng = random.Random(f"{seed}/{reader}/{number}")
    if reader not in cache:
        cache[reader] = READERS[reader]()
    return mutated(rng.choice(cache[reader]), rng)


def write(files, folder):
    """Write the files of a case into an empty folder."""
    for path in folder.iterdir():
        path.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def read(folder):
    """Read what lies in a folder, look at the result, and return its fingerprint."""
    names = sorted(path.name for path in folder.iterdir())
    for name, reader in FOLDERS.items():
        if name in names:
            return reader(folder)
    stem = names[0].partition(".")[0]
    if stem in SINGLE:
        return SINGLE[stem](folder / names[0])
    groups = [name for name in names if name.startswith("groups.")]
    source = next(name for name in names if name not in groups)
    # Half of the cases are read with options that let damage go further.
    content = b"".join((folder / name).read_bytes() for name in names)
    options = dict(OPTIONS[zlib.crc32(content) % len(OPTIONS)])
    if groups:
        options["groups"] = folder / groups[0]
    if groups and source == "edges.csv":
        options["attribute"] = 1 if groups[0] != "groups.parquet" else "team"
    return _looked_at(eg.read_graph(folder / source, **options))


def _blocks(folder):
    return _looked_at(eg.open_blocks(folder).to_graph())


def _result(folder):
    result = eg.ClusteringResult.load(folder)
    assert result.labels.dtype.kind == "i"
    assert result.labels.size == result.node_names.size
    for part in (result.membership, result.interaction):
        assert part is None or np.isfinite(part.data if sparse.issparse(part) else part).all()
    return repr((result.labels.tolist(), result.scores))


def _roster(path):
    roster = eg.read_roster(path)
    return _looked_at(roster.graph()) + repr((roster.attributes, roster.apart, roster.together, roster.fixed))


def _lists(path):
    return repr(eg.read_class_lists(path, people()))


def _rules(path):
    rules = Rules.read(path)
    assert Rules.from_dict(rules.to_dict()).to_dict() == rules.to_dict()
    return rules.describe()


FOLDERS = {"blocks.json": _blocks, "result.json": _result}
SINGLE = {"roster": _roster, "lists": _lists, "rules": _rules}


def _looked_at(graph):
    adjacency = graph.adjacency
    assert adjacency.has_canonical_format
    assert adjacency.indptr[-1] == adjacency.indices.size == adjacency.data.size
    assert np.isfinite(adjacency.data).all()
    assert (adjacency.data > 0).all()
    assert not adjacency.diagonal().any()
    degrees = np.bincount(adjacency.indices, minlength=graph.n_nodes)
    assert np.array_equal(degrees, np.diff(adjacency.indptr))
    assert np.unique(graph.node_names.astype(object)).size == graph.n_nodes
    return graph.fingerprint()


def outcome(folder):
    """Return a word and a text: "read" and a fingerprint, "refused" and the message, or what went wrong."""
    try:
        return "read", read(folder)
    except EquigraphError as error:
        message = str(error)
        return ("refused", message) if len(message.splitlines()) == 1 else ("several lines", message)
    except BaseException:
        return "foreign exception", traceback.format_exc()


def main(seed, readers, first, count):
    """Run a batch; every case is announced before it starts, so that the parent knows what ended the process."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", EquigraphWarning)
    cache = {}
    for reader in readers:  # the first of each kind pays for imports, not for a case
        case_files(reader, seed, first, cache)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for files in itertools.chain.from_iterable(cache[reader] for reader in readers):
            write(files, folder)
            assert outcome(folder)[0] == "read", outcome(folder)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        room = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        for name, files in kept_cases() if first == 0 else ():
            _run(name, 0, files, folder)
        for number in range(first, first + count):
            for reader in readers:
                _run(reader, number, case_files(reader, seed, number, cache), folder)
    _say("done")


def kept_cases():
    """Yield name and files of every case of the corpus: each went wrong once."""
    for case in sorted(CORPUS.iterdir()):
        yield f"corpus/{case.name}", {path.name: path.read_bytes() for path in sorted(case.iterdir())}


def _run(reader, number, files, folder):
    write(files, folder)
    _say("start", reader, number)
    began, before = time.process_time(), _peak()
    word, text = outcome(folder)
    taken, after = time.process_time() - began, _peak()
    _say("end", reader, number, word, text[-2000:], taken, after if after > before else 0)


def _peak():
    # Not ru_maxrss: a process inherits it from the one that started it, however large that was.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _say(*words):
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3]), int(sys.argv[4]))
