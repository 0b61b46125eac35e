"""The objective by its definitions, with loops, for the tests of this folder."""

from __future__ import annotations

import numpy as np


def naive_modularity(dense, labels, resolution=1.0):
    total = dense.sum()
    if total == 0:
        return 0.0
    degrees = dense.sum(axis=1)
    value = 0.0
    for i in range(len(labels)):
        for j in range(len(labels)):
            if labels[i] == labels[j]:
                value += dense[i, j] / total - resolution * degrees[i] * degrees[j] / total**2
    return value


def naive_notion(labels, codes, notion):
    labels, codes = list(map(int, labels)), list(map(int, codes))
    n, groups = len(codes), sorted(set(codes))
    value, n_clusters = 0.0, 0
    for cluster in sorted(set(labels)):
        inside = [g for label, g in zip(labels, codes, strict=True) if label == cluster]
        counts = [inside.count(g) for g in groups]
        n_clusters += 1
        if notion == "balance":
            value += min(counts) / max(counts)
        elif notion == "mouflon":
            worst = min(c / (len(inside) - c) if c < len(inside) else np.inf for c in counts)
            value += len(inside) / n * (len(groups) - 1) * worst
        else:
            ratios = [c / len(inside) / (codes.count(g) / n) for c, g in zip(counts, groups, strict=True)]
            value += len(inside) / n * min(min(r, 1 / r) if r else 0.0 for r in ratios)
    return value / n_clusters if notion == "balance" else value


def naive_objective(dense, labels, codes, fairness, notion, resolution=1.0):
    q = naive_modularity(dense, labels, resolution)
    return (1 - fairness) * q + fairness * naive_notion(labels, codes, notion)
