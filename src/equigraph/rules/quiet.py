"""Keep a line that HiGHS 1.12 prints, whatever its options say, out of what people and programs read.

It is printed where the solver repairs a solution (ERGO-Code/HiGHS, issue 2783), straight to the standard output of the
process, where it would be in the middle of a JSON document.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_lock = threading.Lock()
_inside: list[int] = []  # one entry per solver that is running: the real standard output


@contextmanager
def no_stray_output() -> Iterator[None]:
    """Send the standard output of the process nowhere while the block runs; several threads may be in such blocks."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    with _lock:
        if _inside:
            _inside.append(_inside[0])
            return
        _flush()
        with suppress(OSError):  # a process without standard output has nothing to protect
            real = os.dup(1)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.close(nowhere)
            _inside.append(real)


def _leave() -> None:
    with _lock:
        if not _inside:
            return
        real = _inside.pop()
        if not _inside:  # the last one out
            _flush()
            os.dup2(real, 1)
            os.close(real)


def _flush() -> None:
    """Write out what Python and C hold back, so that it ends up where it was meant to."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
