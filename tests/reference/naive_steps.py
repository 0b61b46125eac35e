"""Single steps of the search by their definitions, on dense matrices and with loops."""

from __future__ import annotations

import numpy as np


def best_move(value, labels, site, candidates):
    """Return the largest change of ``value`` when a site joins one of the candidate clusters; -inf without any."""
    here, best = value(labels), -np.inf
    for cluster in candidates:
        other = np.array(labels)
        other[site] = cluster
        best = max(best, value(other) - here)
    return best


def greedy_merges(value, labels, n_least):
    """Merge the pair of clusters that leaves the highest value, again and again; return all labels on the way."""
    path = [np.array(labels)]
    while np.unique(path[-1]).size > n_least:
        here = path[-1]
        names = np.unique(here)
        pairs = [np.where(here == a, b, here) for a in names for b in names if b < a]
        path.append(max(pairs, key=value))
    return path


def absorb_small(value, dense, parts, order, n_wanted):
    """Merge single super-nodes into the best cluster next to each until ``n_wanted`` stay; return their labels.

    ``value`` judges labels of the nodes, ``parts`` is the super-node of each. Those without a neighbour are merged with
    the first of them.
    """
    labels = np.arange(parts.max() + 1)
    orphans = None
    for site in order:
        if np.unique(labels).size <= n_wanted:
            break
        if np.count_nonzero(labels == labels[site]) > 1:
            continue
        outside = dense[parts == site][:, parts != site].sum(axis=0) > 0
        near = sorted(set(labels[parts[parts != site][outside]]))
        targets = [np.where(np.arange(labels.size) == site, c, labels) for c in near]
        if targets:
            labels = max(targets, key=lambda found: value(found[parts]))
        elif orphans is None:
            orphans = labels[site]
        else:
            labels[site] = orphans
    return labels


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
