"""Cleaning of the raw files of real graphs.

A cleaned graph is simple (0/1, undirected), everyone's group is known, and it is connected: of several components the
largest is kept. Nodes are in the order of the matrix or, read from a list of pairs, in ascending order of their ids.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from equigraph.exceptions import GraphError, GroupsError
from equigraph.graph import Graph, check_adjacency, read_graph

PathLike = str | os.PathLike[str]

Words = NDArray[np.str_]
UNKNOWN = "Unknown"
_SCHOOL_GENDERS = ("F", "M", UNKNOWN)
# Every other code of the source stands for white or other.
_ETHNICITIES = {2: "African American", 3: "Latino"}
_DRUGNET_GENDERS = {0: "unknown", 1: "M", 2: "F"}


def clean_school(edges: PathLike, people: PathLike) -> dict[str, Any]:
    r"""Clean one of the three networks of the high school in Marseilles, as SocioPatterns publishes them.

    A pair that either of the two reported is an edge; a third column is its weight, and a pair of weight 0 (known
    to be no friends on Facebook) is none. Students of unknown gender are dropped, then the largest connected
    component is kept.

    Parameters
    ----------
    edges : path-like
        Rows ``i j`` or ``i j w``, separated by blanks: contact diaries, friendships, or known pairs on Facebook.
    people : path-like
        Rows ``id class gender``, separated by tabs: ``metadata_2013.txt``.

    Returns
    -------
    dict
        ``adjacency``, ``sensitive_features`` ("F" and "M", as in the file), ``node_names``, ``weights`` (the same
        edges with the numbers of the file, of two reports the larger one) and ``school_class``.

    Raises
    ------
    GraphError, GroupsError
        If a file is not of that form, or someone is not in the list of people.

    References
    ----------
    R. Mastrandrea, J. Fournet, A. Barrat. Contact patterns in a high school: a comparison between data collected
    using wearable sensors, contact diaries and friendship surveys. PLoS ONE 10(9), 2015.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     edges, people = Path(folder) / "edges.csv", Path(folder) / "people.txt"
    ...     _ = edges.write_text("9 3 1\n3 9 4\n9 7 2\n7 5 1\n")
    ...     _ = people.write_text("3\tMP\tF\n5\tPC\tUnknown\n7\tMP\tM\n9\tPC\tF\n")
    ...     clean = clean_school(edges, people)
    >>> clean["node_names"].tolist(), clean["sensitive_features"].tolist(), float(clean["weights"][0, 2])
    ([3, 7, 9], ['F', 'M', 'F'], 4.0)
    """
    graph = read_graph(edges, format="edges", header=False, delimiter=" ", duplicates="max")
    school_class, gender = (_column(graph, people, column).astype(str) for column in (1, 2))
    _check_known(gender.tolist(), _SCHOOL_GENDERS, people)
    return _clean(graph, gender, gender != UNKNOWN, school_class=school_class)


def clean_drugnet(network: PathLike, people: PathLike) -> dict[str, Any]:
    r"""Clean the acquaintances of drug users in Hartford, as the UCINET collection publishes them.

    A tie that either of the two named is an edge, and the largest connected component is kept. Ethnicity is
    2 = African American and 3 = Latino; every other code is "other".

    Parameters
    ----------
    network : path-like
        A square 0/1 table with ids in its first row and column, where a row names acquaintances:
        ``DRUGNET.csv``.
    people : path-like
        A table with the columns id, ``Ethnicity``, ``Gender`` and ``HasTie``: ``DRUGATTR.csv``.

    Returns
    -------
    dict
        ``adjacency``, ``sensitive_features`` (ethnicities), ``node_names``, ``weights`` and ``gender`` ("F", "M" or,
        for three people, "unknown").

    Raises
    ------
    GraphError, GroupsError
        If a file is not of that form, or a code of gender is not known.

    References
    ----------
    M. R. Weeks, S. Clair, S. P. Borgatti, K. Radda, J. J. Schensul. Social networks of drug users in high-risk
    sites: finding the connections. AIDS and Behavior 6, 2002.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     network, people = Path(folder) / "net.csv", Path(folder) / "people.csv"
    ...     _ = network.write_text(",1,2,4\n1,0,1,0\n2,0,0,0\n4,0,0,0\n")
    ...     _ = people.write_text(",Ethnicity,Gender,HasTie\n1,3,1,1\n2,7,2,1\n4,2,0,0\n")
    ...     clean = clean_drugnet(network, people)
    >>> clean["node_names"].tolist(), clean["sensitive_features"].tolist()
    ([1, 2], ['Latino', 'other'])
    >>> clean["gender"].tolist()
    ['M', 'F']
    """
    graph = read_graph(network, format="matrix", symmetrize="max")
    ethnicity = np.array([_ETHNICITIES.get(code, "other") for code in _codes(graph, people, "Ethnicity")])
    gender = _codes(graph, people, "Gender")
    _check_known(gender, tuple(_DRUGNET_GENDERS), people)
    words = np.array([_DRUGNET_GENDERS[code] for code in gender])
    return _clean(graph, ethnicity, np.ones(graph.n_nodes, dtype=bool), gender=words)


def _codes(graph: Graph, people: PathLike, column: str) -> list[int]:
    values = _column(graph, people, column)
    if values.dtype.kind != "i":
        raise GroupsError(
            f"The column {column!r} of {os.fspath(people)} holds texts: expected whole numbers."
        )
    return values.tolist()


def _column(graph: Graph, people: PathLike, column: str | int) -> NDArray:
    """Return a column of the table of people, in node order."""
    (values,) = read_graph(graph, people, column, unknown="ignore").features.values()
    return values


def _check_known(genders: list[Any], known: tuple[Any, ...], people: PathLike) -> None:
    strange = sorted(set(genders).difference(known))
    if strange:
        expected = ", ".join(map(str, known))
        raise GroupsError(f"{os.fspath(people)} has the gender {strange[0]}: expected one of {expected}.")


def _clean(graph: Graph, groups: Words, known: NDArray[np.bool_], **further: Words) -> dict[str, Any]:
    """Return the largest component of the known nodes; of equal components the first."""
    nodes = np.flatnonzero(known)
    if nodes.size == 0:
        raise GraphError("No node of the graph has a known group: nothing is left to cluster.")
    _, component = connected_components(graph.adjacency[nodes][:, nodes], directed=False)
    kept = nodes[component == np.bincount(component).argmax()]
    weights = sparse.csr_array(graph.adjacency[kept][:, kept])
    simple = sparse.csr_array((np.ones(weights.nnz), weights.indices, weights.indptr), shape=weights.shape)
    return {
        "adjacency": check_adjacency(simple),
        "sensitive_features": groups[kept],
        "node_names": graph.node_names[kept],
        "weights": weights,
        **{name: values[kept] for name, values in further.items()},
    }
