"""Classes: divide people evenly, with friends and under rules; lists to print, edit and check."""

from equigraph.apps.classes.divide import divide
from equigraph.apps.classes.division import Division, what_got_worse
from equigraph.apps.classes.lists import ClassLists
from equigraph.apps.classes.persistence import load_division, read_class_lists, save_division

__all__ = [
    "ClassLists", "Division", "divide", "load_division", "read_class_lists", "save_division",
    "what_got_worse",
]  # fmt: skip
