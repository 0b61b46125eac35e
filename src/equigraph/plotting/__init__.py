"""Plots of clusterings and analyses, by matplotlib (extra ``plot``), which is imported on first use."""

from equigraph.plotting.clusters import ClusterGraphDisplay, CompositionDisplay, InteractionDisplay
from equigraph.plotting.graph import GraphDisplay
from equigraph.plotting.layout import spring_layout
from equigraph.plotting.tradeoff import StabilityDisplay, TradeoffCurvesDisplay, TradeoffDisplay

__all__ = [
    "ClusterGraphDisplay", "CompositionDisplay", "GraphDisplay", "InteractionDisplay", "StabilityDisplay",
    "TradeoffCurvesDisplay", "TradeoffDisplay", "spring_layout",
]  # fmt: skip
