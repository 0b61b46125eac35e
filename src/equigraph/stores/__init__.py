"""Products with the adjacency: the only operation whose cost grows with the number of edges."""

from equigraph.stores.products import (
    FusedProduct,
    Product,
    SerialProduct,
    gram,
    product_of,
    single_blas_thread,
)

__all__ = ["FusedProduct", "Product", "SerialProduct", "gram", "product_of", "single_blas_thread"]
