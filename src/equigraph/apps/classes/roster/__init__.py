"""Rosters: a sheet of people as schools have it becomes names, attributes, wishes and a graph."""

from equigraph.apps.classes.roster.columns import Column
from equigraph.apps.classes.roster.read import read_roster
from equigraph.apps.classes.roster.roster import Roster

__all__ = ["Column", "Roster", "read_roster"]
