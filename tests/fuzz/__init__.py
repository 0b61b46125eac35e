"""Mutated files for every reader: ``python -m tests.fuzz --seconds 60``."""
