"""Sentences of the page, without statistical terms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equigraph._utils.sizes import small_clusters, small_words
from equigraph._utils.text import count, listed
from equigraph.apps.report.findings import Findings
from equigraph.graph.groups import Groups
from equigraph.graph.groups.encode import ungrouped_sentence
from equigraph.metrics.notions import NORMALIZED
from equigraph.metrics.scores import COMPARED, OF_NOTIONS, SCORES
from equigraph.metrics.summary import Composition, score_name

# A cluster mirrors the whole if each group is off by less than one member, or by at most this share of what whole nodes
# allow. A bound in percentage points would not work: a cluster without a group of 3 % is off by only three.
TOLERANCE = 0.1
# Smaller gaps, in points, are not mentioned if every cluster mirrors the whole.
_NARROW = 0.05
_MOST_NAMED = 3
NO_BREAK = "\N{NO-BREAK SPACE}"

_WITHIN = "Share of the links (by weight) whose two ends are in the same cluster; more is more cohesive."
# The number of clusters comes last.
_LISTED = (*(SCORES[name] for name in COMPARED), *OF_NOTIONS.values(), SCORES["n_nonempty"])
MEANINGS = {"within": _WITHIN, **{score.name: score.meaning for score in _LISTED}}
NAMES = {"within": "links inside clusters", **{score.name: score.words for score in _LISTED}}


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f}{NO_BREAK}%"


def number(value: Any) -> str:
    """Return a score with three digits, a count unchanged, or a dash if missing."""
    if value is None or value != value:
        return "\N{EN DASH}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


class Gap(NamedTuple):
    """Difference between the share of a group in a cluster and in the population."""

    cluster: object
    group: object
    share: float
    population: float

    @property
    def size(self) -> float:
        """Difference of the shares."""
        return abs(self.share - self.population)


def headline(findings: Findings) -> str:
    """Return the number of clusters and their sizes.

    A single sentence without a full stop, such as "3 clusters of 10".
    """
    sizes = findings.sizes[findings.sizes > 0]
    clusters = count(sizes.size, "cluster")
    least, most = int(sizes.min()), int(sizes.max())
    if sizes.size == 1:
        return f"1 cluster of all {most:,}"
    return f"{clusters} of {least:,}" if least == most else f"{clusters} of {least:,} to {most:,}"


def mirroring(what: Composition) -> tuple[int, Gap]:
    """Return how many clusters mirror the population, and the widest gap of all.

    Clusters without a member of any group count as mirroring.
    """
    members = what.counts.sum(axis=1)
    close = (members == 0) | (NORMALIZED.cluster_scores(what.counts) >= 1 - TOLERANCE - 1e-12)
    gaps = np.where(members[:, None] > 0, np.abs(what.shares - what.population), 0.0)
    cluster, group = np.unravel_index(int(np.argmax(np.round(gaps, 12))), gaps.shape)
    widest = Gap(
        what.clusters.tolist()[cluster],
        what.groups.tolist()[group],
        float(what.shares[cluster, group]),
        float(what.population[group]),
    )
    return int(close.sum()), widest


def fairness_sentence(findings: Findings) -> str:
    """Return sentences on how well the clusters mirror the population, by every attribute."""
    compositions = findings.compositions()
    if not compositions:
        return "The nodes have no groups, so fairness was not asked for."
    sentences = dict.fromkeys(mirror_sentence(what, attribute) for attribute, _, what in compositions)
    return " ".join(sentences)


def mirror_sentence(what: Composition, attribute: str | None) -> str:
    """Return a sentence on how well the clusters mirror the population by one attribute."""
    by = f" by {attribute}" if attribute else ""
    mirror, widest = mirroring(what)
    n = what.clusters.size
    if n == 1:
        return "Everybody is in the same cluster, so it is the population itself."
    if mirror == n:
        whole = what.counts.sum(axis=1) > 0
        closest = bool((NORMALIZED.cluster_scores(what.counts)[whole] == 1).all())
        if widest.size < 1e-9:
            return f"Every cluster mirrors the population{by} exactly."
        if widest.size <= _NARROW:
            return f"Every cluster mirrors the population{by}{' as closely as whole nodes allow' * closest}."
        some = f"Every cluster mirrors the population{by}, if not as closely as whole nodes allow"
        if closest:
            some = f"Every cluster is as close to the population{by} as whole nodes allow"
    else:
        some = f"{mirror} of {n} clusters mirror the population{by}"
        if mirror <= 1:
            some = f"{'One' if mirror else 'None'} of {n} clusters mirrors the population{by}"
    return (
        f"{some}; the widest gap is in cluster {widest.cluster}, where {percent(widest.share)} are "
        f"{widest.group}, against {percent(widest.population)} of all."
    )


def remarks(findings: Findings) -> list[str]:
    """Return further remarks on groups and sizes; often none."""
    sentences = []
    several = len(findings.subject.attributes or ()) > 1
    for attribute, groups, _ in findings.compositions():
        head = f"{attribute}: " if several else ""
        if groups.n_ungrouped:
            sentences.append(f"{head}{ungrouped_sentence(groups.n_ungrouped)}")
        sentences += [f"{head}{sentence}" for sentence in small_groups_sentence(findings, groups)]
    for name in findings.subject.attributes or ():
        gap, in_sd = (findings.scores.get(score_name(one, name)) for one in ("mean_gap", "mean_gap_sd"))
        if gap is not None:
            sentences.append(
                f"The means of {name} differ by at most {gap:.3g} between clusters, which is {in_sd:.2f} standard "
                "deviations."
            )
    small = small_clusters(findings.sizes, findings.subject.parameters)
    if small.size:
        words = small_words(findings.sizes, small)
        sentences.append(
            f"{words[0].upper()}{words[1:]}, which nobody asked for: size_bounds of FairPartition avoid it."
        )
    return sentences


def small_groups_sentence(findings: Findings, groups: Groups) -> list[str]:
    """Return a sentence on groups with too few members for all clusters."""
    n_clusters = int((findings.sizes > 0).sum())
    if groups.sizes.min() >= n_clusters:
        return []
    few = np.flatnonzero(groups.sizes < n_clusters)
    named = [f"{groups.names.tolist()[i]} ({groups.sizes[i]:,})" for i in few[:_MOST_NAMED].tolist()]
    if few.size > len(named):
        named.append(f"{few.size - len(named):,} more")
    return [
        f"No clustering has a member of {listed(named)} in each of {n_clusters:,} clusters: "
        f"{'that group has' if few.size == 1 else 'those groups have'} fewer members than that, and fairness asks for "
        "no more than whole nodes allow."
    ]
