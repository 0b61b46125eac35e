"""``equigraph explore`` as a process: how it starts, ends, and finds again what was kept."""

import http.client
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from equigraph.apps.cli.app import app
from equigraph.apps.explore.files import WRITERS
from tests.apps.explore.conftest import ask


@contextmanager
def _process(folder, *arguments):
    command = [sys.executable, "-m", "equigraph", "explore", "--no-browser", *arguments]
    environment = {**os.environ, "EQUIGRAPH_BOARDS": str(folder), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stdout is not None
        match = re.search(r"http://127\.0\.0\.1:(\d+)/enter\?token=(\S+)", process.stdout.readline())
        assert match is not None
        yield process, SimpleNamespace(port=int(match[1]), token=match[2])
    finally:
        process.kill()
        process.communicate()


def test_a_board_survives_that_its_server_is_killed(room, labelled, tmp_path):
    saved = tmp_path / "room.board.json"
    WRITERS["board.json"](labelled, saved, "en")
    with _process(tmp_path / "kept", str(saved)) as (process, running):
        ask(running, "/api/act", {"do": "move", "who": 0, "to": 2})
        _, left = ask(running, "/api/act", {"do": "lock", "who": 5})
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    with _process(tmp_path / "kept") as (process, running):
        _, board = ask(running, "/api/board")
        assert board["restored"]
        for key in ("labels", "locked", "rules", "clusters"):
            assert board["state"][key] == left[key]
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def test_ctrl_c_ends_open_streams_at_once(tmp_path):
    with _process(tmp_path / "kept") as (process, running):
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
        connection.request("GET", "/api/events", headers={"authorization": f"Bearer {running.token}"})
        stream = connection.getresponse()
        process.send_signal(signal.SIGINT)
        assert stream.read().startswith(
            b"retry:"
        )  # ended in order: a stream that is cut raises IncompleteRead
        connection.close()
        process.wait(20)


def _run(*arguments):
    return CliRunner().invoke(app, ["explore", *arguments])


def test_a_saved_board_is_printed(room, labelled, tmp_path):
    saved = tmp_path / "room.board.json"
    WRITERS["board.json"](labelled, saved, "en")
    found = _run(str(saved), "--print")
    assert found.exit_code == 0
    lines = [line.split("\t") for line in found.output.splitlines()]
    assert lines == [[name, f"Group {i % 3 + 1}"] for i, name in enumerate(room.names)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--print"], "--print needs a saved board"),
        (["-k", "1"], "-k"),
        (["-k", "31", "--no-browser"], "2 to 30 groups"),
        (["--attribute", "height", "--no-browser"], "height"),
        (["--host", "256.0.0.1", "--no-browser"], "Nothing can listen"),
    ],
)
def test_what_cannot_be_opened_is_said_in_a_sentence(arguments, words):
    found = _run(*arguments)
    assert found.exit_code == 2, found.output
    assert words in found.output
    assert "Traceback" not in found.output
