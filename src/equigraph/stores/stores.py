"""Choice of the store for the rows of a graph: in this process, on disk, or on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from equigraph._utils.parameters import AnyOf, Choice, Constraint, Instance
from equigraph.graph import Graph
from equigraph.stores.block_files import BLOCK_BYTES, block_cuts, entry_bytes
from equigraph.stores.blocks import BlockGraph, MemoryBlocks
from equigraph.stores.dask_rows import DaskRows, dask_client
from equigraph.stores.rows import StreamedRows

# Store of a graph in row blocks, and of panels with one row per node.
RowStore = StreamedRows | DaskRows


class _Address(Choice):
    """The word "dask", or the address of a scheduler."""

    def _accepts(self, value: Any) -> bool:
        return super()._accepts(value) or (isinstance(value, str) and "://" in value)

    def _describe(self) -> str:
        return "'dask' or the address of a Dask scheduler such as 'tcp://10.0.0.1:8786'"


EXECUTION: Constraint = AnyOf(
    help="Where the rows are kept: here, on the current Dask cluster, or on the one at an address.",
    optional=True,
    options=(
        _Address(values=("dask",)),
        Instance(methods=("submit", "nthreads", "as_current"), words="a distributed.Client"),
    ),
)


def is_out_of_core(graph: Graph | BlockGraph, execution: Any) -> bool:
    """Return whether the rows of a graph are not all in the memory of this process."""
    return execution is not None or isinstance(graph, BlockGraph)


def n_entries_of(graph: Graph | BlockGraph) -> int:
    """Return the number of stored entries of a graph, in memory or on disk."""
    return int(graph.n_entries if isinstance(graph, BlockGraph) else graph.adjacency.nnz)


def check_scheduler(execution: Any) -> None:
    """Raise a ParameterError if no scheduler answers at an address, even if the graph is too small to need one."""
    if isinstance(execution, str) and execution != "dask":
        with dask_client(execution):
            pass


def _split(graph: Graph) -> MemoryBlocks:
    """Return the row blocks of a graph in memory, at least 16 unless it has fewer rows.

    Their number does not depend on that of the workers, so neither do sums over blocks and results.
    """
    adjacency = graph.unit_adjacency
    each = entry_bytes(adjacency)
    most = -(-(adjacency.nnz * each + 4 * graph.n_nodes) // 16)
    cuts = block_cuts(adjacency.indptr, each, block_bytes=min(BLOCK_BYTES, most))
    return MemoryBlocks.of(adjacency, cuts)


@contextmanager
def open_store(graph: Graph | BlockGraph, execution: Any) -> Iterator[RowStore]:
    """Give the rows of a graph, weights in units of the largest, where they were asked to be kept, and let them go."""
    with ExitStack() as stack:
        store: RowStore
        if execution is None:
            assert isinstance(graph, BlockGraph)
            store = StreamedRows(graph.in_units())
        else:
            client = stack.enter_context(dask_client(execution))
            store = DaskRows(client, graph.in_units() if isinstance(graph, BlockGraph) else _split(graph))
        stack.callback(store.close)
        yield store
