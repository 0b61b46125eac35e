"""How many clusters: which number gives clusters that are good, and the same whenever they are looked for."""

from equigraph.analysis.choosing.result import Stability, StabilityRow, recommend
from equigraph.analysis.choosing.runs import stability

__all__ = ["Stability", "StabilityRow", "recommend", "stability"]
