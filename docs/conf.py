"""The site: pages in Markdown, the reference from docstrings, a gallery that is run when the site is built."""

from __future__ import annotations

import equigraph

project = "equigraph"
author = "The equigraph developers"
copyright = "The equigraph developers"
version = release = equigraph.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
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
    "header_links_before_dropdown": 4,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
html_show_sourcelink = False
