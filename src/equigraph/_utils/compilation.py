"""Compilation of loops by numba: the decorator, the cache on disk, and a notice while compiling.

numba compiles a loop when it is first called and keeps the result in a cache on disk: beside the package, in the user's
cache folder if that is read-only, or in ``NUMBA_CACHE_DIR``. From the second run on they are only loaded.
"""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

# Neither wrappers for C nor checks of division by zero (which follows numpy): each takes a twelfth of the compile time.
_OPTIONS: dict[str, Any] = {"no_cfunc_wrapper": True, "error_model": "numpy"}
MESSAGE = "equigraph: compiling (first run only)..."
MESSAGE_UNCACHED = (
    "equigraph: compiling in every run, since no folder for the cache can be written: set NUMBA_CACHE_DIR..."
)
# Names of loops that cannot be cached, since no cache folder is writable.
_uncached: list[str] = []


def compiled(
    function: Callable[..., Any] | None = None,
    *,
    inner: bool = False,
    allocates: bool = True,
) -> Any:
    """Compile a function with numba on first use, cached on disk and without the GIL.

    If no cache folder is writable, it is compiled in every process. Use it as a decorator, plain or with options.
    ``allocates=False`` is for functions that create no array: without reference counts they are compiled in two thirds
    of the time. ``inner=True`` is for functions that create no array and are called by compiled code only. They have no
    Python wrapper, which takes a tenth of the time; calling one from Python crashes the process.
    """
    from numba import njit

    if function is None:
        return partial(compiled, inner=inner, allocates=allocates)
    watch_compiler()
    options = {**_OPTIONS, "no_cpython_wrapper": inner, "_nrt": allocates and not inner, "nogil": True}
    try:
        return _skip_damaged_cache(njit(cache=True, **options)(function))
    except RuntimeError:
        _uncached.append(function.__qualname__)
        return njit(**options)(function)


def _skip_damaged_cache(dispatcher: Any) -> Any:
    """Ignore cache entries that cannot be read, so that the loop is compiled again.

    The index refers to classes of arguments, and compiled loops refer to modules of functions that they call. Entries
    of an older version of this package may refer to names that no longer exist, and numba checks only the file of the
    loop itself.
    """

    def tolerant(read: Callable[..., Any], default: Callable[[], Any]) -> Callable[..., Any]:
        def read_or_default(*names: Any) -> Any:
            try:
                return read(*names)
            except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
                return default()

        return read_or_default

    file = dispatcher._cache._cache_file
    file._load_index = tolerant(file._load_index, dict)
    file.load = tolerant(file.load, lambda: None)
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
            if _is_of_equigraph(event.data["dispatcher"]):
                announce()
            if self.depth == 0 and gc.isenabled():
                # The compiler creates many objects and little garbage: collection takes a sixth of the time.
                gc.disable()
                self.paused = True
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.paused:
                gc.enable()
                self.paused = False

    event.register("numba:compile", Watch())


def _is_of_equigraph(dispatcher: Any) -> bool:
    module = getattr(getattr(dispatcher, "py_func", None), "__module__", None) or ""
    return module.partition(".")[0] == __name__.partition(".")[0]


@cache
def announce() -> None:
    """Print the notice to standard error, once."""
    if sys.stderr is not None:
        print(MESSAGE_UNCACHED if _uncached else MESSAGE, file=sys.stderr, flush=True)  # noqa: T201 - a notice, not a result
