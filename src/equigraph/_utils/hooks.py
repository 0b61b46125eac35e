"""Calls to what stands above in the order of imports: pictures, pages and explanations of a result, spreadsheets."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "explain": "equigraph.analysis.explanation.explain",
    "price": "equigraph.analysis.pricing",
    "StabilityDisplay": "equigraph.plotting",
    "TradeoffDisplay": "equigraph.plotting",
    "TradeoffCurvesDisplay": "equigraph.plotting",
    "write_report": "equigraph.apps.report",
    "read_cells": "equigraph.apps.classes.roster.workbooks",
    "make_widget": "equigraph.apps.explore.offline",
}


def hook(name: str) -> Any:
    """Return the function or class that is registered under a name, imported when it is asked for."""
    return getattr(importlib.import_module(_MODULES[name]), name)
