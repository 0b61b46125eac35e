"""
A class in three groups
=======================

Divide thirty pupils into three groups that keep friends together, once without and once with regard to gender. The data
come with the package.
"""

import matplotlib.pyplot as plt

import equigraph as eg

room = eg.datasets.make_classroom()
graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")

# %%
# The dial ``fairness`` goes from cohesion (0) to fairness (1).

plain = eg.cluster(graph, n_clusters=3, fairness=0, random_state=0)
fair = eg.cluster(graph, n_clusters=3, fairness=0.5, random_state=0)
for result in (plain, fair):
    print(
        f"links kept: Q {result.scores['Q']:.3f}   evenly: NB {result.scores['NB']:.3f}   sizes {result.sizes}"
    )

# %%
# The colour of a node is its cluster, the shape its gender.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
eg.plotting.GraphDisplay.from_result(plain, graph, ax=axes[0])
eg.plotting.GraphDisplay.from_result(fair, graph, ax=axes[1])
axes[0].set_title("cohesion alone", loc="left")
axes[1].set_title("cohesive and fair", loc="left")
plt.show()
