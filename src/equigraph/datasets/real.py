"""Fetch and read the real graphs, with names of their groups."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from equigraph.datasets._files import dataset_info, list_datasets, locate
from equigraph.exceptions import ParameterError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

PathLike = str | os.PathLike[str]


def describe(name: str) -> str:
    """Return the description of a data set: source, licence, cleaning, known discrepancies.

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
    info = dataset_info(name)
    return resources.files(__package__).joinpath("descr", f"{info.name}.rst").read_text(encoding="utf-8")


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
        If there is no such data set, or ``raw`` is requested and there are no raw files.
    DatasetError
        If a file is damaged, or neither on this machine nor available for download.
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
    """Read the cleaned files of a data set."""
    from equigraph.graph import check_adjacency, read_graph

    adjacency: Any
    if name == "lastfm":
        from scipy.io import loadmat

        content = loadmat(paths[0])
        adjacency, codes = content["A"], content["F"].ravel().astype(int)
    else:
        graph, attributes = paths
        codes = np.loadtxt(attributes, delimiter=",", dtype=int, usecols=0)
        if graph.suffix == ".npz":
            adjacency = sparse.load_npz(graph)
        else:
            adjacency = read_graph(graph, format="matrix", header=False).adjacency
    names = _NAMES.get(name) or {code: f"country {code}" for code in np.unique(codes).tolist()}
    groups = np.array([names[code] for code in codes.tolist()])
    return {
        "adjacency": check_adjacency(adjacency),
        "sensitive_features": groups,
        "node_names": np.arange(groups.size),
    }


def _clean(name: str, edges: Path, people: Path) -> dict[str, Any]:
    from equigraph.datasets.cleaning import clean_drugnet, clean_school

    clean = clean_drugnet(edges, people) if name == "drugnet" else clean_school(edges, people)
    weights = clean.pop("weights")
    return {**clean, "duration": weights} if name == "diaries" else clean


_FETCH_DOC = """Fetch {what}.

Parameters
----------
raw : bool, default=False
    Whether to clean the raw files here, which brings the ids of the source as node names and what the cleaned
    files leave out: {further}.
data_home : path-like, optional
    Folder to look in first, and to download into.
download_if_missing : bool, default=True
    Whether to download what is not on this machine; needs the extra ``data``.
progress : bool, default=False
    Whether to show a progress bar while downloading.

Returns
-------
sklearn.utils.Bunch
    ``adjacency`` (csr_array), ``sensitive_features`` (name of the group of each node), ``node_names``,
    ``attribute``, ``name``, ``DESCR`` and ``url``.

Raises
------
DatasetError
    If a file is damaged, or neither on this machine nor available for download.

See Also
--------
load : The same by name, with the order in which folders are looked in.

Examples
--------
>>> data = {function}()  # doctest: +SKIP
"""


def _fetcher(name: str, what: str, further: str = "none are kept of this graph") -> Callable[..., Bunch]:
    """Return the function that fetches one data set; `further` says what its raw files add, if it has them."""

    def fetch(
        *,
        raw: bool = False,
        data_home: PathLike | None = None,
        download_if_missing: bool = True,
        progress: bool = False,
    ) -> Bunch:
        return load(
            name, raw=raw, data_home=data_home, download_if_missing=download_if_missing, progress=progress
        )

    fetch.__name__ = fetch.__qualname__ = f"fetch_{name.replace('-', '_')}"
    fetch.__doc__ = _FETCH_DOC.format(what=what, further=further, function=fetch.__name__)
    return fetch


_SCHOOL = "of a high school: {} students, gender"
fetch_diaries = _fetcher(
    "diaries", f"the contact diaries {_SCHOOL.format(120)}", "``school_class`` and ``duration``"
)
fetch_facebook = _fetcher("facebook", f"the Facebook friendships {_SCHOOL.format(155)}", "``school_class``")
fetch_friendship = _fetcher(
    "friendship", f"the reported friendships {_SCHOOL.format(127)}", "``school_class``"
)
fetch_drugnet = _fetcher(
    "drugnet",
    "the acquaintances of drug users in Hartford: 193 people, ethnicity",
    "``gender``, in part unknown",
)
fetch_nba = _fetcher("nba", "the Twitter ties of basketball players: 400 players, nationality")
fetch_lastfm = _fetcher("lastfm", "the friendships of LastFM users in Asia: 5,576 users, country")
fetch_pokec_n = _fetcher("pokec-n", "the friendships of Pokec users of one region: 67,796 users, age")


# Names of the group codes; those of lastfm are countries without a name.
_NAMES: dict[str, dict[int, str]] = {
    **{school: {1: "F", 2: "M"} for school in ("diaries", "facebook", "friendship")},
    "drugnet": {1: "other", 2: "African American", 3: "Latino"},
    "nba": {0: "US", 1: "non-US"},
    "pokec-n": {1: "18 or younger", 2: "19-25", 3: "26-35", 4: "36 or older"},
}
