"""One page with all tables and figures of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from equigraph._utils.templates import environment
from equigraph._utils.version import __version__
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.run import EXPERIMENTS, Experiment, Report, heaviest, in_words
from equigraph.apps.reproduction.tables import write_text


def write_page(report: Report, experiments: Sequence[Experiment], settings: Settings) -> Path:
    """Write ``index.html`` with this run, and with what earlier ones left in the folder; figures are linked."""
    finished, root = report.outcome.finished, report.page.parent
    shares = heaviest(report.outcome, parts=3)[:3]
    parts = [
        _part(experiment, report, root, experiment not in experiments)
        for experiment in EXPERIMENTS.values()
        if experiment in experiments or (root / experiment.name).is_dir()
    ]
    templates = environment("equigraph.apps.reproduction")
    templates.filters["inline"] = inline
    page = templates.get_template("index.html").render(
        version=__version__,
        settings=settings,
        n_cells=len(finished),
        cpu=in_words(sum(cell.cpu_seconds for cell in finished.values())),
        shares=[f"{name} {in_words(seconds)}" for name, seconds in shares],
        failures=sorted(report.failures.items()),
        parts=parts,
    )
    return write_text(report.page, page)


def _part(experiment: Experiment, report: Report, root: Path, earlier: bool) -> dict[str, Any]:
    """Return what the page shows of an experiment: its pictures, the text of its Markdown files, and links."""
    files = sorted((root / experiment.name).iterdir()) if earlier else report.files[experiment.name]
    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".md"]
    return {
        "experiment": experiment,
        "earlier": earlier,
        "pictures": [path.relative_to(root) for path in files if path.suffix == ".png"],
        "blocks": [block for text in texts for block in blocks_of(text)],
        "files": [path.relative_to(root) for path in files if path.suffix != ".png"],
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
