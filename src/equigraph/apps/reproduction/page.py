"""One page with all tables and figures of a run."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from equigraph._utils.version import __version__
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.run import EXPERIMENTS, Experiment, Report, heaviest, in_words
from equigraph.apps.reproduction.tables import write_text

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 3rem; border-bottom: 1px solid #ccc; }
img { max-width: 100%; height: auto; }
figure { margin: 1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #e3e3e3; text-align: right; vertical-align: top; }
th { border-bottom: 1px solid #888; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
td.words { text-align: left; min-width: 16rem; }
.failed { background: #fbeaea; padding: .5rem 1rem; }
"""
_LONG = 30  # a cell of more characters is text, not a number


def write_page(report: Report, experiments: Sequence[Experiment], settings: Settings) -> Path:
    """Write ``index.html`` with this run, and with what earlier ones left in the folder; figures are linked."""
    finished = report.outcome.finished
    how = f"quick, seed {settings.seed}" if settings.quick else f"in full, seed {settings.seed}"
    cpu = sum(cell.cpu_seconds for cell in finished.values())
    body = [
        "<h1>The experiments of the iFairNMTF paper, run again</h1>",
        f"<p>equigraph {__version__}, {how}. {len(finished)} cells, {in_words(cpu)} of processor time; most of it: "
        f"{html.escape(_shares(report))}.</p>",
    ]
    if report.failures:
        items = (
            f"<li><code>{html.escape(key)}</code>: {html.escape(why)}</li>"
            for key, why in sorted(report.failures.items())
        )
        body.append(f'<div class="failed"><p>Failed:</p><ul>{"".join(items)}</ul></div>')
    root, names = report.page.parent, {experiment.name for experiment in experiments}
    for experiment in EXPERIMENTS.values():
        now = experiment.name in names
        if not now and not (root / experiment.name).is_dir():
            continue
        body.append(f'<h2 id="{experiment.name}">{experiment.name}: {html.escape(experiment.title)}</h2>')
        if not now:
            body.append("<p>From an earlier run into this folder.</p>")
        files = report.files[experiment.name] if now else sorted((root / experiment.name).iterdir())
        body += _parts(files, root)
    text = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>equigraph: the paper's experiments</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>"
    )
    return write_text(report.page, text)


def _shares(report: Report) -> str:
    return ", ".join(f"{name} {in_words(seconds)}" for name, seconds in heaviest(report.outcome, parts=3)[:3])


def _parts(files: Iterable[Path], root: Path) -> list[str]:
    files = list(files)
    parts = []
    for path in (path for path in files if path.suffix == ".png"):
        link = html.escape(path.relative_to(root).as_posix())
        parts.append(
            f'<figure><a href="{link}"><img src="{link}" alt="{html.escape(path.stem)}"></a></figure>'
        )
    for path in (path for path in files if path.suffix == ".md"):
        parts.append(as_html(path.read_text(encoding="utf-8")))
    links = [
        f'<a href="{html.escape(path.relative_to(root).as_posix())}">{html.escape(path.name)}</a>'
        for path in files
        if path.suffix != ".png"
    ]
    if links:
        parts.append(f"<p>Files: {', '.join(links)}</p>")
    return parts


def as_html(markdown: str) -> str:
    r"""Turn the Markdown that the experiments write into HTML: headings, paragraphs, lists and tables.

    >>> as_html("## Title\n\nA **b** < `c`.")
    '<h3>Title</h3>\n<p>A <b>b</b> &lt; <code>c</code>.</p>'
    """
    parts = []
    for block in re.split(r"\n\s*\n", markdown.strip()):
        lines = block.splitlines()
        if lines[0].startswith("#"):
            parts.append(f"<h3>{_inline(lines[0].lstrip('# '))}</h3>")
        elif lines[0].startswith("|"):
            parts.append(_table(lines))
        elif lines[0].startswith("- "):
            items = (f"<li>{_inline(item)}</li>" for item in re.split(r"(?:^|\n)- ", block)[1:])
            parts.append(f"<ul>{''.join(items)}</ul>")
        else:
            parts.append(f"<p>{_inline(block)}</p>")
    return "\n".join(parts)


def _table(lines: Sequence[str]) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    head = "".join(f"<th>{_inline(cell)}</th>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[2:])
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _cell(text: str) -> str:
    kind = ' class="words"' if len(text) > _LONG else ""
    return f"<td{kind}>{_inline(text)}</td>"


def _inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)
