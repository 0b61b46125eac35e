"""Compile the loops that most tests use, once, so that the processes of a test run need not each do so.

``make test`` runs ``search`` and ``factors`` beside the linters, which leave one processor idle.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import equigraph as eg
from equigraph.search import plans
from equigraph.stores import products


def search(graph):
    """Search on labels: in memory, under rules, on parts and from disk."""
    for method in ("fair-partition", "fair-louvain"):
        eg.cluster(graph, method=method, n_clusters=3, random_state=0)
    names = graph.node_names
    rules = eg.Rules(apart=[(names[0], names[1])])
    eg.FairPartition(3, rules=rules, effort=0.1, random_state=0).fit(graph)
    plans._LARGE_NODES = 1
    with tempfile.TemporaryDirectory() as folder:
        blocks = eg.write_blocks(graph, Path(folder) / "blocks", rows_per_block=11)
        eg.FairPartition(3, random_state=0).fit(blocks)


def factors(graph):
    """Divide people, and factorise: as a large graph with and without a penalty, and from disk."""
    eg.divide(eg.Roster(("Ada", "Ben", "Cem"), friends=(("Ada", "Ben"),)), 2, effort=0)
    eg.cluster(graph, method="fair-nmtf", n_clusters=3, random_state=0)
    products.COMPILE_FROM = 1
    for method in ("fair-nmtf", "sym-nmf", "dfnmf"):
        eg.cluster(graph, method=method, n_clusters=3, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        blocks = eg.write_blocks(graph, Path(folder) / "blocks", rows_per_block=11)
        for dtype in ("float64", "float32"):
            for fairness in (0.0, 1.0):
                eg.IFairNMTF(3, fairness, dtype=dtype, max_iter=5, random_state=0).fit(graph)
            eg.IFairNMTF(3, dtype=dtype, max_iter=5, random_state=0).fit(blocks)


def main(parts):
    """Fit the classroom by every way that has loops of its own."""
    warnings.simplefilter("ignore")
    graph = eg.as_graph(eg.datasets.make_classroom())
    for part in parts or ["search", "factors"]:
        {"search": search, "factors": factors}[part](graph)


if __name__ == "__main__":
    main(sys.argv[1:])
