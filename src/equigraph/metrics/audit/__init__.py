"""An audit of labels: every score by attribute, cluster, group and joint group, and the people who fare worst."""

from equigraph.metrics.audit.frame import FairnessFrame, FrameDifference

__all__ = ["FairnessFrame", "FrameDifference"]
