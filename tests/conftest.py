"""Fixtures shared by the whole suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


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
