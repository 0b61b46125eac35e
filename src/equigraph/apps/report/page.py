"""The page as a whole: from what was found to one file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from equigraph._utils.files import write_text
from equigraph._utils.records import parameters_of
from equigraph._utils.templates import render, visible
from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.apps.report import findings as finding
from equigraph.apps.report import sections, wording
from equigraph.apps.report.baseline import method_of
from equigraph.apps.report.composition import compositions, members
from equigraph.apps.report.findings import Findings
from equigraph.exceptions import MissingDependencyError
from equigraph.results.result import ClusteringResult


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
    kind = "Trade-off report" if findings.is_curve else "Clustering report"
    source = (findings.subject.source or {}).get("edges")
    fairness = wording.fairness_sentence(findings)
    parts: dict[str, Any] = {
        "headline": wording.headline(findings),
        "kicker": kind if source is None else f"{kind}: {source}",
        "lead": " ".join(filter(None, (fairness, wording.cohesion_sentence(findings)))),
        "caution": wording.status_sentence(_status(findings)),
        "tiles": sections.tiles(findings),
        "asked": sections.asked(findings),
        "fairness": fairness,
        "tolerance": f"{100 * wording.TOLERANCE:.0f}",
        "remarks": wording.remarks(findings),
        "compositions": compositions(findings),
        "members": members(findings),
        "rules": sections.rules(findings),
        "tradeoff": _drawn(sections.tradeoff, findings),
        "moved": sections.moved(findings),
        "drawing": _drawn(sections.drawing, findings),
        "interaction": _drawn(sections.interaction, findings),
        "scores": sections.scores(findings),
    }
    # After the pictures, which add to what is left out.
    parts |= {"made": _making(findings), "left_out": findings.left_out}
    return render("equigraph.apps.report", **parts)


def _status(findings: Findings) -> str | None:
    subject = findings.subject
    if isinstance(subject, TradeoffCurve):
        return "stopped" if subject.stopped else None
    return subject.status


def _drawn(make: Callable[[Findings], Any], findings: Findings) -> Any:
    """Return what a section with pictures shows; without matplotlib None, and the reason is left out once."""
    try:
        return make(findings)
    except MissingDependencyError as error:
        if str(error) not in findings.left_out:
            findings.left_out.append(str(error))
        return None


def _making(findings: Findings) -> list[tuple[str, Any]]:
    """Return how the clusters were made, so that they can be made again."""
    subject, status = findings.subject, _status(findings)
    command = (subject.source or {}).get("command")
    code = Markup('<code class="{}">{}</code>')
    parameters = [
        code.format("parameter", visible(f"{name}={value!r}"))
        for name, value in sorted(subject.parameters.items())
    ]
    seeds = subject.seeds if isinstance(subject, TradeoffCurve) else (subject.seed,)
    call = visible(command or _python_call(findings))
    return [
        ("Command" if command else "In Python", code.format("command", call)),
        ("Parameters", Markup(" ").join(parameters) or "none"),
        ("Seed", ", ".join(map(str, seeds))),
        ("Time", f"{subject.seconds:.2f} s" if subject.seconds == subject.seconds else "not measured"),
        *([("Status", status)] if status else []),
        ("Versions", ", ".join(f"{name} {version}" for name, version in subject.versions.items())),
        ("Hash of the input", code.format("hash", visible(subject.input_hash))),
    ]


def _python_call(findings: Findings) -> str:
    """Return the call that makes the clusters again, with the parameters that are not the default."""
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
