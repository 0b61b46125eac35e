"""The open board: history, results of jobs, and storing."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from equigraph.apps.explore import persistence
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.scoring import reasons, rule_facts, rule_states, scores
from equigraph.apps.explore.steps import Step, act, place, with_labels, with_number
from equigraph.exceptions import OutputError
from equigraph.rules import Friends, Rule, Sizes

_MOST_STEPS = 1000
# Shared by all boards of a server, so that a page never mistakes a revision of another board for a newer one.
_REVISIONS = itertools.count()
# Actions that apply labels found by a job, and the job.
_LABELS_OF = {"point": "curve", "alternative": "alternatives"}


class Session:
    """An open board; its first state may be `restored`, and with `keep` it is stored on this machine."""

    def __init__(self, step: Step, *, restored: bool = False, keep: bool = True) -> None:
        self.restored, self.keep = restored, keep
        self.history = [step]
        self.at = 0
        self.first = 0  # number of the first step in the history
        self.revision = next(_REVISIONS)
        # By kind of job: the search key of the last request, and the last result with its key.
        self.requested: dict[str, tuple[Any, ...]] = {}
        self._found: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self.changes: list[dict[str, Any]] = []  # side effects of the last step
        self.stored = True
        self._stored_people: BoardPeople | None = None
        self._lock = threading.RLock()

    @property
    def step(self) -> Step:
        """The current state."""
        return self.history[self.at]

    @property
    def people(self) -> BoardPeople:
        """The people of the current state."""
        return self.step.people

    def labelled(self) -> Step:
        """Return the current state; raise BoardError if it has no labels yet."""
        if not self.step.has_labels:
            raise BoardError("busy")
        return self.step

    def found(self, kind: str) -> Any:
        """Return the last result of a job for these people and number of clusters, or None."""
        key, found = self._found.get(kind, ((), None))
        return found if key[:2] == self.step.search_key[:2] else None

    def is_current(self, kind: str) -> bool:
        """Return whether the last result of a job is for the current rules."""
        return kind in self._found and self._found[kind][0] == self.step.search_key

    def act(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Apply an action of the page, and return the new state."""
        with self._lock:
            before, what = self.labelled(), str(payload.get("do"))
            if what in ("undo", "redo", "goto"):
                number = {"undo": self.at - 1, "redo": self.at + 1}.get(what)
                if number is None and type(payload.get("step")) is int:
                    number = payload["step"] - self.first
                self.at = place(number, len(self.history), "step")
                self._changed()
            elif what in _LABELS_OF:
                found = self.found(_LABELS_OF[what]) or []
                number = place(payload.get("number"), len(found), what)
                self._add(with_labels(before, found[number]["labels"], what))
            else:
                self._add(*_with_changes(before, act(before, payload)))
            return self.state()

    def _add(self, step: Step, changes: Iterable[dict[str, Any]] = ()) -> None:
        """Add a step after the current one, dropping undone steps and a start without labels."""
        self.at += self.step.has_labels
        self.history[self.at :] = [step]
        if len(self.history) > _MOST_STEPS:
            del self.history[0]
            self.at, self.first = self.at - 1, self.first + 1
        self._changed(changes)

    def _changed(self, changes: Iterable[dict[str, Any]] = ()) -> None:
        self.revision, self.changes = next(_REVISIONS), list(changes)
        if not self.keep:
            return
        try:
            persistence.store(self.step, self.people is not self._stored_people)
            self._stored_people, self.stored = self.people, True
        except (OSError, OutputError):
            self.stored = False  # shown on the page; a full disk does not end the work

    def take(
        self, kind: str, basis: Step, step: Step, found: Any, changes: Iterable[dict[str, Any]] = ()
    ) -> None:
        """Take the result of a job for a step.

        Labels are rejected if the board has changed since its basis; `changes` are their side effects. Other results
        are shown as long as the people are the same.
        """
        with self._lock:
            if kind not in ("first", "repair"):
                self._found[kind] = (step.search_key, found)
                self.revision = next(_REVISIONS)
                return
            if self.step is not basis:
                raise BoardError("changed")
            if kind == "first":
                given_up = [_change(basis, "conflict", rule) for rule in found["given_up"]]
                what = "first" if step is basis else step.what
                step, changes = replace(step, rules=found["rules"]), [*changes, *given_up]
                self._add(with_labels(step, found["labels"], what), changes)
            else:
                self._add(with_labels(step, found, kind))

    def number(self, n_clusters: Any, language: str) -> tuple[Step, list[dict[str, Any]]]:
        """Return a step with another number of clusters, to be added with its labels, and its side effects."""
        before = self.labelled()
        step, found = with_number(before, n_clusters, language)
        return step, [_change(before, kind, what) for kind, what in found]

    def board(self) -> dict[str, Any]:
        """Return the whole board as JSON for the page."""
        people, wishes = self.people, self.people.wishes
        return {
            "title": people.title,
            "mark": people.mark,
            "people": list(people.names),
            "attributes": {name: list(column) for name, column in people.attributes.items()},
            "columns": {
                name: sorted(set(column) - {None}) for name, column in people.sheet.attributes.items()
            },
            "wishes": [friends.tolist() for friends in np.split(wishes.indices, wishes.indptr[1:-1])],
            "directed": people.directed,
            "notes": [note.texts() for note in people.sheet.notes],
            "restored": self.restored,
            "state": self.state(),
        }

    def state(self) -> dict[str, Any]:
        """Return the part of the board that changes while it is edited."""
        step = self.step
        return {
            "revision": self.revision,
            "mark": step.people.mark,
            "step": self.first + self.at,
            "can_undo": self.at > 0,
            "can_redo": self.at + 1 < len(self.history),
            "what": step.what,
            "labels": step.labels.tolist(),
            "clusters": list(step.clusters),
            "locked": sorted(step.locked),
            "even": list(step.attributes),
            "rules": rule_states(step),
            "scores": scores(step) if step.has_labels else None,
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
        """Return the reasons for the cluster of a person."""
        return reasons(self.labelled(), place(who, self.people.n_people, "person"))


def _with_changes(before: Step, after: Step) -> tuple[Step, list[dict[str, Any]]]:
    """Return a step, with the rules that ended because people were added or removed."""
    if after.people is before.people:
        return after, []
    ended = [rule for rule in before.rules if rule not in after.rules]
    return after, [_change(before, "rule", rule) for rule in ended if not isinstance(rule, (Sizes, Friends))]


def _change(step: Step, kind: str, what: Rule | str | None) -> dict[str, Any]:
    """Return a side effect of a step; people by name, because they may have left."""
    if not isinstance(what, Rule):
        return {"kind": kind, "name": what}
    facts = rule_facts(step, what)
    return {"kind": kind, "rule": {**facts, "names": [step.people.names[who] for who in facts["people"]]}}
