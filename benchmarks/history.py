"""A few public calls timed over the history of the repository; docs/benchmarks.md draws what is kept.

Every commit that is measured is unpacked into a folder of its own and runs in a process of its own, in CPU seconds.
What is found goes to ``benchmarks/history.json`` as soon as it is there, and commits that are in it are not measured
again: ``python -m benchmarks history --commits HEAD`` adds one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).with_name("history.json")
CASES = Path(__file__).with_name("_history_cases.py")


def git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def spread(commits: list[str], number: int) -> list[str]:
    """Return so many of the commits, evenly spaced, with the first and the last."""
    if number >= len(commits):
        return commits
    last = len(commits) - 1
    return [commits[round(place * last / (number - 1))] for place in range(number)]


def facts(commit: str) -> dict[str, Any]:
    """Return what the page says of a commit: its short name, its date and how many came before it."""
    name, date = git("show", "-s", "--abbrev=7", "--format=%h %cI", commit).split()
    return {"commit": name, "date": date, "number": int(git("rev-list", "--count", commit))}


def measured(commit: str) -> dict[str, Any] | None:
    """Return the times of a commit, or None if it cannot be run."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as packed:
            packed.extractall(folder, filter="data")
        environment = {**os.environ, "PYTHONPATH": str(Path(folder) / "src"), "NUMBA_NUM_THREADS": "1"}
        run = subprocess.run(
            [sys.executable, str(CASES)], cwd=folder, env=environment, capture_output=True, text=True
        )
    print(run.stderr, end="", file=sys.stderr)
    return json.loads(run.stdout) if run.returncode == 0 else None


def kept() -> list[dict[str, Any]]:
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []


def keep(rows: list[dict[str, Any]]) -> None:
    """Write the rows, one per line, oldest first."""
    lines = ",\n".join(json.dumps(row) for row in sorted(rows, key=lambda row: row["number"]))
    KEPT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks history", description=__doc__)
    parser.add_argument(
        "--number", type=int, default=8, help="how many commits, spread over the history (default: 8)"
    )
    parser.add_argument("--commits", nargs="+", metavar="COMMIT", help="these commits")
    options = parser.parse_args()
    if options.number < 2:
        parser.error("--number: at least 2 commits make a history")
    line = git("rev-list", "--first-parent", "--reverse", "HEAD").split()
    for commit in options.commits or spread(line, options.number):
        row = facts(commit)
        rows = kept()
        if row["commit"] in {old["commit"] for old in rows}:
            continue
        cases = measured(commit)
        if not cases:
            print(f"{row['commit']}: cannot be run, left out", file=sys.stderr)
            continue
        keep([*rows, {**row, "cases": cases}])
        print(row["commit"], {name: case["seconds"] for name, case in cases.items()})
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"git: {error.stderr.strip()}")
