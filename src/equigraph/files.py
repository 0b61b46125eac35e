"""Output files that are either complete or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside the target, and move it there only if the block succeeds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_path(Path(folder) / "a.txt") as partial:
    ...         _ = partial.write_text("whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The suffix is kept: numpy and pyarrow choose or append one by it.
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".partial-", suffix=target.suffix)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        # mkstemp makes private files; an output should have the mode that open() would give it.
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
