"""The explorer: a board of people, a dial and the graph behind it, served to a browser on this machine."""

from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.persistence import read_board
from equigraph.apps.explore.server import serve
from equigraph.apps.explore.steps import Step

__all__ = ["BoardPeople", "Step", "read_board", "serve"]
