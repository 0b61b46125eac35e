"""Lazy imports: of modules later in the order of imports, and of the names of a package."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

_MODULES = {
    "explain": "equigraph.analysis.explanation",
    "price": "equigraph.analysis.pricing",
    "StabilityDisplay": "equigraph.plotting",
    "TradeoffDisplay": "equigraph.plotting",
    "TradeoffCurvesDisplay": "equigraph.plotting",
    "write_report": "equigraph.apps.report",
    "read_cells": "equigraph.apps.classes.roster.workbooks",
    "make_widget": "equigraph.apps.explore.offline",
}


def hook(name: str) -> Any:
    """Import and return the function or class that is registered under a name."""
    return getattr(importlib.import_module(_MODULES[name]), name)


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names, listed by module, are imported when used.

    Its modules are attributes too, such as ``equigraph.metrics.notions``.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        if importlib.util.find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(f"{package}.{name}")

    return get, lambda: sorted(homes)
