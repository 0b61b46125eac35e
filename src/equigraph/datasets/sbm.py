"""Random graphs with planted clusters and groups, drawn in time and memory proportional to their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.parameters import Integer, Real, Seed, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph.exceptions import ParameterError
from equigraph.graph.sparse_arrays import canonical_index

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Whole = NDArray[np.int64]
MAX_EDGES = 500_000_000
_CONSTRAINTS = {
    "n_nodes": Integer(low=2),
    "n_clusters": Integer(low=1),
    "n_groups": Integer(low=1),
    "mean_degree": Real(low=0, open_low=True),
    "mixing": Real(low=0, high=1),
    "random_state": Seed(),
}


def make_fair_sbm(
    n_nodes: int,
    n_clusters: int = 5,
    n_groups: int = 5,
    *,
    probabilities: tuple[float, float, float, float] | None = None,
    cluster_shares: ArrayLike | None = None,
    group_shares: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Bunch:
    """Draw a stochastic block model whose planted clusters are fair.

    Every cluster holds the groups in the same shares, so the planted clusters mirror the population. Edges
    are independent; with the usual ``a > b > c > d`` a shared group binds more than a shared cluster, and a
    method that ignores fairness finds the groups.

    ============  ==========  ===========
    same cluster  same group  probability
    ============  ==========  ===========
    yes           yes         a
    no            yes         b
    yes           no          c
    no            no          d
    ============  ==========  ===========

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    n_clusters, n_groups : int, default=5
        Number of planted clusters and of groups.
    probabilities : tuple of 4 floats, optional
        The probabilities (a, b, c, d), in [0, 1]. By default ``(10, 7, 4, 1) * (log(n) / n) ** (2 / 3)``, the
        setting of [2]_ and [3]_; it needs 161 nodes or more, so that a stays within 1.
    cluster_shares : array-like of shape (n_clusters,), optional
        Share of the nodes in each cluster; equal by default.
    group_shares : array-like of shape (n_groups,), optional
        Share of each group, the same in every cluster; equal by default.
    random_state : int, numpy Generator or RandomState, optional
        Seed. The same seed gives the same graph.

    Returns
    -------
    sklearn.utils.Bunch
        ``adjacency`` (csr_array), ``sensitive_features`` (group codes), ``target`` (planted clusters),
        ``node_names`` (0 to n - 1) and ``probabilities``. Nodes are ordered by cluster, then by group.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or there are too few nodes to fill every block.

    Notes
    -----
    The block of a cluster and a group has ``n_nodes * cluster_share * group_share`` nodes. Where that is not
    whole, all the blocks are rounded together by the largest remainder, so that their sizes sum to
    ``n_nodes`` and none is off by one or more. Time and memory grow with the edges and with the square of
    ``n_clusters * n_groups``.

    References
    ----------
    .. [1] M. Kleindessner, S. Samadi, P. Awasthi, J. Morgenstern. Guarantees for spectral clustering with
       fairness constraints. ICML 2019.
    .. [2] J. Wang, D. Lu, I. Davidson, Z. Bai. Scalable spectral clustering with group fairness constraints.
       AISTATS 2023.
    .. [3] S. Ghodsi, S. A. Seyedi, E. Ntoutsi. Towards cohesion-fairness harmony: contrastive regularization
       in individual fair graph clustering. PAKDD 2024.

    Examples
    --------
    >>> sbm = make_fair_sbm(1000, 4, 2, random_state=0)
    >>> sbm.adjacency.shape, np.bincount(sbm.target).tolist(), np.bincount(sbm.sensitive_features).tolist()
    ((1000, 1000), [250, 250, 250, 250], [500, 500])
    """
    check_parameters("make_fair_sbm", _CONSTRAINTS, locals())
    n, k, h = int(n_nodes), int(n_clusters), int(n_groups)
    edge_probabilities = _sbm_probabilities(probabilities, n)
    shares = np.outer(
        check_shares(cluster_shares, k, "cluster_shares"), check_shares(group_shares, h, "group_shares")
    )
    sizes = _fill_blocks(n, shares.ravel(), "blocks (a cluster times a group)")
    rng = random_generator(random_state)
    first, second = np.triu_indices(k * h)
    same_cluster, same_group = first // h == second // h, first % h == second % h
    a, b, c, d = edge_probabilities
    chance = np.where(same_cluster, np.where(same_group, a, c), np.where(same_group, b, d))
    rows, columns = sample_block_edges(sizes, first, second, chance, rng)
    block = np.repeat(np.arange(k * h), sizes)
    return _bunch(rows, columns, groups=block % h, target=block // h, probabilities=edge_probabilities)


def make_planted_graph(
    n_nodes: int,
    n_clusters: int,
    *,
    mean_degree: float = 20,
    mixing: float = 0.2,
    group_mix: ArrayLike | None = None,
    cluster_shares: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Bunch:
    """Draw a graph with planted clusters whose mix of groups may be skewed.

    Edges depend on the clusters and not on the groups: only the mix of the planted clusters is unfair.

    Parameters
    ----------
    n_nodes, n_clusters : int
        Number of nodes and of planted clusters.
    mean_degree : float, default=20
        Expected degree, averaged over the nodes.
    mixing : float, default=0.2
        Expected share of the edge ends that lead out of the cluster, in [0, 1].
    group_mix : array-like of shape (n_clusters, n_groups), optional
        Share of each group in each cluster; every row sums to 1. By default two groups, 70 % to 30 % in the
        first cluster, 30 % to 70 % in the second, and so on in turn.
    cluster_shares : array-like of shape (n_clusters,), optional
        Share of the nodes in each cluster; equal by default.
    random_state : int, numpy Generator or RandomState, optional
        Seed. The same seed gives the same graph.

    Returns
    -------
    sklearn.utils.Bunch
        ``adjacency`` (csr_array), ``sensitive_features`` (group codes), ``target`` (planted clusters),
        ``node_names`` (0 to n - 1) and ``probabilities``: an array with the probability of an edge inside
        each cluster, and the one probability of an edge between two clusters. Nodes are ordered by cluster,
        then by group.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or a cluster is too small for the degree that is asked for.

    Notes
    -----
    Inside its cluster every node has the same expected degree, ``mean_degree * (1 - mixing)``, whatever the
    size of the cluster; every pair of nodes of different clusters is as likely as any other. Sizes are
    rounded by the largest remainder, those of the clusters first, then those of the groups of each cluster.
    Time and memory grow with the nodes and the edges alone.

    Examples
    --------
    >>> planted = make_planted_graph(1000, 4, random_state=0)
    >>> np.bincount(planted.sensitive_features[planted.target == 1]).tolist()
    [75, 175]
    """
    check_parameters("make_planted_graph", _CONSTRAINTS, locals())
    n, k = int(n_nodes), int(n_clusters)
    mix = _check_group_mix(group_mix, k)
    sizes = _fill_blocks(n, check_shares(cluster_shares, k, "cluster_shares"), "clusters")
    inside, outside = _planted_probabilities(sizes, mean_degree, mixing)
    rng = random_generator(random_state)
    clusters = np.arange(k)
    rows, columns = sample_block_edges(sizes, clusters, clusters, inside, rng)
    target = np.repeat(clusters, sizes)
    # Sample among all pairs of nodes and drop those inside a cluster: no loop over the pairs of clusters.
    whole = np.zeros(1, dtype=np.int64)
    out_rows, out_columns = sample_block_edges(np.array([n]), whole, whole, np.array([outside]), rng)
    out = target[out_rows] != target[out_columns]
    rows, columns = np.concatenate([rows, out_rows[out]]), np.concatenate([columns, out_columns[out]])
    counts = np.stack([largest_remainder(int(size), row) for size, row in zip(sizes, mix, strict=True)])
    groups = np.repeat(np.tile(np.arange(mix.shape[1]), k), counts.ravel())
    return _bunch(rows, columns, groups=groups, target=target, probabilities=(inside, outside))


def _sbm_probabilities(
    probabilities: tuple[float, float, float, float] | None, n: int
) -> tuple[float, float, float, float]:
    if probabilities is None:
        scale = (np.log(n) / n) ** (2 / 3)
        a, b, c, d = (float(factor * scale) for factor in (10, 7, 4, 1))
        if a > 1:
            raise ParameterError(
                f"The default probabilities need 161 nodes or more and n_nodes is {n}: give more nodes, or "
                "probabilities=(a, b, c, d)."
            )
        return a, b, c, d
    values = as_floats(probabilities, "probabilities")
    if values.shape != (4,) or not np.all((values >= 0) & (values <= 1)):
        raise ParameterError(
            f"probabilities={probabilities!r} is not usable: give four numbers (a, b, c, d) in [0, 1]."
        )
    a, b, c, d = values.tolist()
    return a, b, c, d


def _fill_blocks(n: int, shares: NDArray[np.float64], what: str) -> NDArray[np.int64]:
    sizes = largest_remainder(n, shares)
    n_empty = int(np.count_nonzero((sizes == 0) & (shares > 0)))
    if n_empty:
        raise ParameterError(
            f"n_nodes={n} is too small: {n_empty} of {shares.size} {what} would be empty; give more nodes or "
            "fewer blocks."
        )
    return sizes


def _check_group_mix(group_mix: ArrayLike | None, k: int) -> NDArray[np.float64]:
    if group_mix is None:
        return np.array([[0.7, 0.3], [0.3, 0.7]])[np.arange(k) % 2]
    mix = as_floats(group_mix, "group_mix")
    if mix.ndim != 2 or mix.shape[0] != k or mix.shape[1] == 0:
        raise ParameterError(
            f"group_mix has shape {mix.shape}: give one row of group shares for each of {k} clusters."
        )
    return np.stack([check_shares(row, mix.shape[1], f"Row {i} of group_mix") for i, row in enumerate(mix)])


def _planted_probabilities(
    sizes: NDArray[np.int64], mean_degree: float, mixing: float
) -> tuple[NDArray[np.float64], float]:
    n = int(sizes.sum())
    pairs_between = (n * n - int((sizes * sizes).sum())) // 2
    if mixing > 0 and pairs_between == 0:
        raise ParameterError("A single cluster has no edges that lead out of it: give mixing=0.")
    filled = np.maximum(sizes - 1, 0)
    if np.any((sizes > 0) & (mean_degree * (1 - mixing) > filled)):
        smallest = int(sizes[sizes > 0].min())
        raise ParameterError(
            f"The smallest cluster has {smallest} nodes and cannot hold an inner degree of "
            f"{mean_degree * (1 - mixing):g}: lower mean_degree, or give more nodes or fewer clusters."
        )
    inside = np.divide(mean_degree * (1 - mixing), filled, out=np.zeros(sizes.size), where=filled > 0)
    outside = mean_degree * mixing * n / 2 / pairs_between if pairs_between else 0.0
    if outside > 1:
        raise ParameterError(
            f"The clusters have only {pairs_between} pairs of nodes between them, too few for mean_degree="
            f"{mean_degree:g} and mixing={mixing:g}: lower one of the two."
        )
    return inside, outside


def _bunch(
    rows: NDArray, columns: NDArray, *, groups: NDArray, target: NDArray, probabilities: tuple
) -> Bunch:
    from sklearn.utils import Bunch

    n = target.size
    return Bunch(
        adjacency=adjacency_from_edges(rows, columns, n),
        sensitive_features=groups,
        target=target,
        node_names=np.arange(n),
        probabilities=probabilities,
    )


def random_generator(random_state: RandomState) -> np.random.Generator:
    """Return a Generator: the one given, or a new one from a seed or from a draw of a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(as_seed(random_state))
    return np.random.default_rng(random_state)


def as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return an array of numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name}={values!r} is not usable: give numbers.") from error


def check_shares(shares: ArrayLike | None, n_shares: int, name: str) -> NDArray[np.float64]:
    """Return shares that are nonnegative and sum to one; None means equal shares."""
    if shares is None:
        return np.full(n_shares, 1 / n_shares)
    values = as_floats(shares, name)
    if values.shape != (n_shares,):
        raise ParameterError(f"{name} has shape {values.shape}: give {n_shares} shares.")
    if not np.all(values >= 0) or abs(values.sum() - 1) > 1e-6:
        raise ParameterError(f"{name} sums to {values.sum():.6g}: give nonnegative shares that sum to 1.")
    return values / values.sum()


def largest_remainder(n: int, shares: NDArray[np.float64]) -> Whole:
    """Split n into whole parts as close to the shares as possible.

    Every part first gets its share rounded down; the parts that lost most by that get one more each, until the parts
    sum to n. Of equal remainders the first wins, so the split is the same on every machine.
    """
    exact = n * shares
    parts = np.floor(exact + 1e-9).astype(np.int64)
    remainder = np.round(exact - parts, 9)
    order = np.argsort(-remainder, kind="stable")
    parts[order[: n - int(parts.sum())]] += 1
    return parts


def sample_block_edges(
    sizes: Whole, first: Whole, second: Whole, probabilities: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Draw independent edges between blocks of consecutive nodes.

    The number of edges of a pair of blocks is binomial; given the number, every set of that many distinct node pairs is
    equally likely. That is the same law as one coin per node pair, without tossing the coins. Each unordered pair of
    blocks comes at most once; ``first == second`` stands for the edges inside. More than 500 million expected edges are
    an error.
    """
    inside = first == second
    slots = np.where(inside, sizes[first] * (sizes[first] - 1) // 2, sizes[first] * sizes[second])
    expected = float(slots @ probabilities)
    if expected > MAX_EDGES:
        raise ParameterError(
            f"These probabilities give about {expected:.2g} edges, above the limit of {MAX_EDGES:.0e}: "
            "lower the probabilities or the number of nodes."
        )
    counts = rng.binomial(slots, probabilities)
    keys = sample_distinct(slots, counts, rng)
    pair = np.repeat(np.arange(slots.size, dtype=np.int32), counts)
    keys -= (np.cumsum(slots) - slots)[pair]  # position inside the pair of blocks
    starts = np.cumsum(sizes) - sizes
    rows, columns = np.divmod(keys, np.maximum(sizes[second], 1)[pair])
    within = inside[pair]
    rows[within], columns[within] = triangle_pair(keys[within])
    rows += starts[first[pair]]
    columns += starts[second[pair]]
    return rows, columns


def sample_distinct(slots: Whole, counts: Whole, rng: np.random.Generator) -> Whole:
    """Choose ``counts[i]`` distinct slots out of ``slots[i]`` for every i.

    If more than half of the slots are requested, those to leave out are drawn instead. The result is sorted
    positions in the concatenation of all the ranges of slots.
    """
    dense = 2 * counts > slots
    offsets = np.cumsum(slots) - slots
    chosen = _draw_until_distinct(offsets, slots, np.where(dense, 0, counts), rng)
    if not dense.any():
        return chosen
    wide = slots[dense]
    local = np.cumsum(wide) - wide
    keep = np.ones(int(wide.sum()), dtype=bool)
    keep[_draw_until_distinct(local, wide, wide - counts[dense], rng)] = False
    kept = np.flatnonzero(keep)
    shift = np.repeat(offsets[dense] - local, counts[dense])
    return np.sort(np.concatenate([chosen, kept + shift]))


def _draw_until_distinct(offsets: Whole, slots: Whole, counts: Whole, rng: np.random.Generator) -> Whole:
    """Draw with replacement, drop repetitions and draw the missing ones, until nothing is missing.

    At most half of the slots of any range are asked for, so a draw is new with probability one half or more
    and the number of rounds is logarithmic. By symmetry every set of the size asked for is equally likely.
    """
    chosen = np.empty(0, dtype=np.int64)
    missing = counts
    while missing.any():
        drawn = rng.integers(0, np.repeat(slots, missing), dtype=np.int64)
        drawn += np.repeat(offsets, missing)
        drawn.sort()
        drawn = drawn if not chosen.size else np.sort(np.concatenate([chosen, drawn]), kind="stable")
        new = np.ones(drawn.size, dtype=bool)
        np.not_equal(drawn[1:], drawn[:-1], out=new[1:])
        chosen = drawn[new]
        bounds = np.searchsorted(chosen, np.append(offsets, np.iinfo(np.int64).max))
        bounds[-1] = chosen.size
        missing = counts - np.diff(bounds)
    return chosen


def triangle_pair(index: Whole) -> tuple[Whole, Whole]:
    """Return the pair (row, column), row > column >= 0, at a position of the strict lower triangle.

    The square root is only an estimate, which is corrected in integers.
    """
    row = ((1 + np.sqrt(8.0 * index + 1)) / 2).astype(np.int64)
    row -= row * (row - 1) // 2 > index
    row += row * (row + 1) // 2 <= index
    return row, index - row * (row - 1) // 2


def adjacency_from_edges(rows: NDArray, columns: NDArray, n_nodes: int) -> sparse.csr_array:
    """Return the canonical symmetric 0/1 adjacency of distinct undirected edges without self-loops."""
    half = sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=(n_nodes, n_nodes)).tocsr()
    return canonical_index(half + half.T)
