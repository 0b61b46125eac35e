"""Pages from templates: in HTML everything that is no markup is escaped."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from equigraph._utils.text import shown


@cache
def environment(package: str, finalize: Callable[[Any], Any] | None = None) -> Environment:
    """Return the templates that lie in a package; `finalize` is applied to every value that they show."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=select_autoescape(),
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def drawable(value: Any) -> Any:
    """Return a value as a page can show it: without control characters, unless it is markup."""
    return value if isinstance(value, Markup) else shown(value)


def render(package: str, **values: Any) -> str:
    """Return the page of a package: its template ``page.html`` with values."""
    return environment(package, finalize=drawable).get_template("page.html").render(**values).lstrip()
