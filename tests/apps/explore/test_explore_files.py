"""Files that are opened on the page, good ones and bad ones."""

import csv
import io
import re
import zipfile
from dataclasses import replace
from urllib.parse import quote

import numpy as np
import pytest

from equigraph.apps.explore.files import WRITERS
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.session import Session
from equigraph.datasets import make_school_roster
from equigraph.graph import Graph
from tests.apps.explore.conftest import ask, running_server

LEAKS = ("/tmp", "/home", "/work", "site-packages", "Traceback", "equigraph-explore-", 'File "')


@pytest.fixture(scope="module")
def reader(room, labelled):
    """A server whose board has nothing to spread evenly, so that it reads files and computes nothing."""
    bare = BoardPeople.of_graph(room.graph, "bare")
    with running_server(Session(replace(labelled, people=bare, attributes=()), keep=False)) as running:
        yield running


def _send(running, name, body):
    return ask(running, f"/api/upload?name={quote(name)}", method="PUT", body=body)


def _school_csv():
    return "\n".join(",".join(row) for row in make_school_roster(20).rows).encode()


def test_a_sheet_is_shown_told_and_opened(reader):
    status, seen = _send(reader, "class.csv", _school_csv())
    assert status == 200
    assert seen["kind"] == "people"
    assert seen["rows"][0][:3] == ["No.", "Last name", "First name"]
    roles = {one["header"]: one["role"] for one in seen["columns"]}
    assert roles["Gender"] == "attribute"
    assert roles["Friend 1"] == "friends"
    payload = {"upload": seen["key"], "kind": "people", "number": 2}
    payload["columns"] = {"H": "unused", "I": "unused", "J": "unused", "E": "unused", "Gender": "attribute"}
    status, shown = ask(reader, "/api/preview", payload)
    assert status == 200, shown
    assert shown["understood"]["people"] == 20
    assert "Primary school" in shown["understood"]["unused"]
    status, board = ask(reader, "/api/open", payload)
    assert status == 200
    assert len(board["people"]) == 20
    assert "Primary school" not in board["attributes"]
    assert not any(rule["kind"] == "apart" for rule in board["state"]["rules"])
    assert len(board["state"]["clusters"]) == 2
    # The file is gone once it is open.
    assert ask(reader, "/api/open", payload)[0] == 400


def test_a_sheet_with_a_row_that_is_no_person_shows_its_columns(reader):
    status, seen = _send(
        reader, "class.csv", b"Year 5,,\n\nName,Gender,Friend 1\nAda,f,Ben\nBen,m,\nTotal,2,\n"
    )
    assert status == 200
    assert "row 6" in seen["error"]
    roles = [(one["header"], one["role"]) for one in seen["columns"]]
    assert (seen["kind"], roles) == (
        "people",
        [("Name", "name"), ("Gender", "attribute"), ("Friend 1", "friends")],
    )


def test_links_and_a_table_of_people_are_opened(reader):
    links = b"source,target\nAda,Ben\nBen,Cem\nCem,Dora\nDora,Ada\nEli,Ada\n"
    people = b"node,team\nAda,red\nBen,blue\nCem,red\nDora,blue\nEli,red\n"
    keys = [_send(reader, name, body)[1]["key"] for name, body in (("e.csv", links), ("p.csv", people))]
    payload = {"upload": keys[0], "kind": "links", "people": keys[1], "attribute": "team", "number": 2}
    status, board = ask(reader, "/api/open", payload)
    assert status == 200, board
    assert board["attributes"] == {"team": ["red", "blue", "red", "blue", "red"]}


def _bomb(name="xl/worksheets/sheet1.xml", size=1 << 25):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(name, b"0" * size)
    return stream.getvalue()


SCRIPT = "<script>alert(1)</script>"
# One for each way to fail; damage of every kind is the task of tests/fuzz.
MALFORMED = [
    ("bomb.xlsx", _bomb()),
    ("bomb.npz", _bomb("data.npy")),
    ("deep.csv", b'"' * 500_000),
    (f"{SCRIPT}.csv", b"Name\nAda\n"),
    ("../../../etc/passwd", b"Name\nAda\n"),
    ("board.json", b'{"format": "equigraph-board", "version": 1}'),
    ("list.json", b"[" * 50_000),
    ("graph.parquet", b"PAR1" + bytes(50) + b"PAR1"),
    ("nothing.exe", b"MZ"),
]


@pytest.mark.parametrize(("name", "body"), MALFORMED)
def test_malformed_files_do_no_harm(reader, name, body):
    status, answer = _send(reader, name, body)
    if status == 200:
        status, answer = ask(reader, "/api/open", {"upload": answer["key"], "kind": answer["kind"]})
    assert status == 400
    assert answer["error"].strip().endswith(".")
    assert not any(leak in str(answer) for leak in LEAKS)
    assert ask(reader, "/api/board")[0] == 200


def test_everything_can_be_taken_away(served, room, labelled, tmp_path):
    content = {}
    for kind in WRITERS:
        status, body = ask(served, f"/api/download/{kind}")
        assert status == 200, kind
        content[kind] = body
    expected = {
        name: labelled.clusters[label] for name, label in zip(room.names, labelled.labels, strict=True)
    }
    rows = list(csv.DictReader(io.StringIO(content["lists.csv"].decode("utf-8-sig"))))
    assert {row["Name"]: row["Class"] for row in rows} == expected
    for kind in ("lists.xlsx", "classes.zip"):
        assert zipfile.is_zipfile(io.BytesIO(content[kind]))
    for kind in ("lists.html", "door.html", "report.html"):
        text = content[kind].decode()
        assert text.startswith("<!doctype html>")
        assert "<script" not in text
        assert all(name in text for name in room.names) or kind == "report.html"
    assert content["graph.png"].startswith(b"\x89PNG")
    assert content["board.json"]["labels"] == labelled.labels.tolist()


def test_lists_are_in_the_language_of_the_page(served):
    german = {"authorization": f"Bearer {served.token}", "accept-language": "de-AT,de;q=0.9"}
    kinds = ("lists.csv", "lists.html", "door.html")
    lists, *pages = (ask(served, f"/api/download/{kind}", headers=german)[1] for kind in kinds)
    assert re.match(r"Klasse;Name;.*\s+Gruppe 1;", lists.decode("utf-8-sig"))
    assert all('<html lang="de">' in page.decode() for page in pages)
    path = f"/api/upload?name={quote('Klasse.csv')}"
    _, seen = ask(served, path, method="PUT", body=b"Name\nAda\nAda\n", headers=german)
    assert seen["error"].startswith("Klasse.csv: In den Zeilen 2 und 3 steht")
    assert seen["error"] == seen["values"]["texts"]["de"]


def test_a_file_that_is_too_large_is_refused(reader):
    status, seen = _send(reader, "large.csv", bytes(33 << 20))
    assert status == 400
    assert "32 MB" in seen["error"]


def test_html_is_shown_and_not_run_and_another_file_opens(browser, room, labelled):
    nasty = "<img src=x onerror=\"document.title='run'\">"
    names = np.array([f"{nasty}{i}" for i in range(30)])
    values = {nasty: np.where(np.arange(30) % 2, nasty, "x")}
    people = BoardPeople.of_graph(Graph(room.adjacency, names, values), nasty)
    step = replace(labelled, people=people, clusters=(nasty, "b", "c"), attributes=(nasty,))
    with running_server(Session(step, keep=False)) as running:
        page = browser.new_page()
        page.goto(running.link)
        page.wait_for_selector(".card")
        assert page.locator("img").count() == 0
        assert page.title() != "run"
        assert nasty in page.text_content(".card-name >> nth=0")
        # A file that is opened in place of a board that was changed gets its groups.
        for who in range(3):
            ask(running, "/api/act", {"do": "lock", "who": who})
        page.click("[data-do=open]")
        sheet = {"name": "class.csv", "mimeType": "text/csv", "buffer": _school_csv()}
        page.set_input_files("dialog input[type=file]", sheet)
        page.click("[data-do=go-on]")
        page.click("[data-do=make]")
        page.wait_for_selector("h1:has-text('class.csv')", timeout=90_000)
        page.wait_for_selector(".card >> nth=19", timeout=90_000)
        assert page.locator(".card").count() == 20
        page.close()
