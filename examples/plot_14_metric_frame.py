"""
For users of fairlearn's MetricFrame
====================================

fairlearn's ``MetricFrame`` disaggregates any metric of predictions by group. A clustering has no true labels, but its
effect on each person can be measured. Here it is the share of links that they keep.
"""

import matplotlib.pyplot as plt
import numpy as np

import equigraph as eg

room = eg.datasets.make_classroom()
graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
labels = eg.FairPartition(3, fairness=0.5, random_state=0).fit_predict(graph)
rows, columns = graph.adjacency.nonzero()
linked = np.bincount(rows, minlength=graph.n_nodes)
kept = np.bincount(rows, labels[rows] == labels[columns], minlength=graph.n_nodes) / linked

# %%
# One number per person, averaged by group:

for gender in np.unique(room.sensitive_features):
    print(f"{gender}: {kept[room.sensitive_features == gender].mean():.2f} of their links kept")

# %%
# ``FairnessFrame`` also has scores by cluster and by intersection:

frame = eg.metrics.FairnessFrame(graph, labels)
print(frame.by_group.round(3).to_string())

# %%
_, axis = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
genders = np.unique(room.sensitive_features)
axis.hist(
    [kept[room.sensitive_features == gender] for gender in genders], np.linspace(0, 1, 11), label=genders
)
axis.set_xlabel("share of the links that a pupil keeps")
axis.set_ylabel("pupils")
axis.legend()
plt.show()
