"""Products with the adjacency: the only operation whose cost grows with the number of edges."""

from equigraph.stores.products import (
    Product,
    SerialProduct,
    StoreProduct,
    gram,
    memory_product,
    product_of,
    single_blas_thread,
)

__all__ = [
    "Product",
    "SerialProduct",
    "StoreProduct",
    "gram",
    "memory_product",
    "product_of",
    "single_blas_thread",
]
