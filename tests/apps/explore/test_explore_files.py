"""Files that are opened on the page, good ones and bad ones."""

import csv
import io
import json
import re
import zipfile
from urllib.parse import quote

import numpy as np
import pytest

from equigraph.apps.explore.files import WRITERS
from equigraph.apps.explore.session import Session
from equigraph.datasets import make_school_roster
from tests.apps.explore.conftest import ask, running_server

LEAKS = ("/tmp", "/home", "/work", "site-packages", "Traceback", "equigraph-explore-", 'File "')


@pytest.fixture(scope="module")
def reader(room, labelled):
    """A server whose board has nothing to spread evenly, so that it reads files and computes nothing."""
    from dataclasses import replace

    bare = replace(room, attributes={})
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


def test_columns_and_names_are_asked_about(reader):
    text = "Name,Cousin,Friend\nAda Roth,Ben Voss,\nBen Voss,,Cem Kock\nCem Koc,Ada Roth,Xaver\n"
    _, seen = _send(reader, "class.csv", text.encode())
    assert [one["role"] for one in seen["columns"]] == ["name", "", "friends"]
    payload = {"upload": seen["key"], "kind": "people", "number": 2}
    status, answer = ask(reader, "/api/preview", payload)
    assert status == 400
    assert "Cousin" in answer["error"]
    payload["columns"] = {"B": "not_with"}
    _, answer = ask(reader, "/api/preview", payload)
    assert {one["text"]: one["near"] for one in answer["unknown"]} == {"Cem Kock": ["Cem Koc"], "Xaver": []}
    payload["names"] = {"Cem Kock": "Cem Koc", "Xaver": None}
    _, answer = ask(reader, "/api/preview", payload)
    assert (answer["understood"]["wishes"], answer["understood"]["apart"]) == (1, 2)
    assert any("weggelassen: „Xaver“" in note["de"] for note in answer["notes"])


def test_links_and_a_table_of_people_are_opened(reader):
    links = b"source,target\nAda,Ben\nBen,Cem\nCem,Dora\nDora,Ada\nEli,Ada\n"
    people = b"node,team\nAda,red\nBen,blue\nCem,red\nDora,blue\nEli,red\n"
    keys = [_send(reader, name, body)[1]["key"] for name, body in (("e.csv", links), ("p.csv", people))]
    payload = {"upload": keys[0], "kind": "links", "people": keys[1], "attribute": "team", "number": 2}
    status, board = ask(reader, "/api/open", payload)
    assert status == 200, board
    assert board["attributes"] == {"team": ["red", "blue", "red", "blue", "red"]}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("Name,Friend 1\nAda,Bem\nBen,Ada\n", "row 2"),
        ("Name,Gender\nAda,f\nAda,m\n", "rows 2 and 3"),
        ("Height,Weight,Age,Team\n1,2,3,x\n2,3,4,y\n", "row 1"),
    ],
)
def test_a_bad_sheet_is_explained_with_its_row(reader, text, where):
    status, seen = _send(reader, "class.csv", text.encode())
    if status == 200 and not seen["error"]:
        status, seen = ask(reader, "/api/open", {"upload": seen["key"], "kind": "people"})
        assert status == 400
    assert where in seen["error"]
    assert "class.csv" in seen["error"]
    assert seen["error"].count(". ") == 0


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
    ("wide.csv", b"Name" + b",x" * 200_000 + b"\nAda" + b",1" * 200_000),
    ("deep.csv", b'"' * 500_000),
    ("nan-links.csv", b"source,target,weight\nAda,Ben,NaN\nBen,Cem,inf\n"),
    ("html.csv", f"Name,{SCRIPT}\n{SCRIPT},{SCRIPT}\nBen,\n".encode()),
    (f"{SCRIPT}.csv", b"Name\nAda\n"),
    ("../../../etc/passwd", b"Name\nAda\n"),
    ("utf16.csv", "Name;Gender\nÄnne;w\n".encode("utf-16-le")),
    ("empty.csv", b""),
    ("board.json", b'{"format": "equigraph-board", "version": 1}'),
    ("list.json", b"[" * 50_000),
    ("graph.graphml", b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><graphml>&b;</graphml>"),
    ("graph.mtx", b"%%MatrixMarket matrix coordinate real general\n999999999 999999999 1\n1 1 1\n"),
    ("graph.parquet", b"PAR1" + bytes(50) + b"PAR1"),
    ("nothing.exe", b"MZ"),
]


def test_malformed_files_do_no_harm(reader):
    refused = opened = 0
    for name, body in MALFORMED:
        status, seen = _send(reader, name, body)
        assert status in (200, 400), name
        assert not any(leak in str(seen) for leak in LEAKS), (name, seen)
        if status == 400:
            refused += 1
            assert seen["error"].strip().endswith(".")
            continue
        payload = {"upload": seen["key"], "kind": seen["kind"]}
        status, answer = ask(reader, "/api/open", payload)
        assert status in (200, 400), name
        assert not any(leak in str(answer) for leak in LEAKS), (name, answer)
        opened += status == 200
        refused += status == 400
    assert refused + opened == len(MALFORMED)
    assert refused > 8
    # After all of that the server reads a good one.
    assert ask(reader, "/api/board")[0] == 200
    status, seen = _send(reader, "class.csv", _school_csv())
    assert status == 200
    assert not seen["error"]


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
    assert b"<svg" in content["graph.svg"][:1000]
    assert content["board.json"]["state"]["labels"] == labelled.labels.tolist()
    # The lines of Python run beside the saved board, and give its labels.
    (saved,) = re.findall(r"read_board\('([^']+)'\)", content["again.py"].decode())
    assert saved in content["again.sh"].decode()
    lines = content["again.py"].decode().replace(saved, str(tmp_path / "board.json"))
    (tmp_path / "board.json").write_text(json.dumps(content["board.json"]), encoding="utf-8")
    found = {}
    exec(compile(lines, "again.py", "exec"), found)
    assert found["labels"].tolist() == labelled.labels.tolist()


def test_lists_are_in_the_language_of_the_page(served):
    german = {"authorization": f"Bearer {served.token}", "accept-language": "de-AT,de;q=0.9"}
    kinds = ("lists.csv", "lists.html", "door.html", "classes.zip")
    content = {kind: ask(served, f"/api/download/{kind}", headers=german)[1] for kind in kinds}
    assert re.match(r"Klasse;Name;.*\s+Gruppe 1;", content["lists.csv"].decode("utf-8-sig"))
    for kind in ("lists.html", "door.html"):
        assert '<html lang="de">' in content[kind].decode()
    with zipfile.ZipFile(io.BytesIO(content["classes.zip"])) as archive:
        assert '<html lang="de">' in archive.read("classes.html").decode()
    path = f"/api/upload?name={quote('Klasse.csv')}"
    _, seen = ask(served, path, method="PUT", body=b"Name\nAda\nAda\n", headers=german)
    assert seen["error"].startswith("Klasse.csv: In den Zeilen 2 und 3 steht")
    assert seen["error"] == seen["values"]["texts"]["de"]


def test_a_file_that_is_too_large_is_refused(reader):
    status, seen = _send(reader, "large.csv", bytes(33 << 20))
    assert status == 400
    assert "32 MB" in seen["error"]


def test_html_is_shown_and_not_run_and_another_file_opens(browser, room, labelled):
    from dataclasses import replace

    nasty = "<img src=x onerror=\"document.title='run'\">"
    names = tuple(f"{nasty}{i}" for i in range(30))
    values = {nasty: tuple(np.where(np.arange(30) % 2, nasty, "x").tolist())}
    people = replace(room, names=names, attributes=values, title=nasty)
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
