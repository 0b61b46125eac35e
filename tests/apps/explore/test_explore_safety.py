"""Who may talk to the server, and what it tells them."""

import re
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from equigraph.apps.explore.session import Session
from tests.apps.explore.conftest import ask, running_server


def _host(running):
    return {"host": f"127.0.0.1:{running.port}"}


def _cookie(running):
    return {**_host(running), "cookie": f"equigraph-{running.port}={running.token}"}


def test_nothing_is_answered_without_the_token(served):
    for path in (
        "/",
        "/api/board",
        "/api/events",
        "/static/explore.js",
        "/api/download/board.json",
        "/api/none",
    ):
        for wrong in ({}, {"authorization": "Bearer x"}, {"cookie": f"equigraph-{served.port}=x"}):
            status, body = ask(served, path, headers={**_host(served), **wrong})
            assert status == 401
            assert b"token" in body
    for token, expected in (("", 401), ("?token=wrong", 401), (f"?token={served.token}", 303)):
        assert ask(served, f"/enter{token}", headers=_host(served))[0] == expected


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""])
def test_a_foreign_host_is_refused_even_with_the_token(served, host):
    headers = {"host": host.format(port=served.port), "authorization": f"Bearer {served.token}"}
    assert ask(served, "/api/board", headers=headers)[0] in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        *(
            {"origin": one}
            for one in ("https://evil.example", "null", "http://127.0.0.1", "http://localhost:1")
        ),
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_foreign_origin_is_refused(served, headers):
    foreign = {**_cookie(served), **headers}
    assert ask(served, "/api/board", headers=foreign)[0] == 403
    assert ask(served, "/api/act", {"do": "undo"}, headers=foreign)[0] == 403


def test_a_browser_that_changes_something_says_where_it_comes_from(served):
    own = {**_cookie(served), "origin": f"http://127.0.0.1:{served.port}"}
    assert ask(served, "/api/board", headers=_cookie(served))[0] == 200
    assert ask(served, "/api/act", {"do": "fly"}, headers=_cookie(served))[0] == 403
    assert ask(served, "/api/act", {"do": "fly"}, headers=own)[0] == 400


@pytest.mark.parametrize("path", ["/", "/api/board", "/nothing"])
def test_pages_run_no_script_but_their_own(served, path):
    request = urllib.request.Request(f"http://127.0.0.1:{served.port}{path}", headers=_cookie(served))
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        text = answer.read().decode()
    assert path != "/" or not re.search("<script>|onclick|style=", text)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/static/../app.py", 404),
        ("/static/..%2fapp.py", 404),
        ("/static/%2e%2e/app.py", 404),
        ("/static//etc/passwd", 404),
        ("/api/download/..%2f..%2fboard.json", 404),
        ("/api/stored/..%2f..%2fx", 404),
        ("/api/act", 405),
    ],
)
def test_no_path_of_the_browser_is_opened(served, path, expected):
    status, body = ask(served, path)
    assert status == expected
    assert b"import" not in (body if isinstance(body, bytes) else b"")


@pytest.mark.parametrize(
    "body",
    [b"", b"x", b"[]", b"null", b'{"do": NaN}', b"[" * 100_000, b'{"a":' * 5000, b"\xff\xfe", b"1" * 5000],
)
def test_bodies_that_are_no_request_get_a_sentence(served, body):
    headers = {"authorization": f"Bearer {served.token}", "content-type": "application/json"}
    for path in ("/api/act", "/api/open", "/api/jobs", "/api/number"):
        status, answer = ask(served, path, method="POST", body=body, headers=headers)
        assert status == 400
        assert answer["error"].endswith(".")
    status, _ = ask(served, "/api/act", method="POST", body=b"x" * (2 << 20), headers=headers)
    assert status == 400


def test_uploads_are_gone_when_the_server_is(room, labelled):
    def folders():
        return set(Path(tempfile.gettempdir()).glob("equigraph-explore-*"))

    before = folders()
    with running_server(Session(labelled, keep=False)) as running:
        (made,) = folders() - before
        text = "Name,Gender\nAda,f\nBen,m\n"
        status, seen = ask(running, "/api/upload?name=../../class.csv", method="PUT", body=text.encode())
        assert status == 200
        assert seen["name"] == "class.csv"
        assert [path.suffix for path in made.iterdir()] == [".csv"]
        assert made.stat().st_mode & 0o077 == 0
    assert not made.exists()
