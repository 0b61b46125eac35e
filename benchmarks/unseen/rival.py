"""VieClus, in a process of its own: it prints on standard output whatever it is told, and a crash must not end a run.

C. Schulz, S. Biedermann, M. Henzinger, B. Schuster, "Memetic Graph Clustering", SEA 2018.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import MissingDependencyError, require

# VieClus takes whole numbers as weights: others are scaled to this sum, far from where sums overflow.
TOTAL_WEIGHT = 10**8


def whole_weights(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return positive whole numbers in proportion to the weights, the weights themselves where they are whole.

    Examples
    --------
    >>> whole_weights(np.array([1.0, 3.0])).tolist(), whole_weights(np.array([0.25, 0.75])).tolist()
    ([1, 3], [25000000, 75000000])
    """
    if np.array_equal(weights, np.rint(weights)):
        return weights.astype(np.int64)
    return np.maximum(np.rint(weights * (TOTAL_WEIGHT / weights.sum())), 1).astype(np.int64)


def check_vieclus() -> None:
    """Raise MissingDependencyError unless VieClus can be loaded here.

    Its wheel is built for processors with instructions that not all have; loading it on another one ends the process.
    """
    done = subprocess.run([sys.executable, "-c", "import vieclus"], capture_output=True, check=False)
    if done.returncode < 0:
        raise MissingDependencyError(
            f"The comparison with VieClus needs a processor that its wheel is built for: loading it ended with signal "
            f"{-done.returncode}."
        )
    if done.returncode:
        require("vieclus", extra="bench", purpose="The comparison with VieClus")


def vieclus_labels(adjacency: sparse.csr_array, seconds: float, seed: int) -> NDArray[np.int64]:
    """Return the labels that VieClus finds in some seconds, with the number of clusters that it finds."""
    with tempfile.TemporaryDirectory() as folder:
        graph, found = Path(folder) / "graph.npz", Path(folder) / "labels.npy"
        np.savez(
            graph, indptr=adjacency.indptr, indices=adjacency.indices, weights=whole_weights(adjacency.data)
        )
        command = [
            sys.executable,
            "-m",
            "benchmarks.unseen.rival",
            str(graph),
            str(found),
            str(seconds),
            str(seed),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not found.exists():
            raise RuntimeError(f"VieClus ended with code {done.returncode}: {done.stderr.strip()[-300:]}")
        return np.load(found)


def main(graph: str, found: str, seconds: str, seed: str) -> None:
    vieclus = require("vieclus", extra="bench", purpose="The comparison with VieClus")
    with np.load(graph) as stored:
        indptr, weights, indices = (stored[name].tolist() for name in ("indptr", "weights", "indices"))
    ones = [1] * (len(indptr) - 1)
    _, labels = vieclus.cluster(
        ones, indptr, weights, indices, suppress_output=True, seed=int(seed), time_limit=float(seconds)
    )
    np.save(found, np.unique(labels, return_inverse=True)[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
