"""Fixtures shared by the whole suite."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

# What tests skip without; on CI its absence is a failure.
OPTIONAL = (
    "distributed",
    "igraph",
    "justhtml",
    "leidenalg",
    "matplotlib",
    "networkit",
    "networkx",
    "odf",
    "openpyxl",
    "pandas",
    "playwright",
    "polars",
    "pooch",
    "pyarrow",
    "python_calamine",
    "sknetwork",
    "torch",
    "torch_geometric",
    "xlsxwriter",
    "xlwt",
)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse to run on CI without a package that tests would silently skip for."""
    missing = [name for name in OPTIONAL if importlib.util.find_spec(name) is None]
    if os.environ.get("CI") and missing:
        raise pytest.UsageError(f"not installed, so tests would be skipped: {', '.join(missing)}")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder with the real graphs, or skip; on CI a missing folder is a failure."""
    value = os.environ.get("EQUIGRAPH_DATA")
    if value and (Path(value) / "manifest.json").exists():
        return Path(value)
    message = "the real graphs are not here: set EQUIGRAPH_DATA to the folder that holds manifest.json"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
