"""The board in a notebook: the same module, as an anywidget."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from equigraph.exceptions import require
from equigraph.explore.offline import content_of, findings_of, static_text


def make_widget(subject: Any, graph: Any = None) -> Any:
    """Return a widget that shows a clustering or a curve."""
    found = findings_of(subject, graph, "product")
    content = json.dumps(content_of(found), ensure_ascii=False, separators=(",", ":"))
    return _widget_class()(content=content)


@cache
def _widget_class() -> Any:
    anywidget: Any = require("anywidget", extra="widget", purpose="The explorer in a notebook")
    traitlets: Any = require("traitlets", extra="widget", purpose="The explorer in a notebook")

    class BoardWidget(anywidget.AnyWidget):
        """A board that is looked at."""

        _esm = static_text("explore.js")
        _css = static_text("explore.css")
        content = traitlets.Unicode("{}").tag(sync=True)

    return BoardWidget
