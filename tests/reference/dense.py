"""Naive dense oracles: the equations as printed, with n x n matrices and explicit loops."""

import numpy as np


def contrastive_matrices(groups, self_pairs):
    """Return N and P of the paper, row-normalised."""
    groups = np.asarray(groups)
    same = (groups[:, None] == groups[None, :]).astype(float)
    other = 1.0 - same
    if not self_pairs:
        np.fill_diagonal(same, 0.0)
    same_sums = same.sum(axis=1, keepdims=True)
    same = np.divide(same, same_sums, out=np.zeros_like(same), where=same_sums > 0)
    return same, other / other.sum(axis=1, keepdims=True)


def contrastive_laplacian(groups, self_pairs):
    """Return L = D - C with C = P - N; D vanishes but for groups of one node, whose N-row is defined as 0."""
    N, P = contrastive_matrices(groups, self_pairs)
    C = P - N
    D = np.diag(C.sum(axis=1))
    D[N.sum(axis=1) == 0] = 0.0
    return D - C


def objective(A, H, W, lam, L):
    return np.linalg.norm(A - H @ W @ H.T) ** 2 + lam * np.trace(H.T @ L @ H)


def ifair_nmtf(A, H, W, lam, L, n_iter, floor=1e-10):
    """Run Algorithm 1 with dense matrices; return factors and the objective after each iteration."""
    up, down = np.maximum(L, 0), np.maximum(-L, 0)
    history = []
    for _ in range(n_iter):
        numerator = A.T @ H @ W + A @ H @ W.T + lam * down @ H
        denominator = H @ W.T @ H.T @ H @ W + H @ W @ H.T @ H @ W.T + lam * up @ H
        H = H * (numerator / np.maximum(denominator, floor)) ** 0.25
        W = W * (H.T @ A @ H) / np.maximum(H.T @ H @ W @ H.T @ H, floor)
        history.append(objective(A, H, W, lam, L))
    return H, W, np.array(history)


def normalised_objective(A, H, W, penalty=None, weight=0.0):
    """Return J of FairNMTF: the penalty sees columns whose strongest link, in units of their length, is 1."""
    A = A.toarray().astype(float) if hasattr(A, "toarray") else A
    length = np.linalg.norm(H, axis=0)
    strongest = (W * length).max(axis=1)
    w = np.divide(strongest, length, out=np.zeros_like(length), where=length > 0)
    cost = weight * penalty.value(H * np.sqrt(w)) if weight and penalty is not None else 0.0
    mean_degree = A.sum() / A.shape[0]
    return np.linalg.norm(A - H @ W @ H.T) ** 2 / np.linalg.norm(A) ** 2 + cost / (H.shape[1] * mean_degree)
