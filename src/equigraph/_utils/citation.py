"""BibTeX entries of the paper and of the software."""

from __future__ import annotations

from equigraph._utils.version import __version__

_PAPER = """@inproceedings{ghodsi2024cohesion,
  author    = {Ghodsi, Siamak and Seyedi, Seyed Amjad and Ntoutsi, Eirini},
  title     = {Towards Cohesion-Fairness Harmony: Contrastive Regularization in Individual Fair Graph Clustering},
  booktitle = {Advances in Knowledge Discovery and Data Mining (PAKDD 2024)},
  pages     = {284--296},
  publisher = {Springer},
  year      = {2024},
  doi       = {10.1007/978-981-97-2242-6_23},
}
"""
_SOFTWARE = """@software{{equigraph,
  author  = {{{{The equigraph developers}}}},
  title   = {{equigraph: cohesive and fair clustering of graphs}},
  version = {{{version}}},
}}
"""


def cite() -> str:
    """Return the BibTeX entries of the paper whose method equigraph implements and of this version of equigraph.

    Examples
    --------
    >>> print(cite().splitlines()[0])
    @inproceedings{ghodsi2024cohesion,
    """
    return f"{_PAPER}\n{_SOFTWARE.format(version=__version__)}"
