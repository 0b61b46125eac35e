"""Batches, one process each; what crashes, hangs, eats memory or raises what is not ours is a finding."""

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.child import case_files
from tests.fuzz.seeds import READERS

MOST_SECONDS = 5.0
MOST_BYTES = 1 << 30
# A case may take so many times the seconds of a processor that it is allowed, before it is stopped.
PATIENCE = 4
# Time for the imports of a process on a busy machine.
START = 300.0
ROOT = Path(__file__).parents[2]
WRONG = ("several lines", "foreign exception")


class Finding(NamedTuple):
    """A case that went wrong."""

    what: str
    reader: str
    seed: int
    number: int
    text: str

    def __str__(self):
        text = self.text.replace("\n", "\n    ")
        return f"{self.what}: {self.reader} {self.number} of seed {self.seed}\n    {text}"


@dataclass
class Tally:
    """What came of all cases."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    @property
    def n_cases(self):
        """Number of cases."""
        return sum(self.counts.values())

    def summary(self):
        """Return one line per reader."""
        lines = []
        for reader in dict.fromkeys(name for name, _ in self.counts):
            of = {word: number for (name, word), number in sorted(self.counts.items()) if name == reader}
            words = ", ".join(f"{number:,} {word}" for word, number in of.items())
            lines.append(f"{reader:8} {sum(of.values()):7,} files: {words}")
        return "\n".join(lines)


def fuzz(seconds, seed, readers=None, *, batch=100, least=0, most=float("inf"), keep=None):
    """Run batches until the time is over, or all files were read.

    Parameters
    ----------
    seconds : float
        How long; the batch that is under way is cut short.
    seed : int
        Where the mutations start from.
    readers : list of str, optional
        Which readers; all by default.
    batch : int
        Files of each reader in a batch.
    least : int
        Files of each reader at least, whatever the time.
    most : float
        Files of each reader at most.
    keep : Path, optional
        Folder for the files of the findings.

    Returns
    -------
    Tally
        Counts and findings.
    """
    tally, first, end = Tally(), 0, time.monotonic() + seconds
    # Whoever stops it is told what was found until then.
    with contextlib.suppress(KeyboardInterrupt):
        while time.monotonic() < end and first < most:
            count = int(min(batch, most - first))
            first = _batch(tally, readers or list(READERS), seed, first, count, end, least)
    if keep is not None:
        _keep(tally.findings, keep)
    return tally


def _batch(tally, readers, seed, first, count, end, least=0):
    """Run one process, and return the number of the next case."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.child"]
    command += [str(seed), ",".join(readers), str(first), str(count)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines, errors = _lines(process.stdout), _lines(process.stderr)
        running = None
        patience = START
        while True:
            try:
                line = lines.get(timeout=patience)
            except queue.Empty:
                process.kill()
                _note(tally, "hang", running, seed, f"more than {MOST_SECONDS:g} s")
                return _after(running, first)
            if line is None:
                break
            words = json.loads(line)
            if words[0] == "start":
                running, patience = words, PATIENCE * MOST_SECONDS
            elif words[0] == "end":
                _judge(tally, words, seed)
                patience = START
                if time.monotonic() > end and words[2] >= least:
                    process.kill()
                    return first + count
            else:
                running = ["done", "at the end", first]
        if process.wait() != 0:
            text = "".join(iter(lambda: errors.get(timeout=5) or "", ""))
            _note(tally, "crash", running, seed, f"exit code {process.returncode}: {text[-3000:]}")
            return _after(running, first)
    return first + count


def _after(running, first):
    return (running[2] if running else first) + 1


def _judge(tally, words, seed):
    _, reader, number, word, text, taken, peak = words
    tally.counts[reader.partition("/")[0], word] += 1
    for is_wrong, what, said in (
        (word in WRONG, word, text),
        (taken > MOST_SECONDS, "slow", f"{taken:.1f} s; {word} {text}"),
        (peak > MOST_BYTES, "memory", f"{peak / 2**20:.0f} MB; {word} {text}"),
    ):
        if is_wrong:
            tally.findings.append(Finding(what, reader, seed, number, said))


def _note(tally, what, running, seed, text):
    _, reader, number = running or ("", "start of the process", 0)
    tally.counts[reader.partition("/")[0], what] += 1
    tally.findings.append(Finding(what, reader, seed, number, text))


def _lines(stream):
    """Return a queue that a thread fills with the lines of a stream, and with None at its end."""
    lines = queue.Queue()

    def fill():
        for line in stream:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=fill, daemon=True).start()
    return lines


def _keep(findings, folder):
    cache = {}
    for finding in findings:
        if finding.reader not in READERS:
            continue
        place = folder / f"{finding.what.replace(' ', '-')}-{finding.reader}-{finding.seed}-{finding.number}"
        place.mkdir(parents=True, exist_ok=True)
        for name, data in case_files(finding.reader, finding.seed, finding.number, cache).items():
            (place / name).write_bytes(data)
        (place / "finding.log").write_text(str(finding), encoding="utf-8")
