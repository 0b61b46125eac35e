"""Whole-number tables with given margins between floor and ceiling of a table in proportion."""

import numpy as np
from scipy.optimize import linprog


def rounded_table(sizes, population):
    """Return counts between floor and ceiling of ``size * share`` whose margins are the sizes and the population.

    The constraints are those of a flow from clusters to groups, whose vertices are whole numbers, so any vertex of the
    linear programme will do.
    """
    sizes, population = np.asarray(sizes, dtype=np.int64), np.asarray(population, dtype=np.int64)
    n = int(population.sum())
    product = np.outer(sizes, population)
    low, high = product // n, -(-product // n)
    rows = np.kron(np.eye(sizes.size), np.ones(population.size))
    columns = np.kron(np.ones(sizes.size), np.eye(population.size))
    found = linprog(
        np.zeros(product.size),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([sizes, population]),
        bounds=np.column_stack([low.ravel(), high.ravel()]),
        method="highs-ds",
    )
    assert found.status == 0, found.message
    table = np.round(found.x).astype(np.int64)
    assert np.abs(found.x - table).max() < 1e-6
    return table.reshape(product.shape)
