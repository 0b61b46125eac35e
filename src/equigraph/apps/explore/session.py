"""The open board: history, results of jobs, and storing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from equigraph.apps.explore import persistence
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.scoring import reasons, rule_states, scores
from equigraph.apps.explore.steps import Step, act, change, place, with_labels
from equigraph.exceptions import OutputError

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
        self.revision = next(_REVISIONS)
        # By kind of job: the search key of the last request, and the last result with its key.
        self.requested: dict[str, tuple[Any, ...]] = {}
        self._found: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self.stored = True

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
        before, what = replace(self.labelled(), changes=()), str(payload.get("do"))
        if what in ("undo", "redo", "goto"):
            number = {"undo": self.at - 1, "redo": self.at + 1, "goto": payload.get("step")}[what]
            self.at = place(number, len(self.history), "step")
            self._changed()
        elif what in _LABELS_OF:
            found = self.found(_LABELS_OF[what]) or []
            number = place(payload.get("number"), len(found), what)
            self._add(with_labels(before, found[number]["labels"], what))
        else:
            self._add(act(before, payload))
        return self.state()

    def _add(self, step: Step) -> None:
        """Add a step after the current one, dropping undone steps and a start without labels."""
        self.at += self.step.has_labels
        self.history[self.at :] = [step]
        self._changed()

    def _changed(self) -> None:
        self.revision = next(_REVISIONS)
        if not self.keep:
            return
        try:
            persistence.store(self.step)
            self.stored = True
        except (OSError, OutputError):
            self.stored = False  # shown on the page; a full disk does not end the work

    def take(self, kind: str, basis: Step, step: Step, found: Any) -> None:
        """Take the result of a job for a step.

        Labels are rejected if the board has changed since its basis. Other results are shown as long as the people are
        the same.
        """
        if kind not in ("first", "repair"):
            self._found[kind] = (step.search_key, found)
            self.revision = next(_REVISIONS)
        elif self.step is not basis:
            raise BoardError("changed")
        elif kind == "first":
            given_up = [change(basis, "conflict", rule) for rule in found["given_up"]]
            what = step.what if step.what == "number" else "first"
            step = replace(step, rules=found["rules"], changes=(*step.changes, *given_up))
            self._add(with_labels(step, found["labels"], what))
        else:
            self._add(with_labels(replace(step, changes=()), found, kind))

    def board(self) -> dict[str, Any]:
        """Return the whole board as JSON for the page."""
        people, wishes = self.people, self.people.wishes
        return {
            "title": people.title,
            "mark": people.mark,
            "people": list(people.names),
            "attributes": {name: list(column) for name, column in people.attributes.items()},
            "columns": {key: sorted(set(column) - {None}) for key, column in people.sheet.attributes.items()},
            "wishes": [friends.tolist() for friends in np.split(wishes.indices, wishes.indptr[1:-1])],
            "directed": people.directed,
            "mutual": people.sheet.wishes == "mutual",
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
            "step": self.at,
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
            "changes": list(step.changes),
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
