"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from equigraph.apps.cli.options import DEFAULT_SEED, MethodCommand, SectionOption

Decorator = Callable[[Any], Any]
Settings = dict[str, Any]  # what was typed, by the names of the options


def together(*options: Decorator) -> Decorator:
    """Return what adds several options, in the order of the help."""

    def add(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def valued(*names: str, **settings: Any) -> Decorator:
    """Return an option whose default is shown."""
    return click.option(*names, show_default=True, **settings)


def whole(*names: str, least: int, default: int, **settings: Any) -> Decorator:
    """Return an option that is a whole number of at least so much."""
    return valued(*names, type=click.IntRange(min=least), default=default, **settings)


def of_section(section: str) -> Callable[..., Decorator]:
    """Return what makes options that the help lists in a section."""
    return lambda *names, **settings: click.option(*names, cls=SectionOption, section=section, **settings)


def flag(name: str, text: str) -> Decorator:
    """Return an option that is given or not."""
    return click.option(name, is_flag=True, help=text)


def folder(text: str) -> Decorator:
    """Return the option for the folder to write to."""
    return click.option("-o", "--output", metavar="DIR", help=text)


def seed(text: str = "Seed of the search.") -> Decorator:
    """Return the option for the seed."""
    return whole("--seed", least=0, default=DEFAULT_SEED, help=text)


def quiet(text: str = "No progress bar and no summary.") -> Decorator:
    """Return the option not to print."""
    return click.option("-q", "--quiet", is_flag=True, help=text)


def as_json(text: str = "Print the summary as JSON and nothing else.") -> Decorator:
    """Return the option to print for machines."""
    return click.option("--json", "as_json", is_flag=True, help=text)


DEBUG = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
PRINTING = together(as_json(), quiet(), DEBUG)
METHOD = valued(
    "-m",
    "--method",
    default=MethodCommand.default_method,
    help="Name of the method; `equigraph methods` lists them.",
)
GENERIC = click.option(
    "-P",
    "generic",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any parameter of the method, by its name in Python.",
)
