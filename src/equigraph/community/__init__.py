"""Modularity methods: a fair Louvain of our own, adapters of Leiden and Louvain, and random labels."""

from equigraph.community.adapters import Leiden, Louvain
from equigraph.community.louvain import FairLouvain
from equigraph.community.random import RandomClustering

__all__ = ["FairLouvain", "Leiden", "Louvain", "RandomClustering"]
