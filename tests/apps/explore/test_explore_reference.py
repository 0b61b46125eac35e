"""The reference of the JSON API says what the server does: every request, field, action, file and status."""

import re
from pathlib import Path

from equigraph.apps.explore.app import Explorer
from equigraph.apps.explore.files import WRITERS, drawn_graph
from equigraph.apps.explore.jobs import Job
from equigraph.apps.explore.people import EXAMPLES
from equigraph.apps.explore.scoring import reasons, rule_states
from equigraph.apps.explore.session import Session
from equigraph.apps.explore.steps import ACTIONS
from equigraph.apps.explore.tasks import TASKS
from tests.apps.explore.conftest import ask

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "explore-api.md").read_text(encoding="utf-8")
OF_THE_SESSION = {"point", "alternative", "undo", "redo", "goto"}
NOT_ASKED_FOR = {"first", "layout", "download", "inspect", "read", "preview"}


def section(heading):
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, heading
    return found[1]


def listed(heading):
    """Return the first column of the table below a heading, without its head."""
    names = re.findall(r"^\| `([^`]+)` \|", section(heading), re.MULTILINE)
    return [name for name in names if name not in ("do", "kind")]


def named(heading):
    return set(re.findall(r"`([^`]+)`", section(heading)))


def test_every_request_is_listed(room, labelled, tmp_path):
    routes = Explorer(Session(labelled, keep=False), tmp_path, "token", 1).routes()
    served = [
        f"{method} {re.sub(r':int', '', route.path)}"
        for route in routes
        for method in sorted(route.methods - {"HEAD"})
    ]
    assert listed("Requests") == served


def test_every_field_is_listed(room, labelled):
    session = Session(labelled, keep=False)
    board = session.board()
    assert listed("The board") == list(board)
    assert listed("The state") == list(board["state"])
    assert set(board["state"]["scores"]) | {"points", "here", "current"} <= named("The state")
    assert {"kind", "people", "says", "broken"} <= set(rule_states(labelled)[0]) & named("The state")
    assert listed("Why") == list(reasons(labelled, 0)["options"][0])
    assert set(Job(1, "curve").facts()) <= named("Jobs")
    pictured = re.findall(r"^\| `(\w+)` \|", section("The picture"), re.MULTILINE)
    assert set(pictured) == set(drawn_graph(labelled))


def test_actions_jobs_files_and_examples_are_listed():
    assert set(listed("Actions")) == {*ACTIONS, *OF_THE_SESSION}
    assert set(listed("Jobs")) == set(TASKS) - NOT_ASKED_FOR
    assert named("Files") == set(WRITERS)
    # test_explore_safety.py gets those below 500.
    statuses = ",".join(re.findall(r"^\| (\d+) \|", section("Errors"), re.MULTILINE))
    assert statuses == "400,401,403,404,405,421,500"
    assert set(re.findall(r'"example": "(\w+)"', section("Opening"))) == set(EXAMPLES)


def test_the_script_on_the_page_runs(room, labelled, capsys, served):
    script = re.search(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert script
    exec(script[1], {"link": served.link})
    assert f"{room.names[3]} is in {labelled.clusters[1]}" in capsys.readouterr().out
    assert ask(served, "/api/act", {"do": "undo"})[0] == 200
