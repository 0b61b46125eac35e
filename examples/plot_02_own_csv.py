"""
One's own csv files
===================

Friendships in one file, people in another: the two files a survey leaves behind.
"""

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import equigraph as eg

# %%
# The classroom that comes with the package, written as somebody would have it.

room = eg.datasets.make_classroom()
folder = Path(tempfile.mkdtemp())
with (folder / "friends.csv").open("w", newline="") as stream:
    rows, columns = room.adjacency.nonzero()
    pairs = [(room.node_names[i], room.node_names[j]) for i, j in zip(rows, columns, strict=True) if i < j]
    csv.writer(stream).writerows([("from", "to"), *pairs])
with (folder / "people.csv").open("w", newline="") as stream:
    csv.writer(stream).writerows(
        [("name", "gender"), *zip(room.node_names, room.sensitive_features, strict=True)]
    )

# %%
# People are matched by name. Somebody in one file only is an error that says who.

graph = eg.read_graph(folder / "friends.csv", groups=folder / "people.csv", attribute="gender")
print(graph)
result = eg.cluster(graph, n_clusters=3, at_least=0.95, random_state=0)
print(result)

# %%
# How the clusters are made up, beside everybody.

_, axis = plt.subplots(figsize=(6.5, 4))
eg.plotting.CompositionDisplay.from_result(result, ax=axis)
plt.show()

# %%
# A folder with labels, scores and how they were made, which can be loaded again and shown as a page.

result.save(folder / "out")
print(sorted(path.name for path in (folder / "out").iterdir()))
print(eg.ClusteringResult.load(folder / "out").scores["NB"])
