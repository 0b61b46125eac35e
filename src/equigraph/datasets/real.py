"""The real graphs: fetch the files, read them, name the groups."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.datasets._descr import DESCRIPTIONS
from equigraph.datasets._download import locate
from equigraph.datasets._registry import dataset_info, list_datasets
from equigraph.exceptions import ParameterError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

PathLike = str | os.PathLike[str]

_GENDERS = {1: "F", 2: "M"}
_ETHNICITIES = {1: "other", 2: "African American", 3: "Latino"}
_NATIONALITIES = {0: "US", 1: "non-US"}
_AGES = {1: "18 or younger", 2: "19-25", 3: "26-35", 4: "36 or older"}


class _Options(TypedDict, total=False):
    raw: bool
    data_home: PathLike | None
    download_if_missing: bool
    progress: bool


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
    name: str,
    *,
    raw: bool = False,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    progress: bool = False,
) -> Bunch:
    """Fetch a real graph by its name.

    Each data set also has a function of its own, such as :func:`fetch_drugnet`.

    Parameters
    ----------
    name : str
        One of the names of :func:`equigraph.datasets.list_datasets`.
    raw : bool, default=False
        Whether to start from the raw files and clean them here, which brings the ids of the source and what the
        cleaned files leave out; for diaries, facebook, friendship and drugnet. Nodes, edges and groups are the
        same, in the same order.
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
        (positions in the file; with ``raw`` the ids of the source), ``attribute``, ``name``, ``DESCR`` and
        ``url``. With ``raw`` also ``school_class`` (the three school networks), ``duration`` (diaries: the same
        edges, weighted by the class 1 to 4 of the longer report) and ``gender`` (drugnet).

    Raises
    ------
    ParameterError
        If there is no such data set, or ``raw`` is asked for where there are no raw files.
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
    if raw and not info.raw_files:
        known = ", ".join(other.name for other in list_datasets() if other.raw_files)
        raise ParameterError(f"The raw files of {name} are not kept, only those of {known}: leave raw out.")
    paths = [
        locate(file, data_home=data_home, download_if_missing=download_if_missing, progress=progress)
        for file in (info.raw_files if raw else info.files)
    ]
    from sklearn.utils import Bunch

    content = _clean(name, *paths) if raw else _read(name, *paths)
    return Bunch(**content, attribute=info.attribute, name=info.name, DESCR=describe(name), url=info.url)


def _read(name: str, *paths: Path) -> dict[str, Any]:
    from equigraph.graph import check_adjacency

    adjacency, groups = _READERS[name](*paths)
    return {
        "adjacency": check_adjacency(adjacency),
        "sensitive_features": groups,
        "node_names": np.arange(groups.size),
    }


def _clean(name: str, edges: Path, people: Path) -> dict[str, Any]:
    from equigraph.datasets.cleaning import clean_drugnet, clean_school

    clean = clean_drugnet(edges, people) if name == "drugnet" else clean_school(edges, people)
    duration = {"duration": clean.weights} if name == "diaries" else {}
    return {
        "adjacency": clean.graph.adjacency,
        "sensitive_features": clean.graph.sensitive_features,
        "node_names": clean.graph.node_names,
        **clean.attributes,
        **duration,
    }


def fetch_diaries(
    *,
    raw: bool = False,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    progress: bool = False,
) -> Bunch:
    """Fetch the contact diaries of a high school: 120 students, gender.

    Parameters
    ----------
    raw : bool, default=False
        Whether to clean the raw files here, which brings the ids of the students, their class and how long the
        contacts were; nodes, edges and groups stay the same.
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
        (positions in the file; with ``raw`` the ids), ``attribute``, ``name``, ``DESCR`` and ``url``; with ``raw``
        also ``school_class`` and ``duration``.

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
    return load(
        "diaries", raw=raw, data_home=data_home, download_if_missing=download_if_missing, progress=progress
    )


def fetch_facebook(**options: Unpack[_Options]) -> Bunch:
    """Fetch the Facebook friendships of a high school: 155 students, gender.

    Parameters, result and errors are those of `fetch_diaries`. With ``raw`` there is a ``school_class`` too.
    """
    return load("facebook", **options)


def fetch_friendship(**options: Unpack[_Options]) -> Bunch:
    """Fetch the reported friendships of a high school: 127 students, gender.

    Parameters, result and errors are those of `fetch_diaries`. With ``raw`` there is a ``school_class`` too.
    """
    return load("friendship", **options)


def fetch_drugnet(**options: Unpack[_Options]) -> Bunch:
    """Fetch the acquaintances of drug users in Hartford: 193 people, ethnicity.

    Parameters, result and errors are those of `fetch_diaries`. With ``raw`` there is a ``gender`` too, in part unknown.
    """
    return load("drugnet", **options)


def fetch_nba(**options: Unpack[_Options]) -> Bunch:
    """Fetch the Twitter ties of basketball players: 400 players, nationality.

    Parameters, result and errors are those of `fetch_diaries`, without ``raw``.
    """
    return load("nba", **options)


def fetch_lastfm(**options: Unpack[_Options]) -> Bunch:
    """Fetch the friendships of LastFM users in Asia: 5,576 users, country.

    Parameters, result and errors are those of `fetch_diaries`, without ``raw``.
    """
    return load("lastfm", **options)


def fetch_pokec_n(**options: Unpack[_Options]) -> Bunch:
    """Fetch the friendships of Pokec users of one region: 67,796 users, age.

    Parameters, result and errors are those of `fetch_diaries`, without ``raw``.
    """
    return load("pokec-n", **options)


def _named(codes: NDArray[Any], names: dict[int, str]) -> NDArray[np.str_]:
    return np.array([names[code] for code in codes.astype(int).tolist()])


def _dense_text_reader(names: dict[int, str]) -> Callable[[Path, Path], tuple[Any, NDArray[np.str_]]]:
    def read(graph: Path, attributes: Path) -> tuple[Any, NDArray[np.str_]]:
        from equigraph.graph import read_graph

        codes = np.loadtxt(attributes, delimiter=",", dtype=int, usecols=0)
        return read_graph(graph, format="matrix", header=False).adjacency, _named(codes, names)

    return read


def _read_lastfm(path: Path) -> tuple[Any, NDArray[np.str_]]:
    from scipy.io import loadmat

    content = loadmat(path)
    codes = content["F"].ravel()
    return content["A"], _named(codes, {code: f"country {code}" for code in np.unique(codes).tolist()})


_READERS: dict[str, Callable[..., tuple[Any, NDArray[np.str_]]]] = {
    "diaries": _dense_text_reader(_GENDERS),
    "facebook": _dense_text_reader(_GENDERS),
    "friendship": _dense_text_reader(_GENDERS),
    "drugnet": _dense_text_reader(_ETHNICITIES),
    "nba": _dense_text_reader(_NATIONALITIES),
    "lastfm": _read_lastfm,
    "pokec-n": lambda graph, attributes: (
        sparse.load_npz(graph),
        _named(np.loadtxt(attributes, dtype=int), _AGES),
    ),
}
