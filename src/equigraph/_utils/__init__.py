"""Small helpers that every part of the package uses."""
