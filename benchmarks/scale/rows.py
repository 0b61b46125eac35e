"""Rows of the table: measured in a process of their own, or taken over from an earlier run with the same settings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import benchmarks
import equigraph
from benchmarks.scale import graphs
from benchmarks.scale.machine import machine, source_digest, versions
from benchmarks.scale.methods import METHODS
from equigraph._utils.records import write_json

ROOT = Path(benchmarks.__file__).parents[1]
# How a row may end; all but the last are results, and are not tried again.
OK, TIME, MEMORY, NO_ROOM, NOT_TRIED, FAILED = "ok", "time", "memory", "no room", "not tried", "failed"
# What libraries say when they get no memory.
_NO_MEMORY = ("bad_alloc", "memoryerror", "allocate", "out of memory", "not enough memory")


@dataclass(frozen=True)
class Settings:
    """What all rows of a run have in common."""

    n_clusters: int = 10
    seed: int = 0
    threads: int = 2
    limit: float = 600.0
    memory_gib: float = 16.0


@dataclass(frozen=True)
class GraphFolder:
    """A graph on disk."""

    name: str
    folder: Path
    n_nodes: int
    n_stored: int


def environment(threads: int) -> dict[str, str]:
    """Return the environment of a child: every pool of threads has the same size."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR")
    return {**os.environ, **{f"{name}_NUM_THREADS": str(threads) for name in names}}


def run_module(
    module: str, *arguments: str, threads: int, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a module in a process of its own and catch what it says on standard error."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=environment(threads),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )


def prepare_graph(n_nodes: int | None, results: Path, settings: Settings, *, fresh: bool) -> GraphFolder:
    """Return a planted graph, or Pokec-n (None), on disk; it is made in another process to keep this one small.

    Raises
    ------
    RuntimeError
        When it cannot be made; the message is the last line of what the process said.
    """
    name = graphs.POKEC if n_nodes is None else graphs.planted_name(n_nodes)
    variant = "" if n_nodes is None else f"-k{settings.n_clusters}-seed{settings.seed}"
    folder = results / "graphs" / f"{name}{variant}"
    found = None if fresh else graphs.sizes(folder)
    if found is None:
        wanted = [] if n_nodes is None else ["--nodes", str(n_nodes)]
        how = ["--clusters", str(settings.n_clusters), "--seed", str(settings.seed)]
        done = run_module(
            "benchmarks.scale.graphs", str(folder.resolve()), *wanted, *how, threads=settings.threads
        )
        found = graphs.sizes(folder)
        if done.returncode or found is None:
            raise RuntimeError(last_line(done.stderr) or ended_by(done.returncode))
    return GraphFolder(name, folder, **found)


@cache
def _digest(kind: str) -> str:
    here = Path(__file__).parent
    measured = [here / "methods.py", here / "child.py", here / "graphs.py", here.parent / "memory_floor.py"]
    return source_digest(*measured, *([] if kind == "peer" else [Path(equigraph.__file__).parent]))


def circumstances(name: str, graph: GraphFolder, settings: Settings) -> dict[str, Any]:
    """Return everything that a row depends on: a row is used again only where all of it is the same."""
    method = METHODS[name]
    return {
        "method": name,
        "graph": graph.name,
        "n_stored": graph.n_stored,
        **asdict(settings),
        "machine": machine(),
        "versions": versions(method.packages),
        "code": _digest(method.kind),
    }


def measure(name: str, graph: GraphFolder, settings: Settings) -> dict[str, Any]:
    """Measure one row, and never raise: what goes wrong is what the row says."""
    method = METHODS[name]
    if method.room is not None and method.room(graph.n_nodes) > settings.memory_gib * 2**30:
        needed = method.room(graph.n_nodes) / 2**30
        return {"status": NO_ROOM, "note": f"its n x n arrays need {needed:,.0f} GiB"}
    specification = {"method": name, "graph": str(graph.folder.resolve()), **asdict(settings)}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "row.json"
        try:
            done = run_module(
                "benchmarks.scale.child",
                json.dumps(specification),
                str(output),
                threads=settings.threads,
                timeout=settings.limit,
            )
        except subprocess.TimeoutExpired:
            return {"status": TIME, "note": f"over {settings.limit:g} s"}
        if done.returncode == 0 and output.exists():
            return {"status": OK, "note": "", **json.loads(output.read_text(encoding="utf-8"))}
    return failure(done.returncode, done.stderr, settings)


def failure(returncode: int, stderr: str, settings: Settings) -> dict[str, Any]:
    r"""Return the row of a process that did not come to its end.

    Examples
    --------
    >>> failure(1, "Traceback ...\nMemoryError: no more", Settings())["note"]
    'over 16 GiB'
    """
    said = last_line(stderr)
    if returncode == -signal.SIGKILL:
        return {"status": MEMORY, "note": "killed by the system, out of memory"}
    if any(word in stderr.lower() for word in _NO_MEMORY):
        return {"status": MEMORY, "note": f"over {settings.memory_gib:g} GiB"}
    if returncode == -signal.SIGXCPU:
        return {"status": TIME, "note": f"over {settings.limit:g} s"}
    return {"status": FAILED, "note": said if returncode > 0 and said else ended_by(returncode)}


def last_line(text: str) -> str:
    """Return the last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def ended_by(returncode: int) -> str:
    """Return how a process ended, in words."""
    if returncode >= 0:
        return f"ended with code {returncode}"
    return f"ended by {signal.Signals(-returncode).name}"


def collect(
    names: Iterable[str],
    graph_folders: Iterable[GraphFolder],
    results: Path,
    settings: Settings,
    *,
    fresh: bool,
) -> Iterator[dict[str, Any]]:
    """Give the rows one after the other; each is on disk before the next is begun."""
    names = list(names)
    stopped: dict[str, str] = {}
    for graph in graph_folders:
        for name in names:
            path = results / "rows" / f"{graph.folder.name}.{name}.json"
            settled = circumstances(name, graph, settings)
            row = None if fresh else _earlier(path, settled)
            reused = row is not None
            if row is None:
                if name in stopped:
                    row = {"status": NOT_TRIED, "note": stopped[name]}
                else:
                    row = measure(name, graph, settings)
                row["measured"] = datetime.now(UTC).isoformat(timespec="seconds")
                if row["status"] not in (FAILED, NOT_TRIED):
                    write_json(path, {"circumstances": settled, "row": row})
            # A planted graph of more nodes cannot take less; Pokec-n says nothing about them.
            if row["status"] in (TIME, MEMORY) and graph.name != graphs.POKEC:
                stopped.setdefault(name, f"{row['note']} on {graph.name}")
            facts = {"graph": graph.name, "n_nodes": graph.n_nodes, "n_stored": graph.n_stored}
            yield {"method": name, "label": METHODS[name].label, **facts, **row, "reused": reused}


def _earlier(path: Path, settled: dict[str, Any]) -> dict[str, Any] | None:
    """Return a finished row with the same circumstances, where there is one."""
    if not path.exists():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    return stored["row"] if stored["circumstances"] == settled else None
