"""Choice of the number of clusters, by the stability and the objective of clusterings."""

from equigraph.analysis.choosing.result import Stability, StabilityRow, recommend
from equigraph.analysis.choosing.runs import stability

__all__ = ["Stability", "StabilityRow", "recommend", "stability"]
