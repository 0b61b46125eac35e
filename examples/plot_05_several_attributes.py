"""
Several attributes at once
==========================

Balance gender *and* special needs. Each attribute has its own counts, and the dial moves the weighted mean of their
fairness.
"""

import matplotlib.pyplot as plt
import numpy as np

import equigraph as eg

planted = eg.datasets.make_fair_sbm(180, 4, 2, random_state=3)
rng = np.random.default_rng(3)
needs = np.where(rng.random(180) < 0.15, "yes", "no")
columns = {"gender": np.where(planted.sensitive_features == 0, "girl", "boy"), "needs": needs}

# %%
# Each attribute alone, and both.

for attributes in (["gender"], ["needs"], ["gender", "needs"]):
    chosen = {name: columns[name] for name in attributes}
    model = eg.FairPartition(4, fairness=0.5, size_bounds=(30, None), random_state=0).fit(
        planted.adjacency, sensitive_features=chosen
    )
    reached = {
        name: round(eg.metrics.normalized_balance_score(model.labels_, sensitive_features=column), 3)
        for name, column in columns.items()
    }
    print(f"balanced {' and '.join(attributes):18} Q {model.modularity_:.3f}  NB {reached}")

# %%
# Twice the weight on needs:

model = eg.FairPartition(
    4, fairness=0.5, attribute_weights={"needs": 2}, size_bounds=(30, None), random_state=0
)
labels = model.fit_predict(planted.adjacency, sensitive_features=columns)
figure, axes = plt.subplots(1, 2, figsize=(11, 4))
for axis, (name, column) in zip(axes, columns.items(), strict=True):
    eg.plotting.CompositionDisplay.from_predictions(
        labels, sensitive_features=column, attribute=name, ax=axis
    )
plt.show()
