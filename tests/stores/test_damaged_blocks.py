"""Row blocks with a flipped byte crashed a fit or changed its labels; now they are refused on first use."""

import hashlib
import json
import os
import zlib

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import GraphError
from equigraph.stores.blocks import open_blocks, write_blocks
from equigraph.stores.edge_blocks import write_edge_blocks
from tests.reference.stored import flip, write_parts


@pytest.fixture
def folder(tmp_path):
    data = eg.datasets.make_fair_sbm(180, 3, 2, random_state=0)
    adjacency = data.adjacency.copy()
    adjacency.data = adjacency.data + np.minimum(
        adjacency.indices, np.repeat(np.arange(180), np.diff(adjacency.indptr))
    )
    names = np.array([f"n{k:03d}" for k in range(180)])
    write_blocks(
        eg.Graph(adjacency, names, data.sensitive_features, "group"), tmp_path / "b", rows_per_block=70
    )
    return tmp_path / "b"


def change(folder, name, array):
    """Put another array of the same length into a file, as whoever writes it wrongly would: with its checksum."""
    before = (folder / name).stat().st_size
    np.save(folder / name, array)
    assert (folder / name).stat().st_size == before
    sign(folder, name)


def sign(folder, *names, **facts):
    meta = json.loads((folder / "blocks.json").read_text())
    meta.pop("checksum")
    for name in names:
        data = (folder / name).read_bytes()
        meta["files"][name] = {"bytes": len(data), "crc32": zlib.crc32(data)}
    meta.update(facts)
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode()).hexdigest()
    (folder / "blocks.json").write_text(json.dumps({**meta, "checksum": digest}))


def fit(graph):
    return eg.FairNMTF(3, fairness=0.3, random_state=0, max_iter=3).fit(graph).labels_


@pytest.mark.parametrize("name", ["indptr-00000.npy", "indices-00001.npy", "data-00002.npy"])
def test_a_flipped_byte_crashed_the_fit_or_changed_its_labels(folder, name):
    flip(folder / name)
    for use in (
        fit,
        lambda graph: graph.to_graph(),
        lambda graph: graph.fingerprint(),
        lambda graph: graph.verify(),
    ):
        with pytest.raises(GraphError, match=f"{name} is gone or has changed since it was written"):
            use(open_blocks(folder))


@pytest.mark.parametrize("name", ["names.json", "groups.npy"])
def test_a_flipped_byte_in_names_or_groups(folder, name):
    flip(folder / name)
    with pytest.raises(GraphError, match=f"{name} is gone or has changed"):
        open_blocks(folder)
    open_blocks(folder, check=False)


def test_what_was_written_wrongly_is_found_by_its_numbers(folder):
    good = {
        name: np.load(folder / name) for name in ("indptr-00001.npy", "indices-00001.npy", "data-00001.npy")
    }
    wrong = [
        ("indptr-00001.npy", [1], 10**8, "pointer 2 is"),
        ("indptr-00001.npy", [-1], 3, "end before|pointer"),
        ("indptr-00001.npy", [0], 1, "start at 1"),
        ("indices-00001.npy", [5], 180, "has an index 180: expected indices from 0 to 179"),
        ("indices-00001.npy", [5], -1, "has an index -1"),
        ("data-00001.npy", [5], np.nan, "a weight is not a positive finite number"),
        ("data-00001.npy", [5], -1.0, "a weight is not a positive finite number"),
        ("data-00001.npy", [5], np.inf, "a weight is not a positive finite number"),
    ]
    for name, place, value, message in wrong:
        array = good[name].copy()
        array[place] = value
        change(folder, name, array)
        graph = open_blocks(folder)
        graph.block(0)
        with pytest.raises(
            GraphError, match=rf"indptr-00001\.npy: the block is not one of a graph .*({message})"
        ):
            graph.block(1)
        change(folder, name, good[name])
    assert open_blocks(folder).to_graph().n_nodes == 180


def test_a_header_that_declares_another_shape(folder):
    path = folder / "indices-00000.npy"
    content = path.read_bytes()
    size = np.load(path).size
    for shape in (10 ** (len(str(size)) - 1), 10 ** len(str(size)) - 1):
        path.write_bytes(content.replace(f"({size},)".encode(), f"({shape},)".encode()))
        sign(folder, path.name)
        with pytest.raises(GraphError, match=r"cannot be read as an array .it declares an array of shape"):
            open_blocks(folder).to_graph()


@pytest.mark.parametrize(
    "facts",
    [
        {"cuts": [0, 50, 40, 180]},
        {"cuts": [0, 50, 100]},
        {"cuts": [5, 50, 180]},
        {"cuts": "x"},
        {"n_nodes": 180.0},
        {"n_nodes": None},
        {"dtype": "object"},
        {"value": -1.0},
        {"total": "much"},
        {"attribute": 3},
        {"files": {"../elsewhere.npy": {"bytes": 1, "crc32": 2}}},
        {"files": [1]},
    ],
    ids=str,
)
def test_a_description_that_contradicts_itself(folder, facts):
    sign(folder, **facts)
    with pytest.raises(GraphError, match=r"blocks\.json contradicts itself"):
        open_blocks(folder)


def test_no_description_and_one_of_another_version(folder):
    with pytest.raises(GraphError, match=r"it has no blocks.json"):
        open_blocks(folder.parent)
    sign(folder, version=99)
    with pytest.raises(GraphError, match="version"):
        open_blocks(folder)


def test_a_block_is_checked_once_and_again_when_it_was_written(folder, monkeypatch):
    from equigraph.stores import block_files

    looked_at = []
    whole = block_files.file_checksum
    monkeypatch.setattr(block_files, "file_checksum", lambda path: looked_at.append(path.name) or whole(path))
    graph = open_blocks(folder)
    looked_at.clear()
    graph.block(0)
    assert sorted(looked_at) == ["data-00000.npy", "indices-00000.npy", "indptr-00000.npy"]
    looked_at.clear()
    graph.block(0)
    graph.with_groups(np.arange(180) % 2).block(0)
    assert not looked_at
    os.utime(folder / "data-00000.npy", ns=(1, 1))
    graph.block(0)
    assert len(looked_at) == 3
    (folder / "data-00000.npy").unlink()
    with pytest.raises(GraphError, match="data-00000"):
        graph.block(0)


def test_told_not_to_check_the_files_are_believed(folder):
    expected = fit(open_blocks(folder))
    graph = open_blocks(folder, check=False)
    assert not graph.checks
    np.testing.assert_array_equal(fit(graph), expected)
    flip(folder / "data-00002.npy")
    eg.IFairNMTF(3, init="random", max_iter=3, tol=0, random_state=0).fit(open_blocks(folder, check=False))


def test_long_names_and_groups_do_not_make_a_large_file(tmp_path):
    adjacency = eg.datasets.make_fair_sbm(3000, 3, 2, random_state=0).adjacency
    names = [*(f"n{k}é" for k in range(2999)), "x" * 100_000]
    groups = [*("ab"[k % 2] for k in range(2999)), "c" * 100_000]
    graph = eg.Graph(adjacency, names, np.array(groups, dtype=object), "team")
    stored = write_blocks(graph, tmp_path / "b")
    assert (tmp_path / "b" / "names.json").stat().st_size < 200_000
    back = open_blocks(tmp_path / "b")
    assert back.node_names.tolist() == names
    assert back.sensitive_features.tolist() == groups
    assert back.fingerprint() == graph.fingerprint() == stored.fingerprint()
    for wrong in ('["a", "b"]', "[1, 2]", '{"a": 1}'):
        (tmp_path / "b" / "names.json").write_text(wrong)
        sign(tmp_path / "b", "names.json")
        with pytest.raises(GraphError, match=r"names\.json does not hold one value for each of 3,?000 nodes"):
            open_blocks(tmp_path / "b")


def test_weights_of_an_edge_set_that_add_up_to_infinity(tmp_path):
    weights = [1.5e308, 1.4e308, 1.0]
    folder = write_parts(tmp_path / "e", 1, source=[0, 0, 1], target=[1, 1, 2], weight=weights)
    for rule, words in (
        ("mean", "their squares, add up to what float64 cannot"),
        ("sum", "add up to more than"),
    ):
        with pytest.raises(GraphError, match=words):
            write_edge_blocks(folder, tmp_path / rule, duplicates=rule)


@pytest.mark.parametrize("weight", [1e200, 1e-200])
@pytest.mark.parametrize("equal", [True, False])
def test_weights_whose_squares_have_no_sum_are_refused_when_they_are_written(tmp_path, weight, equal):
    adjacency = np.array([[0, weight, 0], [weight, 0, 1.5 * weight], [0, 1.5 * weight, 0]])
    adjacency[1, 2] = adjacency[2, 1] = weight if equal else 1.5 * weight
    with pytest.raises(GraphError, match="expected weights between about 1e-150 and 1e150"):
        write_blocks(adjacency, tmp_path / "b")
    assert not (tmp_path / "b").exists()
