"""``equigraph cite``: what to cite."""

from __future__ import annotations

import click

from equigraph.cli.console import line
from equigraph.cli.options import Command


@click.command("cite", cls=Command)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def command() -> None:
    """Print what to cite, the paper and the software, as BibTeX."""
    from equigraph.citation import cite

    line(cite().rstrip())
