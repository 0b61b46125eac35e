"""The board that is open: its history, its curve, and what was kept of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.explore import persistence
from equigraph.apps.explore.judging import judged_rules, reasons, scores
from equigraph.apps.explore.matter import Matter
from equigraph.apps.explore.steps import Step, act, is_place, with_labels, with_number
from equigraph.exceptions import OutputError, ParameterError

_MOST_STEPS = 1000


class Session:
    """One open board; its first state may be `restored` from an earlier time, and it may be kept on this machine."""

    def __init__(self, matter: Matter, step: Step, *, restored: bool = False, keep: bool = True) -> None:
        self.matter, self.restored, self.keep = matter, restored, keep
        self.steps = [step]
        self.at = 0
        self.first = 0  # number of the first step that is remembered
        self.revision = 0
        self.points: list[dict[str, Any]] = []
        self.question: tuple[Any, ...] | None = None
        self.others: list[dict[str, Any]] = []
        self.drawn: dict[str, Any] | None = None
        self.costs: dict[str, Any] | None = None
        self.said: list[str] = []  # what the last change of the number of clusters ended
        self.asked: tuple[Any, ...] | None = None  # what the curve that is being found will answer
        self.kept = True
        self._lock = threading.RLock()
        self._keep_people()

    @property
    def step(self) -> Step:
        """The state that is shown."""
        return self.steps[self.at]

    @property
    def has_labels(self) -> bool:
        """Whether everybody is somewhere."""
        return bool(self.step.labels.size)

    def act(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Do what the page asks for, and return the new state."""
        with self._lock:
            what = told.get("do")
            if what in ("undo", "redo", "goto"):
                self._go(told)
            elif not self.has_labels:
                raise ParameterError("The groups are still being made: wait a moment.")
            elif what == "point":
                self._take(self.points, told, "point")
            elif what == "alternative":
                self._take(self.others, told, "alternative")
            else:
                self._add(act(self.matter, self.step, told))
            return self.state()

    def _go(self, told: Mapping[str, Any]) -> None:
        to = {"undo": self.at - 1, "redo": self.at + 1}.get(str(told["do"]))
        if to is None:
            number = told.get("step")
            to = number - self.first if isinstance(number, int) and not isinstance(number, bool) else -1
        if not 0 <= to < len(self.steps) or not self.steps[to].labels.size:
            raise ParameterError("There is no such step to go to.")
        self.at = to
        self._changed()

    def _take(self, found: list[dict[str, Any]], told: Mapping[str, Any], what: str) -> None:
        number = told.get("number")
        if not is_place(number, len(found)):
            raise ParameterError(f"There is no such {what}.")
        self._add(with_labels(self.step, found[number]["labels"], what))

    def _add(self, step: Step) -> None:
        """Add a step after the one that is shown; what was undone is forgotten."""
        self.steps[self.at + 1 :] = [step]
        self.at += 1
        if len(self.steps) > _MOST_STEPS:
            del self.steps[0]
            self.at, self.first = self.at - 1, self.first + 1
        self._changed()

    def _changed(self) -> None:
        self.revision += 1
        self.costs = None
        if self.keep and self.has_labels:
            try:
                persistence.keep_step(self.matter, self.step)
                self.kept = True
            except (OSError, OutputError):
                self.kept = False  # the page says so; a full disk does not end the work

    def _keep_people(self) -> None:
        if not self.keep:
            return
        try:
            persistence.keep_matter(self.matter)
        except (OSError, OutputError):
            self.kept = False

    def labels_found(
        self, labels: NDArray[np.intp], what: str, basis: Step, then: Step | None = None
    ) -> None:
        """Take labels that a job found for a step; a board that has gone on since then is not touched.

        ``then`` is the step that they belong to, where it is another one.
        """
        with self._lock:
            if self.step is not basis:
                raise ParameterError("The board was changed meanwhile, so what was found was not used.")
            found = with_labels(basis if then is None else then, labels, what)
            if basis.labels.size:
                self._add(found)
            else:  # the first labels are where history begins
                self.steps[self.at] = found
                self._changed()

    def curve_found(self, points: list[dict[str, Any]], basis: Step) -> None:
        """Take a curve."""
        with self._lock:
            self.points, self.question = points, basis.question()
            self.revision += 1

    def others_found(self, found: list[dict[str, Any]]) -> None:
        """Take alternatives."""
        with self._lock:
            self.others = found
            self.revision += 1

    def costs_found(self, found: dict[str, Any], basis: Step) -> None:
        """Take what the rules of a step cost; other rules have other costs."""
        with self._lock:
            if self.step.rules == basis.rules and self.step.attributes == basis.attributes:
                self.costs = found
                self.revision += 1

    def number(self, n_clusters: Any) -> Step:
        """Return a step with another number of clusters; it is added when labels are found for it."""
        if not isinstance(n_clusters, int) or isinstance(n_clusters, bool):
            raise ParameterError("The number of groups is a whole number.")
        if not self.has_labels:
            raise ParameterError("The groups are still being made: wait a moment.")
        with self._lock:
            step, self.said = with_number(self.matter, self.step, n_clusters)
            return step

    def curve_is_current(self) -> bool:
        """Return whether the curve answers to the rules of the board as they are."""
        return self.question == self.step.question()

    def board(self) -> dict[str, Any]:
        """Return everything the page needs to show the board."""
        matter, wishes = self.matter, self.matter.wishes
        return {
            "title": matter.title,
            "mark": matter.mark,
            "people": list(matter.names),
            "attributes": {name: list(column) for name, column in matter.attributes.items()},
            "wishes": [
                wishes.indices[start:end].tolist()
                for start, end in zip(wishes.indptr[:-1], wishes.indptr[1:], strict=True)
            ],
            "directed": matter.directed,
            "notes": list(matter.notes),
            "restored": self.restored,
            "state": self.state(),
        }

    def state(self) -> dict[str, Any]:
        """Return what changes while a board is edited."""
        step = self.step
        return {
            "revision": self.revision,
            "step": self.first + self.at,
            "can_undo": self.at > 0 and bool(self.steps[self.at - 1].labels.size),
            "can_redo": self.at + 1 < len(self.steps),
            "what": step.what,
            "labels": step.labels.tolist(),
            "clusters": list(step.clusters),
            "locked": sorted(step.locked),
            "even": list(step.attributes),
            "rules": judged_rules(self.matter, step),
            "scores": self._scores(),
            "curve": self._curve(),
            "alternatives": [self._summary(one) for one in self.others],
            "costs": self.costs,
            "kept": self.kept,
            "said": self.said,
        }

    def _scores(self) -> dict[str, Any] | None:
        if not self.has_labels:
            return None
        return scores(self.matter, self.step.labels, self.step.attributes, self.step.n_clusters)

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
        if not is_place(who, self.matter.n_people) or not self.has_labels:
            raise ParameterError("There is no such person on this board.")
        return reasons(self.matter, self.step, who)
