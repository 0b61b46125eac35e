"""
Your own csv files
==================

Read friendships from one file and people from another, cluster them, and save the result.
"""

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import equigraph as eg

# %%
# Write the classroom that comes with the package as two csv files.

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
# People are matched by name. A person in only one of the files is an error.

graph = eg.read_graph(folder / "friends.csv", groups=folder / "people.csv", attribute="gender")
print(graph)
result = eg.cluster(graph, n_clusters=3, at_least=0.95, random_state=0)
print(result)

# %%
# The composition of the clusters, compared with all people.

_, axis = plt.subplots(figsize=(6.5, 4))
eg.plotting.CompositionDisplay.from_result(result, ax=axis)
plt.show()

# %%
# Save labels, scores and parameters in a folder, and load them again.

result.save(folder / "out")
print(sorted(path.name for path in (folder / "out").iterdir()))
print(eg.ClusteringResult.load(folder / "out").scores["NB"])
