"""Fixtures of reading graphs."""

import pytest

from equigraph.graph import delimited


@pytest.fixture(params=["slow", "fast"])
def text_reader(request, monkeypatch):
    """Read text by the csv module, or by pyarrow."""
    if request.param == "fast":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(delimited, "FAST_BYTES", -1 if request.param == "fast" else 1 << 60)
