"""
Many nodes
==========

The same call from thirty nodes to millions: only the plan of the search changes. Here with a hundred thousand, so that
this page is built in seconds; docs/measurements has larger ones.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import equigraph as eg

planted = eg.datasets.make_planted_graph(100_000, 20, mean_degree=10, random_state=0)
groups = np.random.default_rng(0).integers(0, 3, planted.adjacency.shape[0])
start = time.perf_counter()
model = eg.FairPartition(20, fairness=0.5, random_state=0).fit(planted.adjacency, sensitive_features=groups)
seconds = time.perf_counter() - start
print(
    f"{planted.adjacency.nnz // 2:,} edges in {seconds:.1f} s: Q {model.modularity_:.3f}, NB {model.notion_:.3f}"
)

# %%
# How the clusters are linked: the diagonal is within them.

_, axis = plt.subplots(figsize=(5.2, 4.5), layout="constrained")
eg.plotting.InteractionDisplay.from_estimator(model, ax=axis)
plt.show()
