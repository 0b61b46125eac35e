"""
A graph that stays on disk, and Dask
====================================

The edges are in row blocks on disk; only labels and a few tables are in memory. With ``execution="dask"`` the rows
are on the workers of a cluster.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np

import equigraph as eg

planted = eg.datasets.make_planted_graph(20_000, 8, mean_degree=12, random_state=0)
groups = np.random.default_rng(0).integers(0, 2, 20_000)
folder = tempfile.mkdtemp()
blocks = eg.write_blocks(eg.Graph(planted.adjacency, sensitive_features=groups), f"{folder}/blocks")
print(blocks)
model = eg.FairPartition(8, fairness=0.5, random_state=0).fit(blocks)
print(f"Q {model.modularity_:.3f}, NB {model.notion_:.3f}")

# %%
_, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
eg.plotting.CompositionDisplay.from_estimator(model, sensitive_features=groups, ax=axis)
plt.show()

# %%
# On the workers of a Dask cluster the call is the same, with an address or the current client:
#
# .. code-block:: python
#
#    eg.FairPartition(8, fairness=0.5, execution="tcp://scheduler:8786").fit(blocks)
