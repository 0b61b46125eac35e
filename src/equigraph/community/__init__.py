"""Methods that optimise labels directly: `FairPartition`, a fair Louvain, and baselines."""

from equigraph.community.baselines import Leiden, Louvain, RandomClustering
from equigraph.community.louvain import FairLouvain
from equigraph.community.partition import FairPartition
from equigraph.community.refine import refine_labels

__all__ = ["FairLouvain", "FairPartition", "Leiden", "Louvain", "RandomClustering", "refine_labels"]
