"""What the real graphs are and where their files lie, read from registry.json.

Addresses there are pinned to a commit, and every file has its size and sha256.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import ParameterError


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    path : str
        Where it lies below a data folder, with forward slashes.
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
    """What is known about a data set before it is fetched.

    Attributes
    ----------
    name : str
        The name that :func:`equigraph.datasets.load` takes.
    title : str
        What the graph is, in a few words.
    n_nodes, n_edges : int
        Size of the graph; an undirected edge counts once.
    attribute : str
        What the sensitive features are.
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
    """Return what is known about one data set.

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
