"""Penalties: what fairness, or any other wish, means to a factorisation.

A solver asks a penalty for a few products with the membership and knows nothing of groups.
"""

from equigraph.factorization.penalties.base import (
    GraphPenalty,
    GroupForm,
    Penalty,
    WeightedSum,
    check_penalty,
    curvature_bound,
)
from equigraph.factorization.penalties.group import Contrastive, GroupParity, Scatter, over_attributes

__all__ = [
    "Contrastive",
    "GraphPenalty",
    "GroupForm",
    "GroupParity",
    "Penalty",
    "Scatter",
    "WeightedSum",
    "check_penalty",
    "curvature_bound",
    "over_attributes",
]
