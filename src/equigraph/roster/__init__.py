"""Rosters: a sheet of people as schools have it becomes names, attributes, wishes and a graph."""

from equigraph.roster.columns import Column
from equigraph.roster.read import read_roster
from equigraph.roster.roster import Roster

__all__ = ["Column", "Roster", "read_roster"]
