"""
Your own penalty in a factorisation
===================================

The paper's model is a factorisation with a penalty on the membership. Any quadratic form can be a penalty. Here it
keeps project partners together.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import equigraph as eg
from equigraph.factorization.penalties import Penalty


class Partners(Penalty):
    """Half the squared distance between the memberships of partners."""

    def __init__(self, pairs, n_nodes):
        ends = np.asarray(pairs).T
        links = sparse.coo_array((np.ones(len(pairs)), ends), shape=(n_nodes, n_nodes)).tocsr()
        self.links = links + links.T
        self.degrees = np.asarray(self.links.sum(axis=1))

    def positive(self, H):
        """Return the part of the gradient that lowers memberships: the number of partners times H."""
        return self.degrees[:, None] * H

    def negative(self, H):
        """Return the part that raises memberships: the sum over the partners of each node."""
        return self.links @ H


room = eg.datasets.make_classroom()
pairs = [(0, 15), (3, 18), (7, 25)]
_, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharex=True, layout="constrained")
for axis, weight in zip(axes, (0, 0.5, 1), strict=True):
    penalty = weight * Partners(pairs, 30) if weight else None
    model = eg.NMTF(3, penalty=penalty, tol=0, random_state=0)
    labels = model.fit_predict(room.adjacency)
    kept = sum(labels[one] == labels[other] for one, other in pairs)
    cohesion = eg.metrics.modularity_score(room.adjacency, labels)
    print(f"weight {weight}: {kept} of {len(pairs)} pairs together, Q {cohesion:.3f}")
    ends = np.ravel(pairs)
    axis.imshow(model.membership_[ends], aspect="auto", cmap="Blues")
    axis.set_yticks(range(len(ends)), room.node_names[ends])
    axis.set_xticks(range(3))
    axis.set_title(f"weight {weight}")
    axis.set_xlabel("cluster")
axes[0].set_ylabel("partners, one below the other")
plt.show()
