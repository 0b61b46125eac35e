"""Class lists: the data that workbooks, pages and text files are written from."""

from __future__ import annotations

import csv
import os
import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from equigraph._utils.files import atomic_path
from equigraph._utils.parameters import check_known
from equigraph._utils.records import harmless
from equigraph._utils.text import count, joined, shown
from equigraph.apps.classes.messages import LANGUAGES, say, words
from equigraph.apps.classes.roster import Roster
from equigraph.apps.classes.roster.columns import is_number_column, number_of
from equigraph.apps.classes.roster.vocabulary import folded
from equigraph.exceptions import ParameterError, RosterError

MAX_CLASS_NAME = 60


@dataclass(frozen=True, eq=False, repr=False)
class ClassLists:
    """People in classes, with sentences on rules and scores.

    Parameters
    ----------
    roster : Roster
        The people.
    labels : sequence of int, or mapping of str to str
        Class of each person, from 0, in the order of the roster; or the name of the class by the name of the person.
    class_names : sequence of str, optional
        Names of the classes, all different. By default Class 1, Class 2, ..., or those of the mapping in the order in
        which they first occur.
    rules : sequence of (str, bool)
        Each rule in a sentence, and whether it holds.
    scores : sequence of str
        How good the classes are, in sentences.
    title : str, default="Classes"
        Headline of the lists.
    date : str
        Date to print below it.
    by_surname : bool, default=False
        Whether the people of a class are sorted by their last word, and not in the order of the roster.
    language : {"en", "de"}, default="en"
        Language of headings and notes; `rules` and `scores` are written as they are.

    Examples
    --------
    >>> roster = Roster(("Ada", "Ben", "Cem"), friends=(("Ada", "Ben"), ("Cem", "Ada")))
    >>> lists = ClassLists(
    ...     roster, [0, 0, 1], ["5a", "5b"], rules=[("Ada and Cem are in different classes.", True)]
    ... )
    >>> lists.members(0), lists.friends_here("Ada"), lists.friends_elsewhere("Cem")
    (('Ada', 'Ben'), ('Ben',), (('Ada', '5a'),))
    >>> lists.facts()[0]
    '1 of 2 wishes is kept: 1 of 2 people with a wish has a friend in class.'
    """

    roster: Roster
    labels: Any
    class_names: Any = None
    rules: Any = ()
    scores: Any = ()
    title: str = "Classes"
    date: str = ""
    by_surname: bool = False
    language: str = "en"
    _place: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        check_known("language", self.language, LANGUAGES)
        labels, names = self._named() if isinstance(self.labels, Mapping) else self._numbered()
        rules = tuple((str(sentence), bool(holds)) for sentence, holds in self.rules)
        scores = (self.scores,) if isinstance(self.scores, str) else tuple(map(str, self.scores))
        place = {name: i for i, name in enumerate(self.roster.people)}
        values = {"labels": labels, "class_names": names, "rules": rules, "scores": scores, "_place": place}
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def _numbered(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        labels = np.asarray(self.labels)
        n = len(self.roster.people)
        if labels.shape != (n,) or labels.dtype.kind not in "iu" or (n and labels.min() < 0):
            raise RosterError(
                f"labels has the shape {labels.shape}: expected a class from 0 for each of {n} people."
            )
        k = int(labels.max()) + 1
        given = names_from((), k) if self.class_names is None else self.class_names
        return tuple(labels.tolist()), check_class_names(given, k)

    def _named(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        absent = [name for name in self.roster.people if name not in self.labels]
        if absent or len(self.labels) != len(self.roster.people):
            who = f"{absent[0]!r} has none" if absent else "somebody has one who is not on the list"
            raise RosterError(f"labels has {len(self.labels)} people, and {who}: expected all people once.")
        of_people = [str(self.labels[name]) for name in self.roster.people]
        found = tuple(dict.fromkeys(of_people))
        names = check_class_names(found if self.class_names is None else self.class_names, None)
        unknown = [name for name in found if name not in names]
        if unknown:
            raise RosterError(f"labels has the class {unknown[0]!r}: expected one of {', '.join(names)}.")
        return tuple(names.index(name) for name in of_people), names

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    def members(self, number: int) -> tuple[str, ...]:
        """Return the people of a class, in the order of the roster or by surname."""
        members = [name for name in self.roster.people if self.class_of(name) == number]
        return tuple(sorted(members, key=_surname) if self.by_surname else members)

    def mean(self, number: int, attribute: str) -> float | None:
        """Return the mean of a column of numbers in a class; None for few values or no numbers."""
        if not is_number_column(self.roster.attributes[attribute]):
            return None
        found = [number_of(self.value(name, attribute)) for name in self.members(number)]
        known = [value for value in found if value is not None]
        return sum(known) / len(known) if known else None

    def mean_text(self, number: int, attribute: str) -> str:
        """Return the mean of a column of numbers in a class as text, "" for none."""
        mean = self.mean(number, attribute)
        return "" if mean is None else f"{mean:.2f}".replace(".", self.words["decimal"])

    def class_of(self, name: str) -> int:
        """Return the class of a person."""
        return int(self.labels[self._place[name]])

    def value(self, name: str, attribute: str) -> str:
        """Return the value of an attribute of a person, "" for a blank cell."""
        return self.roster.attributes[attribute][self._place[name]] or ""

    def friends_here(self, name: str) -> tuple[str, ...]:
        """Return the friends a person wished for who are in the same class."""
        own = self.class_of(name)
        return tuple(other for other in self.roster.friends_of(name) if self.class_of(other) == own)

    def friends_elsewhere(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the friends a person wished for who are in another class, and which."""
        here = self.friends_here(name)
        others = [other for other in self.roster.friends_of(name) if other not in here]
        return tuple((other, self.class_names[self.class_of(other)]) for other in others)

    def is_friendless(self, name: str) -> bool:
        """Return whether a person wished for friends and has none of them in class."""
        return bool(self.roster.friends_of(name)) and not self.friends_here(name)

    def counts(self, number: int, attribute: str) -> Counter[str]:
        """Return the number of people of a class with each value of an attribute; blank cells count under ""."""
        return Counter(self.value(name, attribute) for name in self.members(number))

    def facts(self) -> list[str]:
        """Return sentences computed from the lists, followed by the given scores."""
        wishes = self.roster.friends
        facts = [self.say("mutual_only")] if self.roster.wishes == "mutual" else []
        if wishes:
            here = [len(self.friends_here(name)) for name in self.roster.wished]
            served = {"served": sum(map(bool, here)), "n_wishing": len(here)}
            facts.append(self.say("wishes_kept", kept=sum(here), n=len(wishes), **served))
        if self.rules:
            holding = sum(holds for _, holds in self.rules)
            facts.append(self.say("rules_hold", holding=holding, n=len(self.rules)))
        return [*facts, *self.scores]

    def say(self, kind: str, **values: Any) -> str:
        """Return a sentence in the language of the lists."""
        return say(self.language, kind, **values)

    @property
    def words(self) -> Mapping[str, str]:
        """Headings in the language of the lists."""
        return words(self.language)

    def size_line(self) -> str:
        """Return a line with the number of people and classes, and the date."""
        n = len(self.roster.people)
        return self.say("people_in_classes", n=n, n_classes=self.n_classes, date=self.date)

    def notes(self) -> list[str]:
        """Return the notes on reading the sheet, in the language of the lists."""
        return [note.texts()[self.language] for note in self.roster.notes]

    def chosen(self, attributes: Sequence[str] | None) -> list[str]:
        """Return the attributes to show: all for None, else the named ones."""
        known = self.roster.attributes
        unknown = [name for name in attributes or () if name not in known]
        if unknown:
            raise RosterError(
                f"attributes={unknown[0]!r} is not in the roster: it has {', '.join(map(repr, known)) or 'none'}."
            )
        return list(known) if attributes is None else list(attributes)

    def to_xlsx(self, path: str | os.PathLike[str], *, attributes: Sequence[str] | None = None) -> None:
        """Write a workbook: an overview, and one sheet per class.

        Parameters
        ----------
        path : path-like
            The file; it is complete or not there.
        attributes : sequence of str, optional
            The attributes to show; all by default.
        """
        from equigraph.apps.classes.writers import write_workbook

        write_workbook(self, path, self.chosen(attributes))

    def to_html(
        self, path: str | os.PathLike[str], *, attributes: Sequence[str] | None = None, friends: bool = True
    ) -> None:
        """Write a page for a browser and a printer: an overview, and one sheet of paper per class.

        Parameters
        ----------
        path : path-like
            The file; it is complete or not there.
        attributes : sequence of str, optional
            The attributes to show; all by default, of which the first four are on paper.
        friends : bool, default=True
            Whether to show who has which friend; without, and with ``attributes=()``, the lists can hang on a door.
        """
        from equigraph.apps.classes.writers import write_page

        write_page(self, path, self.chosen(attributes), friends)

    def to_csv(
        self,
        path: str | os.PathLike[str],
        *,
        attributes: Sequence[str] | None = None,
        excel: bool | str = False,
    ) -> None:
        """Write one row per person: class, name, attributes, friends.

        Parameters
        ----------
        path : path-like
            The file; it is complete or not there.
        attributes : sequence of str, optional
            The attributes to show; all by default.
        excel : bool or str, default=False
            Write what Excel opens by a double click: with a byte order mark, and with semicolons, or the separator
            that is given (``","`` where Excel speaks English).
        """
        separator = {True: ";", False: ","}[excel] if isinstance(excel, bool) else excel
        if separator not in (",", ";", "\t"):
            raise ParameterError(f"excel={excel!r}: expected True, False, or a separator: ',', ';' or a tab.")
        encoding, line_end = ("utf-8-sig", "\r\n") if excel else ("utf-8", "\n")
        with atomic_path(path) as partial, partial.open("w", encoding=encoding, newline="") as stream:
            writer = csv.writer(stream, delimiter=separator, lineterminator=line_end)
            for row in self._rows(self.chosen(attributes)):
                writer.writerow([harmless(shown(cell)) for cell in row])

    def _rows(self, attributes: list[str]) -> list[list[str]]:
        """Return the header and one row per person, class by class."""
        words = self.words
        rows = [[words["class"], words["name"], *attributes, words["here"], words["elsewhere"]]]
        for number, class_name in enumerate(self.class_names):
            for name in self.members(number):
                values = [self.value(name, attribute) for attribute in attributes]
                friends = joined(self.friends_here(name)), joined(self.elsewhere(name))
                rows.append([class_name, name, *values, *friends])
        return rows

    def elsewhere(self, name: str) -> list[str]:
        """Return the friends of a person in other classes, as texts."""
        return [f"{other} ({where})" for other, where in self.friends_elsewhere(name)]

    def no_friend(self, name: str) -> str:
        """Return the reason why a person has no friend in class."""
        if self.is_friendless(name):
            return self.words["none"]
        return self.words["no_mutual_wish" if self.roster.wishes == "mutual" else "no_wish"]

    def save(self, folder: str | os.PathLike[str], *, excel: bool | str = False) -> list[Path]:
        """Write classes.xlsx, classes.html and classes.csv into a folder, and return their paths."""
        folder = Path(folder)
        paths = [folder / f"classes.{suffix}" for suffix in ("xlsx", "html", "csv")]
        self.to_xlsx(paths[0])
        self.to_html(paths[1])
        self.to_csv(paths[2], excel=excel)
        return paths

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(self.members(i))}" for i, name in enumerate(self.class_names[:12]))
        return f"ClassLists({sizes}{', ...' if self.n_classes > 12 else ''})"


def _surname(name: str) -> tuple[str, str]:
    last, comma, _ = name.partition(",")
    return folded(last if comma else name.split()[-1]), folded(name)


def names_from(known: Sequence[str], n_classes: int, word: str = "Class") -> list[str]:
    """Return the known names and new ones that continue their last letter or number.

    >>> names_from(["5b"], 3), names_from(["Team 2"], 3), names_from(["Owls"], 3)
    (['5b', '5a', '5c'], ['Team 2', 'Team 1', 'Team 3'], ['Owls', 'Class 1', 'Class 2'])
    """
    taken = {name.casefold() for name in known}
    further = [*_alike(known, n_classes), *(f"{word} {number}" for number in range(1, 2 * n_classes + 1))]
    free = [name for name in further if name.casefold() not in taken]
    return [*known, *free[: max(n_classes - len(known), 0)]]


def _alike(known: Sequence[str], n_classes: int) -> list[str]:
    """Return names with the common stem of all known ones; empty if the stems differ."""
    ends = [re.fullmatch(r"(.*?)(\d{1,3})|(.*[\d\Wºª])([A-Za-z])|()([A-Z])", name) for name in known]
    parts = [[part for part in end.groups() if part is not None] for end in ends if end]
    if not parts or len(parts) < len(known) or len({stem for stem, _ in parts}) > 1:
        return []
    stem, lasts = parts[0][0], [last for _, last in parts]
    if all(map(str.isdecimal, lasts)):
        numbers = [int(last) for last in lasts]
        first = 1 if max(numbers) <= n_classes else min(numbers)
        return [f"{stem}{number}" for number in range(first, first + n_classes)]
    letters = string.ascii_lowercase if lasts[0].islower() else string.ascii_uppercase
    return [stem + letter for letter in letters[:n_classes]]


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a sort key that places Team 10 after Team 9."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)]


def check_class_names(names: Any, n_classes: int | None) -> tuple[str, ...]:
    """Return the names of the classes, or raise RosterError if they are not usable."""
    if isinstance(names, str):
        raise RosterError(f"class_names={names!r} is one text: expected a list such as ['5a', '5b'].")
    names = tuple(str(name).strip() for name in names)
    if n_classes is not None and len(names) < n_classes:
        some = count(len(names), "class name")
        raise RosterError(f"There are {some} for {n_classes} classes: expected one each.")
    if not all(names) or max(map(len, names), default=0) > MAX_CLASS_NAME:
        most = f"longer than {MAX_CLASS_NAME} letters"
        raise RosterError(f"A class name is blank or {most}: expected such as '5a'.")
    twice = [name for name, times in Counter(map(str.casefold, names)).items() if times > 1]
    if twice:
        raise RosterError(f"Two classes are called {twice[0]!r}: expected a name of its own for each.")
    return names
