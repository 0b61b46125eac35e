"""A short run of the fuzzer, and that it notices what it is for."""

import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("networkx")

from equigraph.exceptions import EquigraphError
from tests.fuzz import child, run
from tests.fuzz.run import Tally, fuzz
from tests.fuzz.seeds import READERS

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from Linux's /proc")


@linux
def test_some_seconds_of_damaged_files():
    tally = fuzz(1, seed=11, batch=1000, least=10)
    assert not tally.findings, "\n".join(map(str, tally.findings))
    cases = Counter(name for name, _ in tally.counts.elements())
    assert set(cases) == {*READERS, "corpus"}
    assert min(cases.values()) >= 10
    words = Counter(word for _, word in tally.counts.elements())
    assert min(words["read"], words["refused"]) > tally.n_cases / 50  # neither all refused nor all untouched


@pytest.mark.parametrize("reader", READERS)
def test_a_case_is_made_again_from_its_numbers(reader):
    one, other = (child.case_files(reader, 5, 3, {}) for _ in range(2))
    assert one == other
    cases = [child.case_files(reader, 5, k, {}) for k in range(20)]
    assert len({tuple(sorted(case.items())) for case in cases}) > 10
    assert any(case not in READERS[reader]() for case in cases)


FAULTS = {
    "crash": "import os; os.kill(os.getpid(), 11)",
    "hang": "import time; time.sleep(60)",
    "memory": "held = bytearray(1_100_000_000)",
}


@linux
@pytest.mark.parametrize("what", FAULTS)
def test_a_planted_fault_is_found(tmp_path, monkeypatch, what):
    """The fault is put into the reading of one case of the child, which is otherwise the real one."""
    source = Path(child.__file__).read_text(encoding="utf-8")
    planted = source.replace(
        '"""Read what lies in a folder, look at the result, and return its fingerprint."""',
        f"if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:\n        {FAULTS[what]}",
    )
    assert planted != source
    suite = Path(child.__file__).parents[1]
    shutil.copytree(suite, tmp_path / "tests", ignore=shutil.ignore_patterns("corpus"))
    (tmp_path / "tests" / "fuzz" / "corpus").mkdir()
    (tmp_path / "tests" / "fuzz" / "child.py").write_text(planted, encoding="utf-8")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    if what == "hang":
        monkeypatch.setattr(run, "PATIENCE", 0.4)
    tally = Tally()
    run._batch(tally, ["gml"], 1, 0, 1, float("inf"))
    assert [finding.what for finding in tally.findings][:1] == [what]
    run._keep(tally.findings, tmp_path / "kept")
    assert [path.name for path in (tmp_path / "kept").glob("*/*.gml")] == ["graph.gml"]


@pytest.mark.parametrize(
    ("error", "what"),
    [(KeyError("planted"), "foreign exception"), (EquigraphError("one\ntwo"), "several lines")],
)
def test_an_error_that_is_no_sentence_is_found(tmp_path, monkeypatch, error, what):
    def fail(folder):
        raise error

    monkeypatch.setattr(child, "read", fail)
    assert child.outcome(tmp_path)[0] == what
