"""The objective by its definitions, with loops and exact fractions, for the tests of label search."""

import math
from fractions import Fraction

import numpy as np

NOTIONS = ("normalized", "balance", "mouflon", "evenness")


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


def whole_nodes(count, expected):
    """Return m(T, e): 1 between the floor and the ceiling of what is expected, a ratio to them outside."""
    if count < math.floor(expected):
        return count / math.floor(expected)
    if count > math.ceil(expected):
        return math.ceil(expected) / count
    return 1.0


def cluster_score(counts, population, notion):
    """Return the score of one cluster that has a member."""
    size, n, h = sum(counts), sum(population), len(counts)
    shares = [(Fraction(c, size), Fraction(p, n)) for c, p in zip(counts, population, strict=True)]
    if notion == "balance":
        return min(counts) / max(counts)
    if notion == "mouflon":
        return 1.0 if h == 1 else min((h - 1) * c / (size - c) if c < size else np.inf for c in counts)
    if notion == "normalized":
        return min(whole_nodes(c, Fraction(size * p, n)) for c, p in zip(counts, population, strict=True))
    if notion == "ratio":  # shares over shares, which no whole nodes can reach where groups are small
        return float(min(min(r / p, p / r) if r else 0 for r, p in shares))
    most = sum(2 * p * (1 - p) for _, p in shares)
    return float(1 - sum(abs(r - p) for r, p in shares) / most) if most else 1.0


def naive_notion(labels, codes, notion, weights=None):
    """Return N of labels; codes of several attributes are columns, and -1 is no group."""
    columns = np.asarray(codes).reshape(len(labels), -1).T.tolist()
    weights = [1.0] * len(columns) if weights is None else list(weights)
    value = sum(
        w * _of_attribute(list(labels), column, notion) for w, column in zip(weights, columns, strict=True)
    )
    return value / sum(weights)


def _of_attribute(labels, codes, notion):
    known = [code for code in codes if code >= 0]
    groups = sorted(set(known))
    population = [known.count(group) for group in groups]
    value, n_clusters = 0.0, 0
    for cluster in sorted(set(labels)):
        inside = [g for label, g in zip(labels, codes, strict=True) if label == cluster and g >= 0]
        if inside:
            score = cluster_score([inside.count(group) for group in groups], population, notion)
            n_clusters += 1
            value += score if notion == "balance" else len(inside) / len(known) * score
    return value / n_clusters if notion == "balance" else value


def naive_objective(dense, labels, codes, fairness, notion, resolution=1.0, *, weights=None, cap=np.inf):
    q = naive_modularity(dense, labels, resolution)
    return (1 - fairness) * q + fairness * min(naive_notion(labels, codes, notion, weights), cap)
