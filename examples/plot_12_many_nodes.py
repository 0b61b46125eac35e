"""
Many nodes
==========

The same call works from thirty nodes to millions. This example has a hundred thousand; docs/measurements has larger
graphs.
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
# Links within clusters (the diagonal) and between them.

_, axis = plt.subplots(figsize=(5.2, 4.5), layout="constrained")
eg.plotting.InteractionDisplay.from_estimator(model, ax=axis)
plt.show()
