"""One page with all tables and figures of a run, in HTML or in Markdown."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from equigraph._utils.templates import environment
from equigraph._utils.version import __version__
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.run import EXPERIMENTS, Experiment, Report, heaviest, in_words
from equigraph.apps.reproduction.tables import write_text


def write_page(
    report: Report, experiments: Sequence[Experiment], settings: Settings, path: Path | None = None
) -> Path:
    """Write a page with this run, and with what earlier ones left in the folder; figures are linked.

    By default that is ``index.html`` in the folder; a path with the suffix ``.md`` gets Markdown.
    """
    finished, root, path = report.outcome.finished, report.page.parent, path or report.page
    shares = heaviest(report.outcome, parts=3)[:3]
    parts = [
        _part(experiment, report, path.parent, experiment not in experiments)
        for experiment in EXPERIMENTS.values()
        if experiment in experiments or (root / experiment.name).is_dir()
    ]
    templates = environment("equigraph.apps.reproduction")
    templates.filters["inline"] = inline
    templates.filters["lower"] = lambda text: re.sub("^#", "##", text, flags=re.MULTILINE)
    page = templates.get_template("page.md" if path.suffix == ".md" else "index.html").render(
        version=__version__,
        settings=settings,
        n_cells=len(finished),
        codes=Counter(cell.code for cell in finished.values()).most_common(),
        cpu=in_words(sum(cell.cpu_seconds for cell in finished.values())),
        shares=[f"{name} {in_words(seconds)}" for name, seconds in shares],
        failures=sorted(report.failures.items()),
        parts=parts,
    )
    return write_text(path, re.sub(r"\n{3,}", "\n\n", page) if path.suffix == ".md" else page)


def _part(experiment: Experiment, report: Report, here: Path, earlier: bool) -> dict[str, Any]:
    """Return what a page shows of an experiment: its pictures, the text of its Markdown files, and links."""
    root = report.page.parent
    files = sorted((root / experiment.name).iterdir()) if earlier else report.files[experiment.name]

    def link(path: Path) -> Path:
        return Path(os.path.relpath(path, here))

    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".md"]
    return {
        "experiment": experiment,
        "earlier": earlier,
        "pictures": [link(path) for path in files if path.suffix == ".png"],
        "texts": texts,
        "blocks": [block for text in texts for block in blocks_of(text)],
        "files": [link(path) for path in files if path.suffix != ".png"],
    }


def blocks_of(markdown: str) -> list[dict[str, Any]]:
    r"""Return the headings, paragraphs, lists and tables of the Markdown that the experiments write.

    >>> blocks_of("## Title\n\n- one\n- two")
    [{'kind': 'heading', 'text': 'Title'}, {'kind': 'list', 'rows': ['one', 'two']}]
    """
    blocks: list[dict[str, Any]] = []
    for text in re.split(r"\n\s*\n", markdown.strip()):
        if text.startswith("#"):
            blocks.append({"kind": "heading", "text": text.lstrip("# ")})
        elif text.startswith("|"):
            rows = [
                [cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()
            ]
            blocks.append({"kind": "table", "rows": rows})
        elif text.startswith("- "):
            blocks.append({"kind": "list", "rows": re.split(r"(?:^|\n)- ", text)[1:]})
        else:
            blocks.append({"kind": "paragraph", "text": text})
    return blocks


def inline(text: str) -> Markup:
    """Return a line of Markdown as markup.

    >>> inline("A **b** < `c`.")
    Markup('A <b>b</b> &lt; <code>c</code>.')
    """
    found = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(escape(text)))
    return Markup(re.sub(r"`(.+?)`", r"<code>\1</code>", found))
