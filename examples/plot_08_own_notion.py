"""
Your own notion of fairness
===========================

A notion is a function of the counts of a cluster and of the population. It is compiled, and the search computes its
exact change for every move.
"""

import matplotlib.pyplot as plt

import equigraph as eg
from equigraph.metrics.notions import Notion


def smallest_share(counts, population):
    """Return the share of the smallest group in a cluster, against its share among all, at most 1."""
    size, n, smallest = 0, 0, 0
    for s in range(len(counts)):
        size += counts[s]
        n += abs(population[s])
        if abs(population[s]) < abs(population[smallest]):
            smallest = s
    return min(counts[smallest] / size / (abs(population[smallest]) / n), 1.0)


protect = Notion("protect", "share of the smallest group", smallest_share)

# %%
room = eg.datasets.make_classroom()
_, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for axis, fairness in zip(axes, (0, 0.5), strict=True):
    model = eg.FairPartition(3, fairness=fairness, notion=protect, random_state=0)
    model.fit(room.adjacency, sensitive_features=room.sensitive_features)
    print(f"dial {fairness}: Q {model.modularity_:.3f}, {protect.measure} {model.notion_:.3f}")
    eg.plotting.CompositionDisplay.from_estimator(model, sensitive_features=room.sensitive_features, ax=axis)
    axis.set_title(f"dial {fairness}", loc="left")
plt.show()
