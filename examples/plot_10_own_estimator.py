"""
Your own estimator in a comparison
==================================

A method is a class with ``_fit``. The base class reads and checks the input and numbers the clusters, and ``compare``
takes the estimator like any other.
"""

import matplotlib.pyplot as plt
import numpy as np

import equigraph as eg
from equigraph.base import Clustering, GraphClusterer, Problem


class DealOut(GraphClusterer):
    """Assign the members of each group to the clusters in turn: perfectly fair, without regard to links."""

    def __init__(self, n_clusters=2, *, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def _fit(self, problem: Problem) -> Clustering:
        order = problem.rng().permutation(problem.n_nodes)
        if problem.groups is not None:
            order = order[np.argsort(problem.groups.codes[order], kind="stable")]
        labels = np.empty(problem.n_nodes, dtype=int)
        labels[order] = np.arange(problem.n_nodes) % self.n_clusters
        return Clustering(labels=labels)


room = eg.datasets.make_classroom()
graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
comparison = eg.compare(
    graph, n_clusters=3, methods=["fair-partition", "fair-louvain", "leiden", DealOut()], n_seeds=3
)
table = comparison.to_frame()
print(table[["method", "Q", "NB", "stability"]].round(3).to_string(index=False))

# %%
_, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for row, marker in zip(table.itertuples(), "osD^", strict=True):
    axis.plot(row.NB, row.Q, marker, markersize=10, fillstyle="none", label=row.method)
axis.set_xlabel("normalised balance NB")
axis.set_ylabel("modularity Q")
axis.legend()
plt.show()
