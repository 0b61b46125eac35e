import os
import sys
from pathlib import Path

import pytest

TINY = Path(__file__).parent / "tiny"
# Of another process that runs tiny cells.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TINY), *filter(None, sys.path)])}


@pytest.fixture
def tiny(monkeypatch):
    """Make the module of tiny cells importable here and in worker processes; return its name."""
    monkeypatch.syspath_prepend(str(TINY))
    return "tiny_experiment"
