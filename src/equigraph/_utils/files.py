"""Output files that are complete or not there, and removal of what killed runs left behind.

Whatever is being written lies under a name with the prefix `PARTIAL`, and the process that writes it holds a lock
on it. A lock ends with its process, however that ends: what has the prefix and is not locked is a left-over, and the
next writer removes it.
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
except ImportError:  # Windows: nothing is locked there, and nothing taken for a left-over
    fcntl = None  # type: ignore[assignment]

PARTIAL = ".equigraph-partial-"
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
# Errors of a disk that takes no more. numpy raises it without a number.
_REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, None)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside the target, and move it there if the block succeeds and the disk takes it."""
    target = Path(path)
    with naming_the_path(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        # The suffix is kept: numpy and pyarrow choose or append one by it.
        with _held(target.parent, PARTIAL, lambda: _new_file(target)) as partial:
            yield partial
            partial.chmod(0o666 & ~umask())
            os.replace(partial, target)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, as UTF-8 and with its line ends as they are; halves of surrogate pairs are kept."""
    with atomic_path(path) as partial:
        partial.write_bytes(text.encode("utf-8", "surrogatepass"))


@contextmanager
def private_folder(parent: Path, prefix: str = PARTIAL) -> Iterator[Path]:
    """Give a new folder that is removed at the end, by this process or by the next that asks for one."""
    with _held(parent, prefix, lambda: Path(tempfile.mkdtemp(dir=parent, prefix=prefix))) as folder:
        yield folder


@contextmanager
def naming_the_path(path: Path) -> Iterator[None]:
    """Turn errors of a full or failing disk into a sentence with the path."""
    try:
        yield
    except OSError as error:
        if isinstance(error, EquigraphError) or error.errno not in _REFUSALS:
            raise
        reason = str(error) if error.errno is None else os.strerror(error.errno)
        raise OutputError(f"{path} could not be written: {reason}.") from error


def sweep(folder: Path, prefix: str = PARTIAL) -> None:
    """Remove what killed runs left in a folder: what has the prefix, and no process holds."""
    for name in os.listdir(folder):
        if name.startswith(prefix):
            _remove_unless_held(folder / name)


def hold(handle: int) -> bool:
    """Lock an open file for this process; return whether that worked, at once."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_held(path: Path) -> bool:
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
        return hold(other.fileno())


def open_for_lock(path: Path) -> int:
    """Open a file only to lock it, and make it where there is none."""
    return os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINKS, 0o666)


def is_at(handle: int, path: Path) -> bool:
    """Return whether an open file is still the one that the path leads to."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except OSError:
        return False


def umask() -> int:
    """Return the mask of new files: what tempfile makes is private, and an output should not be."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def _held(parent: Path, prefix: str, make: Callable[[], Path]) -> Iterator[Path]:
    """Make a file or folder, locked while the block runs and removed after it."""
    sweep(parent, prefix)
    path, handle = _make_held(make)
    try:
        yield path
    finally:
        _remove(path)
        if handle is not None:
            os.close(handle)


def _make_held(make: Callable[[], Path]) -> tuple[Path, int | None]:
    while True:
        path = make()
        if fcntl is None:
            return path, None
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDONLY)
            # Between making and locking, somebody who sweeps may have been faster.
            if (hold(handle) or not can_lock(path.parent)) and is_at(handle, path):
                return path, handle
            os.close(handle)


def _new_file(target: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=PARTIAL, suffix=target.suffix)
    os.close(handle)
    return Path(name)


def _remove_unless_held(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY | _NO_LINKS)
    except OSError:
        return  # gone, somebody else's, or a link
    try:
        if hold(handle):
            _remove(path)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
