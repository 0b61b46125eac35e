"""Neural graph clustering. PyTorch is only needed, and only imported, when a model is fitted."""

from equigraph.community.neural.dmon import DMoN

__all__ = ["DMoN"]
