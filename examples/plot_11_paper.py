"""
The paper's model
=================

iFairNMTF [1]_ factorises the adjacency as H W H' with a penalty that pulls the memberships of different groups
together. The weight of the penalty has no scale, so it must be found by trial on every graph.

.. [1] Ghodsi, Seyedi, Ntoutsi, "Towards Cohesion-Fairness Harmony: Contrastive Regularization in Individual Fair Graph
   Clustering", PAKDD 2024.
"""

import matplotlib.pyplot as plt

import equigraph as eg

planted = eg.datasets.make_fair_sbm(300, 5, 3, random_state=1)
weights = [0, 1, 5, 20, 50, 100, 200, 500]
scores = []
for weight in weights:
    model = eg.IFairNMTF(5, fairness=weight, tol=0, random_state=0)
    labels = model.fit_predict(planted.adjacency, sensitive_features=planted.sensitive_features)
    scores.append(
        eg.metrics.evaluate(planted.adjacency, labels, sensitive_features=planted.sensitive_features)
    )

# %%
# For comparison, the front of FairPartition, whose dial means the same on every graph. Here a weighted sum jumps from
# one corner to the next; the curve also searches between them. ``at_least`` sets a bound on the fairness.

curve = eg.tradeoff_curve(
    planted.adjacency, sensitive_features=planted.sensitive_features, n_clusters=5, random_state=0
)
asked = [
    eg.FairPartition(5, at_least=bound, random_state=0).fit(
        planted.adjacency, sensitive_features=planted.sensitive_features
    )
    for bound in (0.3, 0.4, 0.5)
]
figure, axis = plt.subplots(figsize=(6.5, 4.5))
axis.plot(
    [score["NB"] for score in scores],
    [score["Q"] for score in scores],
    "o--",
    label="iFairNMTF, weights 0 to 500",
)
front = curve.front
axis.plot(
    [p.scores["NB"] for p in front], [p.scores["Q"] for p in front], ".-", label="FairPartition, the front"
)
axis.plot(
    [model.notion_ for model in asked],
    [model.modularity_ for model in asked],
    "D",
    label="FairPartition, at least .3, .4, .5",
)
axis.set_xlabel("normalised balance NB")
axis.set_ylabel("modularity Q")
axis.legend()
plt.show()
