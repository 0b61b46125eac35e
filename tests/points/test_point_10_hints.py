"""Point 10: hints that lead on."""

from __future__ import annotations

import subprocess
import sys

import pytest

import equigraph as eg
from equigraph.exceptions import GraphError, MissingDependencyError, ParameterError
from tests.optional import optional

nx = optional("networkx")
pa = optional("pyarrow")
pd = optional("pandas")
pl = optional("polars")

ROOM = eg.datasets.make_classroom()


def test_a_package_without_an_extra_is_named_itself(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    result = eg.cluster(ROOM, n_clusters=2, effort=0, random_state=0)
    with pytest.raises(MissingDependencyError, match=r"pip install polars\.$"):
        result.to_frame("polars")
    model = eg.NMTF(2, random_state=0).set_output(transform="polars")
    with pytest.raises(MissingDependencyError, match=r"pip install polars\.$"):
        model.fit_transform(ROOM)


def test_parameters_that_are_no_pair_and_a_number_that_is_missing():
    with pytest.raises(ParameterError, match=r"size_bounds must be a list or a tuple .*as a pair"):
        eg.FairPartition(3, size_bounds=5).fit(ROOM)
    with pytest.raises(ParameterError, match=r"n_clusters is not given.*stability"):
        eg.cluster(ROOM)
    assert eg.cluster(ROOM, method="fair-louvain", random_state=0).n_clusters > 1
    found = eg.compare(ROOM, methods="sc", n_clusters=3, n_seeds=1)
    assert [row.method for row in found.rows] == ["sc"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "csv", "parquet"])
def test_words_are_no_weights(tmp_path, library):
    words = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "kind": ["friend", None]})
    numbers = words.assign(kind=["friend", "3,5"])
    for frame, is_weight in ((words, False), (numbers, True)):
        path = tmp_path / f"{is_weight}.{library}"
        if library in ("csv", "parquet"):
            (frame.to_csv if library == "csv" else frame.to_parquet)(path, index=False)
        made = {"pandas": lambda x: x, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pandas}
        table = made[library](frame) if library in made else path
        if is_weight:
            with pytest.raises(GraphError, match="'kind' may be a weight"):
                eg.read_graph(table)
        else:
            assert eg.read_graph(table).adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


PROGRAM = """
from equigraph._utils.compilation import compiled
space = {"__name__": "equigraph.typed"}
exec("def double(x):\\n    return 2 * x", space)  # without a file there is no folder for a cache
print(compiled(space["double"])(np.int64(4)))
"""


def test_a_cache_that_cannot_be_written_is_told():
    done = subprocess.run(
        [sys.executable, "-c", "import numpy as np\n" + PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "8"
    assert done.stderr.count("set NUMBA_CACHE_DIR") == 1
    assert "first run only" not in done.stderr


def test_loading_warns_of_nothing(data_dir):
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-X",
            "dev",
            "-c",
            "import equigraph as eg; eg.datasets.load('lastfm')",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
