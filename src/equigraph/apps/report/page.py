"""The page as a whole: from what was found to one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from equigraph._utils.files import write_text
from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.apps.report import findings as finding
from equigraph.apps.report import sections, wording
from equigraph.apps.report.baseline import method_of
from equigraph.apps.report.findings import Findings
from equigraph.apps.report.markup import Html, document, element, joined, text
from equigraph.apps.report.rules import rules
from equigraph.exceptions import MissingDependencyError
from equigraph.results.result import ClusteringResult

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_report(
    subject: ClusteringResult | TradeoffCurve,
    path: str | os.PathLike[str],
    *,
    graph: Any = None,
    baseline: Any = True,
    select: Any = "product",
) -> list[str]:
    """Write one self-contained page about a clustering or a curve.

    A clustering is compared with a baseline, as in `ClusteringResult.report`; of a curve one point is explained, or
    the one that a rule picks. Returns what the page leaves out and why, in sentences.
    """
    if isinstance(subject, TradeoffCurve):
        found = finding.of_curve(subject, graph, select)
    else:
        found = finding.of_result(subject, graph, baseline)
    write_text(path, make_page(found))
    return found.left_out


def make_page(findings: Findings) -> str:
    """Return the page."""
    headline = wording.headline(findings)
    lead = " ".join(filter(None, (wording.fairness_sentence(findings), wording.cohesion_sentence(findings))))
    kind = "Trade-off report" if findings.is_curve else "Clustering report"
    caution = wording.status_sentence(_status(findings))
    source = (findings.subject.source or {}).get("edges")
    kicker = kind if source is None else f"{kind}: {source}"
    body = [
        element(
            "header",
            element("p", kicker, class_="kicker"),
            element("h1", headline),
            element("p", lead, class_="lead"),
            *([element("p", caution, class_="caution", role="note")] if caution else []),
            sections.tiles(findings),
        ),
        sections.asked(findings),
        sections.composition(findings),
        rules(findings),
        _drawn(sections.tradeoff, findings),
        sections.moved(findings),
        _drawn(sections.drawing, findings),
        _drawn(sections.interaction, findings),
        sections.scores(findings),
    ]
    # Last: the sections above add to what is left out.
    body.append(_making(findings))
    style = resources.files("equigraph.apps.report").joinpath("page.css").read_text("utf-8")
    return document(f"{headline} | {kicker}", style, element("main", *body), policy=_POLICY)


def _status(findings: Findings) -> str | None:
    subject = findings.subject
    if isinstance(subject, TradeoffCurve):
        return "stopped" if subject.stopped else None
    return subject.status


def _drawn(make: Callable[[Findings], Html], findings: Findings) -> Html:
    """Make a section with pictures; without matplotlib, say so once."""
    try:
        return make(findings)
    except MissingDependencyError as error:
        if str(error) not in findings.left_out:
            findings.left_out.append(str(error))
        return Html("")


def _making(findings: Findings) -> Html:
    """Say how the clusters were made, so that they can be made again."""
    subject = findings.subject
    command = (subject.source or {}).get("command")
    entries: list[tuple[str, Any]] = [
        (
            "Command" if command else "In Python",
            element("code", command or _python_call(findings), class_="command"),
        ),
        ("Parameters", _parameters(subject.parameters)),
        (
            "Seed",
            ", ".join(map(str, subject.seeds)) if isinstance(subject, TradeoffCurve) else str(subject.seed),
        ),
        ("Time", f"{subject.seconds:.2f} s" if subject.seconds == subject.seconds else "not measured"),
        *([("Status", status)] if (status := _status(findings)) else []),
        ("Versions", ", ".join(f"{name} {version}" for name, version in subject.versions.items())),
        ("Hash of the input", element("code", subject.input_hash, class_="hash")),
    ]
    parts: list[Any] = [
        element(
            "dl",
            *(joined((element("dt", name), element("dd", what))) for name, what in entries),
            class_="facts",
        )
    ]
    if findings.left_out:
        parts.append(element("h3", "What is left out"))
        parts.append(element("ul", *(element("li", sentence) for sentence in findings.left_out)))
    return sections.section("How this was made", *parts)


def _parameters(given: Mapping[str, Any]) -> Html:
    told = (element("code", f"{name}={value!r}", class_="parameter") for name, value in sorted(given.items()))
    return joined(told, " ") or text("none")


def _python_call(findings: Findings) -> str:
    """Return the call that makes the clusters again, with the parameters that are not the default."""
    from equigraph._utils.records import parameters_of

    subject = findings.subject
    method = method_of(subject.method)
    default = {} if method is None else parameters_of(method.load()())
    given = {
        name: value
        for name, value in subject.parameters.items()
        if name != "random_state" and (name not in default or default[name] != value)
    }
    inside = ", ".join(f"{name}={value!r}" for name, value in given.items())
    if isinstance(subject, TradeoffCurve):
        values = ", ".join(f"{value:g}" for value in subject.fairness)
        dial = f"fairness=[{values}], " if subject.spacing == "dial" else ""
        restarts = f", n_restarts={len(subject.seeds)}" if len(subject.seeds) > 1 else ""
        return (
            f"eg.tradeoff_curve(graph, estimator=eg.{subject.method}({inside}), {dial}"
            f"random_state={subject.seeds[0]}{restarts})"
        )
    return f"eg.{subject.method}({inside}{', ' if inside else ''}random_state={subject.seed}).fit(graph)"
