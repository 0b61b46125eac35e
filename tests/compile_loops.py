"""Compile the loops that most tests use, once, so that the processes of a test run need not each do so.

``make test`` runs this beside the linters, which leave one processor idle.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import equigraph as eg
from equigraph.search import plans

METHODS = ("fair-partition", "ifair-nmtf", "fair-nmtf", "fair-louvain", "sym-nmf", "dfnmf")


def main() -> None:
    """Fit the classroom by every way that has loops of its own."""
    warnings.simplefilter("ignore")
    room = eg.datasets.make_classroom()
    graph = eg.as_graph(room)
    for method in METHODS:
        eg.cluster(graph, method=method, n_clusters=3, random_state=0)
    rules = eg.Rules(apart=[(room.node_names[0], room.node_names[1])])
    eg.FairPartition(3, rules=rules, effort=0.1, random_state=0).fit(graph)
    for dtype in ("float64", "float32"):
        for penalty in (0.0, 1.0):
            eg.IFairNMTF(3, penalty, dtype=dtype, max_iter=5, random_state=0).fit(graph)
    plans._LARGE_NODES = 1
    with tempfile.TemporaryDirectory() as folder:
        blocks = eg.write_blocks(graph, Path(folder) / "blocks", rows_per_block=11)
        eg.FairPartition(3, random_state=0).fit(blocks)
        for dtype in ("float64", "float32"):
            eg.IFairNMTF(3, dtype=dtype, max_iter=5, random_state=0).fit(blocks)


if __name__ == "__main__":
    main()
