"""Class lists as one page: on paper, an overview and then a sheet for every class."""

from __future__ import annotations

import math
import os
from importlib import resources

from equigraph._utils.files import write_text
from equigraph._utils.text import count
from equigraph.apps.classes.lists import ClassLists
from equigraph.apps.classes.table import ELSEWHERE, FRIENDS, NAME, elsewhere_text, friends_text
from equigraph.apps.classes.workbook import countable, no_friend
from equigraph.apps.report.markup import Html, document, element, joined

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_MAX_ATTRIBUTES = 4
_INTERNAL = (
    "Internal: these pages tell wishes, needs and background. The list of names for the door is another file."
)
_SMALL = 8  # people up to whom several classes share a sheet of paper
_SHORT = 24  # letters up to which a cell is not broken into lines
# What a table has of a sheet of paper (the shorter of A4 and Letter high, the narrower wide), in points.
_WIDTH, _HEIGHT = 515.0, 615.0
_LETTERS = (11.0, 10.5, 10.0, 9.5, 9.0, 8.5, 8.0, 7.5, 7.0)
_WIDE, _HIGH, _GAP = 0.58, 1.25, 8.0  # a letter and a line in units of its size; between columns in points


def write_page(lists: ClassLists, path: str | os.PathLike[str], attributes: list[str], friends: bool) -> None:
    """Write the page as `ClassLists.to_html` says."""
    write_text(path, make_page(lists, attributes, friends))


def make_page(lists: ClassLists, attributes: list[str], friends: bool) -> str:
    """Return the page."""
    style = resources.files("equigraph.apps.classes").joinpath("page.css").read_text("utf-8")
    shown = attributes[:_MAX_ATTRIBUTES]
    classes = [_class(lists, number, shown, friends) for number in range(lists.n_classes)]
    # A list that hides who wished for whom hides the rules too: they tell who is not to be with whom.
    overview = [_overview(lists, attributes, shown)] if friends else [_heading(lists)]
    if friends or attributes:
        overview.insert(0, element("p", _INTERNAL, class_="internal"))
    return document(lists.title, style, element("main", *overview, *classes), policy=_POLICY)


def _heading(lists: ClassLists) -> Html:
    """Return the title and the date, for lists of names only."""
    date = [element("p", lists.date, class_="size")] if lists.date else []
    return element("header", element("h1", lists.title), *date)


def _overview(lists: ClassLists, attributes: list[str], shown: list[str]) -> Html:
    parts = [
        element("h1", lists.title),
        element(
            "p",
            f"{count(len(lists.roster.people), 'person', 'people')} in "
            f"{count(lists.n_classes, 'class', 'classes')}{f', {lists.date}' if lists.date else ''}",
            class_="size",
        ),
        *(element("p", fact) for fact in lists.facts()),
        _sizes(lists, shown),
        _rules(lists),
    ]
    if len(attributes) > len(shown):
        left = ", ".join(attributes[len(shown) :])
        parts.append(element("p", f"Not on these pages, but in the workbook: {left}.", class_="muted"))
    if lists.roster.notes:
        notes = [element("li", note) for note in lists.roster.notes]
        parts.append(element("details", element("summary", "How the sheet was read"), element("ul", *notes)))
    return element("section", *parts, class_="overview")


def _sizes(lists: ClassLists, attributes: list[str]) -> Html:
    counted = {attribute: values for attribute in attributes if (values := countable(lists, attribute))}
    numeric = [a for a in attributes if a not in counted and lists.mean(0, a) is not None]
    heads = ["Class", "People", *counted, *(f"{a}, mean" for a in numeric), "Without a friend"]
    rows = []
    for number, name in enumerate(lists.class_names):
        members = lists.members(number)
        alone = [member for member in members if lists.is_friendless(member)]
        cells = [
            element("th", name, scope="row"),
            element("td", len(members)),
            *(element("td", _composition(lists, number, a, values)) for a, values in counted.items()),
            *(element("td", _mean(lists, number, a)) for a in numeric),
            element("td", element("mark", ", ".join(alone)) if alone else "nobody", class_="names"),
        ]
        rows.append(element("tr", *cells))
    return _table(heads, rows, "Sizes of the classes")


def _composition(lists: ClassLists, number: int, attribute: str, values: list[str]) -> Html:
    """Return how many people of a class have each value, such as "13 f, 13 m"."""
    counts = lists.counts(number, attribute)
    parts = [f"{counts[value]} {value or 'blank'}" for value in values if value or counts[value]]
    return joined((element("span", part, class_="part") for part in parts), ", ")


def _mean(lists: ClassLists, number: int, attribute: str) -> str:
    mean = lists.mean(number, attribute)
    return "" if mean is None else f"{mean:.2f}"


def _rules(lists: ClassLists) -> Html:
    if not lists.rules:
        return Html("")
    rows = [
        element(
            "tr",
            element("td", "yes" if holds else "NO", class_="holds" if holds else "broken"),
            element("td", sentence),
        )
        for sentence, holds in sorted(lists.rules, key=lambda rule: rule[1])  # broken ones first
    ]
    return joined([element("h2", "Rules"), _table(["Holds", "Rule"], rows, "Rules")])


def _class(lists: ClassLists, number: int, attributes: list[str], friends: bool) -> Html:
    members = lists.members(number)
    counted = [(a, values) for a in attributes if (values := countable(lists, a))]
    means = [(a, mean) for a in attributes if (mean := lists.mean(number, a)) is not None]
    facts = [element("span", count(len(members), "person", "people"), class_="part")]
    facts += [
        element("span", f"{attribute}: ", _composition(lists, number, attribute, values))
        for attribute, values in counted
    ]
    facts += [element("span", f"{attribute}: mean {mean:.2f}", class_="part") for attribute, mean in means]
    heads = ["", NAME, *attributes, *([FRIENDS, ELSEWHERE] if friends else [])]
    rows = [_person(lists, i, name, attributes, friends) for i, name in enumerate(members)]
    size = _letter_size(lists, members, attributes, friends)
    return element(
        "section",
        element("h2", lists.class_names[number]),
        element("p", joined(facts, " · "), class_="size"),
        _table(heads, rows, lists.class_names[number]),
        class_=" ".join(["class"] + ["small"] * (len(members) <= _SMALL) + ["names"] * (len(heads) == 2)),
        style=f"--letters: {size:g}pt",
    )


def _letter_size(lists: ClassLists, members: tuple[str, ...], attributes: list[str], friends: bool) -> float:
    """Return the largest letters with which the table of a class stays on one sheet of paper, as far as any do."""
    texts = [[name, *(lists.value(name, attribute) for attribute in attributes)] for name in members]
    heads = [NAME, *attributes]
    fixed = [max(len(row[j]) for row in (heads, *texts)) for j in range(len(heads))]
    named = [(friends_text(lists, name), elsewhere_text(lists, name)) for name in members] if friends else []
    # A browser parts the width that is left by the longest text of each column.
    longest = [max((len(pair[j]) for pair in named), default=0) + 12 for j in (0, 1)]
    share = longest[0] / sum(longest)
    for size in _LETTERS:
        letters = _WIDTH / (_WIDE * size) - sum(fixed) - 4 - _GAP * (len(fixed) + 2) / size
        lines = sum(
            max(_lines(here, share * letters), _lines(there, (1 - share) * letters)) for here, there in named
        )
        if max(lines, len(members)) * _HIGH * size + len(members) * 0.5 * size <= _HEIGHT:
            return size
    return _LETTERS[-1]


def _lines(text: str, letters: float) -> int:
    return max(1, math.ceil(len(text) / max(letters, 8)))


def _person(lists: ClassLists, i: int, name: str, attributes: list[str], friends: bool) -> Html:
    cells = [
        element("td", i + 1, class_="number"),
        _short(name, "th", scope="row"),
        *(_short(lists.value(name, attribute), "td") for attribute in attributes),
    ]
    if friends:
        here = lists.friends_here(name)
        empty = no_friend(lists, name)
        names = joined((_short(friend, "bdi") for friend in here), ", ")
        elsewhere = [_short(f"{other} ({where})", "bdi") for other, where in lists.friends_elsewhere(name)]
        alone = (
            element("mark", empty) if lists.is_friendless(name) else element("span", empty, class_="muted")
        )
        cells += [
            element("td", names if here else alone),
            element("td", joined(elsewhere, ", "), class_="muted"),
        ]
    return element("tr", *cells)


def _short(text: str, tag: str, **attributes: str) -> Html:
    """Return an element whose text stays on one line unless it is long."""
    return element(tag, text, class_="part" if len(text) <= _SHORT else None, **attributes)


def _table(heads: list[str], rows: list[Html], label: str) -> Html:
    top = element("tr", *(element("th", head, scope="col") for head in heads))
    table = element("table", element("thead", top), element("tbody", *rows))
    # A box that scrolls can be reached and scrolled by keyboard.
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)
