"""How much memory a piece of work takes."""

from __future__ import annotations

import os
import threading
from typing import Any, Self

_SAMPLING_SECONDS = 0.004


class PeakMemory:
    """Sample the memory of this process while a block runs, in a thread of its own.

    The peak is the largest resident set that was seen minus the one at the start. It includes what the block
    imports and compiles for the first time, leaves out what it takes from memory that the process had already
    been given, and may miss a peak shorter than the 4 ms between two samples. Where there is no ``/proc``,
    the growth of the process's own high-water mark is used; where there is neither, the peak is None.

    Attributes
    ----------
    mib : float or None
        The peak in MiB, set at the end of the block.
    """

    mib: float | None = None

    def __enter__(self) -> Self:
        self._sample = _memory_probe()
        if self._sample is not None:
            self._start = self._peak = self._sample()
            self._done = threading.Event()
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def _watch(self) -> None:
        assert self._sample is not None
        while not self._done.wait(_SAMPLING_SECONDS):
            self._peak = max(self._peak, self._sample())

    def __exit__(self, *exc: object) -> None:
        if self._sample is None:
            return
        self._done.set()
        self._thread.join()
        self._peak = max(self._peak, self._sample())
        self.mib = (self._peak - self._start) / 2**20


def _memory_probe() -> Any:
    """Return a function that tells the memory of this process in bytes, or None where there is no way."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        with open("/proc/self/statm", encoding="ascii") as file:
            file.read()
    except (OSError, ValueError, AttributeError):
        return _high_water_probe()

    def resident() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * page

    return resident


def _high_water_probe() -> Any:
    import sys

    try:
        import resource
    except ImportError:
        return None
    # macOS counts bytes, the others KiB.
    unit = 1 if sys.platform == "darwin" else 1024
    return lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
