"""Spectral clustering, plain and under fairness constraints."""

from equigraph.spectral.individual import IndividualFairSC
from equigraph.spectral.methods import FairSC, ScalableFairSC, SpectralClustering

__all__ = ["FairSC", "IndividualFairSC", "ScalableFairSC", "SpectralClustering"]
