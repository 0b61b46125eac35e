import http.client
import json
import queue
import threading
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from equigraph.apps.explore import serve
from equigraph.apps.explore.people import classroom
from equigraph.apps.explore.session import Session
from equigraph.apps.explore.steps import first_step

WAIT = 90_000  # milliseconds; processes start slowly on a busy machine


@contextmanager
def running_server(session, **options):
    """Serve a board in a thread until the block ends."""
    started = queue.Queue()
    settings = {"browser": False, "ready": started.put, **options}
    thread = threading.Thread(target=serve, args=(session,), kwargs=settings)
    thread.start()
    running = started.get(timeout=60)
    try:
        yield running
    finally:
        running.stop()
        thread.join(20)
        assert not thread.is_alive()


def ask(running, path, content=None, *, method=None, body=None, headers=None):
    """Send a request as a script with the token does, and return status and answer."""
    sent = {"authorization": f"Bearer {running.token}"} if headers is None else dict(headers)
    if content is not None:
        body = json.dumps(content).encode()
        sent["content-type"] = "application/json"
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    connection.request(method or ("POST" if content is not None else "GET"), path, body, sent)
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    kind = answer.headers.get("content-type", "")
    return answer.status, json.loads(raw) if kind.startswith("application/json") else raw


def state_of(running):
    return ask(running, "/api/state")[1]


def drag(page, who, cluster):
    """Drag the card of a person to a column with the mouse."""
    box = page.locator(f"[data-who='{who}'] .card-name").bounding_box()
    target = page.locator(f".column[data-cluster='{cluster}']").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 30, steps=3)
    page.mouse.move(target["x"] + target["width"] / 2, target["y"] + 150, steps=4)
    page.mouse.up()


@pytest.fixture(scope="session")
def room():
    return classroom()


@pytest.fixture(scope="session", autouse=True)
def boards(tmp_path_factory):
    """Keep boards in a folder of the tests, and not where people have theirs."""
    folder = tmp_path_factory.mktemp("boards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EQUIGRAPH_BOARDS", str(folder))
        yield folder


@pytest.fixture(scope="session")
def labelled(room):
    """Return a step of the classroom with labels that nobody has to search for."""
    return replace(first_step(room, 3), labels=np.arange(30) % 3, what="first")


@pytest.fixture(scope="session")
def served(room, labelled, boards):
    """A server for all tests that change nothing that others rely on."""
    with running_server(Session(labelled)) as running:
        yield running
