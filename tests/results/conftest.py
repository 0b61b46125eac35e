import subprocess
import sys

import pytest

import equigraph as eg

# Prelude of a child process: two results of one graph that differ in every file.
PRELUDE = """
import os, signal, sys, time
import numpy as np
import equigraph as eg
from equigraph.graph import Graph
room = eg.datasets.make_classroom()
graph = Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
def make(k):
    return eg.cluster(graph, method="nmtf", n_clusters=k, random_state=0)
"""
# Prelude of a child process that clusters nothing, which starts sooner.
NO_RESULTS = "import sys, time\n"


@pytest.fixture(scope="session")
def result(room):
    return eg.cluster(room, method="nmtf", n_clusters=3, random_state=0)


@pytest.fixture
def child():
    """Start a Python process with a prelude, by default that with `make`; it ends with the test."""
    started = []

    def start(code, *args, prelude=PRELUDE):
        command = [sys.executable, "-W", "ignore", "-c", prelude + code, *map(str, args)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        started.append(subprocess.Popen(command, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def is_whole(folder):
    """Load a result with all checks, and return its number of clusters."""
    return eg.ClusteringResult.load(folder).n_clusters
