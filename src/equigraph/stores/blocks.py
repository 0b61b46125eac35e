"""Row blocks of a graph on disk: a folder of plain npy files, read block by block.

A folder holds ``blocks.json`` and, for every block of consecutive rows, ``indptr-*.npy``, ``indices-*.npy`` and, unless
all weights are equal, ``data-*.npy``. If the graph has ``groups`` or ``names``, these are stored too: numbers as npy,
text as JSON.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.text import count
from equigraph.exceptions import GraphError, GroupsError, reason
from equigraph.graph.features import place_features
from equigraph.graph.graph import Graph, _hash_texts, group_words, hash_features
from equigraph.graph.names import text_array
from equigraph.graph.validate import largest_weight, shares_of
from equigraph.stores.block_files import (
    BLOCK_BYTES,
    RowBlock,
    block_cuts,
    block_paths,
    block_writer,
    check_block,
    check_file,
    entry_bytes,
    load_array,
    read_json,
    read_meta,
    save_block,
    split_rows,
)


@dataclass(frozen=True, eq=False, repr=False)
class BlockGraph:
    """Undirected graph with rows on disk, written by `write_blocks` and opened by `open_blocks`.

    `FairPartition`, `FairNMTF`, `IFairNMTF` and `NMTF` fit it without reading it as a whole. Everything else needs the
    graph in memory: ``to_graph()``.

    Attributes
    ----------
    folder : Path
        Folder of the blocks.
    nodes : Graph
        The nodes, with their names and groups, without edges.
    n_nodes, n_entries : int
        Number of nodes, and of stored entries (two for every edge).
    cuts : tuple of int
        Block i holds the rows from ``cuts[i]`` to ``cuts[i + 1]``.
    dtype : dtype
        Type of the weights, float32 or float64.
    squared_norm, total : float
        Sum of the squared weights, and of the weights, over all stored entries.
    value : float or None
        The common weight of all edges, or None if they differ.
    sensitive_features : ndarray of shape (n_nodes,) or None
        Group of each node.
    attribute : str or None
        Name of the attribute that defines the groups.
    node_names : ndarray of shape (n_nodes,)
        Names of the nodes; by default 0, 1, 2, ...
    """

    folder: Path
    nodes: Graph
    n_entries: int
    cuts: tuple[int, ...]
    dtype: np.dtype
    squared_norm: float
    total: float
    value: float | None
    # Unit of the weights of the blocks; 1 unless set by `in_units`.
    block_unit: float = 1.0
    # Length and checksum of every file, None to skip checks; and the state of each block when it was last checked.
    _facts: dict[str, dict[str, int]] | None = None
    _seen: dict[int, tuple[int, ...]] = field(default_factory=dict)

    n_nodes = property(attrgetter("nodes.n_nodes"))
    node_names = property(attrgetter("nodes.node_names"))
    sensitive_features = property(attrgetter("nodes.sensitive_features"))
    attribute = property(attrgetter("nodes.attribute"))
    attributes = property(attrgetter("nodes.attributes"))
    groups = property(attrgetter("nodes.groups"))
    missing = property(attrgetter("nodes.missing"))
    attribute_options = property(attrgetter("nodes.attribute_options"))
    positional = property(attrgetter("nodes.positional"))
    named = property(attrgetter("nodes.named"))

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.cuts) - 1

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.n_entries // 2

    @property
    def is_weighted(self) -> bool:
        """Whether any edge has a weight other than 1."""
        return self.value != 1.0

    @property
    def checks(self) -> bool:
        """Whether files are compared with their checksums at first use."""
        return self._facts is not None

    @cached_property
    def unit(self) -> float:
        """The largest weight, as for `Graph`; if weights differ, it takes one pass, and is cached."""
        if self.value is not None:
            return self.value
        return max(largest_weight(block.weights(self.dtype)) for block in self.blocks())

    def in_units(self, unit: float | None = None) -> BlockGraph:
        """Return the graph with weights divided by a unit, by default the largest weight, as methods expect."""
        unit = self.unit if unit is None else unit
        return replace(
            self,
            squared_norm=self.squared_norm / unit**2,
            total=self.total / unit,
            value=None if self.value is None else 1.0,
            block_unit=unit,
        )

    def block(self, number: int, *, mapped: bool = True) -> RowBlock:
        """Return one block; with `mapped` its files are memory-mapped.

        A block is checked at first use, and again if one of its files was written since.

        Raises
        ------
        GraphError
            If a file is missing or was changed, or its content is not valid.
        """
        paths = block_paths(self.folder, number, self.value is None)
        state = _state(paths)
        unseen = self.checks and self._seen.get(number) != state
        if unseen:
            for path in paths:
                check_file(path, (self._facts or {}).get(path.name))
        indptr, indices, *weights = (load_array(path, mapped) for path in paths)
        low, high = self.cuts[number], self.cuts[number + 1]
        block = RowBlock(low, high, indptr, indices, weights[0] if weights else None, self.value or 1.0)
        if unseen:
            check_block(block, self.n_nodes, paths[0])
            self._seen[number] = state
        if block.data is None or self.block_unit == 1:
            return block
        return replace(block, data=shares_of(block.data, self.block_unit))

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the blocks in order, each opened on demand."""
        return map(self.block, range(self.n_blocks))

    def with_groups(
        self, sensitive_features: ArrayLike, attribute: str | None = None, *, missing: str = "error"
    ) -> BlockGraph:
        """Return the graph with other groups, one value per node: in node order, or by the names of the nodes.

        With ``missing="ignore"`` None marks nodes without a group, as in `read_graph`.
        """
        nodes = place_features(self.nodes, sensitive_features, order_known=True, missing=missing)
        return self.with_features_of(nodes._but(attribute=attribute) if attribute is not None else nodes)

    def with_features_of(self, nodes: Graph) -> BlockGraph:
        """Return the graph with the groups of a graph with the same nodes, such as that of `without_edges`."""
        features = ("sensitive_features", "attribute", "missing", "attribute_options")
        return replace(self, nodes=self.nodes._but(**{name: getattr(nodes, name) for name in features}))

    def without_edges(self) -> Graph:
        """Return a graph of the nodes and groups without edges."""
        return self.nodes

    def to_graph(self) -> Graph:
        """Read the graph into memory."""
        adjacency = sparse.vstack(
            [block.csr(self.n_nodes, self.dtype) for block in self.blocks()], format="csr"
        )
        return self.nodes._but(adjacency=Graph(adjacency, self.node_names).adjacency)

    def fingerprint(self) -> str:
        """Return the hash of the graph, equal to `Graph.fingerprint`; this reads all blocks."""
        digest = hashlib.sha256(f"indptr:{self.n_nodes + 1};".encode())
        digest.update(np.zeros(1, dtype="<i8").data)
        start = 0
        for block in self.blocks():
            digest.update(np.ascontiguousarray(block.indptr[1:].astype(np.int64) + start, dtype="<i8").data)
            start += block.n_entries
        indices = (np.asarray(block.indices, dtype="<i8") for block in self.blocks())
        weights = (np.asarray(block.weights(), dtype="<f8") for block in self.blocks())
        for name, parts in (("indices", indices), ("weights", weights)):
            digest.update(f"{name}:{self.n_entries};".encode())
            for part in parts:
                digest.update(np.ascontiguousarray(part).data)
        _hash_texts(digest, "names", self.node_names)
        hash_features(digest, self.sensitive_features)
        return digest.hexdigest()

    def verify(self) -> None:
        """Compare every file with the checksum stored when it was written.

        Raises
        ------
        GraphError
            If a file differs; the message names the first one.
        """
        for name, facts in read_meta(self.folder)["files"].items():
            check_file(self.folder / name, facts)

    def __repr__(self) -> str:
        parts = [count(self.n_nodes, "node"), count(self.n_edges, "edge"), count(self.n_blocks, "block")]
        parts += group_words(self.sensitive_features, self.attribute)
        return f"BlockGraph({', '.join(parts)})"


class MemoryBlocks:
    """Consecutive row blocks in memory, with the interface of `BlockGraph` for walks along blocks."""

    def __init__(self, blocks: Sequence[RowBlock]):
        self._blocks = blocks
        self.cuts = (blocks[0].low, *(block.high for block in blocks))
        self.n_nodes = self.cuts[-1] - self.cuts[0]
        self.n_entries = sum(block.n_entries for block in blocks)

    @classmethod
    def of(cls, adjacency: sparse.csr_array, cuts: Sequence[int] | None = None) -> MemoryBlocks:
        """Split a graph in memory into blocks, by default one, which shares all its arrays."""
        if cuts is not None:
            return cls(list(split_rows(adjacency, cuts)))
        arrays = adjacency.indptr, adjacency.indices, adjacency.data
        return cls([RowBlock(0, int(adjacency.shape[0]), *arrays)])

    def block(self, number: int, *, mapped: bool = True) -> RowBlock:
        """Return a block; ``mapped`` has no effect."""
        return self._blocks[number]


def open_blocks(folder: str | os.PathLike[str], *, check: bool = True) -> BlockGraph:
    """Open a folder of row blocks; only its metadata is read.

    Parameters
    ----------
    folder : path
        A folder written by `write_blocks`.
    check : bool, default=True
        Whether to compare every file with its checksum, and to check the range of its numbers, at first use. Without
        checks a damaged block may change the labels or crash the process.

    Returns
    -------
    BlockGraph

    Raises
    ------
    GraphError
        If it is not such a folder, or a file in it is missing or has another length than when it was written.
    """
    folder = Path(folder)
    meta = read_meta(folder)
    for name, facts in meta["files"].items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != facts["bytes"]:
            raise GraphError(
                f"{path} is missing or has another length than when it was written: write the blocks again."
            )
    n_nodes = meta["n_nodes"]
    names = _stored(folder, "names", meta["files"], n_nodes, check)
    groups = _stored(folder, "groups", meta["files"], n_nodes, check)
    return BlockGraph(
        folder=folder,
        nodes=Graph._trusted(
            sparse.csr_array((n_nodes, n_nodes)),
            np.arange(n_nodes) if names is None else names,
            sensitive_features=groups,
            attribute=meta["attribute"],
            named=meta["named"],
        ),
        cuts=tuple(meta["cuts"]),
        dtype=np.dtype(meta["dtype"]),
        _facts=meta["files"] if check else None,
        **{name: meta[name] for name in ("n_entries", "squared_norm", "total", "value")},
    )


def write_blocks(
    graph: Any,
    folder: str | os.PathLike[str],
    *,
    rows_per_block: int | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> BlockGraph:
    """Write a graph in memory as row blocks.

    Parameters
    ----------
    graph : graph
        Anything that `equigraph.graph.as_graph` takes. For an edge set that does not fit in memory see
        `equigraph.stores.edge_blocks.write_edge_blocks`.
    folder : path
        A new or empty folder; it is created atomically.
    rows_per_block : int, optional
        Rows of every block; by default as many as fit in `block_bytes`.
    block_bytes : int
        Approximate size of a block.

    Returns
    -------
    BlockGraph
        The folder, opened.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_blocks(room.adjacency, Path(folder) / "room", rows_per_block=8)
    BlockGraph(30 nodes, 73 edges, 4 blocks)
    """
    from equigraph.graph import as_graph

    graph = as_graph(graph)
    if isinstance(graph.sensitive_features, dict):
        raise GroupsError(
            f"Row blocks hold one attribute, and the graph has {len(graph.sensitive_features)}: read it with one, or "
            "with joint groups."
        )
    if graph.groups is not None and graph.groups.n_ungrouped:
        raise GroupsError(
            f"Row blocks hold a group for every node, and {graph.groups.n_ungrouped} of {graph.n_nodes} have none: "
            f"read the graph with missing='drop' or missing='own-group'."
        )
    adjacency = graph.adjacency
    cuts = block_cuts(adjacency.indptr, entry_bytes(adjacency), rows_per_block, block_bytes)
    with block_writer(folder, graph.n_nodes, cuts, adjacency.dtype) as writer:
        for number, block in enumerate(split_rows(adjacency, cuts)):
            writer.add(save_block(writer.partial, number, block))
        if not np.array_equal(graph.node_names, np.arange(graph.n_nodes)):
            writer.save("names", graph.node_names)
        if graph.sensitive_features is not None:
            writer.save("groups", graph.sensitive_features)
        writer.meta.update(attribute=graph.attribute, named=graph.named)
    return open_blocks(folder)


def evaluate_blocks(graph: BlockGraph, labels: ArrayLike, *, n_clusters: int | None = None) -> dict[str, Any]:
    """Return the scores of `equigraph.metrics.evaluate`, by one pass over the blocks."""
    from equigraph.metrics import evaluate

    # All scores but Q depend on labels and groups only.
    scores = evaluate(graph.without_edges(), labels, n_clusters=n_clusters)
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    inside, volume = 0.0, np.zeros(names.size)
    for block in graph.in_units().blocks():
        own, weights = np.repeat(codes[block.low : block.high], np.diff(block.indptr)), block.weights()
        inside += float(weights[own == codes[block.indices]].sum())
        volume += np.bincount(own, weights, minlength=names.size)
    total = max(float(volume.sum()), np.finfo(float).tiny)
    scores["Q"] = inside / total - float(np.square(volume / total).sum())
    return scores


def _stored(
    folder: Path, name: str, files: dict[str, dict[str, int]], n_nodes: int, check: bool
) -> NDArray[Any] | None:
    """Return names or groups stored in a folder, or None if there are none."""
    kinds = (f"{name}.json", f"{name}.npy")
    path = next((folder / kind for kind in kinds if kind in files), None)
    if path is None:
        return None
    if check:
        check_file(path, files[path.name])
    if path.suffix == ".json":
        listed = read_json(path)
        is_text = isinstance(listed, list) and all(isinstance(text, str) for text in listed)
        values = text_array(listed if is_text else [])
    else:
        values = load_array(path, mapped=False)
    if values.shape != (n_nodes,) or (path.suffix == ".npy" and values.dtype.kind not in "iufb"):
        raise GraphError(
            f"{path} does not hold one value for each of {count(n_nodes, 'node')}: write the blocks again."
        )
    return values


def _state(paths: Sequence[Path]) -> tuple[int, ...]:
    """Return modification times, lengths and inodes of files, which change when one of them is written."""
    try:
        facts = [path.stat() for path in paths]
    except OSError as error:
        raise GraphError(
            f"{error.filename} cannot be read ({reason(error)}): write the blocks again."
        ) from error
    return tuple(number for fact in facts for number in (fact.st_mtime_ns, fact.st_size, fact.st_ino))
