"""Local moves on labels: cohesion and fairness together, with an exact number of clusters."""

from equigraph.refinement.exact_k import exactly_k

__all__ = ["exactly_k"]
