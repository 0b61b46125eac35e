"""The page in a real browser: mouse, keyboard, screen readers, phones."""

from pathlib import Path

import numpy as np
import pytest

from equigraph.apps.explore.scoring import kept
from equigraph.apps.explore.session import Session
from tests.apps.explore.conftest import WAIT, ask, drag, running_server, state_of

pytest.importorskip("playwright.sync_api")

AXE = Path(__file__).with_name("axe.min.js").read_text(encoding="utf-8")
_OVERLAPS = """() => {
    const boxes = [...document.querySelectorAll('.bar button, .bar select, .bar input, .tile, .tabs > *')]
        .map(node => node.getBoundingClientRect()).filter(box => box.width);
    const overlapping = boxes.some((a, i) => boxes.some((b, j) => i < j && a.left < b.right - 1
        && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
    return [document.documentElement.scrollWidth, window.innerWidth, overlapping];
}"""


@pytest.fixture(scope="module")
def server(room, labelled):
    with running_server(Session(labelled)) as running:
        yield running


@pytest.fixture
def open_page(browser, server):
    """Return a function that opens the page at the first step of the board; what the page says is an error."""
    assert ask(server, "/api/act", {"do": "goto", "step": 0})[0] == 200
    contexts = []
    said = []

    def open_one(*, reset=True, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.goto(server.link)
        page.wait_for_selector(".card")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [text for text in said if "status of 400" not in text] == []


def _score(page, name):
    return page.inner_text(f"[data-score={name}] .figure")


def _in(page, who, cluster):
    page.wait_for_selector(f".column[data-cluster='{cluster}'] [data-who='{who}']")


def test_a_card_is_dragged_and_everything_answers(open_page, server, room):
    page = open_page()
    assert page.locator(".column").count() == 3
    assert page.locator(".card").count() == 30
    before = state_of(server)
    shown = _score(page, "even"), _score(page, "kept")
    drag(page, 0, 1)
    _in(page, 0, 1)
    after = state_of(server)
    assert after["labels"][0] == 1
    assert (_score(page, "even"), _score(page, "kept")) != shown
    assert _score(page, "even") == f"{round(100 * after['scores']['even'])} %"
    assert _score(page, "kept") == f"{after['scores']['kept']} of {after['scores']['wished']}"
    # What the page counts itself is what Python counts.
    labels = np.array(after["labels"])
    cards = page.eval_on_selector_all(
        ".card", "cards => cards.map(c => [+c.dataset.who, c.querySelector('.friends').firstChild.data])"
    )
    wished, here, then = room.wished, kept(room, labels), kept(room, np.array(before["labels"]))
    assert dict(map(tuple, cards)) == {i: f"{here[i]}/{wished[i]}" for i in range(30)}
    marked = page.eval_on_selector_all(
        ".card",
        "cards => cards.map(c => [+c.dataset.who, c.matches('.helped') ? 1 : c.matches('.hurt') ? -1 : 0])",
    )
    assert dict(map(tuple, marked)) == {i: int(np.sign(here[i] - then[i])) for i in range(30)}
    # No light is green over somebody without a friend.
    lights = page.eval_on_selector_all(".column .light", "all => all.map(one => one.className)")
    lonely = {int(labels[i]) for i in range(30) if wished[i] and not here[i]}
    assert lonely
    assert not any("good" in lights[cluster] for cluster in lonely)
    # It fits every screen, and nothing in the bar lies over anything else.
    for width in (360, 768, 3840):
        page.set_viewport_size({"width": width, "height": 800})
        wide, inner, overlapping = page.evaluate(_OVERLAPS)
        assert wide <= inner
        assert not overlapping


def test_a_card_is_moved_by_keys_and_told(open_page, server):
    page = open_page()
    card = page.locator("[data-who='3'] [data-part=card]")
    card.focus()
    assert "friends here" in card.get_attribute("aria-label")
    page.keyboard.press("Enter")
    page.wait_for_selector(".grabbed")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".column.target[data-cluster='1']")
    page.keyboard.press("Enter")
    _in(page, 3, 1)
    assert state_of(server)["labels"][3] == 1
    name = page.text_content("[data-who='3'] .card-name")
    page.wait_for_selector(f"[role=status]:has-text('{name} is in Group 2 now')", state="attached")
    # The focus stays on the card; picked up and put back, nothing has changed.
    assert page.evaluate("document.activeElement.closest('[data-who]').dataset.who") == "3"
    page.keyboard.press(" ")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    assert page.locator(".grabbed").count() == 0
    assert state_of(server)["labels"][3] == 1
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('[data-who]').dataset.who") != "3"
    page.keyboard.press("Control+z")
    _in(page, 3, 0)


def test_why_rename_and_search(open_page, server):
    page = open_page()
    page.locator("[data-who='5'] .card-menu").click()
    page.get_by_role("menuitem", name="Why here?").click()
    page.wait_for_selector("dialog .why li >> nth=2")
    assert page.locator("dialog .why .here").count() == 1
    assert "friendship" in page.inner_text("dialog .why")
    page.keyboard.press("Escape")
    page.locator(".column[data-cluster='1'] input.cluster-name").fill("<b>Blue</b>")
    page.keyboard.press("Enter")
    page.wait_for_selector("h2:has-text('<b>Blue</b>')", state="attached")
    assert state_of(server)["clusters"][1] == "<b>Blue</b>"
    name = page.text_content("[data-who='7'] .card-name")
    page.locator(".tabs input[type=search]").fill(name)
    page.wait_for_selector("[data-who='8']", state="detached")
    assert page.locator("[data-who='7']").count() == 1


def test_the_dial_takes_every_point_and_reload_and_back_work(open_page, server):
    page = open_page()
    page.wait_for_selector(".dial input")
    points = state_of(server)["curve"]["points"]
    assert len(points) >= 3
    assert [one["even"] for one in points] == sorted(one["even"] for one in points)
    dial = page.locator(".dial input")
    dial.focus()
    page.keyboard.press("Home")
    page.wait_for_selector(".dot.here[data-point='0']")
    state = state_of(server)
    assert state["curve"]["here"] == 0
    assert _score(page, "even") == f"{round(100 * points[0]['even'])} %"
    page.locator(f".dot[data-point='{len(points) - 1}']").click()
    page.wait_for_selector(f".dot.here[data-point='{len(points) - 1}']")
    last = state_of(server)
    assert last["scores"]["even"] >= max(one["even"] for one in points) - 1e-9
    page.reload()
    page.wait_for_selector(".card")
    assert state_of(server)["labels"] == last["labels"]
    assert f"step={last['step']}" in page.url
    page.go_back()
    page.wait_for_selector(".dot.here[data-point='0']")
    assert state_of(server)["labels"] == state["labels"]


def test_a_job_can_be_cancelled_and_the_next_one_runs(open_page, server):
    page = open_page()
    page.click("[data-do=alternatives]")
    page.locator("[data-job=alternatives] button").click()
    page.wait_for_selector("[data-job=alternatives]", state="detached")
    assert state_of(server)["alternatives"] == []
    assert page.locator(".notice").count() == 0
    page.click("[data-do=alternatives]")
    page.wait_for_selector("dialog .alternative >> nth=1")
    state = state_of(server)
    assert 1 <= len(state["alternatives"]) <= 3
    page.locator("dialog .alternative button").first.click()
    page.wait_for_url(f"**step={state['step'] + 1}*")
    assert state_of(server)["labels"] == state["alternatives"][0]["labels"]


# What is clicked to see a view, and what is there then.
VIEWS = {
    "board": ([], ".card"),
    "menu": (["[data-who='0'] .card-menu"], ".menu"),
    "why": (["[data-who='0'] .card-menu", ".menu button >> nth=0"], "dialog .why"),
    "save": (["[data-do=save]"], "dialog"),
    "open": (["[data-do=open]"], "dialog"),
    "graph": (["[data-view=graph]:visible"], ".canvas canvas, .still"),
}


def test_axe_finds_nothing_serious(open_page):
    every = list(VIEWS)
    for scheme, language, views in (("light", "en-GB", every), ("dark", "de-DE", every[:3])):
        page = open_page(color_scheme=scheme, locale=language)
        page.wait_for_selector(".dial input")
        # As a tester may: the policy of the page lets no other script in.
        page.evaluate(f"(() => {{ {AXE} }})()")
        for view in views:
            clicks, seen = VIEWS[view]
            for what in clicks:
                page.click(what)
            page.wait_for_selector(seen)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            bad = [
                (one["id"], node["html"][:200], node["failureSummary"][:300])
                for one in found["violations"]
                if one["impact"] in ("serious", "critical")
                for node in one["nodes"][:3]
            ]
            assert bad == [], (scheme, view)
            page.keyboard.press("Escape")


def test_german_leaves_no_english_behind(open_page):
    page = open_page(locale="de-DE")
    page.wait_for_selector(".dial input")
    assert page.evaluate("document.documentElement.lang") == "de"
    text = page.inner_text("body")
    assert "Rest reparieren" in text
    for word in ("Undo", "Board", "Rules", "Friend", "evenly", "Search", "Group", "group ", "every", "of 73"):
        assert word not in text, word
    assert page.input_value(".column[data-cluster='1'] .cluster-name") == "Gruppe 2"
    # What the server refuses is said in German; a sentence that it has in English alone is said to be English.
    page.click("[data-do=open]")
    for name, body, words in (
        ("x.exe", b"", "ist von keiner bekannten Art"),
        ("x.json", b"{}", "lässt sich so nicht lesen. Das Programm sagt dazu auf Englisch: "),
        ("x.csv", b"Name\nAda\nAda\n", "In den Zeilen 2 und 3 steht"),
    ):
        sheet = {"name": name, "mimeType": "text/plain", "buffer": body}
        page.set_input_files("dialog input[type=file]", sheet)
        page.wait_for_selector(f"dialog .error:has-text('{words}')")
    assert "Englisch" not in page.inner_text("dialog")  # what is said about a sheet is German
    page.keyboard.press("Escape")
    page.locator(".add-rule summary").click()
    page.locator(".add-rule .fields input").first.fill("40")
    page.locator(".add-rule > button").click()
    page.wait_for_selector(".notice:has-text('Diese Regel geht so nicht')")
    page.locator("[data-who='0'] [data-part=card]").press("l")
    page.wait_for_selector(".notice", state="detached", timeout=8000)  # before it goes by itself
    page.select_option("[data-do=language]", "en")
    page.wait_for_selector("text=Repair the rest")
    assert page.input_value(".column[data-cluster='1'] .cluster-name") == "Group 2"


def test_what_is_said_is_true_of_one_rule_and_of_nothing_to_spread(open_page, server):
    page = open_page(locale="de-DE")
    page.locator(".add-rule summary").click()
    page.select_option(".add-rule > select", "at_most")
    page.locator(".add-rule .fields input").fill("4")
    page.locator(".add-rule > button").click()
    page.wait_for_selector(".rules li.broken:has-text('höchstens 4')")
    # What cannot be computed says why, also for costs.
    page.click("[data-do=repair]")
    page.wait_for_selector(".notice:has-text('Diese Regel ist nicht zu erfüllen: höchstens 4')")
    page.wait_for_selector(".rules-place .stale:has-text('Diese Regel ist nicht zu erfüllen')")
    page.locator(".rules li.broken button.quiet").click()
    page.click(".composition:has-text('gender') input[type=checkbox]")
    page.wait_for_selector(".panel:has-text('Nichts soll gleichmäßig verteilt werden')")
    page.click("[data-do=alternatives]")
    assert "%" not in page.wait_for_selector("dialog .alternative dl").inner_text()
    page.keyboard.press("Escape")
    # The legend of the picture follows the names on the board.
    page.click("[data-view=graph]:visible")
    page.wait_for_selector(".graph-tools .legend:has-text('Gruppe 1')")
    ask(server, "/api/act", {"do": "rename", "cluster": 0, "name": "Rot"})
    page.wait_for_selector(".graph-tools .legend:has-text('Rot')")


def test_the_picture_selects_with_the_board(open_page):
    page = open_page()
    page.locator("[data-who='9'] [data-part=card]").click()
    page.click("[data-view=graph]:visible")
    page.wait_for_selector(".canvas canvas")
    assert "who=9" in page.url
    assert "view=graph" in page.url
    page.goto(page.url.replace("/#", "/?still=1#"))
    page.wait_for_selector("img.still")
    assert page.evaluate("document.querySelector('img.still').decode().then(() => true)")
