"""The page in a real browser: on a phone, on a desk, and on paper."""

import numpy as np
import pytest

from tests.apps.report.conftest import as_result, make_large, quiet_page

pytest.importorskip("matplotlib")
HEIGHTS = "[...document.querySelectorAll('.picture svg')].map(s => s.clientHeight)"


@pytest.fixture(scope="module")
def pages(room, result, curve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in ("clustering", "curve", "many", "large")}
    result.report(paths["clustering"], graph=room)
    curve.report(paths["curve"], graph=room)
    for name, (n, k, n_groups) in {"many": (150, 60, 14), "large": (1200, 8, 12)}.items():
        graph, labels = make_large(n, k, n_groups)
        long = {"rules": {"together": [list(graph.node_names[:20])]}}
        as_result(graph, labels, parameters=long).report(paths[name], baseline=np.roll(labels, 7))
    return paths


@pytest.mark.parametrize("name", ["clustering", "curve", "many", "large"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_fit_the_screen_and_are_quiet(browser, pages, name, width):
    with quiet_page(browser, pages[name], viewport={"width": width, "height": 740}) as page:
        wide, inner = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        # The pictures have a size, and the letters of text and charts can be read.
        heights = page.evaluate(HEIGHTS)
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('p, td, li, dd, figcaption')]"
            ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
        )
        letters = page.evaluate(
            "[...document.querySelectorAll('.picture svg text')].map(e => e.getBoundingClientRect())"
            ".map(r => Math.min(r.width, r.height) > 0 ? Math.max(r.height, 0) : 99)"
        )
    assert wide <= inner == width
    assert min(heights) > 100
    assert smallest >= 12
    assert len(letters) > 20
    assert name != "curve" or min(letters) >= 6


@pytest.mark.parametrize("name", ["clustering", "many"])
def test_pages_print(browser, pages, name):
    # As wide as the paper between its margins: nothing may stick out there.
    with quiet_page(browser, pages[name], viewport={"width": 680, "height": 1000}) as page:
        page.emulate_media(media="print")
        wide = page.evaluate("document.documentElement.scrollWidth")
        heights = page.evaluate(HEIGHTS)
        paper = page.pdf(format="A4", prefer_css_page_size=True)
    assert paper.startswith(b"%PDF-")
    assert paper.rstrip().endswith(b"%%EOF")
    assert max(heights) < 1000
    assert wide <= 680
