"""Pictures of matplotlib as parts of a page: text that can be selected, and ids that no other picture has."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import numpy as np

from equigraph.plotting.style import look, shown
from equigraph.report.markup import Html

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_DROPPED = (f"{_SVG}metadata", f"{_SVG}style")  # the page has a rule for the latter
# Pictures are drawn small, so that their letters are large enough on a phone.
_ENLARGED = 1.25
_HALO = "halo"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def as_text(texts: Iterable[Any]) -> None:
    """Have the style sheet draw the halo of texts: those that matplotlib draws one around are written as curves."""
    for text in texts:
        if text.get_path_effects():
            text.set_path_effects([])
            text.set_gid(_HALO)


def inline_svg(figure: Any, *, name: str, label: str) -> Html:
    """Return a figure as an svg element.

    Its ids start with a name, another for every picture of a page; the label is for those who do not see it.
    """
    buffer = io.StringIO()
    with look(), warnings.catch_warnings():
        # The browser has fonts for all letters, whatever matplotlib has.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(buffer, format="svg", bbox_inches="tight", pad_inches=0.05, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    used = {match for node in root.iter() for match in _references(node)}
    for node in root.iter():
        for child in [child for child in node if child.tag in _DROPPED]:
            node.remove(child)
        node.tag = node.tag.removeprefix(_SVG)
        node.attrib = _attributes(node.attrib, used, name)
        for place in ("text", "tail"):
            if not (getattr(node, place) or "").strip():
                setattr(node, place, None)
    # The box says the proportions; the width is that of the page, up to a little more than it was drawn for.
    width = float(root.attrib["width"].removesuffix("pt")) * 4 / 3 * _ENLARGED
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": shown(label),
        "style": f"max-width: {width:.0f}px",
    }
    return Html(ElementTree.tostring(root, encoding="unicode"))


def _references(node: ElementTree.Element) -> list[str]:
    """Return the ids that an element refers to."""
    found = [match for value in node.attrib.values() for match in _REFERENCE.findall(value)]
    link = node.attrib.get(_LINK, "")
    return [*found, link[1:]] if link.startswith("#") else found


def _attributes(given: dict[str, str], used: set[str], name: str) -> dict[str, str]:
    """Return the attributes of an element, with ids of its own and only where something refers to them."""
    kept = {}
    for key, value in given.items():
        if key == "id":
            if value == _HALO:
                kept["class"] = _HALO
            elif value in used:
                kept["id"] = f"{name}-{value}"
        elif key == _LINK:
            kept["href"] = f"#{name}-{value[1:]}" if value.startswith("#") else "".join(value.split())
        else:
            kept[key] = _REFERENCE.sub(rf"url(#{name}-\1)", " ".join(value.split()))
    return kept


def marker_icon(marker: str, color: str) -> Html:
    """Return a marker of the pictures as a small svg element, for legends."""
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(marker)
    path = style.get_path().transformed(style.get_transform())
    polygons = [np.asarray(polygon) for polygon in path.to_polygons(closed_only=False)]
    outline = " ".join("M" + "L".join(f"{x:.2f} {-y:.2f}" for x, y in polygon) + "Z" for polygon in polygons)
    box = 'viewBox="-0.62 -0.62 1.24 1.24" class="icon" aria-hidden="true"'
    return Html(f'<svg {box}><path d="{outline}" fill="{color}" stroke="#222222" stroke-width="0.06"/></svg>')
