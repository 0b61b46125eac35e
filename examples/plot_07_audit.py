"""
Auditing the communities of another tool, and repairing them
============================================================

Leiden finds cohesive communities. Are they fair, who fares worst, and what would a repair cost?
"""

import matplotlib.pyplot as plt
import pandas as pd

import equigraph as eg

pd.set_option("display.width", 110, "display.max_columns", 12)

room = eg.datasets.make_classroom()
graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
labels = eg.Leiden(random_state=0).fit_predict(graph)

# %%
frame = eg.metrics.FairnessFrame(graph, labels)
print(frame.overall)
print(frame.by_cluster)

# %%
# Who fares worst, and why:

print(frame.worst(3))

# %%
# Could that be chance?

print(frame.chance(random_state=0))

# %%
# Make them fairer with at most four moves, and compare:

better = eg.refine_labels(graph, labels, fairness=0.5, max_moves=4, random_state=0)
print(f"{int((better != labels).sum())} people moved")
print(frame.compare(eg.metrics.FairnessFrame(graph, better)))

# %%
_, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for axis, (title, found) in zip(axes, {"Leiden": labels, "repaired": better}.items(), strict=True):
    eg.plotting.CompositionDisplay.from_predictions(
        found, sensitive_features=room.sensitive_features, attribute="gender", ax=axis
    )
    axis.set_title(title, loc="left")
plt.show()
