"""``equigraph classes``: divide a sheet of people into classes, and write lists."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph.apps.cli import options
from equigraph.apps.cli.console import line, note, table
from equigraph.apps.cli.options import Command, Settings, parse_weighted
from equigraph.apps.cli.output import Run

_SEPARATORS = {"semicolon": ";", "comma": ",", "tab": "\t"}
# Attributes spread less evenly than this are reported.
_UNEVEN = 0.8
_MOST_VALUES = 6  # values of an attribute that the table of the classes counts


def sheet_settings(settings: Settings) -> Settings:
    """Return the options of a sheet as `read_roster` takes them."""
    return {name: settings[name] for name in ("columns", "names", "sheet", "wishes_sheet", "accept_near")}


@click.command("classes", cls=Command)
def command(path: str, **settings: Any) -> None:
    """Divide people into classes, and write lists of them.

    SHEET is an xlsx, xls, ods or csv file with one row per person: name, friends, not with, together with, fixed class
    and whatever else is to be spread evenly. The roles of the columns are printed. See docs/classes.md.
    """
    from equigraph.apps.classes.messages import words
    from equigraph.apps.classes.persistence import files_of, save_division

    run = Run(settings)
    with run.output(files_of(settings["alternatives"], settings["door"])) as out:
        division = _divide(path, run)
        costs = _costs(division, settings)
        files = []
        if out is not None:
            files = save_division(
                division,
                out,
                excel=_SEPARATORS.get(settings["excel"], False),
                title=settings["title"] or words(settings["language"])["title"],
                run=run.identity,
                **{name: settings[name] for name in ("force", "door", "by_surname", "date", "language")},
            )
    run.finish(
        "these are the best classes until then",
        lambda: [_summary(one, costs) for one in (division, *division.others)],
        lambda: _print(division, costs, files, settings),
    )


def _divide(path: str, run: Run) -> Any:
    from equigraph.apps.classes.attributes import chosen_attributes, describe_roster
    from equigraph.apps.classes.messages import translated_errors

    settings = run.settings
    with translated_errors(settings["language"]):
        own = {name: settings[name] for name in ("encoding", "wishes", "bins")}
        roster = eg.read_roster(path, **sheet_settings(settings), **own)
    # A header may itself contain a colon and a number.
    known = roster.attributes
    pairs = [(text, None) if text in known else parse_weighted(text) for text in settings["attributes"]]
    attributes = {name: 1.0 if weight is None else weight for name, weight in pairs} or None
    if not settings["quiet"] and not settings["as_json"]:
        chosen = chosen_attributes(roster, attributes, settings["n_classes"])
        line(f"{Path(path).name}: {describe_roster(roster, chosen, settings['language'])}")
        for note in roster.notes:
            if note.kind != "column":
                line(f"  {note.texts()[settings['language']]}")
        line()
    with run.callbacks() as callbacks:
        return eg.divide(
            roster,
            settings["n_classes"],
            names=_class_names(roster, settings),
            attributes=attributes,
            rules=options.rules_of(settings, "together", "apart") or eg.Rules(),
            random_state=settings["seed"],
            callbacks=callbacks,
            **{name: settings[name] for name in ("sizes", "friends", "evenness", "alternatives", "effort")},
        )


def _class_names(roster: Any, settings: Settings) -> list[str] | None:
    """Return the names of the classes, by default in the language of the lists."""
    from equigraph.apps.classes.lists import names_from, natural_order
    from equigraph.apps.classes.messages import words

    if settings["class_names"] is not None:
        return list(settings["class_names"])
    known, word = sorted(set(roster.fixed.values())), words(settings["language"])["class"]
    if settings["language"] == "en" or len(known) > settings["n_classes"]:
        return None
    return sorted(names_from(known, settings["n_classes"], word), key=natural_order)


def _costs(division: Any, settings: Settings) -> list[Any]:
    """Return what each column and each rule costs in wishes, unless nothing is printed."""
    from equigraph.apps.classes.costs import find_costs

    if settings["quiet"] or not division.roster.friends:
        return []
    language = "en" if settings["as_json"] else settings["language"]
    return find_costs(division, evenness=settings["evenness"], seed=settings["seed"], language=language)


def _summary(division: Any, costs: list[Any]) -> dict[str, Any]:
    return {
        "classes": {
            name: list(division.lists.members(number)) for number, name in enumerate(division.class_names)
        },
        "wishes": len(division.roster.friends),
        "wishes_kept": division.wishes_kept,
        "without_friend": list(division.friendless),
        "fewest_without_friend_proven": division.proven,
        "evenness": division.evenness(),
        "costs": [{"without": cost.what, "more_wishes": cost.wishes} for cost in costs],
        "rules": [{"rule": sentence, "holds": holds} for sentence, holds in division.lists.rules],
    }


def _print(division: Any, costs: list[Any], files: list[Path], settings: Settings) -> None:
    from equigraph.apps.classes.costs import costs_sentence
    from equigraph.apps.classes.messages import say

    language, folder = settings["language"], settings["output"]
    wanted, n = settings["alternatives"], 1 + len(division.others)
    print_classes(division, language)
    lists = division.lists_in(language)
    for sentence in lists.facts():
        line(sentence)
    uneven = [name for name, value in division.evenness().items() if value < _UNEVEN]
    if uneven:
        friends = any(isinstance(rule, eg.rules.Friends) for rule in division.rules.items)
        line(say(language, "far_from_even", attributes=uneven, friends=friends))
    for sentence in costs_sentence(costs, language):
        line(sentence)
    for sentence, holds in lists.rules:
        if not holds:
            line(say(language, "not_kept", sentence=sentence))
    if division.others:
        line()
        _print_alternatives(division, lists.words)
    if wanted > n:
        note(say(language, "fewer_found", n=n, wanted=wanted))
    if not files:
        note(say(language, "not_written"))
        return
    line()
    line(say(language, "written", names=[file.name for file in files], folder=folder))
    line(say(language, "what_next", page=files[2], workbook=files[1], folder=folder))


def print_classes(division: Any, language: str = "en") -> None:
    """Print one row per class: its size, and for each attribute how many people have each value, or the mean."""
    lists = division.lists_in(language)
    words, named = lists.words, list(division.attributes)
    heads = (words["class"], words["people"], *named)
    rows = []
    for number, name in enumerate(division.class_names):
        cells = [_composition(lists, number, attribute) for attribute in named]
        rows.append((name, int(division.sizes[number]), *cells))
    table(heads, rows, left=(words["class"], *named))
    line()


def _composition(lists: Any, number: int, attribute: str) -> str:
    """Return the composition of a class: the mean of numbers, else counts such as 12 f, 12 m."""
    mean = lists.mean_text(number, attribute)
    if mean:
        return f"{lists.words['mean']} {mean}"
    counts = lists.counts(number, attribute)
    values = sorted({value for value in lists.roster.attributes[attribute] if value})
    shown = [f"{counts[value]} {value}" for value in values[:_MOST_VALUES]]
    if counts[""] and 1 < len(values) <= _MOST_VALUES:
        shown.append(f"{counts['']} {lists.words['blank']}")
    return ", ".join(shown) + (", ..." if len(values) > _MOST_VALUES else "")


def _print_alternatives(division: Any, words: Mapping[str, str]) -> None:
    from equigraph.apps.classes.divide import company_changed

    rows = []
    for number, one in enumerate((division, *division.others), start=1):
        even = min(one.evenness().values(), default=1.0)
        changed = "-" if one is division else f"{company_changed(division, one):.0%}"
        rows.append((number, one.wishes_kept, len(one.friendless), f"{even:.0%}", changed))
    heads = ("alternative", "kept", "alone", "least_even", "differing")
    table([words[head] for head in heads], rows)
