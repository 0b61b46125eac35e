"""Seeds. Nothing in equigraph reads or writes the global random states of numpy and Python."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def as_seed(random_state: RandomState) -> int:
    """Return an integer seed; with None a fresh one, so that the run can still be repeated from its result.

    A Generator or RandomState is advanced by one draw, as scikit-learn's own estimators do.
    """
    if random_state is None:
        return secrets.randbits(31)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Restore Python's random state at the end: some packages draw from it when they are imported."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)
