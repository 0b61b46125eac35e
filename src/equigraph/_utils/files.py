"""Atomic output files, locks, and removal of files that killed runs left behind.

An unfinished file has a name with the prefix `PARTIAL`, and the process that writes it holds a lock on it. The lock
ends with the process, even if that is killed. Files with the prefix and without a lock are left-overs, which the next
writer removes.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from equigraph.exceptions import EquigraphError, OutputError

try:
    import fcntl
except ImportError:  # Windows: files are not locked there, and left-overs are not removed
    fcntl = None  # type: ignore[assignment]

PARTIAL = ".equigraph-partial-"
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
# Error numbers of a full, failing or read-only disk; numpy raises such an error without a number.
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, None)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside the target, and move it there if the block succeeds."""
    target = Path(path)
    with naming_the_path(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        # The suffix is kept: numpy and pyarrow choose or append one by it.
        with _locked(target.parent, PARTIAL, lambda: _new_file(target)) as partial:
            yield partial
            partial.chmod(0o666 & ~umask())
            os.replace(partial, target)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, as UTF-8 with its line ends unchanged; lone surrogates are kept."""
    with atomic_path(path) as partial:
        partial.write_bytes(text.encode("utf-8", "surrogatepass"))


@contextmanager
def private_folder(parent: Path, prefix: str = PARTIAL) -> Iterator[Path]:
    """Yield a new folder that is removed at the end, or by the next call if the process is killed."""
    with _locked(parent, prefix, lambda: Path(tempfile.mkdtemp(dir=parent, prefix=prefix))) as folder:
        yield folder


@contextmanager
def naming_the_path(path: Path) -> Iterator[None]:
    """Convert errors of a full or failing disk to an OutputError with the path."""
    try:
        yield
    except OSError as error:
        if isinstance(error, EquigraphError) or error.errno not in _DISK_ERRORS:
            raise
        reason = str(error) if error.errno is None else os.strerror(error.errno)
        raise OutputError(f"{path} could not be written: {reason}.") from error


def sweep(folder: Path, prefix: str = PARTIAL) -> None:
    """Remove left-overs of killed runs from a folder: entries with the prefix that no process has locked."""
    for name in os.listdir(folder):
        if name.startswith(prefix):
            _remove_unless_locked(folder / name)


def try_lock(handle: int) -> bool:
    """Try to lock an open file for this process, without waiting; return whether it is locked."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock of a file."""
    if fcntl is None:
        return False
    try:
        handle = os.open(path, os.O_RDONLY | _NO_LINKS)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def can_lock(folder: Path) -> bool:
    """Return whether files in a folder can be locked at all; on Windows and some network drives they cannot."""
    with tempfile.TemporaryFile(dir=folder) as other:
        return try_lock(other.fileno())


def open_for_lock(path: Path) -> int:
    """Open a file in order to lock it; create it if absent."""
    return os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINKS, 0o666)


def is_at(handle: int, path: Path) -> bool:
    """Return whether an open file is still the file at a path."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except OSError:
        return False


def umask() -> int:
    """Return the umask: files of tempfile are private, and output files should not be."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def _locked(parent: Path, prefix: str, make: Callable[[], Path]) -> Iterator[Path]:
    """Create a file or folder that is locked during the block and removed after it."""
    sweep(parent, prefix)
    path, handle = _make_locked(make)
    try:
        yield path
    finally:
        _remove(path)
        if handle is not None:
            os.close(handle)


def _make_locked(make: Callable[[], Path]) -> tuple[Path, int | None]:
    while True:
        path = make()
        if fcntl is None:
            return path, None
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDONLY)
            # Between creation and locking, another process may have removed it.
            if (try_lock(handle) or not can_lock(path.parent)) and is_at(handle, path):
                return path, handle
            os.close(handle)


def _new_file(target: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=PARTIAL, suffix=target.suffix)
    os.close(handle)
    return Path(name)


def _remove_unless_locked(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY | _NO_LINKS)
    except OSError:
        return  # absent, not accessible, or a link
    try:
        if try_lock(handle):
            _remove(path)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
