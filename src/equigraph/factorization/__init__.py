"""Nonnegative factorisations of a graph, with fairness penalties."""

from equigraph.factorization.dfnmf import DFNMF
from equigraph.factorization.fair_nmtf import FairNMTF
from equigraph.factorization.nmtf import NMTF, IFairNMTF, SymNMF

__all__ = ["DFNMF", "NMTF", "FairNMTF", "IFairNMTF", "SymNMF"]
