"""Registry of the real graphs (registry.json); locating, downloading and verifying their files.

Addresses in the registry are pinned to a commit, and every file has its size and sha256.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import DatasetError, ParameterError, require

DATA_VARIABLE = "EQUIGRAPH_DATA"
RETRIES = 2
TIMEOUT = 30.0  # seconds without a byte


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    path : str
        Path below a data folder, with forward slashes.
    url : str
        Upstream address, pinned to a commit.
    sha256 : str
        Digest of the content.
    n_bytes : int
        Size of the content.
    """

    path: str
    url: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class DatasetInfo:
    """Metadata of a data set, known without fetching it.

    Attributes
    ----------
    name : str
        The name that :func:`equigraph.datasets.load` takes.
    title : str
        Short description of the graph.
    n_nodes, n_edges : int
        Size of the graph; an undirected edge counts once.
    attribute : str
        Name of the sensitive feature.
    groups : tuple of (str, int)
        Name and number of nodes of each group.
    url : str
        Page of the people who collected the data.
    files : tuple of DataFile
        The files it is read from, the graph first.
    raw_files : tuple of DataFile
        The files as they were collected, the graph first; empty where only cleaned files are kept.
    """

    name: str
    title: str
    n_nodes: int
    n_edges: int
    attribute: str
    groups: tuple[tuple[str, int], ...]
    url: str
    files: tuple[DataFile, ...]
    raw_files: tuple[DataFile, ...] = ()

    @property
    def n_bytes(self) -> int:
        """Size of the files it is read from; the raw ones do not count."""
        return sum(file.n_bytes for file in self.files)


def _read_registry() -> tuple[DatasetInfo, ...]:
    registry = json.loads(resources.files(__package__).joinpath("registry.json").read_text(encoding="utf-8"))

    def data_file(path: str, n_bytes: int, sha256: str) -> DataFile:
        repository, _, below = path.partition("/")
        url = f"https://raw.githubusercontent.com/{registry['repositories'][repository]}/{below}"
        return DataFile(path, url, sha256, n_bytes)

    infos = []
    for entry in registry["datasets"]:
        entry["groups"] = tuple(entry["groups"].items())
        for kind in ("files", "raw_files"):
            entry[kind] = tuple(data_file(**file) for file in entry.get(kind, ()))
        infos.append(DatasetInfo(**entry))
    return tuple(infos)


_DATASETS = _read_registry()


def list_datasets() -> tuple[DatasetInfo, ...]:
    """List the real graphs that can be fetched.

    Returns
    -------
    tuple of DatasetInfo
        Name, title, size, groups and files of each; nothing is read or fetched.

    Examples
    --------
    >>> [info.name for info in list_datasets()]
    ['diaries', 'facebook', 'friendship', 'drugnet', 'nba', 'lastfm', 'pokec-n']
    """
    return _DATASETS


def dataset_info(name: str) -> DatasetInfo:
    """Return the metadata of one data set.

    Parameters
    ----------
    name : str
        One of the names of :func:`list_datasets`.

    Returns
    -------
    DatasetInfo
        Its entry.

    Raises
    ------
    ParameterError
        If there is no such data set.
    """
    known = {info.name: info for info in _DATASETS}
    if name not in known:
        hint = did_you_mean(name, known)
        raise ParameterError(f"There is no data set named {name!r}{hint}: choose one of {', '.join(known)}.")
    return known[name]


def locate(
    file: DataFile,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    progress: bool = False,
) -> Path:
    """Return the path of a verified copy of a data file.

    Folders are searched in this order: ``data_home``, the one in the environment variable ``EQUIGRAPH_DATA``, the
    user's cache. A file in none of them is downloaded into ``data_home`` or, by default, into the cache. A damaged file
    in a folder of the user is an error and is left as it is; a damaged file in the cache is fetched again.
    """
    folders = [] if data_home is None else [Path(data_home).expanduser()]
    if given := os.environ.get(DATA_VARIABLE):
        folders.append(Path(given).expanduser())
        if not folders[-1].is_dir():
            raise DatasetError(
                f"{DATA_VARIABLE} names {given!r}, which is not a folder: correct or unset the variable."
            )
    if data_home is None and not download_if_missing:
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
    return _download(file, _cache_folder() if data_home is None else folders[0], progress=progress)


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

    if progress:
        require("tqdm", extra="data", purpose="A progress bar")
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
            downloader = pooch.HTTPDownloader(progressbar=progress, chunk_size=1 << 16, timeout=TIMEOUT)
            return Path(store.fetch(file.path, downloader=downloader))
    except RequestException as error:
        raise DatasetError(
            f"The data file {file.path} could not be downloaded from {file.url} ({_reason(error)}): check "
            f"the network, or set {DATA_VARIABLE} to a folder that holds the file."
        ) from error
    except ValueError as error:  # pooch's error for a wrong digest
        raise DatasetError(
            f"What was downloaded from {file.url} is not the expected file, whose sha256 is {file.sha256}: "
            f"try again, or set {DATA_VARIABLE} to a folder that holds {file.path}."
        ) from error
    except OSError as error:
        raise DatasetError(
            f"The data file {file.path} could not be written below {folder} ({_reason(error)}): give another "
            "folder as data_home."
        ) from error


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
