"""The explorer: a board of people, a dial and the graph behind it, served to a browser on this machine."""

from equigraph.explore.keeping import read_board
from equigraph.explore.matter import Matter
from equigraph.explore.server import serve
from equigraph.explore.steps import Step

__all__ = ["Matter", "Step", "read_board", "serve"]
