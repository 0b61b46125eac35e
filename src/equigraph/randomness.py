"""Seeds. Nothing in equigraph reads or writes numpy's global random state."""

from __future__ import annotations

import secrets
from typing import TypeAlias

import numpy as np

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def as_seed(random_state: RandomState) -> int:
    """Return an integer seed; with None a fresh one, so that the run can still be repeated from its result.

    A Generator or RandomState is advanced by one draw, as scikit-learn's own estimators do.

    Examples
    --------
    >>> as_seed(7)
    7
    """
    if random_state is None:
        return secrets.randbits(31)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)
