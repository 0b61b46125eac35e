"""
Choosing the number of clusters
===============================

Good clusters do not change with the seed or without a few links. How stable are the clusters for each number?
"""

import matplotlib.pyplot as plt

import equigraph as eg

planted = eg.datasets.make_planted_graph(120, 4, mean_degree=12, random_state=7)
graph = eg.Graph(planted.adjacency, sensitive_features=planted.sensitive_features)
cohesive = eg.FairPartition(fairness=0)  # the planted clusters are cohesive, not fair
sure = eg.stability(graph, range(2, 7), estimator=cohesive, n_seeds=3, n_removals=3, random_state=0)
print(sure)
print(sure.to_frame().round(3))

# %%
_, axis = plt.subplots(figsize=(7, 4.2))
sure.plot(ax=axis)
plt.show()
