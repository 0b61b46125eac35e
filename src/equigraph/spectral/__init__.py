"""Spectral clustering, plain and under fairness constraints: one constrained embedding, four estimators."""

from equigraph.spectral.fair import FairSC, ScalableFairSC
from equigraph.spectral.individual import IndividualFairSC
from equigraph.spectral.plain import SpectralClustering

__all__ = ["FairSC", "IndividualFairSC", "ScalableFairSC", "SpectralClustering"]
