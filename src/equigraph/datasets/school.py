"""A sheet of pupils who change to a new school, as that school has it before it makes its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equigraph._utils.parameters import Integer, Seed, check_parameters
from equigraph._utils.randomness import RandomState
from equigraph.datasets.blocks import random_generator
from equigraph.exceptions import ParameterError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_GIRLS = (
    "Änne Amélie Anouk Aylin Büşra Chloé Dilara Elif Emma Fatou Frieda Hélène Ida Ines Jördis Júlia Käthe "
    "Lara Leni Lotta Małgosia María Mia Naïma Noor Özlem Paula Renée Rosalía Sanne Söphie Thea Tomke Ülkü "
    "Wiebke Yara Zoë"
)
_BOYS = (
    "André Anton Björn Bram Cem Clément Côme Emil Enzo Félix Finn Gérard Götz Henri Jakub Jörg José "
    "Jürgen Karim Kåre Léo Liam Luca Mats Matteo Nicolò Noël Óscar Øyvind Paul Raúl Ruben Sören Théo Til "
    "Tomás Uğur Ünal Willem Yusuf"
)
_FAMILIES = (
    "Abel Altun Bäcker Baumgärtner Böhm Brückner Ćosić Conti De_Vries Döring Etxeberria Fährmann Ferreira "
    "García Grözinger Günther Haßler Hernández Höfer Jäger Jansen Kästner Koç Köhler Krüger Lefèvre Löwe "
    "Maaß Märtens Meißner Möller Müller Müller-Groß Nuñez Östermann Özdemir Petit Pößneck Ríos Rößler "
    "Schäfer Schönfeld Świątek Süß Thibaud-Roux Übelacker van_den_Berg Voß Wägner Weiß Şahin Zöllner"
)
_SCHOOLS = ("Am Bäckerfeld", "Sankt Gallus", "Süd")
_HEADERS = {
    "de": "Nr.|Nachname|Vorname|Geschlecht|Grundschule|Förderbedarf|Freund/in 1|Freund/in 2|Freund/in 3|Nicht mit|"
    "Zusammen mit|Feste Klasse",
    "en": "No.|Last name|First name|Gender|Primary school|Special needs|Friend 1|Friend 2|Friend 3|Not with|"
    "Together with|Fixed class",
}
_VALUES = {"de": ("w", "m", "ja", "5a"), "en": ("f", "m", "yes", "5a")}

_DESCR = """{n} pupils of three primary schools who come to a new one, made up by equigraph (seed and size decide
everything): name, gender, school, special needs, up to three friends, whom not to be with, whom to be with, and a class
that is fixed. Some cells are blank, as they are in such lists. Friends are mostly of the same school and gender.
"""


def make_school_roster(
    n_pupils: int = 78, *, language: str = "en", western: bool = False, random_state: RandomState = 0
) -> Bunch:
    """Make up a sheet of pupils, to try `read_roster` on.

    Parameters
    ----------
    n_pupils : int, default=78
        Number of pupils, from 12 to 1000.
    language : {"en", "de"}, default="en"
        Language of the headers.
    western : bool, default=False
        Whether all names can be written in Windows-1252, the encoding of older spreadsheet programs.
    random_state : int, numpy Generator or RandomState, default=0
        Seed. The same seed gives the same sheet.

    Returns
    -------
    sklearn.utils.Bunch
        ``rows`` (a list of lists of text, the header first), ``name`` and ``DESCR``.

    Raises
    ------
    ParameterError
        If there are too few or too many pupils, or the language is unknown.

    Examples
    --------
    >>> sheet = make_school_roster()
    >>> len(sheet.rows), sheet.rows[0][1:4]
    (79, ['Last name', 'First name', 'Gender'])
    """
    constraints = {"n_pupils": Integer(low=12), "random_state": Seed()}
    check_parameters("make_school_roster", constraints, {"n_pupils": n_pupils, "random_state": random_state})
    if language not in _HEADERS:
        raise ParameterError(f"make_school_roster: language={language!r} is unknown: expected 'en' or 'de'.")
    if n_pupils > 1000:
        raise ParameterError(
            f"make_school_roster: n_pupils={n_pupils} is more than the 1000 that have names."
        )
    from sklearn.utils import Bunch

    rng = random_generator(random_state)
    n = int(n_pupils)
    girl = rng.permutation(n) < n // 2
    names = _pupils(girl, western, rng)
    school = rng.choice(len(_SCHOOLS), size=n, p=(0.5, 0.3, 0.2))
    wishes = _wishes(girl, school, rng)
    special, rules = _special(n, wishes, rng)
    female, male, yes, fixed = _VALUES[language]
    rows = [_HEADERS[language].split("|")]
    for i in range(n):
        first, last = names[i]
        friends = [" ".join(names[j]) for j in wishes[i]] + [""] * (3 - len(wishes[i]))
        apart, together = (
            " ".join(names[rules[kind][i]]) if i in rules[kind] else "" for kind in ("apart", "together")
        )
        where = _SCHOOLS[school[i]] if rng.random() > 0.03 else ""
        needs, place = yes if special[i] else "", fixed if i == rules["fixed"] else ""
        gender = female if girl[i] else male
        rows.append([str(i + 1), last, first, gender, where, needs, *friends, apart, together, place])
    return Bunch(rows=rows, name="school", DESCR=_DESCR.format(n=n))


def _pupils(girl: np.ndarray, western: bool, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return first and last names, each pair once, sorted by the last name as lists are."""

    def pool(text: str) -> list[str]:
        words = [word.replace("_", " ") for word in text.split()]
        return [word for word in words if not western or _is_western(word)]

    families, used = pool(_FAMILIES), set()
    last = sorted(families[k] for k in rng.integers(len(families), size=girl.size))
    pupils = []
    for is_girl, family in zip(girl, last, strict=True):
        first_names = pool(_GIRLS if is_girl else _BOYS)
        free = [name for name in first_names if (name, family) not in used]
        pupil = (free[rng.integers(len(free))], family)
        used.add(pupil)
        pupils.append(pupil)
    return pupils


def _is_western(word: str) -> bool:
    try:
        word.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


def _wishes(girl: np.ndarray, school: np.ndarray, rng: np.random.Generator) -> list[list[int]]:
    """Return whom each pupil wishes to be with: circles of the same school and mostly the same gender."""
    n = girl.size
    taste = rng.exponential(size=(n, n))
    taste = (taste + taste.T) * np.where(school[:, None] == school, 1.0, 4.0)
    taste *= np.where(girl[:, None] == girl, 1.0, 2.5)
    np.fill_diagonal(taste, np.inf)
    counts = rng.choice(4, size=n, p=(0.06, 0.12, 0.27, 0.55))
    return [np.argsort(taste[i])[: counts[i]].tolist() for i in range(n)]


def _special(n: int, wishes: list[list[int]], rng: np.random.Generator) -> tuple[np.ndarray, dict]:
    """Return who has special needs, and the few rules: two pairs apart, one together, one class that is fixed."""
    special = rng.permutation(n) < max(1, n // 12)
    order = [i for i in rng.permutation(n).tolist() if wishes[i]]
    first, second, third, fourth = order[:4]
    apart = {
        i: next(j for j in order[4:] if j not in wishes[i] and i not in wishes[j]) for i in (first, second)
    }
    return special, {"apart": apart, "together": {third: wishes[third][0]}, "fixed": fourth}
