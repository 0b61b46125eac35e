"""Read-only boards: the page with all points of a curve embedded, as a file or notebook widget."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.files import write_text
from equigraph._utils.templates import render
from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.apps.explore.files import drawn_graph, static_text
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.scoring import scores
from equigraph.apps.explore.session import Session
from equigraph.apps.explore.steps import Step, names_for
from equigraph.apps.report.findings import Findings, findings_of
from equigraph.exceptions import ParameterError, require
from equigraph.graph import Graph
from equigraph.results.result import ClusteringResult


def write_interactive(
    subject: ClusteringResult | TradeoffCurve,
    path: str | os.PathLike[str],
    *,
    graph: Any = None,
    select: Any = "product",
) -> list[str]:
    """Write a page with the curve, a dial over all of its labels, the graph and the board; it needs no network.

    For a clustering with groups the curve is computed if that is cheap. Returns what the page leaves out and why, in
    sentences.
    """
    found = findings_of(subject, graph, select=select)
    write_text(path, make_page(content_of(found), found.headline))
    return found.left_out


def content_of(found: Findings) -> dict[str, Any]:
    """Return the data of the page: people, labels and scores of every point, and the layout."""
    people = _people(found)
    labelings, here = _labelings(found)
    k = max(int(labels.max()) + 1 for labels in labelings)
    if k < 2:
        raise ParameterError("There is one cluster only, so there is nothing to explore.")
    step = Step(people, labelings[here], names_for((), k), attributes=tuple(people.attributes))
    judged = [scores(replace(step, labels=labels)) for labels in labelings]
    session = Session(step, keep=False)
    points = [{"labels": labels, **found} for labels, found in zip(labelings, judged, strict=True)]
    if step.attributes:
        session.take("curve", step, step, points)
        session.revision = 0
    board = session.board()
    board["mark"] = board["state"]["mark"] = ""
    drawn = drawn_graph(step) if people.adjacency.nnz else None
    return {
        "board": board,
        "points": [{**one, "labels": one["labels"].tolist()} for one in points],
        "drawn": drawn,
    }


def _people(found: Findings) -> BoardPeople:
    subject, n = found.subject, found.labels.size
    links = sparse.csr_array((n, n)) if found.graph is None else found.graph.adjacency
    graph = Graph(links, subject.node_names, subject.features or None, missing="ignore")
    return BoardPeople.of_graph(graph, found.headline)


def _labelings(found: Findings) -> tuple[list[NDArray[np.intp]], int]:
    """Return the labels of the curve from least to most even, and the index of those shown first."""
    own = np.asarray(found.labels, dtype=np.intp)
    if found.curve is None:
        return [own], 0
    labelings = [np.asarray(point.labels, dtype=np.intp) for point in found.curve.front]
    same = [np.array_equal(labels, own) for labels in labelings]
    if True in same:
        return labelings, same.index(True)
    values = [point.scores[found.curve.measure] for point in found.curve.front]
    place = int(np.searchsorted(values, found.scores[found.curve.measure]))
    return [*labelings[:place], own, *labelings[place:]], place


def make_page(content: dict[str, Any], title: str) -> str:
    """Return the page; its policy blocks other scripts and all requests."""
    script, style = static_text("explore.js"), static_text("explore.css")
    # "</script" in the module would end the element; the built one has none.
    assert "</script" not in script.lower()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    trusted = {name: Markup(text) for name, text in (("style", style), ("data", data), ("script", script))}
    return render("equigraph.apps.explore", title=title, digest=digest, **trusted)


def make_widget(subject: Any, graph: Any = None) -> Any:
    """Return a notebook widget that shows a clustering or a curve."""
    found = findings_of(subject, graph)
    content = json.dumps(content_of(found), ensure_ascii=False, separators=(",", ":"))
    return _widget_class()(content=content)


@cache
def _widget_class() -> Any:
    anywidget: Any = require("anywidget", extra="widget", purpose="The explorer in a notebook")
    traitlets: Any = require("traitlets", extra="widget", purpose="The explorer in a notebook")

    class BoardWidget(anywidget.AnyWidget):
        """A read-only board."""

        _esm = static_text("explore.js")
        _css = static_text("explore.css")
        content = traitlets.Unicode("{}").tag(sync=True)

    return BoardWidget
