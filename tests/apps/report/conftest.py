from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.base import interaction_of
from equigraph.graph import Graph
from equigraph.graph.groups.encode import indicator

NASTY = "<script>alert(1)</script>&\"'"


@contextmanager
def quiet_page(browser, path, **options):
    """Open a page of a file until the block ends; it must log no error and ask for nothing from the network."""
    page = browser.new_page(**options)
    said, asked = [], []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    yield page
    page.close()
    assert [text for text in said if not text.startswith("[.WebGL")] == []  # remarks of drivers
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture(scope="session")
def room():
    data = eg.datasets.make_classroom()
    return Graph(data.adjacency, data.node_names, data.sensitive_features, "gender")


@pytest.fixture(scope="session")
def result(room):
    # Little effort: a page about it searches the whole dial by the same parameters.
    return eg.cluster(room, n_clusters=3, fairness=0.5, effort=0.1, random_state=0)


@pytest.fixture(scope="session")
def curve(room):
    return eg.tradeoff_curve(
        room, estimator=eg.FairLouvain(n_clusters=3), fairness=[0, 0.1, 0.5, 1], random_state=0
    )


def make_large(n, k, n_groups, *, seed=0):
    """Return a random graph with nasty names, and labels of k clusters, all of which have nodes."""
    rng = np.random.default_rng(seed)
    upper = sparse.triu(sparse.random_array((n, n), density=min(1.0, 6 / n), rng=rng), k=1)
    adjacency = sparse.csr_array((upper + upper.T) > 0, dtype=np.float64)
    names = np.array([f"{NASTY} {i}" for i in range(n)])
    groups = np.array([f"group {NASTY} {i % n_groups}" for i in range(n)])
    labels = np.sort(np.concatenate((np.arange(k), rng.integers(0, k, n - k))))
    return Graph(adjacency, names, groups, f"attribute {NASTY}"), labels


def as_result(graph, labels, **changes):
    """Return any labels as a result."""
    k = int(labels.max()) + 1
    made = eg.cluster(graph, method="random", n_clusters=2, random_state=0)
    scores = eg.metrics.evaluate(graph, labels)
    parts = {"labels": labels, "membership": indicator(labels, k).toarray(), "scores": scores}
    return replace(made, **parts, interaction=interaction_of(graph, labels, k).toarray(), **changes)
