"""One self-contained page (HTML) that explains a clustering or a trade-off curve."""

from equigraph.apps.report.page import write_report

__all__ = ["write_report"]
