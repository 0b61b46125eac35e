"""Search on labels: cohesion and fairness together, with an exact number of clusters."""

from equigraph.search.exact_k import exactly_k

__all__ = ["exactly_k"]
