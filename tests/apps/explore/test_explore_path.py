"""The way of a teacher from a messy sheet to lists on paper, in a real browser on a small screen."""

import io
import re
import subprocess
import sys
import zipfile

import pytest

from equigraph.apps.classes import load_division
from equigraph.apps.explore.steps import board_of_division
from equigraph.apps.explore.uploads import OfferedSheet, Upload, inspect
from tests.apps.explore.conftest import WAIT, running_server, state_of

pytest.importorskip("playwright.sync_api")

FIRST, LAST = ("Ada", "Ben", "Cem", "Dora", "Eli", "Fay"), ("Abel", "Brandt", "Çelik", "Dorn")
NAMES = [f"{first} {last}" for last in LAST for first in FIRST]


def _sheet(folder):
    """Return a sheet with a column that has to be asked about, a misspelt name and one that nobody has."""
    rows = [["Name", "Gender", "Cousin", "Friend 1", "Friend 2", "Must be apart from", "Points", "Notes"]]
    for i, name in enumerate(NAMES):
        friends = [NAMES[(i + 1) % 24], NAMES[(i + 5) % 24]]
        rows.append([name, "mf"[i % 2], "", *friends, "", str(50 + 2 * (i % 12)), ""])
    rows[1][2], rows[9][2], rows[5][7] = NAMES[3], NAMES[20], "likes football"
    rows[2][5] = NAMES[7]
    rows[3][3], rows[4][4] = "Dora Abell", "Xaver"
    path = folder / "year_ 5.csv"
    path.write_text("\n".join(map(",".join, rows)), encoding="utf-8")
    upload = Upload(str(path), path.name, {"columns": {"Notes": "none"}})
    return OfferedSheet(upload, inspect(upload), number=3)


def _menu(page, who, item):
    page.locator(f"[data-who='{who}'] .card-menu").click()
    page.get_by_role("menuitem", name=item).click()


def _fits(page):
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= inner


def test_from_a_messy_sheet_to_lists(browser, tmp_path):
    context = browser.new_context(viewport={"width": 390, "height": 850}, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(WAIT)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    with running_server(_sheet(tmp_path)) as server:
        page.goto(server.link)
        _confirm(page)
        page.wait_for_selector(".card >> nth=23")
        _fits(page)
        assert "year_ 5" in page.title()
        _read_notes(page)
        _edit(page, server)
        _come_and_leave(page, server)
        _change_number(page, server)
        labels = _save(page, server, tmp_path)
        # The bar with all that can be done stays in sight.
        page.mouse.wheel(0, 3000)
        page.wait_for_function("document.querySelector('[data-do=undo]')?.getBoundingClientRect().y >= 0")
    page.wait_for_selector(".jobs .error:has-text('has ended')")
    page.click("[data-do=undo]")
    page.wait_for_selector(".notice:has-text('has ended')")
    # The sheet opens as it was left, without its questions.
    with running_server(_sheet(tmp_path)) as server:
        page.goto(server.link)
        page.locator(".stored .link").first.click()
        page.wait_for_selector(".card >> nth=23")
        assert state_of(server)["labels"] == labels
    assert errors == []
    context.close()
    division = load_division(tmp_path / "out")
    assert division.labels.tolist() == labels
    assert division.roster.attributes["Points"][0] == "50"  # a number, and not the range it is in
    step = board_of_division(division, "out")
    assert len(step.locked) == 1
    assert step.people.rules[0].keyword == "together"


def _confirm(page):
    """Answer what the page asks about the sheet, and confirm what was understood."""
    page.wait_for_selector(".column-list li.ask:has-text('Cousin')")
    _fits(page)
    page.click("[data-do=go-on]")
    page.wait_for_selector(".error:has-text('say what it is')")
    page.select_option("li.ask select", "together_with")
    page.select_option("li:has-text('Gender') select", "unused")
    page.click("[data-do=go-on]")
    page.wait_for_selector(".unknown li >> nth=1")
    assert page.input_value(".unknown li:has-text('Dora Abell') select") == "Dora Abel"
    choices = page.locator(".unknown li:has-text('Xaver') option").all_inner_texts()
    assert choices[1] == "ignore"
    assert len(choices) == 2 + 24  # everybody may be meant
    page.select_option(".unknown li:has-text('Xaver') select", "none")
    page.click(".unknown [data-do=go-on]")
    page.wait_for_selector(".understood")
    text = page.inner_text(".facts")
    for words in ("47 wishes of 24 people", "1 pair apart", "2 pairs together", "Points (in 3 ranges)"):
        assert words in text
    assert "Gender" in text.split("Not used:")[1]
    page.click("[data-do=make]")


def _read_notes(page):
    """Read how the file was read, in German and in English."""
    for language, words in (("de", "weggelassen: „Xaver“ (Zeile 5, Spalte E)"), ("en", "Left out, as given")):
        page.select_option("[data-do=language]", language)
        notes = page.locator(".welcome details li").all_text_contents()
        assert any(words in note for note in notes)
        assert all(("Zeile" in note) == (language == "de") for note in notes if "Xaver" in note)


def _edit(page, server):
    """Move and lock a card, undo and redo, repair; every column says what it costs."""
    state = state_of(server)
    assert [rule["broken"] for rule in state["rules"]] == [0] * len(state["rules"])
    page.wait_for_selector("[data-cost=Points]:not(:has-text('…'))")
    who = next(i for i in range(8, 24) if state["labels"][i] == 0)
    _menu(page, who, "Move to Group 2")
    page.wait_for_selector(f".column[data-cluster='1'] [data-who='{who}']")
    page.wait_for_selector(".column[data-cluster='1'] .light.bad")
    after_move = state_of(server)["labels"]
    _menu(page, who, "Lock here")
    page.wait_for_selector(f"[data-who='{who}'].locked .lock")
    for key, locked in (("z", ":not(.locked)"), ("y", ".locked")):
        page.keyboard.press(f"Control+{key}")
        page.wait_for_selector(f"[data-who='{who}']{locked}")
    friend = next(i for i in range(24) if i != who and after_move[i] == 1)
    _menu(page, who, "Keep apart from…")
    page.fill("dialog input[type=search]", NAMES[friend])
    page.locator("dialog .choices button").first.click()
    page.wait_for_selector(".rules li.broken:has-text('different groups')")
    page.click("[data-do=repair]")
    page.wait_for_selector(".rules li.broken", state="detached")
    after = state_of(server)
    assert after["labels"][who] == 1
    assert after["labels"][friend] != 1
    assert not any(rule["broken"] for rule in after["rules"])


def _come_and_leave(page, server):
    """Add somebody and remove somebody: all others stay."""
    before = state_of(server)["labels"]
    page.click("[data-do=arrival]")
    page.fill("dialog input >> nth=0", NAMES[0])
    page.click("dialog button[type=submit]")
    page.wait_for_selector("dialog .error:has-text('already')")
    page.fill("dialog input >> nth=0", "Zoë Neu")
    page.fill("dialog input[list] >> nth=0", NAMES[4])
    page.click("dialog button[type=submit]")
    page.wait_for_selector("[data-who='24'].selected")
    state = state_of(server)
    assert state["labels"][:24] == before
    assert state["labels"][24] == before[4]
    _menu(page, 24, "Has left")
    page.wait_for_selector("[data-who='24']", state="detached")
    assert state_of(server)["labels"] == before


def _change_number(page, server):
    """Ask for fewer groups, and go back."""
    assert page.locator(".number span:text('Number of groups')").is_visible()
    page.fill("[data-do=number]", "2")
    page.keyboard.press("Enter")
    page.wait_for_selector(".column[data-cluster='2']", state="detached")
    state = state_of(server)
    assert len(state["locked"]) == 1
    assert not any(rule["broken"] for rule in state["rules"])
    page.keyboard.press("Control+z")  # the focus is still in the field of the number
    page.wait_for_selector(".column[data-cluster='2']")


def _save(page, server, folder):
    page.click("[data-do=save]")
    content = {}
    for kind in ("classes.zip", "lists.html", "board.json", "again.py"):
        with page.expect_download() as found:
            page.click(f"[data-download='{kind}']")
        path = folder / found.value.suggested_filename
        found.value.save_as(path)
        content[kind] = path.read_bytes()
    page.keyboard.press("Escape")
    with zipfile.ZipFile(io.BytesIO(content["classes.zip"])) as archive:
        archive.extractall(folder / "out")
    text = content["lists.html"].decode()
    assert all(name in text for name in NAMES)
    assert not re.search(r"\bnode|cluster \d|\bQ\b|year_ 5\.csv", text)
    # The lines of Python find the board under the name that the browser gave it.
    subprocess.run([sys.executable, str(path)], cwd=folder, check=True, capture_output=True, timeout=120)
    return state_of(server)["labels"]
