"""``equigraph warmup``: compile everything beforehand."""

from __future__ import annotations

import time

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.console import line
from equigraph.apps.cli.options import Command


@click.command("warmup", cls=Command)
@shared.DEBUG
def command() -> None:
    """Compile the loops of the search now, so that no later command has to; once after every upgrade."""
    import warnings

    from equigraph.apps.classes import divide
    from equigraph.apps.classes.roster import Roster
    from equigraph.community import FairPartition
    from equigraph.datasets import make_planted_graph
    from equigraph.rules import Rules
    from equigraph.search.large import make_search
    from equigraph.search.targets import Target
    from equigraph.stores.blocks import MemoryBlocks
    from equigraph.stores.rows import StreamedRows

    start = time.perf_counter()
    data = make_planted_graph(600, 3, mean_degree=8, random_state=0)
    rules = Rules(apart=[(0, 1)], sizes=(150, 250))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_clusters, kept in ((3, None), (3, rules), (150, None)):
            model = FairPartition(n_clusters, rules=kept, effort=0.01, random_state=0)
            model.fit(data.adjacency, sensitive_features=data.sensitive_features)
        make_search(StreamedRows(MemoryBlocks(data.adjacency)), None, 3, effort=0.01).solve([Target()])
    divide(Roster(("Ada", "Ben", "Cem"), friends=(("Ada", "Ben"),)), 2, effort=0)
    line(f"All loops of the search are compiled ({time.perf_counter() - start:.0f} s).")
