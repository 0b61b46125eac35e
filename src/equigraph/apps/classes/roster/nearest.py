"""Who may be meant by a name that is not on the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.classes.roster.vocabulary import folded, without_accents

_SURE = 6  # letters of which one may be wrong, so that the name is still sure; half as many and it is near


def nearest(text: str, names: Sequence[str]) -> list[int]:
    """Return the places of the names that come nearest, all equally near, or none.

    Nearest first: the same letters but for accents; the same words in another order; a part of the name, such as the
    first name, with initials for the rest; few letters different.

    >>> names = ["Lena Müller", "Lena Vogt", "Jonas Groß"]
    >>> [
    ...     [names[i] for i in nearest(text, names)]
    ...     for text in ("Lena Mueller", "Groß, Jonas", "Jonas", "Lena Voght")
    ... ]
    [['Lena Müller'], ['Jonas Groß'], ['Jonas Groß'], ['Lena Vogt']]
    >>> [names[i] for i in nearest("Lena", names)], nearest("Xaver", names)
    (['Lena Müller', 'Lena Vogt'], [])
    """
    if not any(map(str.isalnum, text)):
        return []
    for alike in (_same_letters, _same_words, _part):
        test = alike(text)
        found = [place for place, name in enumerate(names) if test(name)]
        if found:
            return found
    return _few_letters(text, names, min((len(text) + 3) // _SURE, 2))


def is_sure(text: str, name: str) -> bool:
    """Return whether a near name may be taken for what was written: Tom is near Tim, and somebody else.

    >>> is_sure("Tim", "Tom"), is_sure("Tom", "Tom Voß"), is_sure("Lena Voght", "Lena Vogt")
    (False, True, True)
    """
    if any(alike(text)(name) for alike in (_same_letters, _same_words, _part)):
        return True
    return bool(_few_letters(text, [name], len(text) // _SURE))


# Every name is looked at for every name that is not on the list.
_folded = lru_cache(maxsize=1 << 15)(folded)


@lru_cache(maxsize=1 << 15)
def _spellings(text: str) -> frozenset[tuple[str, ...]]:
    """Return the words of a name as they may be written without accents: Mueller and Muller are both Müller."""
    return frozenset(tuple(_words(way)) for way in (_folded(text), without_accents(text.casefold())))


def _words(text: str) -> list[str]:
    return text.replace(",", " ").replace(".", " ").replace("-", " ").split()


def _same_letters(text: str) -> Callable[[str], bool]:
    given = _spellings(text)
    return lambda name: not given.isdisjoint(_spellings(name))


def _same_words(text: str) -> Callable[[str], bool]:
    given = {tuple(sorted(words)) for words in _spellings(text)}
    return lambda name: any(tuple(sorted(words)) in given for words in _spellings(name))


def _part(text: str) -> Callable[[str], bool]:
    given = _spellings(text)
    return lambda name: any(_is_part(part, words) for part in given for words in _spellings(name))


def _is_part(given: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Return whether the first given word is one of the words, and every further one begins a later one."""
    if not given or len(given[0]) < 2 or len(given) > len(words) or given[0] not in words:
        return False
    left = words[words.index(given[0]) + 1 :]
    for part in given[1:]:
        place = next((i for i, word in enumerate(left) if word.startswith(part)), None)
        if place is None:
            return False
        left = left[place + 1 :]
    return True


def _few_letters(text: str, names: Sequence[str], most: int) -> list[int]:
    """Return the names with the fewest letters to change; those with more words lend as many as were written."""
    written = _folded(text)
    n_words = len(_words(written))
    whole = [_folded(name) for name in names]
    parts = [" ".join(name.split()[:n_words]) for name in whole]
    steps = np.minimum(distances(written, whole, most), distances(written, parts, most))
    return np.flatnonzero(steps == min(steps.min(initial=most + 1), most)).tolist()


def distances(text: str, names: Sequence[str], most: int) -> NDArray[np.int64]:
    """Return how many letters of each name are to be changed, added, left out or swapped to make it the text.

    All names go through the table of steps at once, and only the cells near its diagonal are filled. What is further
    away is ``most + 1``.
    """
    lengths = np.array([len(name) for name in names], dtype=np.int64)
    near = np.flatnonzero(np.abs(lengths - len(text)) <= most)
    result = np.full(len(names), most + 1, dtype=np.int64)
    width = int(lengths[near].max(initial=1))
    letters = np.array([names[place] for place in near.tolist()], dtype=f"U{width}").view(np.uint32)
    letters = letters.reshape(near.size, width).T
    before = row = np.minimum(np.arange(width + 1), most + 1)[:, None].repeat(near.size, axis=1)
    for i, letter in enumerate(text, start=1):
        new = np.full_like(row, most + 1)
        new[0] = min(i, most + 1)
        for j in range(max(1, i - most), min(width, i + most) + 1):
            changed = row[j - 1] + (letters[j - 1] != ord(letter))
            new[j] = np.minimum(np.minimum(row[j], new[j - 1]) + 1, changed)
            if i > 1 and j > 1:
                swapped = (letters[j - 2] == ord(letter)) & (letters[j - 1] == ord(text[i - 2]))
                new[j] = np.where(swapped, np.minimum(new[j], before[j - 2] + 1), new[j])
        before, row = row, new
    result[near] = np.minimum(row[lengths[near], np.arange(near.size)], most + 1)
    return result
