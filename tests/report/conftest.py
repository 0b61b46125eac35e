from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.graph import Graph

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NASTY = "<script>alert(1)</script>&\"'"


@pytest.fixture(scope="session")
def room() -> Graph:
    data = eg.datasets.make_classroom()
    return Graph(data.adjacency, data.node_names, data.sensitive_features, "gender")


@pytest.fixture(scope="session")
def result(room: Graph) -> eg.ClusteringResult:
    return eg.cluster(room, n_clusters=3, fairness=0.5, random_state=0)


@pytest.fixture(scope="session")
def curve(room: Graph) -> eg.TradeoffCurve:
    return eg.tradeoff_curve(
        room, estimator=eg.FairLouvain(n_clusters=3), fairness=[0, 0.1, 0.5, 1], random_state=0
    )


@pytest.fixture(scope="session")
def parse() -> Callable[[Path], Any]:
    """Read a page with a strict parser: any error of HTML is an error here."""
    html = pytest.importorskip("justhtml")

    def parse(path: Path) -> Any:
        return html.JustHTML(path.read_text(encoding="utf-8"), sanitize=False, strict=True)

    return parse


def make_large(n: int, k: int, n_groups: int, *, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Return a random graph with nasty names, and labels of k clusters, all of which have nodes."""
    rng = np.random.default_rng(seed)
    upper = sparse.triu(sparse.random_array((n, n), density=min(1.0, 6 / n), rng=rng), k=1)
    adjacency = sparse.csr_array((upper + upper.T) > 0, dtype=np.float64)
    names = np.array([f"{NASTY} {i}" for i in range(n)])
    groups = np.array([f"group {NASTY} {i % n_groups}" for i in range(n)])
    labels = np.sort(np.concatenate((np.arange(k), rng.integers(0, k, n - k))))
    return Graph(adjacency, names, groups, f"attribute {NASTY}"), labels


def as_result(graph: Graph, labels: np.ndarray, **changes: Any) -> eg.ClusteringResult:
    """Return any labels as a result."""
    from dataclasses import replace

    from equigraph.base import mean_interaction
    from equigraph.groups.sums import indicator

    k = int(labels.max()) + 1
    made = eg.cluster(graph, method="random", n_clusters=2, random_state=0)
    scores = eg.metrics.evaluate(graph, labels)
    parts = {"labels": labels, "membership": indicator(labels, k).toarray(), "scores": scores}
    return replace(made, **parts, interaction=mean_interaction(graph.adjacency, labels, k), **changes)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the browser of the system, or skip; on CI its absence is a failure."""
    api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        message = f"there is no browser to look at pages: expected one of {', '.join(_BROWSERS)}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with api.sync_playwright() as driver:
        # Containers run as root, where the sandbox of the browser does not start.
        one = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield one
        one.close()
