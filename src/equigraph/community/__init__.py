"""Methods that optimise labels directly: `FairPartition`, a fair Louvain, adapters, and random labels."""

from equigraph.community.adapters import Leiden, Louvain
from equigraph.community.louvain import FairLouvain
from equigraph.community.partition import FairPartition
from equigraph.community.random import RandomClustering
from equigraph.community.refine import refine_labels

__all__ = ["FairLouvain", "FairPartition", "Leiden", "Louvain", "RandomClustering", "refine_labels"]
