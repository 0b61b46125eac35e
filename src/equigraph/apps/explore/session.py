"""The board that is open: its history, its curve, and what was kept of it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.explore import persistence
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.scoring import reasons, rule_facts, rule_states, scores
from equigraph.apps.explore.steps import (
    GROUP,
    Step,
    act,
    is_place,
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


class Session:
    """One open board; its first state may be `restored` from an earlier time, and it may be kept on this machine."""

    def __init__(self, people: BoardPeople, step: Step, *, restored: bool = False, keep: bool = True) -> None:
        self.restored, self.keep = restored, keep
        self.history = [(people, step)]
        self.at = 0
        self.first = 0  # number of the first step that is remembered
        self.revision = next(_REVISIONS)
        self.points: list[dict[str, Any]] = []
        self.question: tuple[Any, ...] | None = None
        self.others: list[dict[str, Any]] = []
        self.drawn: dict[str, Any] | None = None
        self.costs: dict[str, Any] | None = None
        self._costs_asked: tuple[Any, ...] | None = None
        self.changes: list[dict[str, Any]] = []  # what the last step changed besides what was asked for
        self.asked: tuple[Any, ...] | None = None  # what the curve that is being found will answer
        self.stored = True
        self._lock = threading.RLock()
        self._store_people()

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

    def act(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Do what the page asks for, and return the new state."""
        with self._lock:
            what = payload.get("do")
            if what in ("undo", "redo", "goto"):
                self._go(payload)
            elif not self.has_labels:
                raise BoardError("busy")
            elif str(what) in _COMINGS:
                self._change_people(_COMINGS[str(what)](self.people, self.step, payload))
            elif what == "point":
                self._take(self.points, payload, "point")
            elif what == "alternative":
                self._take(self.others, payload, "alternative")
            else:
                self._add(act(self.people, self.step, payload))
            return self.state()

    def _go(self, payload: Mapping[str, Any]) -> None:
        to = {"undo": self.at - 1, "redo": self.at + 1}.get(str(payload["do"]))
        if to is None:
            number = payload.get("step")
            to = number - self.first if isinstance(number, int) and not isinstance(number, bool) else -1
        if not 0 <= to < len(self.history) or not self.history[to][1].labels.size:
            raise ParameterError("There is no such step to go to.")
        before, self.at = self.history[self.at], to
        self._changed(before)

    def _take(self, found: list[dict[str, Any]], payload: Mapping[str, Any], what: str) -> None:
        number = payload.get("number")
        if not is_place(number, len(found)):
            raise ParameterError(f"There is no such {what}.")
        self._add(with_labels(self.step, found[number]["labels"], what))

    def _add(self, step: Step, people: BoardPeople | None = None) -> None:
        """Add a step after the one that is shown; what was undone is forgotten."""
        before = self.history[self.at]
        self.history[self.at + 1 :] = [(people or before[0], step)]
        self.at += 1
        if len(self.history) > _MOST_STEPS:
            del self.history[0]
            self.at, self.first = self.at - 1, self.first + 1
        self._changed(before)

    def _change_people(self, board: tuple[BoardPeople, Step]) -> None:
        """Add a step in which somebody came or left."""
        old, (people, step) = self.step.rules, board
        adapted = (Sizes, Friends)
        ended = [rule for rule in old if rule not in step.rules and not isinstance(rule, adapted)]
        changes = [self._change("rule", rule) for rule in ended]
        self._add(step, people)
        self.changes = changes
        self._store_people()

    def _changed(self, before: tuple[BoardPeople, Step]) -> None:
        self.revision = next(_REVISIONS)
        self.changes = []
        people, step = before
        if self._cost_question(people, step) != self._cost_question(*self.history[self.at]):
            self.costs = None
        if people is not self.people:  # all of this was about other people
            self.points, self.others, self.drawn, self.question = [], [], None, None
        if self.keep and self.has_labels:
            try:
                persistence.store_step(self.people, self.step)
                self.stored = True
            except (OSError, OutputError):
                self.stored = False  # the page says so; a full disk does not end the work

    def _store_people(self) -> None:
        if not self.keep:
            return
        try:
            persistence.store_people(self.people)
        except (OSError, OutputError):
            self.stored = False

    def labels_found(
        self,
        labels: NDArray[np.intp],
        what: str,
        basis: Step,
        then: Step | None = None,
        changes: list[dict[str, Any]] | None = None,
    ) -> None:
        """Take labels that a job found for a step; a board that has gone on since then is not touched.

        ``then`` is the step that they belong to, where it is another one, and ``changes`` what it changes besides.
        """
        with self._lock:
            if self.step is not basis:
                raise BoardError("changed")
            found = with_labels(basis if then is None else then, labels, what)
            if basis.labels.size:
                self._add(found)
            else:  # the first labels are where history begins
                before, self.history[self.at] = self.history[self.at], (self.people, found)
                self._changed(before)
            self.changes = changes or []

    def curve_found(self, points: list[dict[str, Any]], basis: Step) -> None:
        """Take a curve."""
        with self._lock:
            if len(basis.labels) == self.people.n_people:
                self.points, self.question = points, (self.people.mark, *basis.question())
                self.revision = next(_REVISIONS)

    def others_found(self, found: list[dict[str, Any]]) -> None:
        """Take alternatives."""
        with self._lock:
            self.others = [one for one in found if one["labels"].size == self.people.n_people]
            self.revision = next(_REVISIONS)

    def costs_found(self, found: dict[str, Any], basis: Step) -> None:
        """Take what the rules of a step cost; other rules have other costs."""
        with self._lock:
            if self._cost_question(self.people, basis) == self._cost_question(self.people, self.step):
                self.costs = found
                self.revision = next(_REVISIONS)

    def number(self, n_clusters: Any, word: str = GROUP) -> tuple[Step, list[dict[str, Any]]]:
        """Return a step with another number of clusters, to be added with its labels, and what it changes besides."""
        if not isinstance(n_clusters, int) or isinstance(n_clusters, bool):
            raise ParameterError("The number of groups is a whole number.")
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

    def costs_wanted(self) -> bool:
        """Return whether costs are neither known nor being found; note that they will be."""
        question = self._cost_question(self.people, self.step)
        wanted = self.costs is None and self._costs_asked != question
        self._costs_asked = question
        return wanted

    @staticmethod
    def _cost_question(people: BoardPeople, step: Step) -> tuple[Any, ...]:
        """Return what costs are an answer to."""
        return people.mark, step.rules, step.attributes, step.n_clusters

    def curve_is_current(self) -> bool:
        """Return whether the curve answers to the rules of the board as they are."""
        return self.question == self.curve_question()

    def curve_question(self) -> tuple[Any, ...]:
        """Return what a curve for the board as it is answers to."""
        return (self.people.mark, *self.step.question())

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
            "wishes": [
                wishes.indices[start:end].tolist()
                for start, end in zip(wishes.indptr[:-1], wishes.indptr[1:], strict=True)
            ],
            "directed": people.directed,
            "notes": [note.texts() for note in people.notes],
            "restored": self.restored,
            "state": self.state(),
        }

    def state(self) -> dict[str, Any]:
        """Return what changes while a board is edited."""
        step = self.step
        return {
            "revision": self.revision,
            "mark": self.people.mark,
            "step": self.first + self.at,
            "can_undo": self.at > 0 and bool(self.history[self.at - 1][1].labels.size),
            "can_redo": self.at + 1 < len(self.history),
            "what": step.what,
            "labels": step.labels.tolist(),
            "clusters": list(step.clusters),
            "locked": sorted(step.locked),
            "even": list(step.attributes),
            "rules": rule_states(self.people, step),
            "scores": self._scores(),
            "curve": self._curve(),
            "alternatives": [self._summary(one) for one in self.others],
            "costs": self.costs,
            "stored": self.stored,
            "changes": self.changes,
        }

    def _scores(self) -> dict[str, Any] | None:
        if not self.has_labels:
            return None
        return scores(self.people, self.step.labels, self.step.attributes, self.step.n_clusters)

    def _curve(self) -> dict[str, Any]:
        labels = self.step.labels
        here = next(
            (i for i, point in enumerate(self.points) if np.array_equal(point["labels"], labels)), None
        )
        points = [{key: point[key] for key in ("even", "kept")} for point in self.points]
        return {"points": points, "here": here, "current": self.curve_is_current()}

    def _summary(self, found: Mapping[str, Any]) -> dict[str, Any]:
        labels = found["labels"]
        moved = int((labels != self.step.labels).sum()) if labels.shape == self.step.labels.shape else None
        return {"even": found["even"], "kept": found["kept"], "labels": labels.tolist(), "moved": moved}

    def why(self, who: Any) -> dict[str, Any]:
        """Return why a person is where she is."""
        if not is_place(who, self.people.n_people) or not self.has_labels:
            raise ParameterError("There is no such person on this board.")
        return reasons(self.people, self.step, who)
