"""Comparison of methods on one graph or several: scores of every seed, intervals, paired tests and tables."""

from equigraph.analysis.comparison.result import Comparison
from equigraph.analysis.comparison.rows import ComparedGraph, ComparisonRow, Fit
from equigraph.analysis.comparison.runs import compare

__all__ = ["ComparedGraph", "Comparison", "ComparisonRow", "Fit", "compare"]
