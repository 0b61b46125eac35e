"""The command ``equigraph``; heavy packages are imported when a command runs."""

from __future__ import annotations


def main() -> None:
    """Run the command; the entry point of the distribution."""
    from equigraph.apps.cli.app import app

    app(prog_name="equigraph")


__all__ = ["main"]
