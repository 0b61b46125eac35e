"""Options for hard rules, which several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from equigraph.apps.cli.options import Read, assignments, constraints_of, names_in, option, together, whole


def several_names(text: str) -> list[str]:
    """Return the names in a list with commas; a ValueError where there are fewer than two."""
    names = names_in(text)
    if len(names) < 2:
        raise ValueError(
            f"{text!r} names fewer than two: expected names with commas between, such as 'Ada,Ben'."
        )
    return names


def pair_of(text: str) -> tuple[int | None, int | None]:
    """Return the least and the most of a text such as 25,27 or 25-27 or 25.

    >>> pair_of("25,27"), pair_of("26"), pair_of("25,none")
    ((25, 27), (26, 26), (25, None))
    """
    parts = [part.strip().lower() for part in text.replace("-", ",").split(",")]
    if len(parts) not in (1, 2) or not all(part.isdecimal() or part == "none" for part in parts):
        raise ValueError(f"{text!r} is not two numbers, such as 25,27.")
    least, most = (None if part == "none" else int(part) for part in (parts[0], parts[-1]))
    return least, most


rule_option = partial(option, section="Rules")
NODE_SETS = {"multiple": True, "type": Read(several_names)}
SIZES = Read(pair_of)
rule_options = together(
    rule_option("--rules FILE", "Hard rules of all kinds, in a .json or .toml file.", "rules_file"),
    rule_option("--together 'Ada,Ben'", "Nodes that share a cluster; may be repeated.", **NODE_SETS),
    rule_option("--apart 'Cem,Dora'", "Nodes no two of which do; may be repeated.", **NODE_SETS),
    rule_option("--sizes 25,27", "Least and most nodes of a cluster; none leaves a side open.", type=SIZES),
    rule_option(
        "--friends",
        "With how many of the nodes linked to it every node shares its cluster, at least.",
        type=whole(1),
    ),
    assignments(
        "--shares ATTRIBUTE=0.1",
        "How far the share of each value may be in a cluster from that in all nodes; may be repeated.",
        kind=float,
        section="Rules",
    ),
    rule_option(
        "--on-conflict",
        "Whether rules that contradict each other are an error, or the last of them are given up.",
        type=click.Choice(["error", "relax"]),
        default="error",
    ),
)


def rule_parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters ``rules`` and ``on_conflict`` that the options describe; nothing without a rule."""
    rules = rules_of(settings, "together", "apart", "sizes", "friends", "shares")
    return {} if rules is None else {"rules": rules, "on_conflict": settings["on_conflict"]}


def method_rules(method: str, settings: Mapping[str, Any], ctx: click.Context) -> dict[str, Any]:
    """Return what `rule_parameters` does, for a method that takes rules; a UsageError for one that does not."""
    given = rule_parameters(settings)
    if given and "rules" not in constraints_of(method):
        raise click.UsageError(
            f"The method {method} keeps no rules: leave them out, or use fair-partition.", ctx
        )
    return given


def rules_of(settings: Mapping[str, Any], *keywords: str) -> Any:
    """Return the rules of these options, those of the file first, or None if there are none."""
    from equigraph.rules import Rules

    items = Rules.read(settings["rules_file"]).items if settings["rules_file"] else ()
    given = {keyword: settings[keyword] for keyword in keywords if settings[keyword]}
    items += Rules.from_dict(given).items
    return Rules.of(items) if items else None
