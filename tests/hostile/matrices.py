"""Matrices that break algorithms: odd shapes, odd weights, odd layouts, odd groups.

Every one is either a graph, and then every method has to serve it, or none, and then one sentence says so.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tests.contract.menagerie import CASES

GROUPS = np.arange(24) // 3 % 2


class Hostile(NamedTuple):
    name: str
    matrix: Any
    groups: Any = GROUPS
    n_clusters: int = 2


def _weighted(n=24, seed=0):
    """Two communities with weights, every node with an edge."""
    rng = np.random.default_rng(seed)
    inside = (np.arange(n) % 2)[:, None] == np.arange(n) % 2
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < np.where(inside, 0.8, 0.15)), 1)
    upper[np.arange(n - 1), np.arange(1, n)] += 0.05
    return upper + upper.T


def _symmetric(n, edges, weights=None):
    matrix = np.zeros((n, n))
    for place, (i, j) in enumerate(edges):
        matrix[i, j] = matrix[j, i] = 1.0 if weights is None else weights[place]
    return matrix


BASE = _weighted()
POWERS = (-310, -300, -200, -150, -100, -12, -8, 8, 100, 150, 153, 200, 300, 307)
UNITS = (5e-324, 3.0, *(float(f"1e{power}") for power in POWERS))


def _units():
    for unit in UNITS:
        yield Hostile(f"weights times {unit:g}", BASE * unit)
        yield Hostile(f"all weights {unit:g}", (BASE > 0) * unit)
    yield Hostile("all weights the largest double", (BASE > 0) * np.finfo(float).max)
    yield Hostile("all weights the smallest double", (BASE > 0) * np.nextafter(0, 1))


def _spread():
    rng = np.random.default_rng(1)
    for low, high in ((-300, 300), (-150, 150), (-12, 12), (-320, -280), (280, 308)):
        exponents = np.triu(rng.uniform(low, high, BASE.shape), 1)
        weights = 10.0 ** (exponents + exponents.T)
        yield Hostile(f"weights 1e{low} to 1e{high}", np.where(BASE > 0, weights, 0))
    for weight in (1e-300, 1e-30, 1e30, 1e300):
        odd = BASE.copy()
        odd[0, 1] = odd[1, 0] = weight
        yield Hostile(f"one edge of {weight:g}", odd)
        node = BASE.copy()
        node[0] *= weight
        node[:, 0] *= weight
        yield Hostile(f"one node times {weight:g}", node)
        part = BASE.copy()
        part[:12, 12:] = part[12:, :12] = 0
        part[:12, :12] *= weight
        yield Hostile(f"one component times {weight:g}", part)
    near = np.triu(rng.integers(-3, 4, BASE.shape), 1) * 2.0**-52
    yield Hostile("weights that differ in the last bit", np.where(BASE > 0, 1 + near + near.T, 0))
    yield Hostile("whole numbers beyond 2**53", (BASE * 2.0**60).round())


def _shapes():
    for case in CASES:
        yield Hostile(case.name, case.adjacency, case.groups, case.n_clusters)
        yield Hostile(f"{case.name}, in 1e-300", case.adjacency * 1e-300, case.groups, case.n_clusters)
    pairs = np.arange(12) % 2
    yield Hostile("no edge", np.zeros((12, 12)), pairs)
    yield Hostile("one edge", _symmetric(12, [(0, 1)]), pairs)
    yield Hostile("ten pairs", _symmetric(20, [(i, i + 1) for i in range(0, 20, 2)]), np.arange(20) % 2, 4)
    yield Hostile("ring", _symmetric(12, [(i, (i + 1) % 12) for i in range(12)]), pairs, 3)
    yield Hostile("two stars", _symmetric(12, [(6 * (i // 6), i) for i in range(12) if i % 6]), pairs)
    yield Hostile("hub and isolated", _symmetric(30, [(0, i) for i in range(1, 12)]), np.arange(30) % 3, 4)
    yield Hostile("as many clusters as nodes", BASE[:8, :8], GROUPS[:8], 8)
    yield Hostile("two nodes", np.ones((2, 2)) - np.eye(2), np.array([0, 1]))
    grid = [(i, i + 1) for i in range(24) if i % 5 != 4] + [(i, i + 5) for i in range(20)]
    yield Hostile("grid", _symmetric(25, grid), np.arange(25) % 2, 4)
    heavy = _symmetric(12, [(3, 7)], [1e6])
    yield Hostile("complete, one weight heavy", np.where(np.eye(12), 0, 1) + heavy, pairs)
    yield Hostile("self-loops alone", np.eye(12), pairs)
    yield Hostile("self-loops of 1e308", BASE + np.eye(24) * 1e308)


def _layouts():
    csr = sparse.csr_array(BASE)
    for kind in ("csc", "coo", "bsr", "dia", "dok", "lil"):
        yield Hostile(f"as {kind}", csr.asformat(kind))
    yield Hostile("as csr_matrix", sparse.csr_matrix(BASE))
    for dtype in (np.float32, np.float16, np.longdouble, ">f8"):
        yield Hostile(f"of dtype {np.dtype(dtype)}", BASE.astype(dtype))
    for dtype in (np.int8, np.uint8, np.int64, np.uint64, bool):
        yield Hostile(f"of dtype {np.dtype(dtype)}", (BASE * 9).round().astype(dtype))
    yield Hostile("fortran order", np.asfortranarray(BASE))
    yield Hostile("a strided view", np.kron(BASE, np.ones((2, 2)))[::2, ::2])
    frozen = BASE.copy()
    frozen.flags.writeable = False
    yield Hostile("read only", frozen)
    locked = csr.copy()
    for array in (locked.data, locked.indices, locked.indptr):
        array.flags.writeable = False
    yield Hostile("read only csr", locked)
    long = csr.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    yield Hostile("64-bit indices", long)
    yield Hostile("unsorted indices", csr[:, ::-1][::-1].tocsc().tocsr()[::-1][:, ::-1])
    coo = sparse.coo_array(BASE)
    twice = (np.r_[coo.row, coo.row], np.r_[coo.col, coo.col])
    yield Hostile("every entry twice", sparse.coo_array((np.r_[coo.data, coo.data], twice), shape=BASE.shape))
    zeros = sparse.csr_array((np.r_[csr.data[:-2], 0.0, 0.0], csr.indices, csr.indptr), shape=csr.shape)
    yield Hostile("stored zeros", zeros.maximum(zeros.T))
    yield Hostile("nested lists", BASE.tolist(), GROUPS.tolist())
    exact = np.vectorize(lambda value: Fraction(value).limit_denominator(99), otypes=[object])
    yield Hostile("fractions", exact(BASE))
    yield Hostile("np.matrix", sparse.csr_matrix(BASE).todense())


def _groups():
    rng = np.random.default_rng(2)
    yield Hostile("every node a group", BASE, np.arange(24))
    yield Hostile("one against all", BASE, np.arange(24) == 7)
    yield Hostile("one group", BASE, np.zeros(24, int))
    yield Hostile("groups are the clusters", BASE, np.arange(24) % 2)
    yield Hostile("odd names", BASE, np.array(["\x1b[31mred", "=1+1", "é\u0301", "\u202etxt"] * 6))
    yield Hostile("a name of 10,000 letters", BASE, np.array(["x" * 10_000, "y"] * 12))
    yield Hostile("booleans", BASE, rng.random(24) < 0.5)
    yield Hostile("huge numbers", BASE, np.array([2**62, -(2**62)] * 12))
    yield Hostile("objects of two kinds", BASE, np.array([1, "1"] * 12, dtype=object))


def _refused():
    def changed(change, base=BASE):
        matrix = base.copy()
        change(matrix)
        return matrix

    for name, value in (("NaN", np.nan), ("infinity", np.inf), ("a negative weight", -1.0)):
        yield Hostile(f"{name} in it", changed(lambda m, v=value: m.__setitem__(([0, 1], [1, 0]), v)))
    yield Hostile("asymmetric", np.triu(BASE))
    yield Hostile("complex", BASE.astype(complex))
    yield Hostile("texts", BASE.astype(str))
    yield Hostile("not square", BASE[:, :-1])
    yield Hostile("three dimensions", BASE[None])
    yield Hostile("empty", np.zeros((0, 0)), np.zeros(0))
    yield Hostile("fewer nodes than clusters", BASE[:3, :3], GROUPS[:3], 5)
    yield Hostile("masked", np.ma.masked_equal(BASE, BASE[0, 1]))
    yield Hostile("groups of another length", BASE, GROUPS[:-1])
    yield Hostile("a group missing", BASE, np.where(np.arange(24) == 5, np.nan, GROUPS))
    broken = sparse.csr_array(BASE)
    broken.indices[0] = 10**8
    yield Hostile("an index out of range", broken)
    pointers = sparse.csr_array(BASE)
    pointers.indptr[3] = 10**8
    yield Hostile("a pointer out of range", pointers)
    large = sparse.coo_array(([1e308] * 4, ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(4, 4))
    yield Hostile("duplicates that add up to infinity", large, GROUPS[:4])


MATRICES = [
    *_units(), *_spread(), *_shapes(), *_layouts(), *_groups(), *_refused(),
]  # fmt: skip
