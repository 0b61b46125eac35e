"""``equigraph check``: check lists and labels that were edited by hand."""

from __future__ import annotations

from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph._utils.text import count, listed
from equigraph.apps.cli.classes import print_classes, sheet_settings
from equigraph.apps.cli.console import line, note, table, warnings_as_notes
from equigraph.apps.cli.options import Command, Settings
from equigraph.apps.cli.refine import read_labels
from equigraph.apps.cli.sources import read_again
from equigraph.exceptions import InputError

# Exit code if a rule is broken.
BROKEN = 1
_MOST_NAMED = 10  # people who were moved


@click.command("check", cls=Command)
def command(folder: str, edited: str | None, **settings: Any) -> None:
    """Check lists edited by hand: rules, scores, and what got worse.

    OUT is a folder that `equigraph classes` or `cluster` wrote. EDITED is the edited classes.xlsx, classes.csv or
    labels.csv; by default the one in OUT. Exit code 1 if a rule is not kept.
    """
    from equigraph.apps.classes.persistence import KIND
    from equigraph.results.persistence import read_stored

    for flag, name in (("-o", "output"), ("--max-moves", "max_moves")):
        if settings[name] is not None and not settings["repair"]:
            raise click.UsageError(f"{flag} needs --repair: nothing is changed without it.")
    with warnings_as_notes(), redirect_stdout(StringIO()) if settings["quiet"] else nullcontext():
        kind = read_stored(folder, []).manifest["kind"]
        broken = (_check_classes if kind == KIND else _check_labels)(Path(folder), edited, settings)
    click.get_current_context().exit(BROKEN if broken else 0)


def _check_classes(folder: Path, edited: str | None, settings: Settings) -> bool:
    """Check class lists; return whether a rule is broken."""
    from equigraph.apps.classes.messages import translated_errors, words
    from equigraph.apps.classes.persistence import LISTS, save_division
    from equigraph.apps.classes.update import with_people

    before = eg.classes.load_division(folder)
    path = Path(edited) if edited is not None else folder / LISTS[0]
    with translated_errors(settings["language"]):
        labels = eg.read_class_lists(path, before.roster, encoding=settings["encoding"])
    after = before.with_labels(labels)
    by_hand = before
    if settings["people"] is not None:
        with translated_errors(settings["language"]):
            people = sheet_settings(settings)
            roster = eg.read_roster(settings["people"], **people, wishes=before.roster.wishes)
        bins = {name: number for name, number in before.roster.bins.items() if name in roster.attributes}
        after = with_people(after, replace(roster, bins=bins))
        was = dict(zip(before.roster.people, before.labels.tolist(), strict=True))
        by_hand = after.with_labels(
            [was.get(name, now) for name, now in zip(roster.people, after.labels.tolist(), strict=True)]
        )
        _print_people(before, after)
    repaired = after.repaired(by_hand, max_moves=settings["max_moves"]) if settings["repair"] else None
    _print_comparison(before, after, repaired, path)
    if repaired is None:
        return bool(after.broken)
    _print_repair(after, repaired)
    if settings["output"] is not None:
        language = settings["language"]
        title = words(language)["title"]
        save_division(repaired, settings["output"], title=title, force=settings["force"], language=language)
        line(f"Wrote {', '.join(LISTS)} to {settings['output']}.")
    elif not settings["quiet"]:
        note("nothing was written; -o DIR writes the lists.")
    return bool(repaired.broken)


def _print_people(before: Any, after: Any) -> None:
    """Print who has left, and the classes of newcomers."""
    were, are = before.roster.people, after.roster.people
    left = [name for name in were if name not in are]
    if left:
        line(f"{'Has' if len(left) == 1 else 'Have'} left: {listed(left)}.")
    for name in are:
        if name in were:
            continue
        friends = after.lists.friends_here(name)
        company = f", with {listed(friends)}" if friends else ""
        line(f"New: {name}, in {after.class_names[after.lists.class_of(name)]}{company}.")


def _print_comparison(before: Any, after: Any, repaired: Any, path: Path) -> None:
    same_people = before.roster.people == after.roster.people
    moved = before.moved(after) if same_people else ()
    if same_people:
        people = count(len(moved), "person", "people")
        names = [
            *moved[:_MOST_NAMED],
            *([f"{len(moved) - _MOST_NAMED} more"] if len(moved) > _MOST_NAMED else []),
        ]
        line(f"{path}: {people} moved{': ' + listed(names) if moved else ''}.")
    line()
    print_classes(after if repaired is None else repaired)
    shown = [before, after] if repaired is None else [before, after, repaired]
    even = [one.evenness() for one in shown]
    rows = [
        ("people", *(len(one.roster.people) for one in shown)),
        ("wishes kept", *(one.wishes_kept for one in shown)),
        ("people without a friend", *(len(one.friendless) for one in shown)),
        ("what is not kept", *(len(one.broken) for one in shown)),
        *((f"{name}, how evenly", *(one.get(name) for one in even)) for name in even[0]),
    ]
    table(("", "before", "after the edit", "after the repair")[: 1 + len(shown)], rows, left=("",))
    line()
    told = [f"Not kept: {text}" for text in after.broken]
    if same_people:
        told = eg.classes.what_got_worse(before, after)
        told += [f"Not kept, as before: {text}" for text in after.broken if text in before.broken]
    for sentence in told:
        line(sentence)
    if not told:
        line("Every rule holds, and nothing got worse." if same_people else "Every rule holds.")


def _print_repair(after: Any, repaired: Any) -> None:
    line()
    moved = after.moved(repaired)
    people = count(len(moved), "person", "people")
    line(f"Repaired by moving {people}:" if moved else "Nothing had to be moved.")
    for name in moved:
        was, now = (one.class_names[one.lists.class_of(name)] for one in (after, repaired))
        line(f"  {name} from {was} to {now}")
    if repaired.rules != after.rules:
        line(f"Not everybody can have a friend in class. Without one: {listed(repaired.friendless)}.")
    for sentence in repaired.broken:
        line(f"Still not kept: {sentence}")


def _check_labels(folder: Path, edited: str | None, settings: Settings) -> bool:
    """Check labels of a clustering against the stored scores; return whether a rule is broken."""
    from equigraph.graph.groups.encode import unique_values
    from equigraph.results.contents import RESULT, ResultEntries
    from equigraph.results.persistence import read_stored

    if settings["repair"] or settings["people"] is not None:
        raise click.UsageError(
            "--repair and --people are for class lists; `equigraph refine` repairs labels, with --max-moves and "
            "--rules."
        )
    stored = read_stored(folder, [RESULT])
    if RESULT not in stored:
        raise InputError(
            f"{folder} holds no clustering: expected what `equigraph classes` or `cluster` wrote."
        )
    result = stored.json(RESULT, ResultEntries)
    graph, reason = read_again(result["source"], settings)
    if graph is None:
        raise InputError(f"The graph is needed to check labels. {reason}")
    path = Path(edited) if edited is not None else folder / "labels.csv"
    labels = read_labels(path, graph)
    _, codes = unique_values(labels)
    now = eg.metrics.evaluate(graph, codes)
    rules = result["parameters"].get("rules")
    broken = eg.Rules.from_dict(rules).check(graph, labels) if rules else []
    before = result["scores"]
    rows = [(name, before.get(name), value) for name, value in now.items() if isinstance(value, (int, float))]
    table(("", "when it was made", "now"), rows, left=("",))
    line()
    line(f"{path}: {count(int(codes.max()) + 1, 'cluster')}.")
    for sentence in broken or (["Every rule holds."] if rules else []):
        line(sentence)
    return bool(broken)
