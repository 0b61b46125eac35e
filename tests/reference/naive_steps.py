"""Single steps of the search by their definitions, on dense matrices and with loops."""

import numpy as np


def greedy_merges(value, labels, n_least):
    """Merge the pair of clusters that leaves the highest value, again and again; return all labels on the way."""
    path = [np.array(labels)]
    while np.unique(path[-1]).size > n_least:
        here = path[-1]
        names = np.unique(here)
        pairs = [np.where(here == a, b, here) for a in names for b in names if b < a]
        path.append(max(pairs, key=value))
    return path


def spread_labels(dense, within, most, n_passes):
    """Let every node in turn join the label it has most weight to, the larger one of equals, up to a bound."""
    n = dense.shape[0]
    labels, strength = list(range(n)), dense.sum(axis=1)
    for _ in range(n_passes):
        before = list(labels)
        for node in range(n):
            near = [j for j in range(n) if dense[node, j] > 0 and within[j] == within[node]]

            def attraction(label, node=node, near=near):
                weight = sum(dense[node, j] for j in near if labels[j] == label)
                return weight, sum(strength[j] for j in range(n) if labels[j] == label)

            full = {
                label
                for label in set(labels)
                if label != labels[node] and attraction(label)[1] + strength[node] > most
            }
            open_labels = [labels[node], *({labels[j] for j in near} - full - {labels[node]})]
            labels[node] = max(open_labels, key=attraction)
        if labels == before:
            break
    return np.array(labels)
