"""Search on labels: cohesion and fairness together, with an exact number of clusters."""

from equigraph.refinement.exact_k import exactly_k
from equigraph.refinement.refine import LabelProblem, Refiner, refine_labels

__all__ = ["LabelProblem", "Refiner", "exactly_k", "refine_labels"]
