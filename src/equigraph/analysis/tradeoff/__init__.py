"""Trade-off curves: sweeps of the fairness dial, and selection of their points."""

from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.analysis.tradeoff.contents import TradeoffPoint
from equigraph.analysis.tradeoff.curve import TradeoffCurve
from equigraph.analysis.tradeoff.sweep import TradeoffCurves, tradeoff_curve

__all__ = [
    "TradeoffCurve", "TradeoffCurves", "TradeoffPoint", "align_labels", "tradeoff_curve",
]  # fmt: skip
