"""Stores of the rows of a graph, in memory, on disk and on Dask, and products with them."""
