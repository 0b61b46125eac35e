from __future__ import annotations

import numpy as np
import pytest

import equigraph as eg
from benchmarks import out_of_core


def test_edges_become_blocks_and_are_fitted(tmp_path):
    pytest.importorskip("pyarrow")
    for what in ("edges", "blocks"):
        facts = out_of_core.step(what, tmp_path, 400, 4, 0.0)
    assert 0.9 * 4000 < facts["edges"] <= 4000
    told = out_of_core.step("fit", tmp_path, 400, 4, 0.5)
    graph = eg.open_blocks(tmp_path / "blocks").with_groups(np.load(tmp_path / "edges" / "groups.npy"))
    assert graph.n_nodes == 400
    # Planted clusters hold four fifths of the edges, and their groups differ.
    assert told["Q"] > 0.3
    assert told["NB"] > 0.9
    assert told["peak_gib"] > 0


def test_places_are_compared(capsys, monkeypatch, tmp_path):
    room = eg.datasets.make_classroom()
    graph = eg.Graph(room.adjacency, None, room.sensitive_features)
    blocks = eg.write_blocks(graph, tmp_path / "blocks", rows_per_block=11)
    places = {"memory": (graph, None), "disk": (blocks, None)}
    out_of_core._compare("room", 0.5, 3, places)
    assert "same labels: memory, disk" in capsys.readouterr().out
    monkeypatch.setattr(out_of_core, "PLANS", -1.0)
    assert not out_of_core._compare("room", 0.5, 3, places)
