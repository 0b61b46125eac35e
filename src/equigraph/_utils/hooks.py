"""Calls from a result to what stands above it in the order of imports: pictures, pages, explanations."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "explain": "equigraph.analysis.explanation.result",
    "price": "equigraph.analysis.pricing",
    "StabilityDisplay": "equigraph.plotting.stability",
    "TradeoffDisplay": "equigraph.plotting",
    "TradeoffCurvesDisplay": "equigraph.plotting",
    "write_report": "equigraph.apps.report",
    "make_widget": "equigraph.apps.explore.offline",
}


def hook(name: str) -> Any:
    """Return the function or class that is registered under a name, imported when it is asked for."""
    return getattr(importlib.import_module(_MODULES[name]), name)
