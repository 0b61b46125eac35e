"""Find a data file on this machine, or fetch it, and check its digest either way."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equigraph._utils.randomness import random_state_kept
from equigraph.datasets._registry import DataFile
from equigraph.exceptions import DatasetError, require

DATA_VARIABLE = "EQUIGRAPH_DATA"
RETRIES = 2
TIMEOUT = 30.0  # seconds without a byte


def locate(
    file: DataFile,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    progress: bool = False,
) -> Path:
    """Return the path of a verified copy of a data file.

    Looked in, in this order: ``data_home``, the folder that the environment variable ``EQUIGRAPH_DATA`` names, the
    user's cache. A file that is in none of them is downloaded into ``data_home``, or into the cache where ``data_home``
    is not given. A damaged file in a folder of the user is an error and is left as it is; a damaged file in the cache
    is fetched again.
    """
    target = Path(data_home).expanduser() if data_home is not None else None
    folders = list(_user_folders(data_home))
    if target is None and not download_if_missing:
        folders.append(_cache_folder())
    for folder in folders:
        path = folder / file.path
        if path.is_file():
            _verify(path, file)
            return path
    if not download_if_missing:
        raise DatasetError(
            f"The data file {file.path} is not on this machine: allow the download "
            f"(download_if_missing=True), or set {DATA_VARIABLE} to a folder that holds it."
        )
    return _download(file, target or _cache_folder(), progress=progress)


def _user_folders(data_home: str | os.PathLike[str] | None) -> Iterator[Path]:
    if data_home is not None:
        yield Path(data_home).expanduser()
    value = os.environ.get(DATA_VARIABLE)
    if value:
        folder = Path(value).expanduser()
        if not folder.is_dir():
            raise DatasetError(
                f"{DATA_VARIABLE} names {value!r}, which is not a folder: correct or unset the variable."
            )
        yield folder


def _cache_folder() -> Path:
    pooch = require("pooch", extra="data", purpose="Fetching a data set")
    return Path(pooch.os_cache("equigraph"))


def _verify(path: Path, file: DataFile) -> None:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != file.sha256:
        raise DatasetError(
            f"The file {path} is damaged or another version: its sha256 is {digest}, expected {file.sha256}; "
            "remove it and fetch the data set again."
        )


def _download(file: DataFile, folder: Path, *, progress: bool) -> Path:
    pooch = require("pooch", extra="data", purpose="Fetching a data set")
    from requests.exceptions import RequestException

    bar = _DownloadBar(file) if progress else None
    try:
        # pooch writes to a temporary file, checks the digest and renames: the target is whole or absent.
        store = pooch.create(
            path=folder,
            base_url="",
            registry={file.path: f"sha256:{file.sha256}"},
            urls={file.path: file.url},
            retry_if_failed=RETRIES,
        )
        with _quiet(pooch.get_logger()):
            downloader = pooch.HTTPDownloader(progressbar=bar or False, chunk_size=1 << 16, timeout=TIMEOUT)
            return Path(store.fetch(file.path, downloader=downloader))
    except RequestException as error:
        raise DatasetError(
            f"The data file {file.path} could not be downloaded from {file.url} ({_reason(error)}): check "
            f"the network, or set {DATA_VARIABLE} to a folder that holds the file."
        ) from error
    except ValueError as error:  # pooch's word for a wrong digest
        raise DatasetError(
            f"What was downloaded from {file.url} is not the expected file, whose sha256 is {file.sha256}: "
            f"try again, or set {DATA_VARIABLE} to a folder that holds {file.path}."
        ) from error
    except OSError as error:
        raise DatasetError(
            f"The data file {file.path} could not be written below {folder} ({_reason(error)}): give another "
            "folder as data_home."
        ) from error
    finally:
        if bar is not None:
            bar.close()


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code}"
    return getattr(error, "strerror", None) or type(error).__name__


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from writing on the error stream, and leave its logger as it was."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


class _DownloadBar:
    """The progress bar protocol of pooch, drawn by rich on the error stream."""

    total = 0

    def __init__(self, file: DataFile) -> None:
        with random_state_kept():
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        self._display = Progress(*columns, console=Console(stderr=True))
        # The size is ours: a server that compresses announces fewer bytes than arrive.
        self._task = self._display.add_task(file.path.rpartition("/")[2], total=file.n_bytes)
        self._n_bytes = file.n_bytes

    def update(self, n_bytes: int) -> None:
        """Advance the bar; the first call shows it."""
        self._display.start()
        done = self._display.tasks[0].completed + n_bytes
        self._display.update(self._task, completed=min(done, self._n_bytes))

    def reset(self) -> None:
        """Return to the start, as pooch asks before it fills the bar."""
        self._display.update(self._task, completed=0)

    def close(self) -> None:
        """Stop drawing."""
        if self._display.live.is_started:
            self._display.stop()
