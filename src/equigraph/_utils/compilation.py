"""Compiled loops: how they are made, where they are kept, and the notice that they are being compiled.

numba compiles a loop when it is first called and keeps the result in a cache on disk: beside the package, in the user's
cache folder where that is read-only, or where ``NUMBA_CACHE_DIR`` says. From the second run on they are only loaded.
"""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

# Nothing calls these loops from C, and a wrapper for each takes a twelfth of the time that compiling them takes; so do
# checks of every division, which by zero gives what numpy gives.
_LEAN: dict[str, Any] = {"no_cfunc_wrapper": True, "error_model": "numpy"}
MESSAGE = "equigraph: compiling (first run only)..."
NOT_KEPT = (
    "equigraph: compiling in every run, since no folder for the cache can be written: set NUMBA_CACHE_DIR..."
)
# Loops that numba found no folder for.
_not_kept: list[str] = []


def compiled(
    function: Callable[..., Any] | None = None,
    *,
    inner: bool = False,
    allocates: bool = True,
) -> Any:
    """Return a function compiled by numba on first use: kept on disk, and free of the interpreter's lock.

    Where no folder for the cache can be written it is compiled in every process. Used as a decorator, plain or with
    ``allocates=False`` for what makes no array: without the count of references to arrays it is compiled in two thirds
    of the time. ``inner=True`` is for what makes no array and only compiled code calls: it has no wrapper for Python,
    which takes a tenth of the time, and calling it from there ends the process.
    """
    from numba import njit

    if function is None:
        return partial(compiled, inner=inner, allocates=allocates)
    watch_compiler()
    options = {**_LEAN, "no_cpython_wrapper": inner, "_nrt": allocates and not inner, "nogil": True}
    try:
        return _forgiving(njit(cache=True, **options)(function))
    except RuntimeError:
        _not_kept.append(function.__qualname__)
        return njit(**options)(function)


def _forgiving(dispatcher: Any) -> Any:
    """Treat what cannot be read of the cache as not there, so that it is compiled again.

    The index names the classes of arguments, and compiled loops the modules of what they call; those that an older
    version of this package left behind may name what is gone, and numba looks only at the file of the loop itself.
    """

    def forgive(read: Callable[..., Any], nothing: Callable[[], Any]) -> Callable[..., Any]:
        def read_if_possible(*names: Any) -> Any:
            try:
                return read(*names)
            except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
                return nothing()

        return read_if_possible

    file = dispatcher._cache._cache_file
    file._load_index = forgive(file._load_index, dict)
    file.load = forgive(file.load, lambda: None)
    return dispatcher


@cache
def watch_compiler() -> None:
    """Print once per process that loops of this package are being compiled; loading them is silent.

    Call it in any module with compiled loops before they run. Loops of other packages are not mentioned.
    """
    from numba.core import event

    class Watch(event.Listener):
        depth = 0  # a loop that calls others compiles them meanwhile; numba's lock lets one thread compile at a time
        paused = False

        def on_start(self, event: Any) -> None:
            if _is_ours(event.data["dispatcher"]):
                announce()
            if self.depth == 0 and gc.isenabled():
                # A compiler makes many objects and hardly any garbage: looking for it takes a sixth of the time.
                gc.disable()
                self.paused = True
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.paused:
                gc.enable()
                self.paused = False

    event.register("numba:compile", Watch())


def _is_ours(dispatcher: Any) -> bool:
    module = getattr(getattr(dispatcher, "py_func", None), "__module__", None) or ""
    return module.partition(".")[0] == __name__.partition(".")[0]


@cache
def announce() -> None:
    """Write the notice, once, to a terminal or to the log that standard error is."""
    if sys.stderr is not None:
        print(NOT_KEPT if _not_kept else MESSAGE, file=sys.stderr, flush=True)  # noqa: T201 - this is for whoever waits
