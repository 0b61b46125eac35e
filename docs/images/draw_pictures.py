"""Draw the three pictures of README, front page and gallery: the curve, the board, the report.

Run ``python docs/images/draw_pictures.py`` from the root; it needs Chromium and playwright, as the tests do.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import equigraph as eg

HERE = Path(__file__).parent


def draw_curve() -> None:
    """Draw the trade-off curve of the classroom."""
    room = eg.datasets.make_classroom()
    curve = eg.tradeoff_curve(
        room.adjacency, sensitive_features=room.sensitive_features, n_clusters=3, random_state=0
    )
    curve.plot(kind="front").figure_.savefig(HERE / "curve.png", dpi=110, bbox_inches="tight")


def draw_report(browser: Browser) -> None:
    """Take a picture of the top of the report of ``equigraph demo``."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "equigraph", "demo", "-o", f"{folder}/demo"]
        subprocess.run(command, check=True, capture_output=True)
        page = browser.new_page(viewport={"width": 900, "height": 1100})
        page.goto(f"file://{folder}/demo/report.html")
        page.screenshot(path=HERE / "report.png")


def draw_board(browser: Browser) -> None:
    """Take a picture of the board of the classroom."""
    command = [sys.executable, "-m", "equigraph", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        address = next(found for line in server.stdout if (found := re.search(r"http://\S+", line)))
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.goto(address.group())
        page.wait_for_selector("text=Naledi")
        page.wait_for_selector("text=Looking along", state="hidden", timeout=120_000)
        page.screenshot(path=HERE / "explore.png")
        server.terminate()


def main() -> None:
    draw_curve()
    found = next(path for name in ("chromium", "chromium-browser") if (path := shutil.which(name)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        draw_report(browser)
        draw_board(browser)


if __name__ == "__main__":
    main()
