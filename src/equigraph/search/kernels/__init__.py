"""Compiled loops of the search. Imported at fit, so that nothing heavy loads with the package."""
