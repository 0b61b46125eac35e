"""Who may be meant by a name that is not on the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from equigraph.roster.vocabulary import folded, without_accents

_SURE = 6  # letters of which one may be wrong, so that the name is still sure; half as many and it is near


def nearest(text: str, names: Sequence[str]) -> list[int]:
    """Return the places of the names that come nearest, all equally near, or none.

    Nearest first: the same letters but for accents; the same words in another order; a part of the name, such
    as the first name, with initials for the rest; few letters different.

    Parameters
    ----------
    text : str
        What was written.
    names : sequence of str
        The list.

    Returns
    -------
    list of int
        Places of the names; more than one if they are equally near.

    Examples
    --------
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

    Examples
    --------
    >>> is_sure("Tim", "Tom"), is_sure("Tom", "Tom Voß"), is_sure("Lena Voght", "Lena Vogt")
    (False, True, True)
    """
    if any(alike(text)(name) for alike in (_same_letters, _same_words, _part)):
        return True
    return bool(_few_letters(text, [name], len(text) // _SURE))


def _spellings(text: str) -> set[str]:
    """Return a name as it may be written without accents: Mueller and Muller are both Müller."""
    return {" ".join(_words(folded(text))), " ".join(_words(without_accents(text.casefold())))}


def _words(text: str) -> list[str]:
    return text.replace(",", " ").replace(".", " ").replace("-", " ").split()


def _same_letters(text: str) -> Callable[[str], bool]:
    given = _spellings(text)
    return lambda name: not given.isdisjoint(_spellings(name))


def _same_words(text: str) -> Callable[[str], bool]:
    given = {tuple(sorted(spelling.split())) for spelling in _spellings(text)}
    return lambda name: any(tuple(sorted(spelling.split())) in given for spelling in _spellings(name))


def _part(text: str) -> Callable[[str], bool]:
    given = [spelling.split() for spelling in _spellings(text)]
    return lambda name: any(
        _is_part(words, spelling.split()) for words in given for spelling in _spellings(name)
    )


def _is_part(given: list[str], words: list[str]) -> bool:
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
    written = folded(text)
    n_words = len(_words(written))

    def steps(name: str) -> int:
        whole = folded(name)
        return min(distance(written, other, most) for other in {whole, " ".join(whole.split()[:n_words])})

    counts = [steps(name) for name in names]
    fewest = min(counts, default=most + 1)
    return [place for place, count in enumerate(counts) if count == fewest <= most]


def distance(one: str, two: str, most: int) -> int:
    """Return how many letters are to be changed, added, left out or swapped; more than `most` is ``most + 1``.

    Examples
    --------
    >>> distance("jonas", "jnoas", 2), distance("lena", "lenna", 2), distance("lena", "otto", 2)
    (1, 1, 3)
    """
    if abs(len(one) - len(two)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, letter in enumerate(one, start=1):
        before, last, row = row, before, [i]
        for j, other in enumerate(two, start=1):
            steps = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == two[j - 2] and one[i - 2] == other:
                steps = min(steps, last[j - 2] + 1)
            row.append(steps)
        # Swapped letters reach back to the row before.
        if min(row) > most and min(before) >= most:
            return most + 1
    return min(row[-1], most + 1)
