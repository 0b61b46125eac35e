"""The trade-off curve: what a sweep of the fairness dial gives, and which of its points to take."""

from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.analysis.tradeoff.contents import TradeoffPoint
from equigraph.analysis.tradeoff.curve import TradeoffCurve
from equigraph.analysis.tradeoff.sweep import TradeoffCurves, tradeoff_curve

__all__ = [
    "TradeoffCurve", "TradeoffCurves", "TradeoffPoint", "align_labels", "tradeoff_curve",
]  # fmt: skip
