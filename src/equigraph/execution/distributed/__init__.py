"""Panels whose rows live with the row blocks of a graph: streamed from disk, or on the workers of a Dask cluster."""

from equigraph.execution.distributed.rows import Rows, RowStore
from equigraph.execution.distributed.streamed import StreamedRows

__all__ = ["RowStore", "Rows", "StreamedRows"]
