"""Panels whose rows live with the row blocks of a graph: streamed from disk, or on the workers of a Dask cluster."""

from equigraph.stores.distributed.rows import Rows, RowStore
from equigraph.stores.distributed.streamed import StreamedRows

__all__ = ["RowStore", "Rows", "StreamedRows"]
