"""Class lists: who is in which class, as a workbook, a page to print and text; and read back after editing."""

from equigraph.classes.lists import ClassLists
from equigraph.classes.read import read_class_lists

__all__ = ["ClassLists", "read_class_lists"]
