"""Rules in the words of a school: people and classes."""

from __future__ import annotations

from collections.abc import Sequence

from equigraph._utils.text import count
from equigraph.apps.classes.messages import say
from equigraph.exceptions import ConflictError
from equigraph.rules import Rule, Words


def rule_sentence(rule: Rule, class_names: Sequence[str], language: str = "en") -> str:
    """Say a rule in a sentence about people and classes.

    >>> from equigraph.rules import Apart, Fixed, Sizes
    >>> rule_sentence(Apart(("Cem", "Dora")), ["5a", "5b"])
    'Cem and Dora are in different classes.'
    >>> rule_sentence(Sizes(((25, 27),)), ["5a", "5b"])
    'Every class has 25 to 27 people.'
    >>> rule_sentence(Fixed("Finn", 1), ["5a", "5b"])
    'Finn is in 5b.'
    >>> rule_sentence(Sizes(((25, 27),)), ["5a", "5b"], "de")
    'Jede Klasse hat 25 bis 27 Personen.'
    """
    if language == "en":
        return rule.sentence(school_words(class_names))
    return say(language, f"rule_{rule.keyword}", rule=rule, classes=class_names)


def school_words(class_names: Sequence[str]) -> Words:
    """Return the words of a school: people and classes."""
    return Words("person", "people", "class", "classes", tuple(class_names))


def in_school_words(error: ConflictError, class_names: Sequence[str]) -> ConflictError:
    """Return an error about rules that contradict each other in the words of a school."""
    sentences = " ".join(rule_sentence(rule, class_names) for rule in error.rules)
    return ConflictError(
        f"These rules cannot all be kept in {count(len(class_names), 'class', 'classes')}: {sentences}",
        error.rules,
    )
