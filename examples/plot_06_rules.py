"""
Rules and what they cost
========================

Two people apart, two together, sizes, and a friend for everybody. Rules are always kept, or the error names those that
contradict each other. Each rule has a price.
"""

import matplotlib.pyplot as plt

import equigraph as eg

room = eg.datasets.make_classroom()
graph = eg.Graph(room.adjacency, room.node_names, room.sensitive_features, "gender")
names = room.node_names.tolist()
rules = eg.Rules(
    together=[(names[0], names[20])],
    apart=[(names[1], names[2])],
    sizes=(9, 11),
    friends=1,
    not_alone={"gender": 2},
)
print(rules.describe())

# %%
result = eg.cluster(graph, n_clusters=3, fairness=0.5, rules=rules, random_state=0)
print(rules.check(graph, result.labels) or "every rule holds")

# %%
# The price of each rule, from the best division found without it.

prices = result.price()
print(prices.describe())
table = prices.to_frame()
print(table[["rule", "Q", "links", "cost"]].round(3).to_string(index=False))

# %%
_, axis = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
axis.barh(table["rule"], table["links"])
axis.invert_yaxis()
axis.set_xlim(table["links"].min() - 0.05, None)
axis.set_xlabel("share of the links that are kept without the rule")
plt.show()

# %%
# Rules that contradict each other are named, and only as many as needed:

try:
    eg.FairPartition(3, rules=eg.Rules(together=[names[:2], names[1:3]], apart=[(names[0], names[2])])).fit(
        graph
    )
except eg.exceptions.ConflictError as error:
    print(error)
