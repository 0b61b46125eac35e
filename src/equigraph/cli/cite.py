"""``equigraph cite``: what to cite."""

from __future__ import annotations

import click

from equigraph.cli import shared
from equigraph.cli.console import line
from equigraph.cli.options import Command


@click.command("cite", cls=Command)
@shared.DEBUG
def command() -> None:
    """Print what to cite, the paper and the software, as BibTeX."""
    from equigraph.citation import cite

    line(cite().rstrip())
