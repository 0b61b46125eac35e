"""Products with the adjacency: the only operation whose cost grows with the number of edges."""

from equigraph.execution.products import Product, SerialProduct, gram, single_blas_thread

__all__ = ["Product", "SerialProduct", "gram", "single_blas_thread"]
