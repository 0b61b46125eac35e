"""The board that is open: its history, what jobs have found for it, and what was kept of it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from equigraph.apps.explore import persistence
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.scoring import reasons, rule_facts, rule_states, scores
from equigraph.apps.explore.steps import (
    GROUP,
    Step,
    act,
    place,
    with_labels,
    with_number,
    with_person,
    without_person,
)
from equigraph.exceptions import OutputError, ParameterError
from equigraph.rules import Friends, Rule, Sizes

_MOST_STEPS = 1000
# Revisions of all boards of a server: a page that waits for a newer one never takes that of an earlier board for it.
_REVISIONS = itertools.count()
_COMINGS = {"arrival": with_person, "leaver": without_person}
# Actions that take labels which a job has found, and the job.
_LABELS_OF = {"point": "curve", "alternative": "alternatives"}


class Session:
    """One open board; its first state may be `restored` from an earlier time, and it may be kept on this machine."""

    def __init__(self, people: BoardPeople, step: Step, *, restored: bool = False, keep: bool = True) -> None:
        self.restored, self.keep = restored, keep
        self.history = [(people, step)]
        self.at = 0
        self.first = 0  # number of the first step that is remembered
        self.revision = next(_REVISIONS)
        # By kind of job the question that it was last started for, and the last answer with its question.
        self.asked: dict[str, tuple[Any, ...]] = {}
        self._found: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self.changes: list[dict[str, Any]] = []  # what the last step changed besides what was asked for
        self.stored = True
        self._lock = threading.RLock()
        self._store(persistence.store_people, people)

    @property
    def people(self) -> BoardPeople:
        """The people who are shown."""
        return self.history[self.at][0]

    @property
    def step(self) -> Step:
        """The state that is shown."""
        return self.history[self.at][1]

    @property
    def has_labels(self) -> bool:
        """Whether everybody is somewhere."""
        return bool(self.step.labels.size)

    @property
    def question(self) -> tuple[Any, ...]:
        """What a curve and costs for the board as it is answer to."""
        return (self.people.mark, *self.step.question())

    def take(self, kind: str, question: tuple[Any, ...], found: Any) -> None:
        """Take what a job has found."""
        with self._lock:
            self._found[kind] = (question, found)
            self.revision = next(_REVISIONS)

    def found(self, kind: str) -> Any:
        """Return what a job has found for the people who are shown, None if nothing."""
        question, found = self._found.get(kind, ((None,), None))
        return found if question[0] == self.people.mark else None

    def is_current(self, kind: str) -> bool:
        """Return whether what a job has found answers to the rules of the board as they are."""
        return kind in self._found and self._found[kind][0] == self.question

    def act(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Do what the page asks for, and return the new state."""
        with self._lock:
            what = str(payload.get("do"))
            if what in ("undo", "redo", "goto"):
                self._go(what, payload.get("step"))
            elif not self.has_labels:
                raise BoardError("busy")
            elif what in _COMINGS:
                self._change_people(*_COMINGS[what](self.people, self.step, payload))
            elif what in _LABELS_OF:
                found = self.found(_LABELS_OF[what]) or []
                number = place(payload.get("number"), len(found), what)
                self._add(with_labels(self.step, found[number]["labels"], what))
            else:
                self._add(act(self.people, self.step, payload))
            return self.state()

    def _go(self, what: str, step: Any) -> None:
        number = {"undo": self.at - 1, "redo": self.at + 1}.get(what)
        if number is None and type(step) is int:
            number = step - self.first
        to = place(number, len(self.history), "step")
        if not self.history[to][1].labels.size:
            raise ParameterError("There is no such step to go to.")
        self.at = to
        self._changed()

    def _add(self, step: Step, people: BoardPeople | None = None) -> None:
        """Add a step after the one that is shown; what was undone is forgotten."""
        self.history[self.at + 1 :] = [(people or self.people, step)]
        self.at += 1
        if len(self.history) > _MOST_STEPS:
            del self.history[0]
            self.at, self.first = self.at - 1, self.first + 1
        self._changed()

    def _change_people(self, people: BoardPeople, step: Step) -> None:
        """Add a step in which somebody came or left."""
        adapted = (Sizes, Friends)
        ended = [rule for rule in self.step.rules if rule not in step.rules and not isinstance(rule, adapted)]
        changes = [self._change("rule", rule) for rule in ended]
        self._add(step, people)
        self.changes = changes
        self._store(persistence.store_people, people)

    def _changed(self) -> None:
        self.revision = next(_REVISIONS)
        self.changes = []
        if self.has_labels:
            self._store(persistence.store_step, self.people, self.step)

    def _store(self, write: Callable[..., None], *content: Any) -> None:
        if not self.keep:
            return
        try:
            write(*content)
            self.stored = True
        except (OSError, OutputError):
            self.stored = False  # the page says so; a full disk does not end the work

    def labels_found(self, basis: Step, found: Step, changes: Iterable[dict[str, Any]] = ()) -> None:
        """Take a step with labels that a job found; a board that has gone on since its basis is not touched.

        ``changes`` are what it changes besides what was asked for.
        """
        with self._lock:
            if self.step is not basis:
                raise BoardError("changed")
            if basis.labels.size:
                self._add(found)
            else:  # the first labels are where history begins
                self.history[self.at] = (self.people, found)
                self._changed()
            self.changes = list(changes)

    def number(self, n_clusters: Any, word: str = GROUP) -> tuple[Step, list[dict[str, Any]]]:
        """Return a step with another number of clusters, to be added with its labels, and what it changes besides."""
        if not self.has_labels:
            raise BoardError("busy")
        with self._lock:
            step, found = with_number(self.people, self.step, n_clusters, word)
        return step, [self._change(kind, what) for kind, what in found]

    def _change(self, kind: str, what: Rule | str | None) -> dict[str, Any]:
        """Return what a step changed besides what was asked for; people by name, because they may have left."""
        if not isinstance(what, Rule):
            return {"kind": kind, "name": what}
        facts = rule_facts(self.people, what, self.step.clusters)
        return {"kind": kind, "rule": {**facts, "names": [self.people.names[who] for who in facts["people"]]}}

    def given_up(self, rules: Iterable[Rule]) -> list[dict[str, Any]]:
        """Return the changes of a step that does not keep some of its rules, because they contradict others."""
        return [self._change("conflict", rule) for rule in rules]

    def board(self) -> dict[str, Any]:
        """Return everything the page needs to show the board."""
        people, wishes = self.people, self.people.wishes
        return {
            "title": people.title,
            "mark": people.mark,
            "people": list(people.names),
            "attributes": {name: list(column) for name, column in people.attributes.items()},
            "columns": {
                name: sorted(set(column) - {None}) for name, column in people.roster.attributes.items()
            },
            "wishes": [friends.tolist() for friends in np.split(wishes.indices, wishes.indptr[1:-1])],
            "directed": people.directed,
            "notes": [note.texts() for note in people.notes],
            "restored": self.restored,
            "state": self.state(),
        }

    def state(self) -> dict[str, Any]:
        """Return what changes while a board is edited."""
        people, step = self.people, self.step
        return {
            "revision": self.revision,
            "mark": people.mark,
            "step": self.first + self.at,
            "can_undo": self.at > 0 and bool(self.history[self.at - 1][1].labels.size),
            "can_redo": self.at + 1 < len(self.history),
            "what": step.what,
            "labels": step.labels.tolist(),
            "clusters": list(step.clusters),
            "locked": sorted(step.locked),
            "even": list(step.attributes),
            "rules": rule_states(people, step),
            "scores": scores(people, step) if self.has_labels else None,
            "curve": self._curve(),
            "alternatives": [
                {
                    "even": one["even"],
                    "kept": one["kept"],
                    "labels": one["labels"].tolist(),
                    "moved": int((one["labels"] != step.labels).sum()),
                }
                for one in self.found("alternatives") or []
            ],
            "costs": self.found("price") if self.is_current("price") else None,
            "stored": self.stored,
            "changes": self.changes,
        }

    def _curve(self) -> dict[str, Any]:
        points = self.found("curve") or []
        same = [np.array_equal(point["labels"], self.step.labels) for point in points]
        return {
            "points": [{"even": point["even"], "kept": point["kept"]} for point in points],
            "here": same.index(True) if True in same else None,
            "current": self.is_current("curve"),
        }

    def why(self, who: Any) -> dict[str, Any]:
        """Return why a person is where she is."""
        if not self.has_labels:
            raise BoardError("busy")
        return reasons(self.people, self.step, place(who, self.people.n_people, "person"))
