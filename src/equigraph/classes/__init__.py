"""Classes: people divided evenly, with friends and within rules; lists to print, edit and check again."""

from equigraph.classes.divide import divide
from equigraph.classes.division import Division, what_got_worse
from equigraph.classes.keeping import load_division, save_division
from equigraph.classes.lists import ClassLists
from equigraph.classes.read import read_class_lists

__all__ = [
    "ClassLists", "Division", "divide", "load_division", "read_class_lists", "save_division",
    "what_got_worse",
]  # fmt: skip
