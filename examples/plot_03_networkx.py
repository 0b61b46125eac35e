"""
A networkx graph
================

Take groups from node attributes, and write labels back to the nodes.
"""

import matplotlib.pyplot as plt
import networkx as nx

import equigraph as eg

club = nx.karate_club_graph()
print(club.nodes[0])

# %%
# The groups are the two clubs into which the karate club split. Clusters that ignore them follow the split.

graph = eg.read_graph(club, attribute="club")
curve = eg.tradeoff_curve(graph, n_clusters=3, random_state=0)
_, axis = plt.subplots(figsize=(6.5, 4.5))
curve.plot("front", ax=axis)
plt.show()

# %%
# The most cohesive clusters that mirror both clubs nearly everywhere:

point = curve.at_least(0.9)
nx.set_node_attributes(club, dict(zip(club, point.labels.tolist(), strict=True)), "team")
print(club.nodes[0], point.scores)
