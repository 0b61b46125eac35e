"""The real graphs: what the files hold, and how they are found, fetched and refused."""

import dataclasses
import hashlib
import http.server
import json
import shutil
import threading
from collections import Counter

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from equigraph import datasets
from equigraph.datasets import _files
from equigraph.exceptions import DatasetError, ParameterError

NAMES = ["diaries", "facebook", "friendship", "drugnet", "nba", "lastfm", "pokec-n"]


def test_every_data_set_has_a_function_and_a_text():
    assert [info.name for info in datasets.list_datasets()] == NAMES
    for info in datasets.list_datasets():
        text = datasets.describe(info.name)
        for heading in ("Source", "Licence", "Cleaning", "Known discrepancies", "Files"):
            assert f"\n{heading}\n---" in text
        assert f"{info.n_edges:,} edges" in text
        assert sum(size for _, size in info.groups) == info.n_nodes


@pytest.mark.parametrize("name", NAMES)
def test_counts(name, data_dir, monkeypatch):
    monkeypatch.setenv("EQUIGRAPH_DATA", str(data_dir))
    data = getattr(datasets, f"fetch_{name.replace('-', '_')}")(download_if_missing=False)
    info = datasets.dataset_info(name)
    adjacency = data.adjacency
    assert adjacency.shape == (info.n_nodes, info.n_nodes)
    assert adjacency.nnz == 2 * info.n_edges
    assert adjacency.has_canonical_format
    assert adjacency.dtype == np.float64
    assert np.all(adjacency.data == 1)
    assert adjacency.diagonal().sum() == 0
    assert (adjacency != adjacency.T).nnz == 0
    assert Counter(data.sensitive_features.tolist()) == dict(info.groups)
    assert data.sensitive_features.dtype.kind == "U"
    assert data.node_names.tolist() == list(range(info.n_nodes))
    assert (data.name, data.attribute, data.url) == (name, info.attribute, info.url)
    assert datasets.describe(name) == data.DESCR
    if name != "pokec-n":
        assert connected_components(adjacency)[0] == 1


SHARES = {
    "diaries": 0.606,
    "facebook": 0.568,
    "friendship": 0.601,
    "drugnet": 0.883,
    "nba": 0.724,
    "lastfm": 0.919,
}


@pytest.mark.parametrize(("name", "share"), SHARES.items())
def test_share_of_edges_within_groups(name, share, data_dir):
    # Would fail if the groups were in another order than the nodes.
    data = datasets.load(name, data_home=data_dir, download_if_missing=False)
    edges = data.adjacency.tocoo()
    same = data.sensitive_features[edges.row] == data.sensitive_features[edges.col]
    assert same.mean() == pytest.approx(share, abs=5e-4)


def test_registry_agrees_with_the_manifest(data_dir):
    manifest = {entry["path"]: entry for entry in json.loads((data_dir / "manifest.json").read_text())}
    for info in datasets.list_datasets():
        for file in (*info.files, *info.raw_files):
            entry = manifest[file.path]
            assert (file.url, file.sha256, file.n_bytes) == (entry["url"], entry["sha256"], entry["bytes"])


def test_unknown_name():
    with pytest.raises(ParameterError, match=r"no data set named 'pokec' \(did you mean 'pokec-n'\?\)"):
        datasets.load("pokec")
    with pytest.raises(ParameterError, match="no data set"):
        datasets.describe("Diaries")


# Finding and fetching. The files are made up here, so that nothing below needs the real graphs.

GRAPH = b"0,1,0\n1,0,1\n0,1,0\n"
GROUPS = b"1\n2\n2\n"
RAW_GRAPH = b"7 5 2\n5 9 1\n9 5 3\n"
RAW_PEOPLE = b"5\tPC\tM\n7\tMP\tF\n9\tPC\tM\n"
CONTENT = {"graph.csv": GRAPH, "groups.csv": GROUPS, "raw.csv": RAW_GRAPH, "people.txt": RAW_PEOPLE}


def _sha256(content):
    return hashlib.sha256(content).hexdigest()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mode, _, name = self.path.strip("/").partition("/")
        self.server.requests.append(self.path)
        content = CONTENT[name]
        if mode.endswith("-once"):
            mode = mode.removesuffix("-once") if self.server.requests.count(self.path) == 1 else "whole"
        if mode.isdigit():
            self.send_error(int(mode))
            return
        self.send_response(200)
        if mode != "short":  # says nothing about the length
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = content[: len(content) // 2]
        # "other" is something else, in full and of the right length; "cut" hangs up, "stall" falls silent.
        sent = {"cut": half, "stall": half, "short": half, "other": content[::-1]}
        self.wfile.write(sent.get(mode, content))
        if mode == "stall":
            self.wfile.flush()
            self.server.released.wait(20)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        running.requests = []
        running.released = threading.Event()
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.released.set()
        running.shutdown()
        thread.join()


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Return a function that points the diaries to made-up files at an address, with an empty cache."""
    cache = tmp_path / "cache"
    monkeypatch.delenv("EQUIGRAPH_DATA", raising=False)
    monkeypatch.setattr(_files, "RETRIES", 0)
    monkeypatch.setattr(_files, "_cache_folder", lambda: cache)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)

    def point(address):
        files = tuple(
            _files.DataFile(f"tiny/{name}", f"{address}/{name}", _sha256(content), len(content))
            for name, content in CONTENT.items()
        )
        info = dataclasses.replace(_files.dataset_info("diaries"), files=files[:2], raw_files=files[2:])
        monkeypatch.setattr(_files, "_DATASETS", (info,))
        return cache

    return point


def _address(server, mode):
    return f"http://127.0.0.1:{server.server_address[1]}/{mode}"


def _names_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_download_then_cache(server, tiny):
    cache = tiny(_address(server, "whole"))
    with pytest.raises(DatasetError, match="not on this machine"):
        datasets.fetch_diaries(download_if_missing=False)
    data = datasets.fetch_diaries()
    assert data.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert data.sensitive_features.tolist() == ["F", "M", "M"]
    assert _names_in(cache) == ["graph.csv", "groups.csv"]
    assert len(server.requests) == 2
    datasets.fetch_diaries()
    datasets.fetch_diaries(download_if_missing=False)
    assert len(server.requests) == 2


def test_download_of_the_raw_files_into_data_home(server, tiny, tmp_path):
    cache = tiny(_address(server, "whole"))
    data = datasets.fetch_diaries(raw=True, data_home=tmp_path / "home")
    assert data.node_names.tolist() == [5, 7, 9]
    assert data.adjacency.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert data.duration.toarray().tolist() == [[0, 2, 3], [2, 0, 0], [3, 0, 0]]
    assert _names_in(tmp_path / "home") == ["people.txt", "raw.csv"]
    assert not cache.exists()


@pytest.mark.parametrize(
    ("mode", "progress", "words"),
    [
        *((mode, bar, r"graph\.csv.*EQUIGRAPH_DATA") for mode in ("cut", "short") for bar in (False, True)),
        ("other", False, f"is not the expected file.*{_sha256(GRAPH)}"),
        ("stall", False, "check the network"),
        ("404", False, "answered 404"),
        (None, False, "check the network, or set EQUIGRAPH_DATA"),
    ],
)
def test_a_failed_download_is_said_in_a_line_and_leaves_nothing(
    server, tiny, monkeypatch, mode, progress, words
):
    cache = tiny("http://127.0.0.1:9" if mode is None else _address(server, mode))
    if mode == "stall":
        monkeypatch.setattr(_files, "TIMEOUT", 0.2)
    with pytest.raises(DatasetError, match=rf"\A.*{words}.*\Z"):  # one line: a dot is no line end
        datasets.fetch_diaries(progress=progress)
    assert _names_in(cache) == []


@pytest.mark.parametrize("mode", ["503-once", "cut-once"])
def test_a_second_attempt_that_succeeds(server, tiny, monkeypatch, mode, capsys):
    cache = tiny(_address(server, mode))
    monkeypatch.setattr(_files, "RETRIES", 1)
    assert datasets.fetch_diaries(progress=True).adjacency.nnz == 4
    assert [path.rsplit("/", 1)[-1] for path in server.requests] == ["graph.csv"] * 2 + ["groups.csv"] * 2
    assert _names_in(cache) == ["graph.csv", "groups.csv"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "18.0/18.0" in captured.err


def test_damaged_cache_is_fetched_again(server, tiny):
    cache = tiny(_address(server, "whole"))
    datasets.fetch_diaries()
    (cache / "tiny" / "graph.csv").write_bytes(GRAPH[:-3])
    with pytest.raises(DatasetError, match="sha256"):
        datasets.fetch_diaries(download_if_missing=False)
    assert datasets.fetch_diaries().adjacency.nnz == 4


def test_damaged_file_of_the_user_is_refused_and_kept(server, tiny, tmp_path, monkeypatch):
    tiny(_address(server, "whole"))
    home = tmp_path / "mine"
    datasets.fetch_diaries(data_home=home)
    damaged = home / "tiny" / "graph.csv"
    damaged.write_bytes(b"0,1\n1,0\n")
    monkeypatch.setenv("EQUIGRAPH_DATA", str(home))
    for argument in (home, None):
        with pytest.raises(DatasetError) as caught:
            datasets.fetch_diaries(data_home=argument)
        for part in (str(damaged), _sha256(GRAPH), _sha256(b"0,1\n1,0\n")):
            assert part in str(caught.value)
    assert damaged.read_bytes() == b"0,1\n1,0\n"


def test_order_of_the_folders(server, tiny, tmp_path, monkeypatch):
    tiny(_address(server, "whole"))
    home, environment = tmp_path / "home", tmp_path / "environment"
    datasets.fetch_diaries(data_home=environment)
    monkeypatch.setenv("EQUIGRAPH_DATA", str(environment))
    server.requests.clear()
    file = _files.dataset_info("diaries").files[0]
    assert _files.locate(file, data_home=home) == environment / "tiny" / "graph.csv"
    shutil.copytree(environment, home)
    assert _files.locate(file, data_home=home) == home / "tiny" / "graph.csv"
    assert server.requests == []


def test_variable_that_names_no_folder(tiny, monkeypatch, tmp_path):
    tiny("http://127.0.0.1:9")
    monkeypatch.setenv("EQUIGRAPH_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match="not a folder"):
        datasets.fetch_diaries()


def test_folder_that_cannot_be_written(server, tiny, tmp_path):
    tiny(_address(server, "whole"))
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    with pytest.raises(DatasetError, match="could not be written"):
        datasets.fetch_diaries(data_home=blocker)
