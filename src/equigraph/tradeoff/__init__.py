"""The trade-off curve: what a sweep of the fairness dial gives, and which of its points to take."""

from equigraph.tradeoff.alignment import align_labels
from equigraph.tradeoff.curve import TradeoffCurve, TradeoffCurves
from equigraph.tradeoff.point import TradeoffPoint
from equigraph.tradeoff.sweep import tradeoff_curve

__all__ = [
    "TradeoffCurve", "TradeoffCurves", "TradeoffPoint", "align_labels", "tradeoff_curve",
]  # fmt: skip
