"""Small valid files of every format that is read, as bytes by file name."""

import gzip
import io
import itertools
import json
import re
import warnings
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse
from scipy.io import mmwrite, savemat

import equigraph as eg
from tests.apps.classes.roster.sheets import PEOPLE as PUPILS
from tests.apps.classes.roster.sheets import write_ods, write_xlsx
from tests.optional import optional

nx = optional("networkx")
pa = optional("pyarrow")
pq = optional("pyarrow.parquet")

# The files of a case: most have one, groups come with their graph, and blocks are a folder of several.
Files = dict[str, bytes]

PEOPLE = ["ann", "bob", "cem", "dea", "eve", "fay"]
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (1, 4)]
WEIGHTS = [1, 2.5, 1, 3, 1, 1e-3, 7, 2]
NAMED = [(PEOPLE[i], PEOPLE[j], weight) for (i, j), weight in zip(PAIRS, WEIGHTS, strict=True)]


def _matrix():
    rows, columns = zip(*PAIRS, strict=True)
    half = sparse.coo_array((WEIGHTS, (rows, columns)), shape=(6, 6))
    return (half + half.T).tocsr()


def _lines(rows, separator):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def csv():
    """Return edge lists with commas."""
    plain = _lines(NAMED, ",")
    quoted = "".join(f'"{a}","{b} {b}",{w}\n' for a, b, w in NAMED).encode()
    return [
        {"edges.csv": b"source,target,weight\n" + plain},
        {"edges.csv": plain},
        {"edges.csv": b"source,target\n" + _lines([row[:2] for row in NAMED], ",")},
        {"edges.csv": _lines([(10 + i, 10 + j) for i, j in PAIRS], ",")},
        {"edges.csv": b"# a comment\r\nsource,target,weight\r\n" + plain.replace(b"\n", b"\r\n")},
        {"edges.csv": b"\xef\xbb\xbfsep=;\nsource;target;weight\n" + plain.replace(b",", b";")},
        {"edges.csv": quoted},
    ]


def tsv():
    """Return edge lists with tabs."""
    return [
        {"edges.tsv": _lines(NAMED, "\t")},
        {"edges.tsv": b"from\tto\tw\n" + _lines(NAMED, "\t")},
    ]


def txt():
    """Return edge lists with blanks."""
    return [
        {"edges.txt": b"% made by hand\n" + _lines([(i, j) for i, j in PAIRS], " ")},
        {"edges.txt": _lines([(i, j, w) for (i, j), w in zip(PAIRS, WEIGHTS, strict=True)], "  ")},
        {"edges.txt": "".join(f'"{a} x" {b}\n' for a, b, _ in NAMED).encode()},
    ]


def matrix():
    """Return square matrices as text."""
    rows = _matrix().toarray().tolist()
    named = [("", *PEOPLE), *((name, *row) for name, row in zip(PEOPLE, rows, strict=True))]
    return [
        {"matrix.csv": _lines(rows, ",")},
        {"matrix.csv": _lines(named, ",")},
        {"matrix.txt": _lines(rows, " ")},
    ]


def packed():
    """Return gzipped files; their bytes are mutated before or after they are packed."""
    market = mtx()[0]["graph.mtx"]
    return [
        {"edges.csv.gz": gzip.compress(_lines(NAMED, ","), mtime=0)},
        {"graph.mtx.gz": gzip.compress(market, mtime=0)},
        {"graph.mat.gz": gzip.compress(mat()[0]["graph.mat"], mtime=0)},
    ]


def parquet():
    """Return edge tables of text and of integers, packed and not."""
    texts = pa.table(dict(zip(("source", "target", "weight"), zip(*NAMED, strict=True), strict=True)))
    numbers = pa.table(dict(zip(("source", "target"), zip(*PAIRS, strict=True), strict=True)))
    cases = []
    for table, compression in itertools.product((texts, numbers), ("none", "snappy")):
        stream = io.BytesIO()
        pq.write_table(table, stream, compression=compression, use_dictionary=compression == "snappy")
        cases.append({"edges.parquet": stream.getvalue()})
    return cases


def _networkx():
    graph = nx.Graph()
    graph.add_nodes_from((name, {"team": name < "d"}) for name in PEOPLE)
    graph.add_weighted_edges_from(NAMED)
    return graph


def graphml():
    """Return a GraphML file with attributes, and one with a default weight."""
    stream = io.BytesIO()
    nx.write_graphml_xml(_networkx(), stream)
    default = (
        b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="w" for="edge" attr.name="weight" '
        b'attr.type="double"><default>3</default></key><graph edgedefault="undirected"><node id="0"/><node id="1"/>'
        b'<edge source="0" target="1"/></graph></graphml>'
    )
    return [{"graph.graphml": stream.getvalue()}, {"graph.graphml": default}]


def gml():
    """Return a GML file."""
    graph = _networkx()
    for _, data in graph.nodes(data=True):
        data["team"] = int(data["team"])
    return [{"graph.gml": "\n".join(nx.generate_gml(graph)).encode()}]


def mtx():
    """Return Matrix Market files with coordinates, patterns and whole arrays."""
    cases = []
    for what in (_matrix(), sparse.coo_array(_matrix() != 0), _matrix().toarray()):
        for symmetry in ("general", "symmetric"):
            stream = io.BytesIO()
            mmwrite(stream, what, symmetry=symmetry)
            cases.append({"graph.mtx": stream.getvalue()})
    return cases


def npz():
    """Return sparse matrices of every format that scipy saves, and dense ones."""
    cases = []
    for name in ("csr", "csc", "coo", "bsr", "dia"):
        stream = io.BytesIO()
        sparse.save_npz(stream, _matrix().asformat(name), compressed=False)
        cases.append({"graph.npz": stream.getvalue()})
    stream = io.BytesIO()
    np.savez(stream, A=_matrix().toarray(), other=np.arange(3))
    return [*cases, {"graph.npz": stream.getvalue()}]


def mat():
    """Return MATLAB files, sparse and dense, packed and not."""
    cases = []
    for what in (_matrix().tocsc(), _matrix().toarray()):
        for packed in (False, True):
            stream = io.BytesIO()
            savemat(stream, {"A": what, "b": np.arange(3.0)}, do_compression=packed)
            # The first line tells the time, and a case has to be the same whenever it is made.
            cases.append({"graph.mat": b"MATLAB 5.0 MAT-file".ljust(116) + stream.getvalue()[116:]})
    return cases


def groups():
    """Return groups for a graph with names, and for one whose nodes are in order."""
    edges = {"edges.csv": _lines(NAMED, ",")}
    square = {"matrix.csv": _lines(_matrix().toarray().tolist(), ",")}
    teams = ["red", "blue", "red", "blue", "red", "red"]
    rows = list(zip(PEOPLE, teams, strict=True))
    stream = io.BytesIO()
    pq.write_table(pa.table({"name": PEOPLE, "team": teams}), stream)
    return [
        edges | {"groups.csv": b"name,team\n" + _lines(rows, ",")},
        edges | {"groups.txt": _lines(rows, " ")},
        edges | {"groups.tsv": _lines(rows, "\t")},
        edges | {"groups.parquet": stream.getvalue()},
        square | {"groups.csv": b"team\n" + _lines([(team,) for team in teams], ",")},
        square | {"groups.txt": _lines([(team,) for team in teams], ",")},
    ]


def _teams():
    return eg.Graph(_matrix(), np.array(PEOPLE), np.array(["red", "blue"] * 3), "team")


def _written(write):
    """Return the files that a function writes into a folder."""
    with TemporaryDirectory() as folder:
        write(Path(folder))
        return {path.name: path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def blocks():
    """Return folders of row blocks, with names and groups and without."""
    return [
        _written(lambda folder, graph=graph: eg.write_blocks(graph, folder / "blocks", rows_per_block=4))
        for graph in (_teams(), eg.as_graph(_matrix() != 0))
    ]


def roster():
    """Return sheets of people: text in several dialects."""
    text = "\n".join(";".join(row) for row in PUPILS)
    return [
        {"roster.csv": text.encode("utf-8-sig")},
        {"roster.csv": text.replace(";", ",").replace("\n", "\r\n").encode("cp1252")},
        {"roster.tsv": text.replace(";", "\t").encode("utf-16")},
    ]


@cache  # the package that writes ods counts on from one file to the next
def sheets():
    """Return sheets of people as workbooks of both kinds, whose parts are damaged inside the archive."""
    with TemporaryDirectory() as folder:
        paths = [
            write_xlsx(Path(folder) / "roster.xlsx", PUPILS),
            write_ods(Path(folder) / "roster.ods", PUPILS),
        ]
        return [{path.name: _timeless(path.read_bytes())} for path in paths]


def _timeless(archive):
    """Return an archive without the time at which it was made."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = re.sub(rb"\d{4}-\d\d-\d\dT[\d:.]+", b"2026-01-01T00:00:00", old.read(name))
            new.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def people():
    """Return the people whose classes the lists hold."""
    return eg.Roster(tuple(row[0] for row in PUPILS[1:]), {"Gender": ("f", "m", "m", None)})


def lists():
    """Return class lists as they are written, to be edited and read back."""
    classes = eg.ClassLists(people(), [0, 0, 1, 1], ["5a", "5b"])
    writers = {"lists.csv": classes.to_csv, "lists.xlsx": classes.to_xlsx}
    return [_written(lambda folder, name=name: writers[name](folder / name)) for name in writers]


def result():
    """Return folders of results: of a factorisation with groups, and of labels without."""
    cases = []
    for what, method in ((_teams(), "nmtf"), (eg.as_graph(_matrix()), "random")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # The same to the byte whenever it is made: a case is named by its numbers alone.
            found = eg.cluster(what, method=method, n_clusters=2, random_state=0)
            cases.append(_written(replace(found, seconds=0.0).save))
    return cases


def rules():
    """Return rules in both notations."""
    content = {
        "together": [["ann", "bob"]],
        "apart": [["cem", "dea", "eve"]],
        "fixed": {"ann": 0},
        "sizes": [2, 4],
        "friends": 1,
        "at_least": {"team": {"red": 1}},
        "at_most": {"team": {"blue": 2}},
        "not_alone": {"team": 2},
        "shares": {"team": 0.25},
    }
    toml = b'together = [["ann", "bob"]]\nsizes = [2, 4]\n[fixed]\nann = 0\n[at_least.team]\nred = 1\n'
    return [{"rules.json": json.dumps(content).encode()}, {"rules.toml": toml}]


_TEXTS, _TABLES = (csv, tsv, txt, matrix, packed), (parquet, graphml, gml, mtx, npz, mat, groups)
_OWN = (blocks, roster, sheets, lists, result, rules)
READERS = {reader.__name__: reader for reader in (*_TEXTS, *_TABLES, *_OWN)}
