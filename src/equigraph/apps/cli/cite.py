"""``equigraph cite``: what to cite."""

from __future__ import annotations

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.console import line
from equigraph.apps.cli.options import Command


@click.command("cite", cls=Command)
@shared.DEBUG
def command() -> None:
    """Print what to cite, the paper and the software, as BibTeX."""
    from equigraph._utils.citation import cite

    line(cite().rstrip())
