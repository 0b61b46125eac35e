"""Options for hard rules, which several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import click

from equigraph.apps.cli.options import constraints_of, option, together, whole

rule_option = partial(option, section="Rules")
rule_options = together(
    rule_option("--rules FILE", "Hard rules of all kinds, in a .json or .toml file.", "rules_file"),
    rule_option("--together 'Ada,Ben'", "Nodes that share a cluster; may be repeated.", multiple=True),
    rule_option("--apart 'Cem,Dora'", "Nodes no two of which do; may be repeated.", multiple=True),
    rule_option("--sizes 25,27", "Least and most nodes of a cluster; none leaves a side open."),
    rule_option(
        "--friends",
        "With how many of the nodes linked to it every node shares its cluster, at least.",
        type=whole(1),
    ),
    rule_option(
        "--shares ATTRIBUTE=0.1",
        "How far the share of each value may be in a cluster from that in all nodes; may be repeated.",
        multiple=True,
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
    rules = rules_of(settings)
    return {} if rules is None else {"rules": rules, "on_conflict": settings["on_conflict"]}


def method_rules(method: str, settings: Mapping[str, Any], ctx: click.Context) -> dict[str, Any]:
    """Return what `rule_parameters` does, for a method that takes rules; a UsageError for one that does not."""
    given = rule_parameters(settings)
    if given and "rules" not in constraints_of(method):
        raise click.UsageError(
            f"The method {method} keeps no rules: leave them out, or use fair-partition.", ctx
        )
    return given


def rules_of(settings: Mapping[str, Any]) -> Any:
    """Return the rules that options describe, those of the file first, or None if there are none."""
    from equigraph.rules import Rules

    items = list(Rules.read(settings["rules_file"]).items) if settings["rules_file"] else []
    for keyword in ("together", "apart"):
        for text in settings[keyword]:
            if len(names_in(text)) < 2:
                raise click.UsageError(
                    f"--{keyword} {text!r} names fewer than two: expected names with commas between, such as 'Ada,Ben'."
                )
            items += Rules.from_dict({keyword: [tuple(names_in(text))]}).items
    readers: dict[str, Callable[[Any], Any]] = {
        "sizes": pair_of,
        "friends": int,
        "shares": lambda texts: dict(map(_share, texts)),
    }
    for keyword, read in readers.items():
        if settings.get(keyword) not in (None, ()):
            items += Rules.from_dict({keyword: read(settings[keyword])}).items
    return Rules.of(items) if items else None


def names_in(text: str) -> list[str]:
    """Return the names in a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def pair_of(text: str) -> tuple[int | None, int | None]:
    """Return the least and the most of a text such as 25,27 or 25-27 or 25.

    >>> pair_of("25,27"), pair_of("26"), pair_of("25,none")
    ((25, 27), (26, 26), (25, None))
    """
    parts = [part.strip().lower() for part in text.replace("-", ",").split(",")]
    if len(parts) not in (1, 2) or not all(part.isdecimal() or part == "none" for part in parts):
        raise click.UsageError(f"--sizes {text!r} is not two numbers, such as 25,27.")
    least, most = (None if part == "none" else int(part) for part in (parts[0], parts[-1]))
    return least, most


def _share(text: str) -> tuple[str, float]:
    attribute, equals, within = text.rpartition("=")
    try:
        return attribute.strip() if equals else "", float(within)
    except ValueError:
        raise click.UsageError(f"--shares {text!r} is not ATTRIBUTE=0.1.") from None
