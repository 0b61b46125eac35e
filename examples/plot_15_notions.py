"""
What each notion of fairness rewards
====================================

Forty nodes, half of group A, in two clusters of twenty. How does each score change as the share of A in a cluster goes
from none to all? And if a group is rare?
"""

import matplotlib.pyplot as plt
import numpy as np

import equigraph as eg

SCORES = {
    "NB (default)": eg.metrics.normalized_balance_score,
    "B (the paper's)": eg.metrics.balance_score,
    "evenness": eg.metrics.evenness_score,
    "MOUFLON": eg.metrics.mouflon_balance_score,
}


def two_clusters(n_rare, in_first):
    """Return labels of 40 nodes, and groups of which the rare one has so many members in the first cluster."""
    labels = np.repeat([0, 1], 20)
    groups = np.zeros(40, dtype=int)
    groups[:in_first] = 1
    groups[20 : 20 + n_rare - in_first] = 1
    return labels, groups


figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
for axis, n_rare in zip(axes, (20, 6), strict=True):
    numbers = range(n_rare + 1)
    for name, score in SCORES.items():
        values = []
        for number in numbers:
            labels, groups = two_clusters(n_rare, number)
            values.append(score(labels, sensitive_features=groups))
        axis.plot(numbers, values, ".-", label=name)
    axis.set_title(f"{n_rare} of 40 are of the group")
    axis.set_xlabel("of these in the first cluster of 20")
axes[0].set_ylabel("score")
axes[1].legend()
plt.show()

# %%
# **B and MOUFLON's balance reward equal numbers**, whatever the population: with a rare group they can never be high.
# NB and evenness compare with the population, and are 1 if both clusters mirror it.
#
# **How the paper's B is gamed.** It is the mean over clusters, large and small alike. Two pairs with one node of each
# group are two perfect clusters, and raise the mean of the unfair rest.

labels = np.array([0] * 18 + [1] * 18 + [2, 2, 3, 3])
groups = np.array([0] * 18 + [1] * 18 + [0, 1, 0, 1])
for name, score in SCORES.items():
    print(f"{name:16} {score(labels, sensitive_features=groups):.2f}")

# %%
# The other scores weigh clusters by their nodes, so tiny clusters do not help.
