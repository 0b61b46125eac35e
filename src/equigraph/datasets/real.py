"""The real graphs: fetch the files, read them, name the groups."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.datasets._descr import DESCRIPTIONS
from equigraph.datasets._download import locate
from equigraph.datasets._registry import dataset_info

if TYPE_CHECKING:
    from sklearn.utils import Bunch

PathLike = str | os.PathLike[str]

_GENDERS = {1: "F", 2: "M"}
_ETHNICITIES = {1: "other", 2: "African American", 3: "Latino"}
_NATIONALITIES = {0: "US", 1: "non-US"}
_AGES = {1: "18 or younger", 2: "19-25", 3: "26-35", 4: "36 or older"}


def describe(name: str) -> str:
    """Return the text of a data set: source, licence, cleaning, known discrepancies.

    Parameters
    ----------
    name : str
        One of the names of :func:`equigraph.datasets.list_datasets`.

    Returns
    -------
    str
        The text; nothing is fetched.

    Raises
    ------
    ParameterError
        If there is no such data set.

    Examples
    --------
    >>> print(describe("drugnet").splitlines()[0])
    Acquaintances among drug users in Hartford, Connecticut.
    """
    return DESCRIPTIONS[dataset_info(name).name]


def load(
    name: str, *, data_home: PathLike | None = None, download_if_missing: bool = True, progress: bool = False
) -> Bunch:
    """Fetch a real graph by its name.

    Each data set also has a function of its own, such as :func:`fetch_drugnet`.

    Parameters
    ----------
    name : str
        One of the names of :func:`equigraph.datasets.list_datasets`.
    data_home : path-like, optional
        Folder to look in first, and to download into.
    download_if_missing : bool, default=True
        Whether to download what is not on this machine; needs the extra ``data``.
    progress : bool, default=False
        Whether to show a progress bar while downloading.

    Returns
    -------
    sklearn.utils.Bunch
        ``adjacency`` (csr_array), ``sensitive_features`` (name of the group of each node), ``node_names``
        (positions in the file), ``attribute``, ``name``, ``DESCR`` and ``url``.

    Raises
    ------
    ParameterError
        If there is no such data set.
    DatasetError
        If a file is damaged, or neither on this machine nor within reach.
    MissingDependencyError
        If a file must be downloaded and pooch is not installed.

    Notes
    -----
    A file is looked for in ``data_home``, then in the folder that the environment variable
    ``EQUIGRAPH_DATA`` names, then in the user's cache; its sha256 is checked wherever it comes from.

    Examples
    --------
    >>> data = load("drugnet")  # doctest: +SKIP
    >>> data.adjacency.shape, data.attribute  # doctest: +SKIP
    ((193, 193), 'ethnicity')
    """
    info = dataset_info(name)
    paths = [
        locate(file, data_home=data_home, download_if_missing=download_if_missing, progress=progress)
        for file in info.files
    ]
    from sklearn.utils import Bunch

    from equigraph.graph import check_adjacency

    adjacency, groups = _READERS[name](*paths)
    return Bunch(
        adjacency=check_adjacency(adjacency),
        sensitive_features=groups,
        node_names=np.arange(groups.size),
        attribute=info.attribute,
        name=info.name,
        DESCR=describe(name),
        url=info.url,
    )


def fetch_diaries(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, progress: bool = False
) -> Bunch:
    """Fetch the contact diaries of a high school: 120 students, gender.

    Parameters
    ----------
    data_home : path-like, optional
        Folder to look in first, and to download into.
    download_if_missing : bool, default=True
        Whether to download what is not on this machine; needs the extra ``data``.
    progress : bool, default=False
        Whether to show a progress bar while downloading.

    Returns
    -------
    sklearn.utils.Bunch
        ``adjacency`` (csr_array), ``sensitive_features`` (name of the group of each node), ``node_names``
        (positions in the file), ``attribute``, ``name``, ``DESCR`` and ``url``.

    Raises
    ------
    DatasetError
        If a file is damaged, or neither on this machine nor within reach.

    See Also
    --------
    load : The same by name, with the order in which folders are looked in.

    Examples
    --------
    >>> data = fetch_diaries()  # doctest: +SKIP
    """
    return load("diaries", data_home=data_home, download_if_missing=download_if_missing, progress=progress)


def fetch_facebook(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, progress: bool = False
) -> Bunch:
    """Fetch the Facebook friendships of a high school: 155 students, gender.

    Parameters, result and errors are those of `fetch_diaries`.
    """
    return load("facebook", data_home=data_home, download_if_missing=download_if_missing, progress=progress)


def fetch_friendship(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, progress: bool = False
) -> Bunch:
    """Fetch the reported friendships of a high school: 127 students, gender.

    Parameters, result and errors are those of `fetch_diaries`.
    """
    return load("friendship", data_home=data_home, download_if_missing=download_if_missing, progress=progress)


def fetch_drugnet(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, progress: bool = False
) -> Bunch:
    """Fetch the acquaintances of drug users in Hartford: 193 people, ethnicity.

    Parameters, result and errors are those of `fetch_diaries`.
    """
    return load("drugnet", data_home=data_home, download_if_missing=download_if_missing, progress=progress)


def fetch_nba(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, progress: bool = False
) -> Bunch:
    """Fetch the Twitter ties of basketball players: 400 players, nationality.

    Parameters, result and errors are those of `fetch_diaries`.
    """
    return load("nba", data_home=data_home, download_if_missing=download_if_missing, progress=progress)


def fetch_lastfm(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, progress: bool = False
) -> Bunch:
    """Fetch the friendships of LastFM users in Asia: 5,576 users, country.

    Parameters, result and errors are those of `fetch_diaries`.
    """
    return load("lastfm", data_home=data_home, download_if_missing=download_if_missing, progress=progress)


def fetch_pokec_n(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, progress: bool = False
) -> Bunch:
    """Fetch the friendships of Pokec users of one region: 67,796 users, age.

    Parameters, result and errors are those of `fetch_diaries`.
    """
    return load("pokec-n", data_home=data_home, download_if_missing=download_if_missing, progress=progress)


def _named(codes: NDArray[Any], names: dict[int, str]) -> NDArray[np.str_]:
    return np.array([names[code] for code in codes.astype(int).tolist()])


def _read_dense_text(path: Path) -> sparse.csr_array:
    """Read a 0/1 matrix written in full, one row at a time so that it is never dense in memory."""
    with path.open(encoding="ascii") as lines:
        rows = [np.flatnonzero(np.array(line.split(","), dtype=np.int8)) for line in lines if line.strip()]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows])])
    indices = np.concatenate(rows)
    return sparse.csr_array((np.ones(indices.size), indices, indptr), shape=(len(rows), len(rows)))


def _dense_text_reader(names: dict[int, str]) -> Callable[[Path, Path], tuple[Any, NDArray[np.str_]]]:
    def read(graph: Path, attributes: Path) -> tuple[Any, NDArray[np.str_]]:
        codes = np.loadtxt(attributes, delimiter=",", dtype=int, usecols=0)
        return _read_dense_text(graph), _named(codes, names)

    return read


def _read_lastfm(path: Path) -> tuple[Any, NDArray[np.str_]]:
    from scipy.io import loadmat

    content = loadmat(path)
    codes = content["F"].ravel()
    return content["A"], _named(codes, {code: f"country {code}" for code in np.unique(codes).tolist()})


def _read_pokec(graph: Path, attributes: Path) -> tuple[Any, NDArray[np.str_]]:
    return sparse.load_npz(graph), _named(np.loadtxt(attributes, dtype=int), _AGES)


_READERS: dict[str, Callable[..., tuple[Any, NDArray[np.str_]]]] = {
    "diaries": _dense_text_reader(_GENDERS),
    "facebook": _dense_text_reader(_GENDERS),
    "friendship": _dense_text_reader(_GENDERS),
    "drugnet": _dense_text_reader(_ETHNICITIES),
    "nba": _dense_text_reader(_NATIONALITIES),
    "lastfm": _read_lastfm,
    "pokec-n": _read_pokec,
}
