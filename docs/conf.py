"""The site: pages in Markdown, the reference from docstrings, a gallery that is run when the site is built."""

from __future__ import annotations

import re
from typing import Any

import equigraph
from equigraph._utils.compilation import announce

announce()  # here, and not among what the first script of the gallery prints

project = "equigraph"
author = "The equigraph developers"
copyright = "The equigraph developers"
version = release = equigraph.__version__

extensions = [
    "myst_parser",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "reproduction/**",
    "**/.ipynb_checkpoints",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
root_doc = "index"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# Blocks that begin with a file name, such as ```csv class.csv, are files that the examples below them read.
# Links that leave docs/ lead to the repository; tests/docs checks all of them.
suppress_warnings = ["misc.highlighting_failure", "config.cache", "myst.xref_missing"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's own lists say what types there are
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

plot_formats = [("png", 150)]
plot_html_show_formats = False
plot_html_show_source_link = False
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": 10,
}

html_theme = "pydata_sphinx_theme"
html_title = "equigraph"
html_favicon = "../src/equigraph/apps/explore/static/icon.svg"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "icon_links": [
        {
            "name": "Repository",
            "url": "https://github.com/equigraph/equigraph",
            "icon": "fa-brands fa-github",
        }
    ],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
html_show_sourcelink = False


def mathml(formula: str, *, as_block: bool) -> str:
    """Return a formula as MathML; docutils knows no brackets of given sizes, and dots under one name."""
    from docutils.utils.math.latex2mathml import tex2mathml

    plain = re.sub(r"\\[Bb]ig[lr]?(?![a-z])", "", formula).replace(r"\dots", r"\ldots")
    return tex2mathml(plain, as_block=as_block)


def setup(app: Any) -> None:
    """Write formulas as MathML, which browsers draw without a script that would have to be fetched."""
    from docutils import nodes

    def inline(translator: Any, node: Any) -> None:
        translator.body.append(mathml(node.astext(), as_block=False))
        raise nodes.SkipNode

    def block(translator: Any, node: Any) -> None:
        translator.body.append(f'<div class="math">{mathml(node.astext(), as_block=True)}</div>')
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
