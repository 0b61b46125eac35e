"""Search on labels: cohesion and fairness together, with an exact number of clusters."""

from equigraph.search.merge import exactly_k

__all__ = ["exactly_k"]
