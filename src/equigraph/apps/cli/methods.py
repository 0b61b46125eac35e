"""``equigraph methods``: what there is, and the parameters of one."""

from __future__ import annotations

import json
from typing import Any

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.console import line, table
from equigraph.apps.cli.options import (
    DEFAULT_SEED,
    Command,
    default_text,
    defaults_of,
    describe_values,
    flags_of,
    reachable,
)
from equigraph.methods import METHODS, get_method


@click.command("methods", cls=Command)
@click.argument("name", required=False)
@shared.as_json("Print JSON and nothing else.")
@shared.DEBUG
def command(name: str | None, as_json: bool) -> None:
    """List the methods, or the parameters of one of them."""
    if name is None:
        methods = [{"name": m.name, "summary": m.summary, "extra": m.extra} for m in METHODS.values()]
        if as_json:
            line(json.dumps(methods, indent=2))
            return
        rows = [(m["name"], m["summary"], m["extra"]) for m in methods]
        table(("method", "what it does", "needs extra"), rows, left=("method", "what it does", "needs extra"))
        line("The parameters of one: equigraph methods NAME")
        return
    method = get_method(name)
    parameters = _parameters(method)
    if as_json:
        line(json.dumps({"name": method.name, "summary": method.summary, "parameters": parameters}, indent=2))
        return
    line(f"{method.name}: {method.summary} (equigraph.{method.estimator})")
    columns = ("option", "values", "default", "meaning")
    table(columns, [[row[column] for column in columns] for row in parameters], left=columns)


def _parameters(method: Any) -> list[dict[str, Any]]:
    from equigraph._utils.parameters import Boolean

    estimator = method.load()
    defaults = defaults_of(estimator)
    rows = []
    for name, constraint in estimator._parameters.items():
        if name == "callbacks":
            continue  # the command line has its progress bar and its time limit there
        flags = ", ".join(flags_of(name))
        if isinstance(constraint, Boolean):
            flags = f"{flags}, --no-{flags.removeprefix('--')}"
        rows.append(
            {
                "name": name,
                "option": flags if reachable(name, constraint) else f"(only in Python: {name})",
                "values": describe_values(constraint),
                "default": default_text(DEFAULT_SEED if name == "random_state" else defaults.get(name)),
                "meaning": constraint.help,
            }
        )
    return rows
