"""Pages from jinja2 templates; in HTML all values but markup are escaped."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from equigraph._utils.text import shown


@cache
def environment(package: str, finalize: Callable[[Any], Any] | None = None) -> Environment:
    """Return the template environment of a package; `finalize` is applied to every value shown."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=select_autoescape(),
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def drawable(value: Any) -> Any:
    """Return a value without control characters, unless it is markup."""
    return value if isinstance(value, Markup) else shown(value)


def render(package: str, **values: Any) -> str:
    """Render the template ``page.html`` of a package with values."""
    return environment(package, finalize=drawable).get_template("page.html").render(**values).lstrip()
