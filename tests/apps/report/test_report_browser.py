"""The page in a real browser: on a phone, on a desk, and on paper."""

import numpy as np
import pytest

from tests.apps.report.conftest import as_result, make_large

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def pages(room, result, curve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in ("clustering", "curve", "many", "large")}
    result.report(paths["clustering"], graph=room)
    curve.report(paths["curve"], graph=room)
    for name, (n, k, n_groups) in {"many": (150, 60, 14), "large": (1200, 8, 12)}.items():
        graph, labels = make_large(n, k, n_groups)
        as_result(graph, labels).report(paths[name], graph=graph, baseline=np.roll(labels, 7))
    return paths


@pytest.mark.parametrize("name", ["clustering", "curve", "many", "large"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_fit_the_screen_and_are_quiet(browser, pages, name, width):
    page = browser.new_page(viewport={"width": width, "height": 740})
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name].as_uri())
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    # The pictures have a size, and the letters of the text can be read.
    heights = page.evaluate("[...document.querySelectorAll('.picture svg')].map(s => s.clientHeight)")
    smallest = page.evaluate(
        "Math.min(...[...document.querySelectorAll('p, td, li, dd, figcaption')]"
        ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
    )
    page.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert inner == width
    assert wide <= inner
    assert heights
    assert min(heights) > 100
    assert smallest >= 12


def test_letters_of_charts_can_be_read_on_a_phone(browser, pages):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(pages["curve"].as_uri())
    heights = page.evaluate(
        "[...document.querySelectorAll('.picture svg text')].map(e => e.getBoundingClientRect())"
        ".map(r => Math.min(r.width, r.height) > 0 ? Math.max(r.height, 0) : 99)"
    )
    page.close()
    assert len(heights) > 20
    assert min(heights) >= 6


@pytest.mark.parametrize("name", ["clustering", "many"])
def test_pages_print(browser, pages, name, tmp_path):
    page = browser.new_page()
    page.goto(pages[name].as_uri())
    page.emulate_media(media="print")
    # As wide as the paper between its margins: nothing may stick out there.
    page.set_viewport_size({"width": 680, "height": 1000})
    wide = page.evaluate("document.documentElement.scrollWidth")
    tallest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.picture svg')].map(s => s.clientHeight))"
    )
    paper = page.pdf(format="A4", prefer_css_page_size=True)
    page.close()
    assert paper.startswith(b"%PDF-")
    assert paper.rstrip().endswith(b"%%EOF")
    assert tallest < 1000
    assert wide <= 680
