"""Methods that work on labels: our search, a fair Louvain, adapters of Leiden and Louvain, and random labels."""

from equigraph.community.adapters import Leiden, Louvain
from equigraph.community.louvain import FairLouvain
from equigraph.community.partition import FairPartition, refine_labels
from equigraph.community.random import RandomClustering

__all__ = ["FairLouvain", "FairPartition", "Leiden", "Louvain", "RandomClustering", "refine_labels"]
