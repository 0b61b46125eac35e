"""
Choosing the number of clusters
===============================

Labels that another seed, or a few missing links, would change say little. How sure can one be of each number?
"""

import matplotlib.pyplot as plt

import equigraph as eg

planted = eg.datasets.make_fair_sbm(n_nodes=150, n_clusters=4, n_groups=2, p_in=0.25, p_out=0.03, random_state=7)
graph = eg.Graph(planted.adjacency, sensitive_features=planted.sensitive_features)
sure = eg.stability(graph, range(2, 8), random_state=0)
print(sure)

# %%
sure.plot()
plt.show()
