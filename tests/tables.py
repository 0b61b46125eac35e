"""Tables that were written."""

import csv


def rows_of(path):
    """Return the rows of a csv file by the names of its columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
