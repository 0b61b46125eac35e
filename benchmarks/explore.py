"""The explorer in a browser: a drop on 120 people, a step of the dial, and LastFM from command to board.

python -m benchmarks explore [--people 120] [--drops 20]

Times are measured in the page, from the wish to the picture after it; needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def started(*arguments: str) -> Iterator[tuple[str, float]]:
    """Give the link of a server, and when its command was started."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "equigraph", "explore", "--no-browser", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "EQUIGRAPH_BOARDS": folder, "PYTHONUNBUFFERED": "1"},
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None, "the server did not start"
            yield found[0], start
        finally:
            process.terminate()
            process.wait(30)


def board_file(n_people: int, folder: Path) -> Path:
    """Write a board of so many people with rules, as a file."""
    from equigraph.apps.explore.files import WRITERS
    from equigraph.apps.explore.people import classroom
    from equigraph.apps.explore.steps import act, first_step, with_labels
    from equigraph.apps.explore.tasks import first_labels

    people = classroom(n_people, max(2, n_people // 24))
    step = first_step(people, max(2, n_people // 24))
    step = with_labels(step, first_labels(step, lambda progress: None)["labels"], "first")
    for payload in (
        {"do": "apart", "who": 0, "other": 1},
        {"do": "together", "who": 2, "other": 3},
        {"do": "add-rule", "rule": {"friends": 1}},
        {"do": "add-rule", "rule": {"shares": {"gender": 0.1}}},
        {"do": "add-rule", "rule": {"not_alone": {"house": 2}}},
    ):
        step = act(step, payload)
    path = folder / "people.board.json"
    WRITERS["board.json"](step, path, "en")
    return path


def times(page: Any, what: str) -> list[float]:
    return page.evaluate("what => equigraphTimes.filter(one => one.what === what).map(one => one.ms)", what)


def report(what: str, measured: list[float]) -> None:
    middle, worst = statistics.median(measured), max(measured)
    print(f"{what:<44} median {middle:7.1f} ms   worst {worst:7.1f} ms   of {len(measured)}")


def drops(page: Any, n_drops: int) -> None:
    """Move cards by the keyboard, which takes the same way as the mouse."""
    for turn in range(n_drops):
        page.locator(f"[data-who='{5 + turn}'] [data-part=card]").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.wait_for_selector(".grabbed", state="detached")
        page.wait_for_timeout(150)


def turns(page: Any) -> None:
    page.wait_for_selector(".dial input", timeout=300_000)
    page.locator(".dial input").focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(400)
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(400)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=120)
    parser.add_argument("--drops", type=int, default=20)
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        with started(str(board_file(asked.people, Path(folder)))) as (link, _):
            page.goto(link)
            page.wait_for_selector(".dial input", timeout=300_000)  # or its search would be measured as well
            drops(page, asked.drops)
            report(f"drop, {asked.people} people", times(page, "drop"))
            turns(page)
            report(f"step of the dial, {asked.people} people", times(page, "dial"))
        with started("dataset:lastfm") as (link, start):
            listening = time.perf_counter()
            page.goto(link)
            page.wait_for_selector(".card", timeout=300_000)
            shown = time.perf_counter()
            print(f"{'LastFM: command to listening':<44} {listening - start:7.2f} s")
            print(f"{'LastFM: page opened to board':<44} {shown - listening:7.2f} s")
            turns(page)
            print(f"{'LastFM: page opened to the whole dial':<44} {time.perf_counter() - listening:7.2f} s")
            report("step of the dial, LastFM", times(page, "dial"))
            page.click("[data-view=graph]:visible")
            drawn = time.perf_counter()
            page.wait_for_selector(".canvas canvas", timeout=60_000)
            print(f"{'LastFM: picture':<44} {time.perf_counter() - drawn:7.2f} s")
        browser.close()


if __name__ == "__main__":
    main()
