"""Vocabulary of school lists: roles of headers, and words in cells; the table is ``headers.toml``.

Names and attributes are recognised by whole headers. Columns that name other people are recognised by stems, since
their headers are often sentences.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from enum import StrEnum
from functools import lru_cache
from importlib import resources


class Role(StrEnum):
    """What a column is."""

    NAME = "name"
    FIRST = "first_name"
    MIDDLE = "middle_name"
    LAST = "last_name"
    FRIENDS = "friends"
    APART = "not_with"
    TOGETHER = "together_with"
    FIXED = "fixed_class"
    ATTRIBUTE = "attribute"
    UNUSED = "unused"

    def __repr__(self) -> str:
        return repr(self.value)


LISTS = (Role.FRIENDS, Role.APART, Role.TOGETHER)
NAMES = (Role.NAME, Role.FIRST, Role.MIDDLE, Role.LAST)

_WRITTEN_OUT = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "æ": "ae", "œ": "oe", "å": "aa", "ł": "l", "\u0131": "i"}
)
_INSIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_ORDINAL = re.compile(r"(?:\d+(?:st|nd|rd|th|er|ere|re|eme|e|o|a|ste|de)?|i{1,3}|iv|v)\Z")
_NUMBER = re.compile(r"\b(?:no|nr|num|n)\b[.:]?\s*(?=\d)")
_CONTRACTION = re.compile(r"n['\u2019]t\b")
_COMPOUND = 5  # least letters of a stem that also matches inside a word, as in Lieblingsfreund

_LANGUAGES = tomllib.loads(resources.files(__package__).joinpath("headers.toml").read_text("utf-8"))


def _entries(key: str, separator: str | None = None) -> tuple[str, ...]:
    """Return the entries of all languages under a key."""
    texts = [words.get(key, "").split(separator) for words in _LANGUAGES.values()]
    return tuple(" ".join(text.split()) for listed in texts for text in listed if text.strip())


_TIMES, _RANKS = (frozenset(_entries(key, ";")) for key in ("time", "rank"))
_KNOWN = {
    words: role for role in (*NAMES, Role.FIXED, Role.ATTRIBUTE, Role.UNUSED) for words in _entries(role, ";")
}
_KNOWN |= dict.fromkeys(_TIMES, Role.UNUSED)
_KINDS = ("wish", "family", "together", "apart", "not", "with", "must", "place", "thing", "past", "plain")
_STEMS = [(kind, stem) for kind in _KINDS for stem in _entries(kind)]
_CHILD, _FILLERS = frozenset(_entries("child")), frozenset(_entries("filler"))
_TOTALS, _NOT = frozenset(_entries("total", ";")), frozenset(_entries("not"))
_UNKNOWN = frozenset(_entries("unknown", ";"))
_NOBODY = _UNKNOWN | frozenset(_entries("nobody", ";"))
AND = _entries("and")


def folded(text: str) -> str:
    """Return a text without capitals and accents, German letters written out."""
    return without_accents(unicodedata.normalize("NFC", text).casefold().translate(_WRITTEN_OUT))


def without_accents(text: str) -> str:
    """Return a text whose accented letters have lost their accents."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part))


def phrase(header: str) -> str:
    """Return the words of a header, without numbers and signs.

    >>> phrase("Freund/in 1"), phrase("2. Wunsch"), phrase("Élève")
    ('freund in', 'wunsch', 'eleve')
    """
    words = re.findall(r"[^\W_]+", folded(header))
    return " ".join([word for word in words if not _ORDINAL.match(word)] or words)


def is_time(header: str) -> bool:
    """Return whether a header means the time of an answer to a web form.

    >>> is_time("Timestamp"), is_time("Time")
    (True, False)
    """
    return phrase(header) in _TIMES


def is_rank(header: str) -> bool:
    """Return whether a header means the rank of a wish.

    >>> is_rank("Priorität (1-3)"), is_rank("Points")
    (True, False)
    """
    return phrase(_INSIDE.sub(" ", header)) in _RANKS


def is_unknown(text: str) -> bool:
    """Return whether a cell says that there is no value: a dash, or words such as n/a.

    >>> is_unknown("-"), is_unknown("n/a"), is_unknown("none"), is_unknown("")
    (True, True, False, False)
    """
    return bool(text) and (not any(map(str.isalnum, text)) or _words(text) in _UNKNOWN)


def is_nobody(text: str) -> bool:
    """Return whether a cell says that nobody is named.

    >>> is_nobody("\u2013"), is_nobody("none"), is_nobody("Niemand."), is_nobody("Nora")
    (True, True, True, False)
    """
    return is_unknown(text) or _words(text) in _NOBODY


def is_total(text: str) -> bool:
    """Return whether a text is the label of a row of sums, not a person.

    >>> is_total("Total: 96"), is_total("Summe"), is_total("Tom Sum")
    (True, True, False)
    """
    return phrase(text) in _TOTALS


def names_one(text: str) -> bool:
    """Return whether a text may be the name of one class, not a choice or an exclusion.

    >>> (
    ...     names_one("5a"),
    ...     names_one("Team A"),
    ...     names_one("5a or 5b"),
    ...     names_one("nicht 5a"),
    ...     names_one("5a, 5b"),
    ... )
    (True, True, False, False, False)
    """
    first, *others = _words(text).split() or [""]
    listed = any(sign in text for sign in ",;\n") or any(
        len(word) > 1 and word in AND for word in others[:-1]
    )
    return not listed and not (others and len(first) > 1 and f"{first}." in _NOT)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", folded(text)))


@lru_cache(maxsize=4096)
def role_of(header: str) -> str | None:
    """Return the role of a header, or None if it is not certain.

    >>> role_of("Freund 2"), role_of("Nicht mit"), role_of("Prénom"), role_of("Schuhgröße")
    ('friends', 'not_with', 'first_name', None)
    >>> role_of("Must be apart from"), role_of("Do not separate from"), role_of("Your child's best friends")
    ('not_with', None, 'friends')
    """
    outside = _INSIDE.sub(" ", header)
    if phrase(header) in _KNOWN:
        return _KNOWN[phrase(header)]
    listed = {_list_role(header), _list_role(outside)}
    known = _KNOWN.get(phrase(outside))
    if known is not None:  # a remark in parentheses may have another meaning
        return known if {*listed, _list_role(" ".join(_INSIDE.findall(header)))} == {None} else None
    if listed != {None}:
        return listed.pop() if len(listed) == 1 else None
    words = phrase(outside).split()
    asked = [word for word in words if word not in _FILLERS]
    name = _KNOWN.get(" ".join(word for word in asked if word not in _CHILD))
    if name in NAMES:
        # "First name of your child" is a first name; "Nombre de su hijo" is the whole one.
        return Role.NAME if name == Role.FIRST and len(words) > 1 and "name" not in " ".join(words) else name
    return _KNOWN.get(" ".join(asked))


def _list_role(header: str) -> str | None:
    """Return friends, not_with or together_with if the words of a header leave no doubt.

    An unknown word may reverse the meaning, as in "bad friends". So friends and together_with need a header whose words
    are all known.
    """
    text = _NUMBER.sub(" ", _CONTRACTION.sub(" not", folded(header)))
    found: dict[str, int] = {}  # by kind of stem, its first position
    all_known = True
    for place, word in enumerate(re.findall(r"[^\W\d_]+", text)):
        stems = [(kind, stem) for kind, stem in _STEMS if _has_stem(word, stem)]
        # A prefix may reverse the meaning: unerwünscht is not a wish.
        all_known &= len(word) == 1 or any(word.startswith(stem.rstrip(".")) for _, stem in stems)
        for kind, _ in stems:
            found.setdefault(kind, place)
    if found.keys() & {"past", "thing"}:
        return None
    if "apart" in found:
        # Ambiguous, such as "Do not separate" or "Separate the twins".
        return Role.APART if not found.keys() & {"not", "wish", "together", "family"} else None
    if "not" in found:
        with_others = min(found.get("with", 99), found.get("together", 99))
        certain = found["not"] < with_others < 99 and not found.keys() & {"wish", "family"}
        return Role.APART if certain else None
    if not all_known:
        return None
    if "wish" in found:
        return Role.FRIENDS if not found.keys() & {"must", "family"} else None
    if found.keys() & {"together", "family"} or ("with" in found and found.keys() & {"must", "place"}):
        return Role.TOGETHER
    return None


def _has_stem(word: str, stem: str) -> bool:
    if stem.endswith("."):
        return word == stem[:-1]
    return word.startswith(stem) or (len(stem) >= _COMPOUND and stem in word)
